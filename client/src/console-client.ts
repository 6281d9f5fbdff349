import { toCarillonError } from './carillon-error.ts';

type Platform = 'ANDROID' | 'IOS' | 'WEB';

export type OverviewCampaign = {
  id: string;
  name: string;
  status: string;
  statusReason: string | null;
  createdAt: string;
  createdBy: string;
  counts: { platform: Platform; outcome: string; devices: number }[];
};

export type OverviewKey = {
  id: string;
  kind: string;
  name: string;
  hint: string;
  createdAt: string;
  lastUsedAt: string | null;
  archivedAt: string | null;
};

export type Overview = {
  workspace: { id: string; dbName: string; name: string; timeZone: string };
  workspaces: { id: string; name: string }[];
  url: string;
  troubles: string[];
  isSandbox: boolean;
  users: number;
  devices: { platform: Platform; state: string; devices: number }[];
  campaigns: OverviewCampaign[];
  keys: OverviewKey[];
  curl?: string;
  now: string;
};

export type InboxMessage = {
  id: string;
  platform: Platform;
  deviceToken: string;
  title: string;
  body: string;
  campaignId: string | null;
  receivedAt: string;
  payload: unknown;
};

export type ConsoleClient = {
  /** Opens the session of a sign-in link. @throws CarillonError */
  signIn(code: string): Promise<void>;
  signOut(): Promise<void>;
  readOverview(): Promise<Overview>;
  /** Newest first, newer than `after`. */
  readInbox(query: { workspaceId: string; after?: string }): Promise<InboxMessage[]>;
};

/** What the console asks its server; the session travels in a cookie. */
export function makeConsoleClient({ fetch: request = fetch }: { fetch?: typeof fetch } = {}): ConsoleClient {
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const answer = await request(`/console/api/${path}`, { credentials: 'same-origin', ...init });
    if (!answer.ok) throw await toCarillonError(answer);
    return answer;
  }
  return {
    async signIn(code) {
      await call('session', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      });
    },
    async signOut() {
      await call('session', { method: 'DELETE' });
    },
    readOverview: async () => (await (await call('overview')).json()) as Overview,
    async readInbox({ workspaceId, after }) {
      const query = new URLSearchParams({ workspaceId, ...(after === undefined ? {} : { after }) });
      return ((await (await call(`inbox?${query}`)).json()) as { messages: InboxMessage[] }).messages;
    },
  };
}

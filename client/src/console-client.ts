import { makeConsoleAccounts } from './console-accounts.ts';
import type { ConsoleAccounts } from './console-accounts.ts';
import { makeConsoleCalls } from './console-calls.ts';
import type { ConsoleCalls } from './console-calls.ts';
import { makeConsoleCampaigns } from './console-campaigns.ts';
import type { ConsoleCampaigns } from './console-campaigns.ts';
import { makeConsoleKeys } from './console-keys.ts';
import type { ConsoleKeys } from './console-keys.ts';
import { makeConsoleCaller } from './console-caller.ts';
import { makeConsoleCredentials } from './console-credentials.ts';
import type { ConsoleCredentials } from './console-credentials.ts';
import { makeConsoleComposer } from './console-composer.ts';
import type { ConsoleComposer } from './console-composer.ts';
import { makeConsoleDeliveries } from './console-deliveries.ts';
import type { ConsoleDeliveries } from './console-deliveries.ts';
import { makeConsoleSandbox } from './console-sandbox.ts';
import type { ConsoleSandbox } from './console-sandbox.ts';
import { makeConsoleSettings } from './console-settings.ts';
import type { ConsoleSettings } from './console-settings.ts';
import type { Overview, PeopleCounts } from './console-overview.ts';
import { makeConsoleSystem } from './console-system.ts';
import type { ConsoleSystem } from './console-system.ts';
import { makeConsoleMessages } from './console-messages.ts';
import type { ConsoleMessages } from './console-messages.ts';
import { makeConsolePeople } from './console-people.ts';
import type { ConsolePeople } from './console-people.ts';

type Platform = 'ANDROID' | 'IOS' | 'WEB';

export type ConsoleWorkspace = {
  id: string;
  dbName: string;
  name: string;
  /** IANA name; the console shows times in it. */
  timeZone: string;
};

export type Role = 'owner' | 'marketer' | 'analyst' | 'developer';

export type Permission =
  | 'session.own'
  | 'overview.read'
  | 'campaigns.write'
  | 'segments.write'
  | 'people.read'
  | 'people.write'
  | 'log.read'
  | 'log.resend'
  | 'sandbox.use'
  | 'keys.read'
  | 'keys.write'
  | 'settings.write'
  | 'system.read'
  | 'accounts.manage'
  | 'audit.read';

export type ConsoleSession = {
  /** Id and address are null for the start link of a sandbox. */
  account: { id: string | null; name: string; email: string | null; role: Role };
  permissions: Permission[];
  workspaces: ConsoleWorkspace[];
  isSandbox: boolean;
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

export type OperationState = 'QUEUED' | 'FILLING' | 'WAITING' | 'SUCCEEDED' | 'FAILED';
export type OperationKind = 'CREATE' | 'ADD' | 'REMOVE' | 'REPLACE';

export type ConsoleSegment = {
  id: string;
  name: string;
  kind: 'FILE' | 'FILTER' | 'COHORT';
  state: 'FILLING' | 'READY' | 'FAILED' | 'ARCHIVED';
  stateReason: string | null;
  source: 'API' | 'CONSOLE' | 'PARTNER';
  attributeName: string | null;
  attributeType: 'string' | 'double' | null;
  description: string | null;
  userCount: number | null;
  expiryDays: number | null;
  expiresAt: string | null;
  archivedAt: string | null;
  createdAt: string;
  /** The operation being worked, with how many wait behind it. */
  progress: {
    operationId: string;
    kind: OperationKind;
    state: OperationState;
    attempts: number;
    bytesRead: number;
    valuesFound: number;
    waiting: number;
    createdAt: string;
  } | null;
};

export type SegmentOperation = {
  id: string;
  number: number;
  kind: OperationKind;
  requestId: string;
  /** Null: the file was posted. */
  fileUrl: string | null;
  state: OperationState;
  attempts: number;
  bytesRead: number;
  valuesFound: number;
  valuesProcessed: number | null;
  userCount: number | null;
  status: number | null;
  errorMessage: string | null;
  errorDetail: string | null;
  requestedBy: string;
  createdAt: string;
  endedAt: string | null;
};

export type SegmentList = { segments: ConsoleSegment[]; active: number; maxActive: number };
/** Operations newest first. */
export type SegmentDetail = ConsoleSegment & { operations: SegmentOperation[] };

export type SegmentUpload = {
  workspaceId: string;
  kind: 'create' | 'add' | 'remove' | 'replace';
  name: string;
  attributeName: string;
  attributeType: 'string' | 'double';
  /** Of a creation alone: 1 to 3650. */
  expiryDays?: number;
  /** One value a line, up to 150 MB. */
  file: Blob;
};

export type SegmentFetch = Omit<SegmentUpload, 'file'> & {
  /** A public address of a file of one value a line. */
  fileUrl: string;
  callbackUrl?: string;
};

export type CampaignOfSegment = { id: string; name: string; status: string; createdAt: string };

export type AcceptedUpload = { segmentId: string; segmentName: string; operationId: string; requestId: string };

export type ConsoleCallback = {
  id: string;
  operationId: string;
  url: string;
  body: string;
  state: 'PENDING' | 'DELIVERED' | 'GIVEN_UP';
  /** How often it was sent again, and the tries since. */
  resends: number;
  attempts: number;
  nextAt: string | null;
  createdAt: string;
  endedAt: string | null;
};

export type CallbackTry = {
  /** 0: the first delivery. */
  resend: number;
  attempt: number;
  at: string;
  /** Null: no answer came. */
  status: number | null;
  error: string | null;
  durationMilliseconds: number;
};

export type CallbackDetail = ConsoleCallback & { tries: CallbackTry[] };

export type ConsoleMail = {
  id: string;
  operationId: string | null;
  recipients: string[];
  subject: string;
  body: string;
  /** `KEPT`: there is no SMTP server; it is shown only. */
  state: 'PENDING' | 'SENT' | 'KEPT' | 'FAILED';
  /** How often it was sent again, and the tries since. */
  resends: number;
  attempts: number;
  nextAt: string | null;
  error: string | null;
  createdAt: string;
  endedAt: string | null;
};

/** What decided whether a person got a campaign. `step` is a word for programs, `explanation` a sentence for people. */
export type DeliveryExplanation = {
  campaign: { id: string; name: string; status: string; statusReason: string | null; nextAt: string | null };
  customerId: string;
  /** Of the newest run; `NO_RUN` or `UNKNOWN_PERSON` where there is none. */
  step: string;
  explanation: string;
  /** Newest first, at most 20. */
  runs: {
    runId: string;
    runStatus: string;
    createdAt: string;
    step: string;
    explanation: string;
    devices: {
      /** The app's name of the device; null when it is there no more. */
      deviceId: string | null;
      platform: Platform;
      step: string;
      explanation: string;
      /** The provider's word, or why it was held. */
      code: string | null;
      attempts: number;
      at: string | null;
      /** Until when it waits. */
      until: string | null;
    }[];
  }[];
};

type Key = { workspaceId: string; id: string };

export type ConsoleClient = {
  /** People: signing in, the own account, the accounts of others, what everybody did. */
  accounts: ConsoleAccounts;
  campaigns: ConsoleCampaigns;
  composer: ConsoleComposer;
  keys: ConsoleKeys;
  messages: ConsoleMessages;
  people: ConsolePeople;
  settings: ConsoleSettings;
  sandbox: ConsoleSandbox;
  system: ConsoleSystem;
  credentials: ConsoleCredentials;
  calls: ConsoleCalls;
  deliveries: ConsoleDeliveries;
  /** What this session may see. @throws CarillonError 401 without one */
  readSession(): Promise<ConsoleSession>;
  /** Whether all is well with a workspace, and what it sends. */
  readOverview(workspaceId: string): Promise<Overview>;
  /** Reads every device, so ask rarely. */
  countPeople(workspaceId: string): Promise<PeopleCounts>;
  /** Newest first, newer than `after`. */
  readInbox(query: { workspaceId: string; after?: string }): Promise<InboxMessage[]>;
  /** Newest first. */
  listSegments(workspaceId: string): Promise<SegmentList>;
  readSegment(key: Key): Promise<SegmentDetail>;
  /** Resolves when the file is stored; it is worked then. @throws CarillonError */
  uploadSegmentFile(upload: SegmentUpload): Promise<AcceptedUpload>;
  /** Resolves when the operation is stored; the file is downloaded and worked then. @throws CarillonError */
  fetchSegmentFile(fetched: SegmentFetch): Promise<AcceptedUpload>;
  archiveSegment(key: Key): Promise<SegmentDetail>;
  unarchiveSegment(key: Key): Promise<SegmentDetail>;
  /** Campaigns that go or went to a segment, newest first. */
  listCampaignsOfSegment(key: Key): Promise<CampaignOfSegment[]>;
  /** Customer ids of some members of a segment. */
  listSampleMembers(key: Key): Promise<string[]>;
  /** Where the rejected lines of an operation are downloaded, for a link. */
  rejectsUrl(operation: { workspaceId: string; segmentId: string; operationId: string }): string;
  /** Newest first. */
  listCallbacks(workspaceId: string): Promise<ConsoleCallback[]>;
  readCallback(key: Key): Promise<CallbackDetail>;
  /** Sends a callback again that has ended. @throws CarillonError */
  resendCallback(key: Key): Promise<CallbackDetail>;
  /** Newest first. */
  listMails(workspaceId: string): Promise<ConsoleMail[]>;
  /** The secret that signs the workspace's callbacks, made on the first look. */
  readWebhookSecret(workspaceId: string): Promise<string>;
  /** Why a person got a campaign or did not. @throws CarillonError 404 for an unknown campaign */
  explain(asked: {
    workspaceId: string;
    campaignId: string;
    customerId: string;
    runId?: string;
  }): Promise<DeliveryExplanation>;
};

/** What the console asks its server; the session travels in a cookie. */
export function makeConsoleClient({ fetch: request = fetch }: { fetch?: typeof fetch } = {}): ConsoleClient {
  const caller = makeConsoleCaller(request);
  const { call, read, send } = caller;
  async function changeSegment(action: 'archive' | 'unarchive', { workspaceId, id }: Key): Promise<SegmentDetail> {
    const path = `segments/${id}/${action}?${new URLSearchParams({ workspaceId })}`;
    return (await send<{ segment: SegmentDetail }>('POST', path)).segment;
  }
  return {
    accounts: makeConsoleAccounts(caller),
    campaigns: makeConsoleCampaigns(caller),
    composer: makeConsoleComposer(caller),
    keys: makeConsoleKeys(caller),
    messages: makeConsoleMessages(caller),
    people: makeConsolePeople(caller),
    settings: makeConsoleSettings(caller),
    sandbox: makeConsoleSandbox(caller),
    system: makeConsoleSystem(caller),
    credentials: makeConsoleCredentials(caller),
    calls: makeConsoleCalls(caller),
    deliveries: makeConsoleDeliveries(caller),
    readSession: () => read<ConsoleSession>('session', {}),
    readOverview: (workspaceId) => read<Overview>('overview', { workspaceId }),
    countPeople: (workspaceId) => read<PeopleCounts>('overview/people', { workspaceId }),
    async readInbox({ workspaceId, after }) {
      const query = new URLSearchParams({ workspaceId, ...(after === undefined ? {} : { after }) });
      return ((await (await call(`inbox?${query}`)).json()) as { messages: InboxMessage[] }).messages;
    },
    listSegments: (workspaceId) => read<SegmentList>('segments', { workspaceId }),
    readSegment: async ({ workspaceId, id }) =>
      (await read<{ segment: SegmentDetail }>(`segments/${id}`, { workspaceId })).segment,
    async uploadSegmentFile({ file, expiryDays, ...upload }) {
      const query = new URLSearchParams({ ...upload, ...(expiryDays && { expiryDays: String(expiryDays) }) });
      const answer = await call(`segments/upload?${query}`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv' },
        body: file,
      });
      return (await answer.json()) as AcceptedUpload;
    },
    fetchSegmentFile: ({ workspaceId, ...fetched }) =>
      send('POST', `segments/fetch?${new URLSearchParams({ workspaceId })}`, fetched),
    archiveSegment: (key) => changeSegment('archive', key),
    unarchiveSegment: (key) => changeSegment('unarchive', key),
    listCampaignsOfSegment: async ({ workspaceId, id }) =>
      (await read<{ campaigns: CampaignOfSegment[] }>(`segments/${id}/campaigns`, { workspaceId })).campaigns,
    listSampleMembers: async ({ workspaceId, id }) =>
      (await read<{ customerIds: string[] }>(`segments/${id}/members`, { workspaceId })).customerIds,
    rejectsUrl: ({ workspaceId, segmentId, operationId }) =>
      `/console/api/segments/${segmentId}/operations/${operationId}/rejects.csv?${new URLSearchParams({ workspaceId })}`,
    listCallbacks: async (workspaceId) =>
      (await read<{ callbacks: ConsoleCallback[] }>('callbacks', { workspaceId })).callbacks,
    readCallback: async ({ workspaceId, id }) =>
      (await read<{ callback: CallbackDetail }>(`callbacks/${id}`, { workspaceId })).callback,
    async resendCallback({ workspaceId, id }) {
      const path = `callbacks/${id}/resend?${new URLSearchParams({ workspaceId })}`;
      return ((await (await call(path, { method: 'POST' })).json()) as { callback: CallbackDetail }).callback;
    },
    listMails: async (workspaceId) => (await read<{ mails: ConsoleMail[] }>('mails', { workspaceId })).mails,
    explain: async (asked) => (await read<{ explanation: DeliveryExplanation }>('explain', { ...asked })).explanation,
    readWebhookSecret: async (workspaceId) =>
      (await read<{ secret: string }>('webhook-secret', { workspaceId })).secret,
  };
}

import type { ConsoleCaller } from './console-caller.ts';

/** A call of the API. Bodies are kept up to 4,096 characters, those with credentials not at all. */
export type LoggedCall = {
  id: string;
  receivedAt: string;
  method: string;
  path: string;
  route: string;
  status: number;
  durationMilliseconds: number;
  keyId: string | null;
  keyName: string | null;
  /** Null: it was done. */
  errorName: string | null;
  /** What the caller was told. */
  errorText: string | null;
  /** What to do about it. */
  advice: string | null;
  /** What the caller was not told. */
  errorDetail: string | null;
  warnings: string[];
};

export type CallDetail = LoggedCall & { requestBody: string | null };

export type CallFilters = {
  /** Calls that named no workspace we know. */
  of?: 'nobody';
  only?: 'refused';
  /** Id of a key. */
  key?: string;
  /** `next` of the page before. */
  after?: string;
};

export type ConsoleCalls = {
  /** Newest first. */
  list(query: CallFilters & { workspaceId: string }): Promise<{ calls: LoggedCall[]; next: string | null }>;
  /** @throws CarillonError 404 */
  read(key: { workspaceId: string; id: string }): Promise<CallDetail>;
};

export function makeConsoleCalls({ read }: ConsoleCaller): ConsoleCalls {
  return {
    list: (query) => read('calls', { ...query }),
    read: async ({ workspaceId, id }) => (await read<{ call: CallDetail }>(`calls/${id}`, { workspaceId })).call,
  };
}

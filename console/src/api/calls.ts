import type { ConsoleCaller, Key } from './console-caller.ts';

export type CallFilters = {
  /** Calls that named no workspace we know. */
  of?: 'nobody';
  only?: 'refused';
  /** Id of a key. */
  key?: string;
  /** `2xx` to `5xx`. */
  status?: string;
  /** A part of the path. */
  path?: string;
  /** Stands in the path or a body. */
  text?: string;
  /** Instants. */
  from?: string;
  before?: string;
  /** `next` of the page before. */
  after?: string;
};

/** The log of the API's calls. */
export function makeCallLogCalls({ ask }: ConsoleCaller) {
  return {
    /** Newest first. */
    list: (query: CallFilters & { workspaceId: string }) => ask('GET calls', { query }),
    /** @throws CarillonError 404 */
    read: async ({ workspaceId, id }: Key) =>
      (await ask('GET calls/:id', { params: { id }, query: { workspaceId } })).call,
  };
}

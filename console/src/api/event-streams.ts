import type { ConsoleCaller, Key } from './console-caller.ts';

/** Event streams, and the batches that their receivers did not take. */
export function makeStreamCalls({ ask }: ConsoleCaller) {
  return {
    list: async (workspaceId: string) => (await ask('GET event-streams', { query: { workspaceId } })).streams,
    /** Newest first; `next` is the `after` of the next page. */
    listDeadBatches: ({ workspaceId, id, after }: Key & { after?: string | undefined }) =>
      ask('GET event-streams/:id/dead-batches', { params: { id }, query: { workspaceId, after } }),
    /** One of them, or all. */
    resend: ({ workspaceId, id, batchId }: Key & { batchId?: string | undefined }) =>
      ask('POST event-streams/:id/resend', {
        params: { id },
        query: { workspaceId },
        body: batchId === undefined ? {} : { batchId },
      }),
  };
}

import type { ConsoleCaller, Key } from './console-caller.ts';

/** Searches that the one who is signed in has named. */
export function makeViewCalls({ ask }: ConsoleCaller) {
  return {
    /** By name. */
    list: async (workspaceId: string) => (await ask('GET views/campaigns', { query: { workspaceId } })).views,
    /** One of the same name is replaced. */
    save: ({ workspaceId, ...view }: { workspaceId: string; name: string; search: string }) =>
      ask('POST views/campaigns', { query: { workspaceId }, body: view }),
    remove: ({ workspaceId, id }: Key) => ask('DELETE views/campaigns/:id', { params: { id }, query: { workspaceId } }),
  };
}

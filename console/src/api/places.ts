import type { ConsoleCaller } from './console-caller.ts';

export function makePlaceCalls({ ask }: ConsoleCaller) {
  return {
    /** What a word names: an id, a part of a name. */
    find: async ({ signal, ...query }: { workspaceId: string; q: string; signal?: AbortSignal }) =>
      (await ask('GET places', { query, signal })).places,
  };
}

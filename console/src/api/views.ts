import type { ConsoleCaller } from './console-caller.ts';

/** Lists whose searches may be saved. */
export type ViewedScreen = 'campaigns' | 'segments' | 'deliveries' | 'calls' | 'audit';

type OfScreen = { workspaceId: string; screen: ViewedScreen };

/** Searches that the one who is signed in has named. */
export function makeViewCalls({ ask }: ConsoleCaller) {
  const of = ({ workspaceId, screen }: OfScreen) => ({ params: { screen }, query: { workspaceId } });
  return {
    /** By name. */
    list: async (screen: OfScreen) => (await ask('GET views/:screen', of(screen))).views,
    /** One of the same name is replaced. */
    save: ({ name, search, ...screen }: OfScreen & { name: string; search: string }) =>
      ask('POST views/:screen', { ...of(screen), body: { name, search } }),
    remove: ({ id, ...screen }: OfScreen & { id: string }) =>
      ask('DELETE views/:screen/:id', {
        params: { screen: screen.screen, id },
        query: { workspaceId: screen.workspaceId },
      }),
  };
}

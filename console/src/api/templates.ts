import type { ConsoleCaller, Key } from './console-caller.ts';

type Named = Key & { name: string };

export function makeTemplateCalls({ ask }: ConsoleCaller) {
  const of = ({ workspaceId, id }: Key) => ({ params: { id }, query: { workspaceId } });
  return {
    /** By name. */
    list: async (workspaceId: string) => (await ask('GET templates', { query: { workspaceId } })).templates,
    /** Keeps the campaign of that id. */
    create: ({ name, ...campaign }: Named) => ask('POST campaigns/:id/template', { ...of(campaign), body: { name } }),
    rename: ({ name, ...key }: Named) => ask('PATCH templates/:id', { ...of(key), body: { name } }),
    remove: (key: Key) => ask('DELETE templates/:id', of(key)),
    /** A draft of it. */
    use: (key: Key) => ask('POST templates/:id/use', of(key)),
  };
}

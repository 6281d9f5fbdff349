import type { ConsoleCaller } from './console-caller.ts';

export function makeSystemCalls({ ask }: ConsoleCaller) {
  return { read: (workspaceId: string) => ask('GET system', { query: { workspaceId } }) };
}

import type { ConsoleCaller } from './console-caller.ts';
import type { WorkspaceSettings } from './generated/settings.ts';

export function makeSettingsCalls({ ask }: ConsoleCaller) {
  return {
    readFixed: (workspaceId: string) => ask('GET settings/fixed', { query: { workspaceId } }),
    read: async (workspaceId: string) => (await ask('GET settings', { query: { workspaceId } })).settings,
    /** @throws CarillonError 400 with what is possible */
    change: async ({ workspaceId, ...settings }: WorkspaceSettings & { workspaceId: string }) =>
      (await ask('PUT settings', { query: { workspaceId }, body: settings })).settings,
  };
}

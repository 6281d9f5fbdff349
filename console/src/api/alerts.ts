import type { ConsoleCaller } from './console-caller.ts';
import type { AlertKind } from './generated/alerts.ts';

export type AlertSettingsChange = { webhookUrl: string; emails: string[]; mutedKinds: AlertKind[] };

/** What keeps a workspace's messages from people, and who is told. */
export function makeAlertCalls({ ask }: ConsoleCaller) {
  return {
    /** Newest first, at most 100. */
    list: async (workspaceId: string) => (await ask('GET alerts', { query: { workspaceId } })).alerts,
    readSettings: async (workspaceId: string) =>
      (await ask('GET alerts/settings', { query: { workspaceId } })).settings,
    changeSettings: async ({ workspaceId, ...body }: AlertSettingsChange & { workspaceId: string }) =>
      (await ask('PUT alerts/settings', { query: { workspaceId }, body })).settings,
    /** To where alerts go. */
    test: (workspaceId: string) => ask('POST alerts/test', { query: { workspaceId } }),
  };
}

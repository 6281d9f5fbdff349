import type { ConsoleCaller, Key } from './console-caller.ts';
import type { KeyKind } from './generated/keys.ts';

type NewKey = { workspaceId: string; kind: KeyKind; name: string; accessTokenMinutes?: number };

export function makeKeyCalls({ ask }: ConsoleCaller) {
  return {
    /** Newest first. */
    list: async (workspaceId: string) => (await ask('GET keys', { query: { workspaceId } })).keys,
    create: ({ workspaceId, ...key }: NewKey) => ask('POST keys', { query: { workspaceId }, body: key }),
    /** Makes a successor; the old one works on for so many hours, 0 to 720. */
    rotate: ({ workspaceId, id, overlapHours }: Key & { overlapHours: number }) =>
      ask('POST keys/:id/rotate', { params: { id }, query: { workspaceId }, body: { overlapHours } }),
    /** For good, at once. */
    revoke: ({ workspaceId, id }: Key) => ask('POST keys/:id/revoke', { params: { id }, query: { workspaceId } }),
    /** The secret that signs the workspace's callbacks, made on the first look. */
    readWebhookSecret: async (workspaceId: string) =>
      (await ask('GET webhook-secret', { query: { workspaceId } })).secret,
  };
}

import type { ConsoleCaller } from './console-caller.ts';

export type KeyKind = 'oauth' | 'data' | 'push' | 'campaigns';

export type ConsoleKey = {
  id: string;
  kind: KeyKind;
  name: string;
  /** First and last characters of the secret. */
  hint: string;
  createdAt: string;
  /** To the minute. */
  lastUsedAt: string | null;
  accessTokenMinutes: number;
  archivedAt: string | null;
  /** It was rotated and ends then. */
  endsAt: string | null;
};

/** The secret is answered here alone. */
export type MadeKey = { key: ConsoleKey; secret: string; curl: string };

type Key = { workspaceId: string; id: string };

export type ConsoleKeys = {
  /** Newest first. */
  list(workspaceId: string): Promise<ConsoleKey[]>;
  create(key: { workspaceId: string; kind: KeyKind; name: string; accessTokenMinutes?: number }): Promise<MadeKey>;
  /** Makes a successor; the old one works on for so many hours, 0 to 720. */
  rotate(rotation: Key & { overlapHours: number }): Promise<MadeKey & { endsAt: string }>;
  /** For good, at once. */
  revoke(key: Key): Promise<void>;
};

export function makeConsoleKeys({ read, send }: ConsoleCaller): ConsoleKeys {
  const of = (workspaceId: string, path = ''): string => `keys${path}?${new URLSearchParams({ workspaceId })}`;
  return {
    list: async (workspaceId) => (await read<{ keys: ConsoleKey[] }>('keys', { workspaceId })).keys,
    create: ({ workspaceId, ...key }) => send('POST', of(workspaceId), key),
    rotate: ({ workspaceId, id, overlapHours }) => send('POST', of(workspaceId, `/${id}/rotate`), { overlapHours }),
    revoke: ({ workspaceId, id }) => send('POST', of(workspaceId, `/${id}/revoke`)),
  };
}

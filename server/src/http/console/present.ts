import type { ApiKey } from '../../app/keys/authenticate-key.ts';
import type { readConsoleInbox } from '../../app/console/read-installation.ts';

type Message = Awaited<ReturnType<typeof readConsoleInbox>>[number];

/** A key as it may be shown: never a secret or its hash. */
export function presentKey(key: ApiKey) {
  return {
    id: key.id,
    kind: key.kind,
    name: key.name,
    hint: key.secretHint,
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    accessTokenMinutes: key.accessTokenMinutes,
    archivedAt: key.archivedAt?.toISOString() ?? null,
    endsAt: key.endsAt?.toISOString() ?? null,
  };
}

export function presentInboxMessage(message: Message) {
  return { ...message, receivedAt: message.receivedAt.toISOString() };
}

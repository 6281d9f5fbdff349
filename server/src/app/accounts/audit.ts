import type { RealClock } from '../../clock.ts';
import type { Role } from '../../domain/access/accounts.ts';
import { makeId } from '../../domain/ids.ts';
import { insertAuditEntry, listAuditEntries } from '../../storage/accounts/accounts.ts';
import type { AuditEntry, AuditFilters } from '../../storage/accounts/accounts.ts';
import type { Queryable, Database } from '../../storage/database.ts';
import type { PasswordHash } from './password-hash.ts';

/** The user who acts in the console, and the user's name in the log. */
export type Actor = { id: string | null; name: string };

export type Audited = {
  actor: Actor;
  /** Undefined for changes to the whole installation. */
  workspaceId?: string;
  /** The object's kind and the action: `campaign.stop`. */
  action: `${string}.${string}`;
  object?: { id: string; name?: string };
  /** The changed values; never a secret. */
  detail?: Record<string, unknown>;
  /** When the user acted, in real time (`clock.realNow()`): a moved sandbox clock does not reorder the log. */
  at: Date;
  /** The sandbox time of a change to a workspace's user; the user's timeline is sorted by it. */
  shownAt?: Date;
};

/** Writes an audit log entry in the transaction of the change, so that no change goes unlogged. */
export async function audit(tx: Queryable, entry: Audited): Promise<void> {
  await insertAuditEntry(tx, {
    id: makeId(entry.at),
    workspaceId: entry.workspaceId ?? null,
    at: entry.at,
    shownAt: entry.shownAt ?? null,
    actorId: entry.actor.id,
    actorName: entry.actor.name,
    action: entry.action,
    objectKind: entry.action.split('.', 1)[0]!,
    objectId: entry.object?.id ?? null,
    objectName: entry.object?.name ?? null,
    detail: entry.detail ?? {},
  });
}

export type AccountDependencies = {
  database: Database;
  clock: RealClock;
  passwords: PasswordHash;
  /** The accounts that may sign in with a password: everyone, unless company sign-in replaces passwords. */
  passwordSignIn?: 'everyone' | 'owners';
};

/** Dependencies of the console's routes and of the start. A sandbox opens its console without an account. */
export type ConsoleAccountDependencies = AccountDependencies & { isSandbox: boolean };

/** The signed-in user. The start link of a sandbox opens the console without an account, as an owner. */
export type SignedIn = Actor & { sessionId: string; email: string | null; role: Role };

/** The source of a call to the console. */
export type ConsoleCaller = { address: string; userAgent: string };

export type OpenedSession = { token: string; maxAgeSeconds: number };

export type { AuditEntry };

export type AuditQuery = AuditFilters & { workspaceId: string; beforeId: string | undefined };

const maxEntries = 100;
/** Per exported file. */
export const maxExportedLines = 10_000;

/** Newest first. */
export function listAudit({ database }: Pick<AccountDependencies, 'database'>, query: AuditQuery) {
  return listAuditEntries(database, { ...query, limit: maxEntries });
}

/** Yields the same entries page by page, up to `maxExportedLines`. */
export async function* exportAudit(
  { database }: Pick<AccountDependencies, 'database'>,
  query: Omit<AuditQuery, 'beforeId'>,
): AsyncGenerator<AuditEntry[]> {
  const limit = 500;
  let beforeId: string | undefined;
  for (let left = maxExportedLines; left > 0; left -= limit) {
    const entries = await listAuditEntries(database, { ...query, beforeId, limit });
    yield entries;
    beforeId = entries.at(-1)?.id;
    if (entries.length < limit) return;
  }
}

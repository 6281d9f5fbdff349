import type { RealClock } from '../../clock.ts';
import type { Role } from '../../domain/access/accounts.ts';
import { makeId } from '../../domain/ids.ts';
import { insertAuditEntry, listAuditEntries } from '../../storage/accounts/accounts.ts';
import type { AuditEntry, AuditFilters } from '../../storage/accounts/accounts.ts';
import type { Queryable, Database } from '../../storage/database.ts';
import type { PasswordHash } from './password-hash.ts';

/** Who does something in the console, and what the log calls them. */
export type Actor = { id: string | null; name: string };

export type Audited = {
  actor: Actor;
  /** Undefined: what concerns the whole installation. */
  workspaceId?: string;
  /** The object's kind and what was done: `campaign.stop`. */
  action: `${string}.${string}`;
  object?: { id: string; name?: string };
  /** What changed; never a secret. */
  detail?: Record<string, unknown>;
  /** When the user acted, in real time (`clock.realNow()`): a moved sandbox clock does not reorder the log. */
  at: Date;
  /** The sandbox's time of a change to a user of a workspace, by which the user's timeline is ordered. */
  shownAt?: Date;
};

/** Writes what was done into the audit log, in the transaction that does it: there is no change without its line. */
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
  /** Whose passwords open a session; everyone's unless the company's accounts do. */
  passwordSignIn?: 'everyone' | 'owners';
};

/** What the console's routes and the start need: a sandbox opens its console without an account. */
export type ConsoleAccountDependencies = AccountDependencies & { isSandbox: boolean };

/** Who is signed in. The start link of a sandbox opens the console without an account, as an owner. */
export type SignedIn = Actor & { sessionId: string; email: string | null; role: Role };

/** Where a call to the console comes from. */
export type ConsoleCaller = { address: string; userAgent: string };

export type OpenedSession = { token: string; maxAgeSeconds: number };

export type { AuditEntry };

export type AuditQuery = AuditFilters & { workspaceId: string; beforeId: string | undefined };

const maxEntries = 100;
/** Of a file. */
export const maxExportedLines = 10_000;

/** Newest first. */
export function listAudit({ database }: Pick<AccountDependencies, 'database'>, query: AuditQuery) {
  return listAuditEntries(database, { ...query, limit: maxEntries });
}

/** The same, page after page, to the bound. */
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

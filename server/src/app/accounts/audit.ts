import type { RealClock } from '../../clock.ts';
import { isPermitted } from '../../domain/access/accounts.ts';
import type { Access } from '../../domain/access/accounts.ts';
import type { SecondFactorRule, SessionStage } from '../../domain/access/second-factor.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { makeId } from '../../domain/ids.ts';
import { insertAuditEntry, listAuditEntries } from '../../storage/accounts/accounts.ts';
import type { AuditEntry, AuditFilters, AuditScope } from '../../storage/accounts/accounts.ts';
import type { Queryable, Database } from '../../storage/database.ts';
import type { PasswordHash } from './password-hash.ts';

/** The caller of a use case, with the name that records and the audit log show. */
export type Actor =
  /** A user of the console; the start link of a sandbox opens it without an account, and has no id. */
  | { kind: 'account'; id: string | null; name: string; agent?: Agent }
  /** A visitor of the console who has not signed in. */
  | { kind: 'visitor'; name: string }
  /** A caller of the API. */
  | { kind: 'program'; name: string }
  | { kind: 'command-line'; name: string }
  /** Carillon itself, for example the restore of a backup. */
  | { kind: 'system'; name: string };

/** The token of an agent that acts with the rights of an account. */
export type Agent = { tokenId: string; mayPropose: boolean };

/**
 * The actions, or their first parts, that are logged of each kind of actor. The API log has the calls of programs; only the
 * apps and topics that they change are in the audit log as well.
 */
const loggedActions: Record<Actor['kind'], readonly string[]> = {
  account: [''],
  visitor: [''],
  program: ['app.', 'topic.'],
  'command-line': [''],
  system: [],
};

/** Returns the actor of a change that a user makes to their own account. */
export function accountActor({ id, name }: { id: string; name: string }): Actor {
  return { kind: 'account', id, name };
}

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

/**
 * Writes an audit log entry in the transaction of the change, so that no change goes unlogged. Nothing is written for an actor
 * whose action is not among `loggedActions`.
 */
export async function audit(tx: Queryable, entry: Audited): Promise<void> {
  const { actor } = entry;
  if (!loggedActions[actor.kind].some((logged) => entry.action.startsWith(logged))) return;
  await insertAuditEntry(tx, {
    id: makeId(entry.at),
    workspaceId: entry.workspaceId ?? null,
    at: entry.at,
    shownAt: entry.shownAt ?? null,
    actorId: actor.kind === 'account' ? actor.id : null,
    actorName: actor.name,
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
  /** Encrypts the secrets of authenticator apps. */
  encryption: Encryption;
  /** The accounts that may sign in with a password: everyone, unless company sign-in replaces passwords. */
  passwordSignIn?: 'everyone' | 'owners';
  /** The accounts that need a second factor. */
  secondFactor: SecondFactorRule;
  /** The origin of the service, which passkeys belong to, if one is set. */
  publicUrl: string | undefined;
};

/** Dependencies of the console's routes and of the start. A sandbox opens its console without an account. */
export type ConsoleAccountDependencies = AccountDependencies & { isSandbox: boolean };

/** The signed-in user. The start link of a sandbox opens the console without an account, as an owner. */
export type SignedIn = Extract<Actor, { kind: 'account' }> & {
  sessionId: string;
  email: string | null;
  access: Access;
  stage: SessionStage;
  /** When the session was opened, in real time. */
  openedAt: Date;
};

/** The source of a call to the console. */
export type ConsoleCaller = { address: string; userAgent: string };

export type OpenedSession = { token: string; maxAgeSeconds: number };

export type { AuditEntry };

export type AuditQuery = AuditFilters & { reader: SignedIn; workspaceId: string; beforeId: string | undefined };

const maxEntries = 100;
/** Per exported file. */
export const maxExportedLines = 10_000;

/** Newest first. Entries of the installation are only for users who may read the log of every workspace. */
export function listAudit({ database }: Pick<AccountDependencies, 'database'>, query: AuditQuery) {
  return listAuditEntries(database, { ...query, scope: scopeOf(query.reader), limit: maxEntries });
}

function scopeOf({ access }: SignedIn): AuditScope {
  return isPermitted(access, { permission: 'audit.read', workspaceId: undefined }) ? 'installation' : 'workspace';
}

/** Yields the same entries page by page, up to `maxExportedLines`. */
export async function* exportAudit(
  { database }: Pick<AccountDependencies, 'database'>,
  query: Omit<AuditQuery, 'beforeId'>,
): AsyncGenerator<AuditEntry[]> {
  const limit = 500;
  const scope = scopeOf(query.reader);
  let beforeId: string | undefined;
  for (let left = maxExportedLines; left > 0; left -= limit) {
    const entries = await listAuditEntries(database, { ...query, scope, beforeId, limit });
    yield entries;
    beforeId = entries.at(-1)?.id;
    if (entries.length < limit) return;
  }
}

import type { AssignedRole, WorkspaceRole } from '../../domain/access/accounts.ts';
import type { SessionStage } from '../../domain/access/second-factor.ts';
import type { Queryable } from '../database.ts';
import { findAccount, workspaceRolesOf } from './accounts.ts';
import type { Account } from './accounts.ts';

export type NewSession = {
  tokenHash: Buffer;
  id: string;
  /** Null for a sandbox's start link. */
  accountId: string | null;
  sourceAddress: string;
  /** Up to 300 characters. */
  userAgent: string;
  stage: SessionStage;
  at: Date;
  expiresAt: Date;
};

export async function insertConsoleSession(tx: Queryable, session: NewSession): Promise<void> {
  await tx`
    insert into console_sessions
      (token_hash, id, account_id, source_address, user_agent, stage, created_at, last_seen_at, expires_at)
    values (${session.tokenHash}, ${session.id}, ${session.accountId}, ${session.sourceAddress}, ${session.userAgent},
      ${session.stage}, ${session.at}, ${session.at}, ${session.expiresAt})`;
}

export type SessionOwner = {
  sessionId: string;
  stage: SessionStage;
  createdAt: Date;
  lastSeenAt: Date;
  account: ({ id: string; email: string; name: string; workspaceRoles: WorkspaceRole[] } & AssignedRole) | null;
};

/**
 * Returns the owner of the session that a token belongs to. The account's role is read each time, so that a change
 * applies from the next call on; a disabled account has no session. Index: primary keys.
 */
export async function findSessionOwner(
  tx: Queryable,
  { tokenHash, at }: { tokenHash: Buffer; at: Date },
): Promise<SessionOwner | undefined> {
  const [row] = await tx<SessionOwner[]>`
    select console_sessions.id as "sessionId", console_sessions.stage, console_sessions.created_at as "createdAt",
      console_sessions.last_seen_at as "lastSeenAt",
      case when accounts.id is not null then jsonb_build_object(
        'id', accounts.id, 'email', accounts.email, 'name', accounts.name, 'role', accounts.role,
        'groupRole', accounts.group_role, 'workspaceRoles', ${workspaceRolesOf(tx)}
      ) end as account
    from console_sessions
    left join accounts on accounts.id = console_sessions.account_id
    where console_sessions.token_hash = ${tokenHash} and console_sessions.expires_at > ${at}
      and accounts.disabled_at is null`;
  return row;
}

/**
 * Updates the time a session was last seen. Call it at most once a minute, so that a page that polls each second writes
 * little. Index: primary key.
 */
export async function touchConsoleSession(
  tx: Queryable,
  { tokenHash, at }: { tokenHash: Buffer; at: Date },
): Promise<void> {
  await tx`update console_sessions set last_seen_at = ${at} where token_hash = ${tokenHash}`;
}

export type ConsoleSession = {
  id: string;
  accountId: string | null;
  sourceAddress: string;
  userAgent: string;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
};

/** Lists open sessions of an account, or of the sandbox's link, newest first. Index: console_sessions_account. */
export async function listConsoleSessions(
  tx: Queryable,
  { accountId, at }: { accountId: string | null; at: Date },
): Promise<ConsoleSession[]> {
  return tx<ConsoleSession[]>`
    select id, account_id as "accountId", source_address as "sourceAddress", user_agent as "userAgent",
      created_at as "createdAt", last_seen_at as "lastSeenAt", expires_at as "expiresAt"
    from console_sessions
    where ${accountId === null ? tx`account_id is null` : tx`account_id = ${accountId}`} and expires_at > ${at}
    order by id desc limit 200`;
}

/** Ends one session of that account. Index: unique id. @returns whether there was one */
export async function deleteSessionOf(
  tx: Queryable,
  { accountId, id }: { accountId: string | null; id: string },
): Promise<boolean> {
  const rows = await tx`
    delete from console_sessions where id = ${id} and account_id is not distinct from ${accountId} returning 1`;
  return rows.length === 1;
}

/** Ends every session of an account; `exceptId` keeps the user's own. Index: console_sessions_account. */
export async function deleteSessionsOf(
  tx: Queryable,
  { accountId, exceptId }: { accountId: string; exceptId?: string },
): Promise<number> {
  const rows = await tx`
    delete from console_sessions
    where account_id = ${accountId} and ${exceptId === undefined ? tx`true` : tx`id <> ${exceptId}`}`;
  return rows.count;
}

export async function deleteConsoleSession(tx: Queryable, tokenHash: Buffer): Promise<void> {
  await tx`delete from console_sessions where token_hash = ${tokenHash}`;
}

/** Index: console_sessions_expiry. */
export async function deleteExpiredConsoleSessions(tx: Queryable, at: Date): Promise<number> {
  const rows = await tx`delete from console_sessions where expires_at <= ${at}`;
  return rows.count;
}

export type CompanySignIn = { stateHash: Buffer; browserHash: Buffer; encrypted: Buffer; expiresAt: Date };

/** Stores a sign-in that is in progress. */
export async function insertCompanySignIn(
  tx: Queryable,
  { stateHash, browserHash, encrypted, expiresAt }: CompanySignIn,
) {
  await tx`
    insert into company_sign_ins (state_hash, browser_hash, sealed, expires_at)
    values (${stateHash}, ${browserHash}, ${encrypted}, ${expiresAt})`;
}

/**
 * Uses a sign-in up: deletes the row, so that it completes once, and only in the browser that began it. Index: primary
 * key.
 *
 * @returns nonce and verifier, encrypted
 */
export async function takeCompanySignIn(
  tx: Queryable,
  { stateHash, browserHash, at }: { stateHash: Buffer; browserHash: Buffer; at: Date },
): Promise<Buffer | undefined> {
  const [row] = await tx<{ encrypted: Buffer }[]>`
    delete from company_sign_ins
    where state_hash = ${stateHash} and browser_hash = ${browserHash} and expires_at > ${at}
    returning sealed as encrypted`;
  return row?.encrypted;
}

/** Deletes sign-ins whose browser never came back. Index: company_sign_ins_expiry. */
export async function deleteExpiredCompanySignIns(tx: Queryable, at: Date): Promise<void> {
  await tx`delete from company_sign_ins where expires_at <= ${at}`;
}

type Identity = { issuer: string; subject: string };

/** Finds the account of an issuer's subject. Indexes: primary keys. */
export async function findAccountByIdentity(
  tx: Queryable,
  { issuer, subject }: Identity,
): Promise<Account | undefined> {
  const [row] = await tx<{ accountId: string }[]>`
    select account_id as "accountId" from account_identities where issuer = ${issuer} and subject = ${subject}`;
  return row && findAccount(tx, row.accountId);
}

/**
 * Links an account to an issuer's subject. Index: primary key, unique (issuer, account_id).
 *
 * @returns false when the account or the subject is linked already
 */
export async function insertAccountIdentity(
  tx: Queryable,
  { issuer, subject, accountId, at }: Identity & { accountId: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    insert into account_identities (issuer, subject, account_id, created_at)
    values (${issuer}, ${subject}, ${accountId}, ${at})
    on conflict do nothing returning 1`;
  return rows.length === 1;
}

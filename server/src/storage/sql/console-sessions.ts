import type { Queryable } from '../pool.ts';

export type NewSession = { tokenHash: Buffer; state: 'LINK' | 'OPEN'; createdAt: Date; expiresAt: Date };

export async function insertConsoleSession(tx: Queryable, session: NewSession): Promise<void> {
  await tx`
    insert into console_sessions (token_hash, state, created_at, expires_at)
    values (${session.tokenHash}, ${session.state}, ${session.createdAt}, ${session.expiresAt})`;
}

/** Uses up a sign-in link: the row goes, so a link works once, also for two browsers at the same moment. */
export async function takeSignInLink(
  tx: Queryable,
  { tokenHash, at }: { tokenHash: Buffer; at: Date },
): Promise<boolean> {
  const rows = await tx`
    delete from console_sessions
    where token_hash = ${tokenHash} and state = 'LINK' and expires_at > ${at}
    returning 1`;
  return rows.length === 1;
}

/** Whether an open session has this token. Index: primary key. */
export async function isConsoleSessionOpen(
  tx: Queryable,
  { tokenHash, at }: { tokenHash: Buffer; at: Date },
): Promise<boolean> {
  const rows = await tx`
    select 1 from console_sessions where token_hash = ${tokenHash} and state = 'OPEN' and expires_at > ${at}`;
  return rows.length === 1;
}

export async function deleteConsoleSession(tx: Queryable, tokenHash: Buffer): Promise<void> {
  await tx`delete from console_sessions where token_hash = ${tokenHash}`;
}

export async function deleteExpiredConsoleSessions(tx: Queryable, at: Date): Promise<number> {
  const rows = await tx`delete from console_sessions where expires_at <= ${at}`;
  return rows.count;
}

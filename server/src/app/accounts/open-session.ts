import { randomBytes } from 'node:crypto';
import { hashSecret } from '../../domain/tokens/secret.ts';
import { makeId } from '../../domain/ids.ts';
import type { Queryable } from '../../storage/database.ts';
import { deleteExpiredConsoleSessions, insertConsoleSession } from '../../storage/accounts/console-sessions.ts';
import type { ConsoleCaller, OpenedSession } from './account-dependencies.ts';
import { sessionHours } from '../../domain/accounts/limits.ts';

const maxUserAgentCharacters = 300;

/** Opens a session for twelve hours. Its token is 256 random bits; only the hash is stored. */
export async function openSession(
  tx: Queryable,
  session: { accountId: string | null; caller: ConsoleCaller; at: Date },
): Promise<OpenedSession> {
  const { accountId, caller, at } = session;
  const token = randomBytes(32).toString('base64url');
  await deleteExpiredConsoleSessions(tx, at);
  await insertConsoleSession(tx, {
    tokenHash: hashSecret(token),
    id: makeId(at),
    accountId,
    sourceAddress: caller.address,
    userAgent: caller.userAgent.slice(0, maxUserAgentCharacters),
    at,
    expiresAt: new Date(at.getTime() + sessionHours * 3_600_000),
  });
  return { token, maxAgeSeconds: sessionHours * 3_600 };
}

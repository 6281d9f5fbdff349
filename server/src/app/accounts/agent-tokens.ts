import { randomBytes } from 'node:crypto';
import { accessOf, readAccountName } from '../../domain/access/accounts.ts';
import { hashSecret } from '../../domain/access/keys.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxAgentTokenDays } from '../../domain/limits/access.ts';
import {
  deleteAgentToken,
  deleteExpiredAgentTokens,
  findAgentTokenOwner,
  insertAgentToken,
  touchAgentToken,
} from '../../storage/accounts/agent-tokens.ts';
import { findAccountByEmail } from '../../storage/accounts/accounts.ts';
import { inTransaction } from '../../storage/database.ts';
import { audit } from './audit.ts';
import type { AccountDependencies, Actor, ConsoleAccountDependencies, SignedIn } from './audit.ts';
import { sandboxOwner } from './sign-in.ts';

/** Begins every token, so that scanners of secrets recognise one that was published by mistake. */
const prefix = 'carillon_agent_';
const seenMilliseconds = 60_000;

type Dependencies = Pick<AccountDependencies, 'database' | 'clock'> & { isSandbox: boolean };

type NewToken = {
  actor: Actor;
  /** The account whose rights the token has; undefined: the owner of a sandbox. */
  email: string | undefined;
  name: string;
  days: number;
};

/**
 * Creates a token with the rights of an account. It contains 256 random bits; only the hash is stored.
 *
 * @throws ServiceError PARAMETER_INVALID
 */
export async function createAgentToken(
  { database, clock, isSandbox }: Dependencies,
  { actor, email, name, days }: NewToken,
): Promise<{ id: string; token: string; expiresAt: Date }> {
  const at = clock.realNow();
  if (!Number.isInteger(days) || days < 1 || days > maxAgentTokenDays)
    throw new ServiceError('PARAMETER_INVALID', { field: 'days', reason: `must be 1 to ${maxAgentTokenDays}` });
  if (email === undefined && !isSandbox)
    throw new ServiceError('PARAMETER_INVALID', { field: 'email', reason: 'must name the account of the token' });
  const token = `${prefix}${randomBytes(32).toString('base64url')}`;
  const expiresAt = new Date(at.getTime() + days * 86_400_000);
  const id = makeId(at);
  await inTransaction(database, async (tx) => {
    const account = email === undefined ? undefined : await findAccountByEmail(tx, email);
    if (email !== undefined && (!account || account.disabledAt))
      throw new ServiceError('PARAMETER_INVALID', { field: 'email', reason: 'must be an account that can sign in' });
    await deleteExpiredAgentTokens(tx, at);
    const tokenHash = hashSecret(token);
    const named = readAccountName(name);
    await insertAgentToken(tx, { id, tokenHash, accountId: account?.id ?? null, name: named, at, expiresAt });
    const detail = { account: account?.email ?? null, expiresAt: expiresAt.toISOString() };
    await audit(tx, { actor, action: 'agent-token.create', object: { id, name: named }, detail, at });
  });
  return { id, token, expiresAt };
}

/** Ends a token from the next call on. @throws ServiceError NOT_FOUND */
export async function revokeAgentToken(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { actor, id }: { actor: Actor; id: string },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const name = await deleteAgentToken(tx, id);
    if (name === undefined) throw new ServiceError('NOT_FOUND');
    await audit(tx, { actor, action: 'agent-token.revoke', object: { id, name }, at: clock.realNow() });
  });
}

/**
 * Returns the user whose rights the token has; undefined for an unknown, expired or revoked token, and for one of a
 * disabled account.
 */
export async function findAgent(
  { database, clock, isSandbox }: Pick<ConsoleAccountDependencies, 'database' | 'clock' | 'isSandbox'>,
  token: string,
): Promise<SignedIn | undefined> {
  if (!token.startsWith(prefix)) return undefined;
  const at = clock.realNow();
  const found = await findAgentTokenOwner(database, { tokenHash: hashSecret(token), at });
  // A token without an account is valid only in a sandbox, even if a database from elsewhere contains one.
  if (!found || (!found.account && !isSandbox)) return undefined;
  if (at.getTime() - (found.usedAt?.getTime() ?? 0) >= seenMilliseconds)
    await touchAgentToken(database, { id: found.id, at });
  const session = { sessionId: found.id, stage: 'OPEN', openedAt: found.createdAt } as const;
  if (!found.account) return { kind: 'account', ...sandboxOwner, ...session };
  const { id, name, email } = found.account;
  return { kind: 'account', id, name, email, access: accessOf(found.account), ...session };
}

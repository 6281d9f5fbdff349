import { randomBytes } from 'node:crypto';
import { accessOf, readAccountName } from '../../domain/access/accounts.ts';
import { hashSecret } from '../../domain/access/keys.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { freshSessionMinutes, maxAgentTokenDays, maxAgentTokens } from '../../domain/limits/access.ts';
import {
  countAgentTokens,
  deleteAgentToken,
  deleteExpiredAgentTokens,
  findAgentTokenOwner,
  insertAgentToken,
  listAgentTokens,
  touchAgentToken,
} from '../../storage/accounts/agent-tokens.ts';
import type { AgentToken } from '../../storage/accounts/agent-tokens.ts';
import { findAccountByEmail } from '../../storage/accounts/accounts.ts';
import { withdrawProposalsOfToken } from '../../storage/campaigns/proposals.ts';
import { inTransaction } from '../../storage/database.ts';
import { refuseAgents } from '../campaigns/agent-work.ts';
import { audit } from './audit.ts';
import type { AccountDependencies, Actor, ConsoleAccountDependencies, SignedIn } from './audit.ts';
import { sandboxOwner } from './sign-in.ts';

export type { AgentToken };

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
  /** True: the agent may also change drafts and propose. Default: it only reads. */
  mayPropose?: boolean;
};

/**
 * Creates a token with the rights of an account. It contains 256 random bits; only the hash is stored.
 *
 * @throws ServiceError PARAMETER_INVALID
 */
export async function createAgentToken(
  { database, clock, isSandbox }: Dependencies,
  { actor, email, name, days, mayPropose = false }: NewToken,
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
    const accountId = account?.id ?? null;
    if ((await countAgentTokens(tx, { at, accountId })) >= maxAgentTokens)
      throw new ServiceError('PARAMETER_INVALID', {
        field: 'name',
        reason: `is one more than ${maxAgentTokens} tokens`,
      });
    await insertAgentToken(tx, { id, tokenHash, accountId, name: named, mayPropose, at, expiresAt });
    const detail = { account: account?.email ?? null, mayPropose, expiresAt: expiresAt.toISOString() };
    await audit(tx, { actor, action: 'agent-token.create', object: { id, name: named }, detail, at });
  });
  return { id, token, expiresAt };
}

/**
 * Creates a token for the signed-in user's own account. Only in the first minutes of a session, so that a session left open gives nobody
 * lasting access.
 *
 * @throws ServiceError PARAMETER_INVALID, ACCOUNT_SIGN_IN_STALE
 */
export function createOwnAgentToken(
  deps: Dependencies,
  { actor, ...token }: { actor: SignedIn; name: string; days: number; mayPropose: boolean },
): Promise<{ id: string; token: string; expiresAt: Date }> {
  refuseAgents(actor);
  const ageMilliseconds = deps.clock.realNow().getTime() - actor.openedAt.getTime();
  if (ageMilliseconds > freshSessionMinutes * 60_000) throw new ServiceError('ACCOUNT_SIGN_IN_STALE');
  return createAgentToken(deps, { actor, email: actor.email ?? undefined, ...token });
}

/** Lists the tokens of the signed-in user, or of every account, newest first. */
export function listTokens(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { of }: { of: SignedIn | 'everyone' },
): Promise<AgentToken[]> {
  return listAgentTokens(database, { at: clock.realNow(), accountId: of === 'everyone' ? undefined : of.id });
}

/**
 * Ends a token from the next call on, and what its agent proposed. `of`: the user whose tokens count; otherwise any.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function revokeAgentToken(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { actor, id, of }: { actor: Actor; id: string; of?: SignedIn },
): Promise<void> {
  const at = clock.realNow();
  await inTransaction(database, async (tx) => {
    const name = await deleteAgentToken(tx, { id, accountId: of === undefined ? undefined : of.id });
    if (name === undefined) throw new ServiceError('NOT_FOUND');
    await withdrawProposalsOfToken(tx, { tokenId: id, at, by: actor.name, reason: 'the token was revoked' });
    await audit(tx, { actor, action: 'agent-token.revoke', object: { id, name }, at });
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
  const agent = { tokenId: found.id, mayPropose: found.mayPropose };
  const session = { sessionId: found.id, stage: 'OPEN', openedAt: found.createdAt, agent } as const;
  if (!found.account)
    return { kind: 'account', ...sandboxOwner, name: nameAgent(found.name, sandboxOwner.name), ...session };
  const { id, name, email } = found.account;
  return { kind: 'account', id, name: nameAgent(found.name, name), email, access: accessOf(found.account), ...session };
}

/** The name in drafts, proposals and the audit log, so that nobody takes the work of an agent for that of its person. */
function nameAgent(token: string, account: string): string {
  return `${token} (agent of ${account})`;
}

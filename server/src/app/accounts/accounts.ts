import { readEmail, readNewPassword } from '../../domain/access/accounts.ts';
import type { Role } from '../../domain/access/accounts.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  endInvitation,
  endPasswordLinks,
  findAccount,
  findAccountByEmail,
  listAccounts,
  listInvitations,
  lockOwners,
  setAccountDisabled,
  setAccountRole,
  setWorkspaceRole,
  findWorkspaceRole,
  findPasswordHash,
  replacePasswordHash,
} from '../../storage/accounts/accounts.ts';
import type { Account } from '../../storage/accounts/accounts.ts';
import { deleteAgentTokensOf } from '../../storage/accounts/agent-tokens.ts';
import { deleteSessionsOf, deleteSessionOf, listConsoleSessions } from '../../storage/accounts/console-sessions.ts';
import { withdrawProposalsOfToken } from '../../storage/campaigns/proposals.ts';
import { listProtectedAccounts } from '../../storage/accounts/second-factors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import { requireWorkspace } from '../workspaces.ts';
import { audit } from './audit.ts';
import type { AccountDependencies, SignedIn, Actor, ConsoleCaller } from './audit.ts';
import { makeLink } from './links.ts';
import { requirePasswords, limitAttempts } from './sign-in.ts';

type ManageDependencies = Pick<AccountDependencies, 'database' | 'clock' | 'passwordSignIn'>;
type By = { actor: SignedIn };

/** Oldest first, including invitations not accepted yet. */
export async function listAccountsAndInvitations({ database, clock }: ManageDependencies) {
  const [accounts, open, protectedIds] = await Promise.all([
    listAccounts(database),
    listInvitations(database, clock.realNow()),
    listProtectedAccounts(database),
  ]);
  const shown = accounts.map((account) => ({ ...account, hasSecondFactor: protectedIds.includes(account.id) }));
  return { accounts: shown, invitations: open.map(({ endedAs: _none, ...invitation }) => invitation) };
}

/** Lists the owners of the installation who can sign in, oldest first: a user asks one of them for another role. */
export async function listOwners({ database }: Pick<ManageDependencies, 'database'>) {
  const accounts = await listAccounts(database);
  return accounts
    .filter(({ role, disabledAt }) => role === 'owner' && disabledAt === null)
    .map(({ name, email }) => ({ name, email }));
}

type Offered = { role: Role | null; workspaceRoles: Record<string, Role> };

/** @throws ServiceError ACCOUNT_EMAIL_TAKEN, NOT_FOUND, PARAMETER_INVALID */
export async function inviteAccount(
  { database, clock }: ManageDependencies,
  { actor, email: typed, role, workspaceRoles }: By & Offered & { email: string },
) {
  const email = readEmail(typed);
  const workspaceIds = Object.keys(workspaceRoles);
  if (role === null && workspaceIds.length === 0)
    throw new ServiceError('PARAMETER_INVALID', { field: 'role', reason: 'is required without roles in workspaces' });
  for (const id of workspaceIds) await requireWorkspace(database, id);
  if (await findAccountByEmail(database, email)) throw new ServiceError('ACCOUNT_EMAIL_TAKEN');
  const at = clock.realNow();
  return inTransaction(database, async (tx) => {
    const link = await makeLink(tx, { purpose: 'INVITATION', email, role, workspaceRoles, createdBy: actor.name, at });
    const object = { id: link.id, name: email };
    await audit(tx, { actor, action: 'invitation.create', object, detail: { role, workspaceRoles }, at });
    return link;
  });
}

/** @throws ServiceError NOT_FOUND */
export async function withdrawInvitation(
  { database, clock }: ManageDependencies,
  { actor, id }: By & { id: string },
): Promise<void> {
  const at = clock.realNow();
  await inTransaction(database, async (tx) => {
    const invitation = await endInvitation(tx, { id, at });
    if (!invitation) throw new ServiceError('NOT_FOUND');
    const object = { id, name: invitation.email! };
    await audit(tx, { actor, action: 'invitation.withdraw', object, at });
  });
}

type RoleChange = By & {
  id: string;
  /** Null takes the role away. */
  role: Role | null;
  /** Undefined: the role in the installation. */
  workspaceId: string | undefined;
};

/** Takes effect at the next call of each of the account's sessions. @throws ServiceError NOT_FOUND, ACCOUNT_LAST_OWNER */
export async function changeAccountRole(
  { database, clock }: ManageDependencies,
  { actor, id, role, workspaceId }: RoleChange,
): Promise<Account> {
  const at = clock.realNow();
  if (workspaceId !== undefined) await requireWorkspace(database, workspaceId);
  return await inTransaction(database, async (tx) => {
    const account = await lockAccount(tx, { id, staysOwner: role === 'owner' || workspaceId !== undefined });
    const line = { actor, action: 'account.role', object: { id, name: account.email }, at } as const;
    if (workspaceId === undefined) {
      await setAccountRole(tx, { id, role });
      await audit(tx, { ...line, detail: { from: account.role, to: role } });
    } else {
      const before = await findWorkspaceRole(tx, { accountId: id, workspaceId });
      await setWorkspaceRole(tx, { accountId: id, workspaceId, role });
      await audit(tx, { ...line, workspaceId, detail: { from: before?.role ?? null, to: role } });
    }
    return (await findAccount(tx, id))!;
  });
}

/** Signs the account out everywhere, ends its tokens for agents and blocks sign-in. @throws ServiceError NOT_FOUND, ACCOUNT_LAST_OWNER */
export async function disableAccount(
  { database, clock }: ManageDependencies,
  { actor, id }: By & { id: string },
): Promise<Account> {
  const at = clock.realNow();
  return await inTransaction(database, async (tx) => {
    const account = await lockAccount(tx, { id, staysOwner: false });
    await setAccountDisabled(tx, { id, at });
    await endPasswordLinks(tx, { accountId: id, at });
    const sessions = await deleteSessionsOf(tx, { accountId: id });
    const tokenIds = await deleteAgentTokensOf(tx, id);
    for (const tokenId of tokenIds)
      await withdrawProposalsOfToken(tx, { tokenId, at, by: actor.name, reason: 'its account was disabled' });
    const object = { id, name: account.email };
    await audit(tx, {
      actor,
      action: 'account.disable',
      object,
      detail: { sessions, agentTokens: tokenIds.length },
      at,
    });
    return { ...account, disabledAt: at };
  });
}

/** @throws ServiceError NOT_FOUND */
export async function enableAccount(
  { database, clock }: ManageDependencies,
  { actor, id }: By & { id: string },
): Promise<Account> {
  const at = clock.realNow();
  return await inTransaction(database, async (tx) => {
    const account = await lockAccount(tx, { id, staysOwner: true });
    await setAccountDisabled(tx, { id, at: null });
    await audit(tx, { actor, action: 'account.enable', object: { id, name: account.email }, at });
    return { ...account, disabledAt: null };
  });
}

/** For a user who forgot the password. @throws ServiceError NOT_FOUND, ACCOUNT_PASSWORDS_OFF */
export async function createPasswordLink(deps: ManageDependencies, { actor, id }: { actor: Actor; id: string }) {
  const { database, clock } = deps;
  const at = clock.realNow();
  return inTransaction(database, async (tx) => {
    const account = await findAccount(tx, id);
    if (!account || account.disabledAt) throw new ServiceError('NOT_FOUND');
    requirePasswords(deps, account.role);
    const link = await makeLink(tx, { purpose: 'PASSWORD', accountId: id, createdBy: actor.name, at });
    await audit(tx, { actor, action: 'account.password-link', object: { id, name: account.email }, at });
    return link;
  });
}

/** Locks all owners first, so that two owners who demote each other leave one. */
async function lockAccount(tx: Transaction, { id, staysOwner }: { id: string; staysOwner: boolean }): Promise<Account> {
  const owners = await lockOwners(tx);
  const account = await findAccount(tx, id);
  if (!account) throw new ServiceError('NOT_FOUND');
  if (!staysOwner && owners.includes(id) && owners.length === 1) throw new ServiceError('ACCOUNT_LAST_OWNER');
  return account;
}

type AccountHolder = { actor: SignedIn };
type PasswordChange = AccountHolder & { current: string; password: string; caller: ConsoleCaller };

/** Newest first. */
export async function listOwnSessions({ database, clock }: AccountDependencies, { actor }: AccountHolder) {
  const sessions = await listConsoleSessions(database, { accountId: actor.id, at: clock.realNow() });
  return sessions.map((session) => ({ ...session, isThis: session.id === actor.sessionId }));
}

/** @throws ServiceError NOT_FOUND */
export async function endOwnSession(
  { database, clock }: AccountDependencies,
  { actor, id }: AccountHolder & { id: string },
): Promise<void> {
  const at = clock.realNow();
  await inTransaction(database, async (tx) => {
    if (!(await deleteSessionOf(tx, { accountId: actor.id, id }))) throw new ServiceError('NOT_FOUND');
    await audit(tx, { actor, action: 'session.end', object: { id }, at });
  });
}

/** Also ends all other sessions. @throws ServiceError ACCOUNT_SIGN_IN_FAILED, ACCOUNT_ATTEMPTS_LIMITED, PARAMETER_INVALID */
export async function changeOwnPassword(deps: AccountDependencies, command: PasswordChange): Promise<void> {
  const { database, clock, passwords } = deps;
  const { actor, current, caller } = command;
  if (actor.id === null || actor.email === null)
    throw new ServiceError('PARAMETER_INVALID', { field: 'password', reason: 'belongs to an account' });
  const { id, email, name, sessionId } = { ...actor, id: actor.id, email: actor.email };
  const password = await readNewPassword(command.password, { email, name });
  await limitAttempts(database, { email, address: caller.address, at: clock.realNow() });
  const from = (await findPasswordHash(database, id)) ?? null;
  if (!(await passwords.matches(current, from ?? undefined)))
    throw new ServiceError('ACCOUNT_SIGN_IN_FAILED', { detail: 'the current password is wrong' });
  const passwordHash = await passwords.hash(password);
  const at = clock.realNow();
  await inTransaction(database, async (tx) => {
    if (!(await replacePasswordHash(tx, { id, from, passwordHash })))
      throw new ServiceError('ACCOUNT_SIGN_IN_FAILED', { detail: 'the account was changed meanwhile' });
    await endPasswordLinks(tx, { accountId: id, at });
    await deleteSessionsOf(tx, { accountId: id, exceptId: sessionId });
    const object = { id, name: email };
    await audit(tx, { actor, action: 'account.password', object, detail: { by: 'own hand' }, at });
  });
}

import { readEmail } from '../../domain/accounts/account-fields.ts';
import type { Role } from '../../domain/accounts/roles.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
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
} from '../../storage/accounts/accounts.ts';
import type { Account } from '../../storage/accounts/accounts.ts';
import { deleteSessionsOf } from '../../storage/accounts/console-sessions.ts';
import type { AccountDependencies, SignedIn } from './account-dependencies.ts';
import { audit } from './audit.ts';
import type { Actor } from './audit.ts';
import { makeLink } from './make-link.ts';
import { requirePasswords } from './sign-in.ts';

type ManageDependencies = Omit<AccountDependencies, 'passwords'>;
type By = { by: SignedIn };

/** Oldest first, including invitations not accepted yet. */
export async function listAccountsAndInvitations({ database, clock }: ManageDependencies) {
  const [accounts, open] = await Promise.all([listAccounts(database), listInvitations(database, clock.realNow())]);
  return { accounts, invitations: open.map(({ endedAs: _none, ...invitation }) => invitation) };
}

/** Whom to ask for another role: the owners who can sign in, oldest first. */
export async function listOwners({ database }: Pick<ManageDependencies, 'database'>) {
  const accounts = await listAccounts(database);
  return accounts
    .filter(({ role, disabledAt }) => role === 'owner' && disabledAt === null)
    .map(({ name, email }) => ({ name, email }));
}

/** @throws ServiceError ACCOUNT_EMAIL_TAKEN, PARAMETER_INVALID */
export async function inviteAccount(
  { database, clock }: ManageDependencies,
  { by, email: typed, role }: By & { email: string; role: Role },
) {
  const email = readEmail(typed);
  if (await findAccountByEmail(database, email)) throw new ServiceError('ACCOUNT_EMAIL_TAKEN');
  const at = clock.realNow();
  return inTransaction(database, async (tx) => {
    const link = await makeLink(tx, { purpose: 'INVITATION', email, role, createdBy: by.name, at });
    const object = { id: link.id, name: email };
    await audit(tx, { actor: by, action: 'invitation.create', object, detail: { role }, at });
    return link;
  });
}

/** @throws ServiceError NOT_FOUND */
export async function withdrawInvitation(
  { database, clock }: ManageDependencies,
  { by, id }: By & { id: string },
): Promise<void> {
  const at = clock.realNow();
  await inTransaction(database, async (tx) => {
    const invitation = await endInvitation(tx, { id, at });
    if (!invitation) throw new ServiceError('NOT_FOUND');
    const object = { id, name: invitation.email! };
    await audit(tx, { actor: by, action: 'invitation.withdraw', object, at });
  });
}

/** Holds from the next call of each of the person's sessions on. @throws ServiceError NOT_FOUND, ACCOUNT_LAST_OWNER */
export async function changeAccountRole(
  { database, clock }: ManageDependencies,
  { by, id, role }: By & { id: string; role: Role },
): Promise<Account> {
  const at = clock.realNow();
  return await inTransaction(database, async (tx) => {
    const account = await lockAccount(tx, { id, staysOwner: role === 'owner' });
    await setAccountRole(tx, { id, role });
    const detail = { from: account.role, to: role };
    await audit(tx, { actor: by, action: 'account.role', object: { id, name: account.email }, detail, at });
    return { ...account, role };
  });
}

/** The person is signed out everywhere and cannot come in. @throws ServiceError NOT_FOUND, ACCOUNT_LAST_OWNER */
export async function disableAccount(
  { database, clock }: ManageDependencies,
  { by, id }: By & { id: string },
): Promise<Account> {
  const at = clock.realNow();
  return await inTransaction(database, async (tx) => {
    const account = await lockAccount(tx, { id, staysOwner: false });
    await setAccountDisabled(tx, { id, at });
    await endPasswordLinks(tx, { accountId: id, at });
    const sessions = await deleteSessionsOf(tx, { accountId: id });
    const object = { id, name: account.email };
    await audit(tx, { actor: by, action: 'account.disable', object, detail: { sessions }, at });
    return { ...account, disabledAt: at };
  });
}

/** @throws ServiceError NOT_FOUND */
export async function enableAccount(
  { database, clock }: ManageDependencies,
  { by, id }: By & { id: string },
): Promise<Account> {
  const at = clock.realNow();
  return await inTransaction(database, async (tx) => {
    const account = await lockAccount(tx, { id, staysOwner: true });
    await setAccountDisabled(tx, { id, at: null });
    await audit(tx, { actor: by, action: 'account.enable', object: { id, name: account.email }, at });
    return { ...account, disabledAt: null };
  });
}

/** For a person who forgot the password. @throws ServiceError NOT_FOUND, ACCOUNT_PASSWORDS_OFF */
export async function createPasswordLink(deps: ManageDependencies, { by, id }: { by: Actor; id: string }) {
  const { database, clock } = deps;
  const at = clock.realNow();
  return inTransaction(database, async (tx) => {
    const account = await findAccount(tx, id);
    if (!account || account.disabledAt) throw new ServiceError('NOT_FOUND');
    requirePasswords(deps, account.role);
    const link = await makeLink(tx, { purpose: 'PASSWORD', accountId: id, createdBy: by.name, at });
    await audit(tx, { actor: by, action: 'account.password-link', object: { id, name: account.email }, at });
    return link;
  });
}

/** Owners are locked first, so that two who demote each other leave one. */
async function lockAccount(tx: Transaction, { id, staysOwner }: { id: string; staysOwner: boolean }): Promise<Account> {
  const owners = await lockOwners(tx);
  const account = await findAccount(tx, id);
  if (!account) throw new ServiceError('NOT_FOUND');
  if (!staysOwner && owners.includes(id) && owners.length === 1) throw new ServiceError('ACCOUNT_LAST_OWNER');
  return account;
}

import { randomBytes } from 'node:crypto';
import { readAccountName, readEmail, readNewPassword, findLinkFault } from '../../domain/access/accounts.ts';
import type { LinkFault, Role } from '../../domain/access/accounts.ts';
import { hashSecret } from '../../domain/access/keys.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { endedLinkDays, linkHours } from '../../domain/limits/access.ts';
import {
  endFirstOwnerLinks,
  endPasswordLinks,
  findAccount,
  findAccountLink,
  hasOwner,
  insertAccount,
  setPasswordHash,
  setWorkspaceRole,
  takeAccountLink,
  deleteOldLinks,
  insertAccountLink,
} from '../../storage/accounts/accounts.ts';
import type { LinkPurpose } from '../../storage/accounts/accounts.ts';
import { deleteSessionsOf } from '../../storage/accounts/console-sessions.ts';
import { findWorkspaces } from '../../storage/workspaces.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction, Queryable } from '../../storage/database.ts';
import { accountActor, audit } from './audit.ts';
import type { AccountDependencies, ConsoleCaller, OpenedSession, ConsoleAccountDependencies } from './audit.ts';
import { enter, notingFailure, openSession, requirePasswords } from './sign-in.ts';

type Presented = { code: string; caller: ConsoleCaller };
type TypedUser = { email: string; name: string; password: string };

/** Signs in with the start link of a sandbox. @throws ServiceError ACCOUNT_LINK_INVALID */
export async function signInByLink(
  { database, clock }: Pick<AccountDependencies, 'database' | 'clock'>,
  { code, caller }: Presented,
): Promise<OpenedSession> {
  return await notingFailure({ database, clock }, { way: 'start link', caller }, async () => {
    return await inTransaction(database, async (tx) => {
      const at = clock.realNow();
      await take(tx, { code, purpose: 'SIGN_IN', at });
      return openSession(tx, { accountId: null, stage: 'OPEN', caller, at });
    });
  });
}

/** Uses the link that the first start prints. @throws ServiceError ACCOUNT_LINK_INVALID, PARAMETER_INVALID */
export async function createFirstOwner(deps: AccountDependencies, command: Presented & TypedUser) {
  const { database, clock, passwords } = deps;
  const { code, caller } = command;
  return await notingFailure(deps, { way: 'first owner link', caller }, async () => {
    const user = await readUser(command);
    await findLink(deps, { code, purpose: 'FIRST_OWNER' });
    const passwordHash = await passwords.hash(user.password);
    return await inTransaction(database, async (tx) => {
      const at = clock.realNow();
      await take(tx, { code, purpose: 'FIRST_OWNER', at });
      if (await hasOwner(tx)) throw invalidLink('withdrawn');
      await endFirstOwnerLinks(tx, at);
      return createAccount(tx, deps, { ...user, role: 'owner', workspaceRoles: {}, passwordHash, caller, at });
    });
  });
}

/** Returns the contents of an invitation, for the page that accepts it. @throws ServiceError ACCOUNT_LINK_INVALID */
export async function readInvitation(
  deps: AccountDependencies,
  { code, caller }: Presented,
): Promise<{
  email: string;
  role: Role | null;
  workspaceRoles: { workspace: string; role: Role }[];
  invitedBy: string;
}> {
  return await notingFailure(deps, { way: 'invitation', caller }, async () => {
    const invitation = await findLink(deps, { code, purpose: 'INVITATION' });
    const offered = Object.entries(invitation.workspaceRoles);
    const workspaces = await findWorkspaces(
      deps.database,
      offered.map(([id]) => id),
    );
    return {
      email: invitation.email!,
      role: invitation.role,
      workspaceRoles: offered.flatMap(([, role], index) => {
        const workspace = workspaces[index]?.name;
        return workspace === undefined ? [] : [{ workspace, role }];
      }),
      invitedBy: invitation.createdBy,
    };
  });
}

/**
 * Creates the account with the invitation's address.
 *
 * @throws ServiceError ACCOUNT_LINK_INVALID, ACCOUNT_EMAIL_TAKEN, ACCOUNT_PASSWORDS_OFF, PARAMETER_INVALID
 */
export async function acceptInvitation(
  deps: AccountDependencies,
  { code, caller, ...command }: Presented & { name: string; password: string },
) {
  const { database, clock, passwords } = deps;
  return await notingFailure(deps, { way: 'invitation', caller }, async () => {
    const invitation = await findLink(deps, { code, purpose: 'INVITATION' });
    requirePasswords(deps, invitation.role);
    const user = await readUser({ ...command, email: invitation.email! });
    const passwordHash = await passwords.hash(user.password);
    return await inTransaction(database, async (tx) => {
      const at = clock.realNow();
      const link = await take(tx, { code, purpose: 'INVITATION', at });
      const { role, workspaceRoles } = link;
      return createAccount(tx, deps, { ...user, role, workspaceRoles, passwordHash, caller, at });
    });
  });
}

/** Also ends all existing sessions. @throws ServiceError ACCOUNT_LINK_INVALID, PARAMETER_INVALID */
export async function setPasswordByLink(
  deps: AccountDependencies,
  { code, caller, password }: Presented & { password: string },
) {
  const { database, clock, passwords } = deps;
  return await notingFailure(deps, { way: 'password link', caller }, async () => {
    const { accountId } = await findLink(deps, { code, purpose: 'PASSWORD' });
    const account = (await findAccount(database, accountId!))!;
    requirePasswords(deps, account.role);
    const passwordHash = await passwords.hash(await readNewPassword(password, account));
    return await inTransaction(database, async (tx) => {
      const at = clock.realNow();
      await take(tx, { code, purpose: 'PASSWORD', at });
      await endPasswordLinks(tx, { accountId: account.id, at });
      await setPasswordHash(tx, { id: account.id, passwordHash });
      await deleteSessionsOf(tx, { accountId: account.id });
      const object = { id: account.id, name: account.email };
      await audit(tx, { actor: accountActor(account), action: 'account.password', object, detail: { by: 'link' }, at });
      const entered = await enter(tx, deps, { account, way: 'password', caller });
      if (!entered) throw invalidLink('withdrawn');
      return entered;
    });
  });
}

/** @throws ServiceError ACCOUNT_LINK_INVALID */
async function findLink(
  { database, clock }: AccountDependencies,
  { code, purpose }: { code: string; purpose: LinkPurpose },
) {
  const link = await findAccountLink(database, hashSecret(code));
  const fault = findLinkFault(link, { purpose, at: clock.realNow() });
  if (fault) throw invalidLink(fault);
  return link!;
}

async function readUser(typed: TypedUser) {
  const email = readEmail(typed.email);
  const name = readAccountName(typed.name);
  return { email, name, password: await readNewPassword(typed.password, { email, name }) };
}

async function take(tx: Transaction, { code, purpose, at }: { code: string; purpose: LinkPurpose; at: Date }) {
  const secretHash = hashSecret(code);
  const link = await takeAccountLink(tx, { secretHash, purpose, at });
  if (link) return link;
  throw invalidLink(findLinkFault(await findAccountLink(tx, secretHash), { purpose, at }) ?? 'used');
}

type NewAccount = {
  email: string;
  name: string;
  role: Role | null;
  workspaceRoles: Record<string, Role>;
  passwordHash: string;
  caller: ConsoleCaller;
  at: Date;
};

async function createAccount(tx: Transaction, deps: AccountDependencies, account: NewAccount): Promise<OpenedSession> {
  const { caller, at, workspaceRoles, ...user } = account;
  const created = await insertAccount(tx, { ...user, id: makeId(at), at });
  if (!created) throw new ServiceError('ACCOUNT_EMAIL_TAKEN');
  await assignRoles(tx, { accountId: created.id, workspaceRoles });
  const object = { id: created.id, name: created.email };
  await audit(tx, {
    actor: accountActor(created),
    action: 'account.create',
    object,
    detail: { role: created.role, workspaceRoles },
    at,
  });
  return (await enter(tx, deps, { account: created, way: 'password', caller }))!;
}

/** Assigns the roles in workspaces that an invitation offered. */
export async function assignRoles(
  tx: Queryable,
  { accountId, workspaceRoles }: { accountId: string; workspaceRoles: Record<string, Role> },
): Promise<void> {
  for (const [workspaceId, role] of Object.entries(workspaceRoles))
    await setWorkspaceRole(tx, { accountId, workspaceId, role });
}

function invalidLink(fault: LinkFault): ServiceError {
  return new ServiceError('ACCOUNT_LINK_INVALID', { reason: fault });
}

/**
 * Creates a start link, on a user's request or when a sandbox starts. In a sandbox it opens the console. Elsewhere it creates
 * the first owner; the result is undefined once there is an owner.
 */
export async function createStartLink({
  database,
  clock,
  isSandbox,
}: Pick<ConsoleAccountDependencies, 'database' | 'clock' | 'isSandbox'>): Promise<
  { kind: 'sign-in' | 'first-owner'; code: string; expiresAt: Date } | undefined
> {
  const link = { createdBy: 'the start', at: clock.realNow() };
  if (isSandbox) {
    const { code, expiresAt } = await makeLink(database, { ...link, purpose: 'SIGN_IN' });
    return { kind: 'sign-in', code, expiresAt };
  }
  if (await hasOwner(database)) return undefined;
  const { code, expiresAt } = await makeLink(database, { ...link, purpose: 'FIRST_OWNER' });
  return { kind: 'first-owner', code, expiresAt };
}

export type NewLink = {
  purpose: LinkPurpose;
  email?: string;
  role?: Role | null;
  workspaceRoles?: Record<string, Role>;
  accountId?: string;
  createdBy: string;
  /** In real time. */
  at: Date;
};

/** Creates a link that works once. Its code is 256 random bits, returned only here. */
export async function makeLink(tx: Queryable, link: NewLink): Promise<{ id: string; code: string; expiresAt: Date }> {
  const code = randomBytes(32).toString('base64url');
  const id = makeId(link.at);
  const expiresAt = new Date(link.at.getTime() + linkHours[link.purpose] * 3_600_000);
  await deleteOldLinks(tx, new Date(link.at.getTime() - endedLinkDays * 86_400_000));
  await insertAccountLink(tx, {
    id,
    secretHash: hashSecret(code),
    purpose: link.purpose,
    email: link.email ?? null,
    role: link.role ?? null,
    workspaceRoles: link.workspaceRoles ?? {},
    accountId: link.accountId ?? null,
    createdBy: link.createdBy,
    createdAt: link.at,
    expiresAt,
  });
  return { id, code, expiresAt };
}

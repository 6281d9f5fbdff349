import type { AssignedRole, LinkEnd, Role, WorkspaceRole } from '../../domain/access/accounts.ts';
import { lastIdAt } from '../../domain/ids.ts';
import type { Queryable } from '../database.ts';

export type Account = {
  id: string;
  email: string;
  name: string;
  /** The role in the installation, which an owner assigned. Null: none. */
  role: Role | null;
  /** The role in the installation by groups of the company account. */
  groupRole: Role | null;
  workspaceRoles: WorkspaceRole[];
  createdAt: Date;
  signedInAt: Date | null;
  disabledAt: Date | null;
};

/** The columns of an account. Index for its roles: primary key of account_roles. */
const accountColumns = (tx: Queryable) => tx`
  id, email, name, role, group_role as "groupRole", ${workspaceRolesOf(tx)} as "workspaceRoles",
  created_at as "createdAt", signed_in_at as "signedInAt", disabled_at as "disabledAt"`;

/** Roles of the account of the row of `accounts` around, by workspace. Index: primary key. */
export const workspaceRolesOf = (tx: Queryable) => tx`
  (select coalesce(jsonb_agg(jsonb_build_object(
      'workspaceId', workspace_id, 'role', assigned.role, 'groupRole', assigned.group_role) order by workspace_id), '[]')
    from account_roles as assigned where account_id = accounts.id)`;

/** Inserts an account. @returns undefined when the address already has one. Index: accounts_email. */
export async function insertAccount(
  tx: Queryable,
  account: { id: string; email: string; name: string; role: Role | null; passwordHash: string | null; at: Date },
): Promise<Account | undefined> {
  const [row] = await tx<Account[]>`
    insert into accounts (id, email, name, role, password_hash, created_at)
    values (${account.id}, ${account.email}, ${account.name}, ${account.role}, ${account.passwordHash}, ${account.at})
    on conflict (lower(email)) do nothing
    returning ${accountColumns(tx)}`;
  return row;
}

/** Index: primary key. */
export async function findAccount(tx: Queryable, id: string): Promise<Account | undefined> {
  const [row] = await tx<Account[]>`select ${accountColumns(tx)} from accounts where id = ${id}`;
  return row;
}

/** Finds an account by address, ignoring case. Index: accounts_email. */
export async function findAccountByEmail(
  tx: Queryable,
  email: string,
): Promise<(Account & { passwordHash: string | null }) | undefined> {
  const [row] = await tx<(Account & { passwordHash: string | null })[]>`
    select ${accountColumns(tx)}, password_hash as "passwordHash" from accounts where lower(email) = lower(${email})`;
  return row;
}

/** An installation has tens of accounts. */
export const maxAccountsListed = 1_000;

/** Oldest first. */
export async function listAccounts(tx: Queryable): Promise<Account[]> {
  return tx<Account[]>`select ${accountColumns(tx)} from accounts order by id limit ${maxAccountsListed}`;
}

/**
 * Locks every owner who can sign in, in one order, so that of two simultaneous changes one sees the other's: one owner
 * must remain. A table scan of tens of rows.
 */
export async function lockOwners(tx: Queryable): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from accounts where role = 'owner' and disabled_at is null order by id for update`;
  return rows.map(({ id }) => id);
}

/** True if an account can manage accounts. A table scan of tens of rows. */
export async function hasOwner(tx: Queryable): Promise<boolean> {
  const rows = await tx`select 1 from accounts where role = 'owner' and disabled_at is null limit 1`;
  return rows.length === 1;
}

/** Index: primary key. */
export async function setAccountRole(tx: Queryable, { id, role }: { id: string; role: Role | null }): Promise<void> {
  await tx`update accounts set role = ${role} where id = ${id}`;
}

type WorkspaceOfAccount = { accountId: string; workspaceId: string };

/** Returns an account's roles in a workspace. Index: primary key. */
export async function findWorkspaceRole(
  tx: Queryable,
  { accountId, workspaceId }: WorkspaceOfAccount,
): Promise<AssignedRole | undefined> {
  const [row] = await tx<AssignedRole[]>`
    select role, group_role as "groupRole" from account_roles
    where account_id = ${accountId} and workspace_id = ${workspaceId}`;
  return row;
}

/** Assigns a role in a workspace; null takes it away. A role that groups gave stays. Index: primary key. */
export async function setWorkspaceRole(
  tx: Queryable,
  { accountId, workspaceId, role }: WorkspaceOfAccount & { role: Role | null },
): Promise<void> {
  const where = tx`account_id = ${accountId} and workspace_id = ${workspaceId}`;
  if (role === null) {
    await tx`delete from account_roles where ${where} and group_role is null`;
    await tx`update account_roles set role = null where ${where}`;
    return;
  }
  await tx`
    insert into account_roles (account_id, workspace_id, role) values (${accountId}, ${workspaceId}, ${role})
    on conflict (account_id, workspace_id) do update set role = excluded.role`;
}

/** Replaces the roles that groups gave, in the installation and in workspaces. The caller has locked the account. */
export async function replaceGroupRoles(
  tx: Queryable,
  { accountId, installation, workspaces }: GroupRoles & { accountId: string },
): Promise<void> {
  await tx`update accounts set group_role = ${installation} where id = ${accountId}`;
  await tx`delete from account_roles where account_id = ${accountId} and role is null`;
  await tx`update account_roles set group_role = null where account_id = ${accountId}`;
  for (const [workspaceId, role] of workspaces)
    await tx`
      insert into account_roles (account_id, workspace_id, group_role) values (${accountId}, ${workspaceId}, ${role})
      on conflict (account_id, workspace_id) do update set group_role = excluded.group_role`;
}

type GroupRoles = { installation: Role | null; workspaces: ReadonlyMap<string, Role> };

/** Disables an account; `at` null enables it again. Index: primary key. */
export async function setAccountDisabled(tx: Queryable, { id, at }: { id: string; at: Date | null }): Promise<void> {
  await tx`update accounts set disabled_at = ${at} where id = ${id}`;
}

/** Index: primary key. */
export async function setPasswordHash(
  tx: Queryable,
  { id, passwordHash }: { id: string; passwordHash: string },
): Promise<void> {
  await tx`update accounts set password_hash = ${passwordHash} where id = ${id}`;
}

/**
 * Sets a password if the one that was compared is still stored and the account may sign in: a user who set another
 * password meanwhile, or disabled the account, invalidated the old one. Index: primary key.
 *
 * @returns whether it was set
 */
export async function replacePasswordHash(
  tx: Queryable,
  { id, from, passwordHash }: { id: string; from: string | null; passwordHash: string },
): Promise<boolean> {
  const rows = await tx`
    update accounts set password_hash = ${passwordHash}
    where id = ${id} and disabled_at is null and password_hash = ${from} returning 1`;
  return rows.length === 1;
}

/** Index: primary key. */
export async function findPasswordHash(tx: Queryable, id: string): Promise<string | null | undefined> {
  const [row] = await tx<{ passwordHash: string | null }[]>`
    select password_hash as "passwordHash" from accounts where id = ${id}`;
  return row?.passwordHash;
}

/**
 * Locks the account of a user who has just signed in, and checks it again. Disabling it or setting its password ends
 * its sessions; this also covers the session that the caller is about to create. Index: primary key.
 *
 * @param signIn.at null while the second factor is missing
 * @param signIn.passwordHash what the password was compared with; absent where no password was
 * @returns false when the account was disabled or got another password meanwhile
 */
export async function noteSignIn(
  tx: Queryable,
  { id, at, passwordHash }: { id: string; at: Date | null; passwordHash?: string | null },
): Promise<boolean> {
  const isUnchanged = passwordHash === undefined ? tx`true` : tx`password_hash = ${passwordHash}`;
  const rows = await tx`
    update accounts set signed_in_at = coalesce(${at}::timestamptz, signed_in_at)
    where id = ${id} and disabled_at is null and ${isUnchanged} returning 1`;
  return rows.length === 1;
}

export type AuditEntry = {
  id: string;
  /** Null for an action on the whole installation. */
  workspaceId: string | null;
  at: Date;
  /** Null for the sandbox's start link and the command line. */
  actorId: string | null;
  actorName: string;
  /** `campaign.stop` */
  action: string;
  objectKind: string;
  objectId: string | null;
  objectName: string | null;
  detail: Record<string, unknown>;
};

/**
 * Inserts an audit entry.
 * @param entry.shownAt the sandbox's time; null for entries that no timeline shows
 */
export async function insertAuditEntry(tx: Queryable, entry: AuditEntry & { shownAt: Date | null }): Promise<void> {
  await tx`
    insert into audit_log
      (id, workspace_id, at, shown_at, actor_id, actor_name, action, object_kind, object_id, object_name, detail)
    values (${entry.id}, ${entry.workspaceId}, ${entry.at}, ${entry.shownAt}, ${entry.actorId}, ${entry.actorName}, ${entry.action},
      ${entry.objectKind}, ${entry.objectId}, ${entry.objectName}, ${tx.json(entry.detail)})`;
}

export type AuditFilters = {
  /** A part of the actor's name. */
  actor: string | undefined;
  /** The start of the action: `campaign`, `campaign.stop`. */
  action: string | undefined;
  /** The id of the object, or a part of its name. */
  object: string | undefined;
  from: Date | undefined;
  /** Exclusive. */
  until: Date | undefined;
};

/** `workspace`: without the entries of the installation as a whole, which may concern other workspaces. */
export type AuditScope = 'installation' | 'workspace';

/**
 * Lists entries of a workspace and of the installation as a whole that are older than `beforeId`, newest first. Ids are
 * in the order of time, so that a time narrows the index; other filters read the index's rows. Index: primary key, or
 * audit_log_workspace.
 */
export async function listAuditEntries(
  tx: Queryable,
  page: AuditFilters & { workspaceId: string; scope: AuditScope; beforeId: string | undefined; limit: number },
): Promise<AuditEntry[]> {
  const { actor, action, object, from, until, beforeId } = page;
  return tx<AuditEntry[]>`
    select id, workspace_id as "workspaceId", at, actor_id as "actorId", actor_name as "actorName", action,
      object_kind as "objectKind", object_id as "objectId", object_name as "objectName", detail
    from audit_log
    where ${page.scope === 'workspace' ? tx`workspace_id = ${page.workspaceId}` : tx`(workspace_id = ${page.workspaceId} or workspace_id is null)`}
      ${beforeId === undefined ? tx`` : tx`and id < ${beforeId}`}
      ${from ? tx`and id >= ${lastIdAt(new Date(from.getTime() - 1))} and at >= ${from}` : tx``}
      ${until ? tx`and id < ${lastIdAt(until)} and at < ${until}` : tx``}
      ${actor === undefined ? tx`` : tx`and strpos(lower(actor_name), lower(${actor})) > 0`}
      ${action === undefined ? tx`` : tx`and starts_with(action, ${action})`}
      ${object === undefined ? tx`` : tx`and (object_id = ${object} or strpos(lower(object_name), lower(${object})) > 0)`}
    order by id desc
    limit ${page.limit}`;
}

export type LinkPurpose = 'SIGN_IN' | 'FIRST_OWNER' | 'INVITATION' | 'PASSWORD';

export type AccountLink = {
  id: string;
  purpose: LinkPurpose;
  /** Set for an invitation. */
  email: string | null;
  role: Role | null;
  /** Roles by the id of the workspace, for an invitation. */
  workspaceRoles: Record<string, Role>;
  /** The account that gets a new password. */
  accountId: string | null;
  createdBy: string;
  createdAt: Date;
  /** For a link that ended early: when it did. */
  expiresAt: Date;
  endedAs: LinkEnd | null;
};

const linkColumns = (tx: Queryable) => tx`
  id, purpose, email, role, workspace_roles as "workspaceRoles", account_id as "accountId", created_by as "createdBy", created_at as "createdAt",
  expires_at as "expiresAt", ended_as as "endedAs"`;

type NewLink = Omit<AccountLink, 'endedAs'> & { secretHash: Buffer };

export async function insertAccountLink(tx: Queryable, link: NewLink): Promise<void> {
  await tx`
    insert into account_links
      (id, secret_hash, purpose, email, role, workspace_roles, account_id, created_by, created_at, expires_at)
    values (${link.id}, ${link.secretHash}, ${link.purpose}, ${link.email}, ${link.role}, ${tx.json(link.workspaceRoles)},
      ${link.accountId}, ${link.createdBy}, ${link.createdAt}, ${link.expiresAt})`;
}

/** Finds a link, also one that has ended. Index: unique secret_hash. */
export async function findAccountLink(tx: Queryable, secretHash: Buffer): Promise<AccountLink | undefined> {
  const [row] = await tx<AccountLink[]>`select ${linkColumns(tx)} from account_links where secret_hash = ${secretHash}`;
  return row;
}

/**
 * Uses a link up, so that it works once. Of two browsers at the same time, the second waits for the first one's row
 * lock and then sees that the link has ended. Index: unique secret_hash.
 */
export async function takeAccountLink(
  tx: Queryable,
  { secretHash, purpose, at }: { secretHash: Buffer; purpose: LinkPurpose; at: Date },
): Promise<AccountLink | undefined> {
  const [row] = await tx<AccountLink[]>`
    update account_links set ended_as = 'USED', expires_at = ${at}
    where secret_hash = ${secretHash} and purpose = ${purpose} and expires_at > ${at} and ended_as is null
    returning ${linkColumns(tx)}`;
  return row;
}

/**
 * Uses up every invitation to an address, ignoring case; returns them newest first. The caller knows the owner of the
 * address by other means than a link. A table of tens of rows.
 */
export async function takeInvitationsOf(
  tx: Queryable,
  { email, at }: { email: string; at: Date },
): Promise<AccountLink[]> {
  const rows = await tx<AccountLink[]>`
    update account_links set ended_as = 'USED', expires_at = ${at}
    where purpose = 'INVITATION' and lower(email) = lower(${email}) and expires_at > ${at} and ended_as is null
    returning ${linkColumns(tx)}`;
  return rows.toSorted((one, other) => (one.id < other.id ? 1 : -1));
}

/** Lists invitations that have not been accepted yet, newest first. A table of tens of rows. */
export async function listInvitations(tx: Queryable, at: Date): Promise<AccountLink[]> {
  return tx<AccountLink[]>`
    select ${linkColumns(tx)} from account_links
    where purpose = 'INVITATION' and expires_at > ${at} and ended_as is null order by id desc limit 1000`;
}

/** Withdraws an invitation. Index: primary key. @returns undefined when it has ended already */
export async function endInvitation(
  tx: Queryable,
  { id, at }: { id: string; at: Date },
): Promise<AccountLink | undefined> {
  const [row] = await tx<AccountLink[]>`
    update account_links set ended_as = 'WITHDRAWN', expires_at = ${at}
    where id = ${id} and purpose = 'INVITATION' and expires_at > ${at} and ended_as is null
    returning ${linkColumns(tx)}`;
  return row;
}

/** Ends links by which a user could still sign in who no longer may. A table of tens of rows. */
export async function endPasswordLinks(
  tx: Queryable,
  { accountId, at }: { accountId: string; at: Date },
): Promise<void> {
  await tx`
    update account_links set ended_as = 'WITHDRAWN', expires_at = ${at}
    where account_id = ${accountId} and expires_at > ${at} and ended_as is null`;
}

/** Ends the links that create a first owner, once there is an owner. A table of tens of rows. */
export async function endFirstOwnerLinks(tx: Queryable, at: Date): Promise<void> {
  await tx`
    update account_links set ended_as = 'WITHDRAWN', expires_at = ${at}
    where purpose = 'FIRST_OWNER' and expires_at > ${at} and ended_as is null`;
}

/** Deletes links that ended before `before`. A table of tens of rows. */
export async function deleteOldLinks(tx: Queryable, before: Date): Promise<void> {
  await tx`delete from account_links where expires_at <= ${before}`;
}

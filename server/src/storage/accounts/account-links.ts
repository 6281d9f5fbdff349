import type { Role } from '../../domain/accounts/roles.ts';
import type { Queryable } from '../database.ts';

export type LinkPurpose = 'SIGN_IN' | 'FIRST_OWNER' | 'INVITATION' | 'PASSWORD';

export type AccountLink = {
  id: string;
  purpose: LinkPurpose;
  /** Of an invitation. */
  email: string | null;
  role: Role | null;
  /** Whose password is set anew. */
  accountId: string | null;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
};

const columns = (tx: Queryable) => tx`
  id, purpose, email, role, account_id as "accountId", created_by as "createdBy", created_at as "createdAt",
  expires_at as "expiresAt"`;

export async function insertAccountLink(tx: Queryable, link: AccountLink & { secretHash: Buffer }): Promise<void> {
  await tx`
    insert into account_links (id, secret_hash, purpose, email, role, account_id, created_by, created_at, expires_at)
    values (${link.id}, ${link.secretHash}, ${link.purpose}, ${link.email}, ${link.role}, ${link.accountId},
      ${link.createdBy}, ${link.createdAt}, ${link.expiresAt})`;
}

type Presented = { secretHash: Buffer; at: Date };

/** What a link would do. Index: unique secret_hash. */
export async function findAccountLink(tx: Queryable, { secretHash, at }: Presented): Promise<AccountLink | undefined> {
  const [row] = await tx<AccountLink[]>`
    select ${columns(tx)} from account_links where secret_hash = ${secretHash} and expires_at > ${at}`;
  return row;
}

/** Uses a link up: the row goes, so it works once, also for two browsers at the same moment. Index: as above. */
export async function takeAccountLink(
  tx: Queryable,
  { secretHash, purpose, at }: Presented & { purpose: LinkPurpose },
): Promise<AccountLink | undefined> {
  const [row] = await tx<AccountLink[]>`
    delete from account_links
    where secret_hash = ${secretHash} and purpose = ${purpose} and expires_at > ${at}
    returning ${columns(tx)}`;
  return row;
}

/**
 * Uses up every invitation of an address, however it is written, newest first: its owner is known by other means than a
 * link. A table of tens of rows.
 */
export async function takeInvitationsOf(
  tx: Queryable,
  { email, at }: { email: string; at: Date },
): Promise<AccountLink[]> {
  const rows = await tx<AccountLink[]>`
    delete from account_links
    where purpose = 'INVITATION' and lower(email) = lower(${email}) and expires_at > ${at}
    returning ${columns(tx)}`;
  return rows.toSorted((one, other) => (one.id < other.id ? 1 : -1));
}

/** Invitations nobody has accepted yet, newest first. A table of tens of rows. */
export async function listInvitations(tx: Queryable, at: Date): Promise<AccountLink[]> {
  return tx<AccountLink[]>`
    select ${columns(tx)} from account_links
    where purpose = 'INVITATION' and expires_at > ${at} order by id desc limit 1000`;
}

/** Index: primary key. */
export async function deleteInvitation(tx: Queryable, id: string): Promise<AccountLink | undefined> {
  const [row] = await tx<AccountLink[]>`
    delete from account_links where id = ${id} and purpose = 'INVITATION' returning ${columns(tx)}`;
  return row;
}

/** Links that would let somebody in who must not come in any more. A table of tens of rows. */
export async function deletePasswordLinks(tx: Queryable, accountId: string): Promise<void> {
  await tx`delete from account_links where account_id = ${accountId}`;
}

/** With an owner there, nobody becomes the first one. A table of tens of rows. */
export async function deleteFirstOwnerLinks(tx: Queryable): Promise<void> {
  await tx`delete from account_links where purpose = 'FIRST_OWNER'`;
}

export async function deleteExpiredLinks(tx: Queryable, at: Date): Promise<void> {
  await tx`delete from account_links where expires_at <= ${at}`;
}

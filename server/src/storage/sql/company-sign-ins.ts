import type { Queryable } from '../pool.ts';
import type { Account } from './accounts.ts';

export type CompanySignIn = { stateHash: Buffer; browserHash: Buffer; sealed: Buffer; expiresAt: Date };

/** Keeps one sign-in that is on its way. */
export async function insertCompanySignIn(tx: Queryable, { stateHash, browserHash, sealed, expiresAt }: CompanySignIn) {
  await tx`
    insert into company_sign_ins (state_hash, browser_hash, sealed, expires_at)
    values (${stateHash}, ${browserHash}, ${sealed}, ${expiresAt})`;
}

/**
 * Uses a sign-in up: the row goes, so it ends once, and only in the browser that began it. Index: primary key.
 *
 * @returns nonce and verifier, sealed
 */
export async function takeCompanySignIn(
  tx: Queryable,
  { stateHash, browserHash, at }: { stateHash: Buffer; browserHash: Buffer; at: Date },
): Promise<Buffer | undefined> {
  const [row] = await tx<{ sealed: Buffer }[]>`
    delete from company_sign_ins
    where state_hash = ${stateHash} and browser_hash = ${browserHash} and expires_at > ${at}
    returning sealed`;
  return row?.sealed;
}

/** Those that never came back. Index: company_sign_ins_expiry. */
export async function deleteExpiredCompanySignIns(tx: Queryable, at: Date): Promise<void> {
  await tx`delete from company_sign_ins where expires_at <= ${at}`;
}

type Identity = { issuer: string; subject: string };

/** Whose account an issuer's subject is. Indexes: primary keys. */
export async function findAccountByIdentity(
  tx: Queryable,
  { issuer, subject }: Identity,
): Promise<Account | undefined> {
  const [row] = await tx<Account[]>`
    select accounts.id, accounts.email, accounts.name, accounts.role, accounts.created_at as "createdAt",
      accounts.signed_in_at as "signedInAt", accounts.disabled_at as "disabledAt"
    from account_identities join accounts on accounts.id = account_identities.account_id
    where account_identities.issuer = ${issuer} and account_identities.subject = ${subject}`;
  return row;
}

/** Index: primary key, unique (issuer, account_id). @returns false when the account or the subject is another's already */
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

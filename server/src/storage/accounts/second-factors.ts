import type { Queryable } from '../database.ts';

export type Passkey = {
  id: string;
  accountId: string;
  credentialId: Buffer;
  publicKey: Buffer;
  signCount: number;
  transports: string[];
  name: string;
  createdAt: Date;
  usedAt: Date | null;
};

export type FactorSummary = {
  /** When the authenticator app was confirmed. */
  authenticatorAt: Date | null;
  passkeys: number;
  recoveryCodes: number;
};

/** Counts the second factors of an account. Indexes: primary keys, account_passkeys_account. */
export async function countFactors(tx: Queryable, accountId: string): Promise<FactorSummary> {
  const [row] = await tx<FactorSummary[]>`
    select (select confirmed_at from account_authenticators where account_id = ${accountId}) as "authenticatorAt",
      (select count(*)::int from account_passkeys where account_id = ${accountId}) as passkeys,
      (select count(*)::int from account_recovery_codes where account_id = ${accountId} and used_at is null) as "recoveryCodes"`;
  return row!;
}

/** Lists the accounts that have a second factor. Tables of tens of rows. */
export async function listProtectedAccounts(tx: Queryable): Promise<string[]> {
  const rows = await tx<{ accountId: string }[]>`
    select account_id as "accountId" from account_authenticators where confirmed_at is not null
    union select account_id from account_passkeys`;
  return rows.map(({ accountId }) => accountId);
}

/**
 * Locks an account, so that changes of its factors follow one another. Index: primary key.
 *
 * @returns false if it is disabled
 */
export async function lockActiveAccount(tx: Queryable, accountId: string): Promise<boolean> {
  const rows = await tx`select 1 from accounts where id = ${accountId} and disabled_at is null for update`;
  return rows.length === 1;
}

export type Authenticator = { encryptedSecret: Buffer; confirmedAt: Date | null };

/** Index: primary key. */
export async function findAuthenticator(tx: Queryable, accountId: string): Promise<Authenticator | undefined> {
  const [row] = await tx<Authenticator[]>`
    select secret_sealed as "encryptedSecret", confirmed_at as "confirmedAt"
    from account_authenticators where account_id = ${accountId}`;
  return row;
}

/** Stores a secret to be confirmed, replacing one that was not. Index: primary key. @returns false if one is confirmed */
export async function beginAuthenticator(
  tx: Queryable,
  { accountId, encryptedSecret, at }: { accountId: string; encryptedSecret: Buffer; at: Date },
): Promise<boolean> {
  const rows = await tx`
    insert into account_authenticators (account_id, secret_sealed, created_at)
    values (${accountId}, ${encryptedSecret}, ${at})
    on conflict (account_id) do update set secret_sealed = excluded.secret_sealed, created_at = excluded.created_at
      where account_authenticators.confirmed_at is null
    returning 1`;
  return rows.length === 1;
}

/**
 * Uses a code up: stores its step if it is later than the last one. Of two requests with one code, the second waits for the
 * row and finds the step stored. Index: primary key.
 *
 * @param code.encryptedSecret the secret that the code was compared with, in case another one was stored meanwhile
 * @returns whether the code was new
 */
export async function takeAuthenticatorStep(
  tx: Queryable,
  { accountId, step, encryptedSecret }: { accountId: string; step: number; encryptedSecret: Buffer },
): Promise<boolean> {
  const rows = await tx`
    update account_authenticators set last_step = ${step}
    where account_id = ${accountId} and last_step < ${step} and secret_sealed = ${encryptedSecret} returning 1`;
  return rows.length === 1;
}

/** Index: primary key. */
export async function confirmAuthenticator(
  tx: Queryable,
  { accountId, at }: { accountId: string; at: Date },
): Promise<void> {
  await tx`update account_authenticators set confirmed_at = ${at} where account_id = ${accountId}`;
}

/** Index: primary key. @returns whether a confirmed one was there */
export async function deleteAuthenticator(tx: Queryable, accountId: string): Promise<boolean> {
  const rows = await tx<{ wasConfirmed: boolean }[]>`
    delete from account_authenticators where account_id = ${accountId} returning confirmed_at is not null as "wasConfirmed"`;
  return rows[0]?.wasConfirmed ?? false;
}

const passkeyColumns = (tx: Queryable) => tx`
  id, account_id as "accountId", credential_id as "credentialId", public_key as "publicKey", sign_count::float8 as "signCount",
  transports, name, created_at as "createdAt", used_at as "usedAt"`;

/** Oldest first. Index: account_passkeys_account. */
export async function listPasskeys(tx: Queryable, accountId: string): Promise<Passkey[]> {
  return tx<Passkey[]>`
    select ${passkeyColumns(tx)} from account_passkeys where account_id = ${accountId} order by id limit 100`;
}

/** Adds a passkey. Index: unique credential_id. @returns false if the passkey is stored already */
export async function insertPasskey(tx: Queryable, passkey: Omit<Passkey, 'usedAt'>): Promise<boolean> {
  const rows = await tx`
    insert into account_passkeys (id, account_id, credential_id, public_key, sign_count, transports, name, created_at)
    values (${passkey.id}, ${passkey.accountId}, ${passkey.credentialId}, ${passkey.publicKey}, ${passkey.signCount},
      ${passkey.transports}, ${passkey.name}, ${passkey.createdAt})
    on conflict do nothing returning 1`;
  return rows.length === 1;
}

/**
 * Stores the counter of a signature if it has grown, or if the authenticator has none: a counter that has not grown is that of a copy
 * (WebAuthn Level 3 section 6.1.1). Index: primary key. @returns whether it has
 */
export async function takePasskeyUse(
  tx: Queryable,
  { id, signCount, at }: { id: string; signCount: number; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update account_passkeys set sign_count = ${signCount}, used_at = ${at}
    where id = ${id} and (sign_count < ${signCount} or (sign_count = 0 and ${signCount} = 0)) returning 1`;
  return rows.length === 1;
}

type PasskeyOf = { accountId: string; id: string };

/** Index: primary key. @returns undefined if the account has no such passkey */
export async function renamePasskey(
  tx: Queryable,
  { accountId, id, name }: PasskeyOf & { name: string },
): Promise<Passkey | undefined> {
  const [row] = await tx<Passkey[]>`
    update account_passkeys set name = ${name} where id = ${id} and account_id = ${accountId}
    returning ${passkeyColumns(tx)}`;
  return row;
}

/** Index: primary key. @returns its name */
export async function deletePasskey(tx: Queryable, { accountId, id }: PasskeyOf): Promise<string | undefined> {
  const [row] = await tx<{ name: string }[]>`
    delete from account_passkeys where id = ${id} and account_id = ${accountId} returning name`;
  return row?.name;
}

/** Replaces the recovery codes of an account; none removes them. Index: primary key. */
export async function replaceRecoveryCodes(
  tx: Queryable,
  { accountId, hashes }: { accountId: string; hashes: readonly Buffer[] },
): Promise<void> {
  await tx`delete from account_recovery_codes where account_id = ${accountId}`;
  for (const hash of hashes)
    await tx`insert into account_recovery_codes (account_id, code_hash) values (${accountId}, ${hash})`;
}

/** Uses a recovery code up, once. Index: primary key. @returns false if it is unknown or used */
export async function takeRecoveryCode(
  tx: Queryable,
  { accountId, hash, at }: { accountId: string; hash: Buffer; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update account_recovery_codes set used_at = ${at}
    where account_id = ${accountId} and code_hash = ${hash} and used_at is null returning 1`;
  return rows.length === 1;
}

/** Removes all second factors of an account. Indexes: primary keys, account_passkeys_account. @returns whether there were any */
export async function deleteFactors(tx: Queryable, accountId: string): Promise<boolean> {
  const had = await deleteAuthenticator(tx, accountId);
  const passkeys = await tx`delete from account_passkeys where account_id = ${accountId}`;
  await replaceRecoveryCodes(tx, { accountId, hashes: [] });
  return had || passkeys.count > 0;
}

/** Stores what the next passkey of a session must sign, replacing an earlier one. Index: unique id. */
export async function setChallenge(
  tx: Queryable,
  { sessionId, challenge, until }: { sessionId: string; challenge: Buffer; until: Date },
): Promise<void> {
  await tx`update console_sessions set challenge = ${challenge}, challenge_until = ${until} where id = ${sessionId}`;
}

/**
 * Uses the challenge of a session up. Of two requests with one signature, the second waits for the row and finds none. Index:
 * unique id.
 */
export async function takeChallenge(
  tx: Queryable,
  { sessionId, at }: { sessionId: string; at: Date },
): Promise<Buffer | undefined> {
  const [row] = await tx<{ challenge: Buffer }[]>`
    with taken as (
      select id, challenge from console_sessions where id = ${sessionId} and challenge_until > ${at} for update
    )
    update console_sessions set challenge = null, challenge_until = null from taken
    where console_sessions.id = taken.id returning taken.challenge`;
  return row?.challenge;
}

type Source = { accountId: string; sourceHash: Buffer };

/** Notes that an address opened the account, and forgets addresses that have not since `before`. Index: primary key. */
export async function noteSource(
  tx: Queryable,
  { accountId, sourceHash, at, before }: Source & { at: Date; before: Date },
) {
  await tx`delete from account_sources where account_id = ${accountId} and seen_at < ${before}`;
  await tx`
    insert into account_sources (account_id, source_hash, seen_at) values (${accountId}, ${sourceHash}, ${at})
    on conflict (account_id, source_hash) do update set seen_at = excluded.seen_at`;
}

/** True if the address opened the account of that email address since `since`. Indexes: accounts_email, primary key. */
export async function isKnownSource(
  tx: Queryable,
  { email, sourceHash, since }: { email: string; sourceHash: Buffer; since: Date },
): Promise<boolean> {
  const rows = await tx`
    select 1 from accounts join account_sources on account_id = accounts.id
    where lower(email) = lower(${email}) and source_hash = ${sourceHash} and seen_at >= ${since}`;
  return rows.length === 1;
}

import type { Queryable } from '../database.ts';
import { apiKeyColumns, keyNumberColumns } from './api-keys.ts';
import type { NumberedKey } from './api-keys.ts';

/** A key that tokens name, with what decides about them. */
export type KeyOfTokens = NumberedKey & {
  dataCenter: string;
  secretRequiredAtRefresh: boolean;
  /** Revoked token ids and grants that may concern access tokens. */
  revoked: Buffer[];
};

/** Finds the key with a number; see `findKeysOfTokens`. */
export async function findKeyOfTokens(
  tx: Queryable,
  { number, at }: { number: number; at: Date },
): Promise<KeyOfTokens | undefined> {
  const [key] = await findKeysOfTokens(tx, { numbers: [number], at });
  return key;
}

/**
 * Finds keys by the numbers in tokens, archived or not, with their revocations, in the order of `numbers`. At most 3,600
 * revocations a key, because a key may revoke 60 times a minute and an access token is valid for up to 60 minutes. Indexes:
 * api_keys_number_key, the workspaces' primary key, token_revocations_access.
 *
 * @param at revocations whose access tokens had expired by then are left out
 */
export async function findKeysOfTokens(
  tx: Queryable,
  { numbers, at }: { numbers: readonly number[]; at: Date },
): Promise<(KeyOfTokens | undefined)[]> {
  const rows = await tx<KeyOfTokens[]>`
    select ${apiKeyColumns(tx)}, ${keyNumberColumns(tx)}, workspaces.data_center as "dataCenter",
      workspaces.secret_required_at_refresh as "secretRequiredAtRefresh",
      array(
        select subject from token_revocations
        where token_revocations.key_id = api_keys.id and token_revocations.access_until > ${at}
      ) as revoked
    from unnest(${[...numbers]}::bigint[]) as asked (number)
    cross join lateral (select * from api_keys where api_keys.number = asked.number limit 1) as api_keys
    join workspaces on workspaces.id = api_keys.workspace_id`;
  const found = new Map(rows.map((key) => [key.number, key]));
  return numbers.map((number) => found.get(number));
}

/** True if a token id or a grant of a key was revoked. Index: primary key. */
export async function isTokenRevoked(
  tx: Queryable,
  { keyId, subject }: { keyId: string; subject: Buffer },
): Promise<boolean> {
  const rows = await tx`select 1 from token_revocations where key_id = ${keyId} and subject = ${subject}`;
  return rows.length > 0;
}

export type TokenRevocation = {
  keyId: string;
  workspaceId: string;
  /** The id of an access token, or a grant. */
  subject: Buffer;
  at: Date;
  /** When the last access token has expired that it revokes. */
  accessUntil: Date;
  expiresAt: Date;
};

/** Stores a revocation; a second one of the same token changes nothing. Index: primary key. */
export async function insertTokenRevocation(tx: Queryable, revocation: TokenRevocation): Promise<void> {
  const { keyId, workspaceId, subject, at, accessUntil, expiresAt } = revocation;
  await tx`
    insert into token_revocations (key_id, workspace_id, subject, revoked_at, access_until, expires_at)
    values (${keyId}, ${workspaceId}, ${subject}, ${at}, ${accessUntil}, ${expiresAt})
    on conflict (key_id, subject) do nothing`;
}

/**
 * Deletes revocations of tokens that expired before `before`; at most 10,000 per call, so that the job stays short. Index:
 * token_revocations_expiry.
 *
 * @returns the number of rows
 */
export async function deleteExpiredRevocations(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from token_revocations
    where (key_id, subject) in (
      select key_id, subject from token_revocations where expires_at < ${before} order by expires_at limit 10000
    )`;
  return rows.count;
}

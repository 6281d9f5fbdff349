import type { Queryable } from '../database.ts';
import { apiKeyColumns, keyNumberColumns } from './api-keys.ts';
import type { ApiKey, NumberedKey } from './api-keys.ts';

// Tokens that were stored when they were issued (before decision 0072). No row is added any more; they are valid until they
// expire, and the tables are empty 31 days after the upgrade.

/** An access token with the key it was issued to. */
export type StoredAccessToken = ApiKey & {
  tokenHash: Buffer;
  keyGeneration: number;
  expiresAt: Date;
  revokedAt: Date | null;
  dataCenter: string;
};

/** Finds a token by its hash, valid or not, in one look-up. Indexes: the three primary keys. */
export async function findAccessToken(tx: Queryable, tokenHash: Buffer): Promise<StoredAccessToken | undefined> {
  const [row] = await tx<StoredAccessToken[]>`
    select ${apiKeyColumns(tx)}, access_tokens.token_hash as "tokenHash",
      access_tokens.key_generation as "keyGeneration", access_tokens.expires_at as "expiresAt",
      access_tokens.revoked_at as "revokedAt", workspaces.data_center as "dataCenter"
    from access_tokens
    join api_keys on api_keys.id = access_tokens.key_id
    join workspaces on workspaces.id = access_tokens.workspace_id
    where access_tokens.token_hash = ${tokenHash}`;
  return row;
}

/** Revokes one access token of a workspace. Index: primary key. @returns whether there was one that was not revoked */
export async function revokeAccessToken(
  tx: Queryable,
  { tokenHash, workspaceId, at }: { tokenHash: Buffer; workspaceId: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update access_tokens set revoked_at = ${at}
    where token_hash = ${tokenHash} and workspace_id = ${workspaceId} and revoked_at is null
    returning 1`;
  return rows.length === 1;
}

/** Revokes every access token issued from a refresh token. Index: refresh_token_hash. @returns their number */
export async function revokeAccessTokensOfRefresh(
  tx: Queryable,
  { refreshTokenHash, at }: { refreshTokenHash: Buffer; at: Date },
): Promise<number> {
  const rows = await tx`
    update access_tokens set revoked_at = ${at}
    where refresh_token_hash = ${refreshTokenHash} and revoked_at is null`;
  return rows.count;
}

/**
 * Deletes tokens that expired before `before` (24 hours ago, decision D13); at most 10,000 per call, so that the job
 * stays short. Index: expires_at.
 *
 * @returns the number of rows
 */
export async function deleteExpiredAccessTokens(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from access_tokens
    where token_hash in (
      select token_hash from access_tokens where expires_at < ${before} order by expires_at limit 10000
    )`;
  return rows.count;
}

/** A refresh token with the key and the workspace it was issued to. */
export type StoredRefreshToken = NumberedKey & {
  tokenHash: Buffer;
  keyGeneration: number;
  expiresAt: Date;
  revokedAt: Date | null;
  dataCenter: string;
  secretRequiredAtRefresh: boolean;
};

/** Finds a token by its hash, valid or not. Indexes: the three primary keys. */
export async function findRefreshToken(tx: Queryable, tokenHash: Buffer): Promise<StoredRefreshToken | undefined> {
  const [row] = await tx<StoredRefreshToken[]>`
    select ${apiKeyColumns(tx)}, ${keyNumberColumns(tx)}, refresh_tokens.token_hash as "tokenHash",
      refresh_tokens.key_generation as "keyGeneration", refresh_tokens.expires_at as "expiresAt",
      refresh_tokens.revoked_at as "revokedAt", workspaces.data_center as "dataCenter",
      workspaces.secret_required_at_refresh as "secretRequiredAtRefresh"
    from refresh_tokens
    join api_keys on api_keys.id = refresh_tokens.key_id
    join workspaces on workspaces.id = refresh_tokens.workspace_id
    where refresh_tokens.token_hash = ${tokenHash}`;
  return row;
}

/**
 * Revokes a refresh token of a workspace. Locks the row. Index: primary key.
 *
 * @returns its key and expiry; undefined if there is no such token that was not revoked
 */
export async function revokeRefreshToken(
  tx: Queryable,
  { tokenHash, workspaceId, at }: { tokenHash: Buffer; workspaceId: string; at: Date },
): Promise<RevokedRefreshToken | undefined> {
  const [row] = await tx<RevokedRefreshToken[]>`
    update refresh_tokens set revoked_at = ${at}
    where token_hash = ${tokenHash} and workspace_id = ${workspaceId} and revoked_at is null
    returning key_id as "keyId", expires_at as "expiresAt"`;
  return row;
}

export type RevokedRefreshToken = { keyId: string; expiresAt: Date };

/**
 * Deletes tokens that expired before `before`; at most 10,000 per call, so that the job stays short. Index: expires_at.
 *
 * @returns the number of rows
 */
export async function deleteExpiredRefreshTokens(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from refresh_tokens
    where token_hash in (
      select token_hash from refresh_tokens where expires_at < ${before} order by expires_at limit 10000
    )`;
  return rows.count;
}

/** Revokes every token that is left. Reads both tables; they are small. */
export async function endStoredTokens(tx: Queryable, { at }: { at: Date }): Promise<void> {
  await tx`update access_tokens set revoked_at = ${at} where revoked_at is null`;
  await tx`update refresh_tokens set revoked_at = ${at} where revoked_at is null`;
}

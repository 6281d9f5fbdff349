import type { Queryable } from '../database.ts';
import { apiKeyColumns } from './api-keys.ts';
import type { ApiKey } from './api-keys.ts';

/** An access token with the key it was issued to. */
export type StoredAccessToken = ApiKey & {
  tokenHash: Buffer;
  keyGeneration: number;
  expiresAt: Date;
  revokedAt: Date | null;
  dataCenter: string;
};

/**
 * Adds an access token to a refresh token that is not revoked. The share lock on the refresh token serialises a
 * simultaneous revocation, before or after; see revokeRefreshToken. Index: primary key of refresh_tokens.
 *
 * @returns whether the refresh token was not revoked
 */
export async function insertAccessToken(
  tx: Queryable,
  token: {
    tokenHash: Buffer;
    refreshTokenHash: Buffer;
    workspaceId: string;
    keyId: string;
    keyGeneration: number;
    issuedAt: Date;
    expiresAt: Date;
  },
): Promise<boolean> {
  const rows = await tx`
    insert into access_tokens (
      token_hash, workspace_id, key_id, key_generation, refresh_token_hash, issued_at, expires_at
    )
    select ${token.tokenHash}, ${token.workspaceId}, ${token.keyId}, ${token.keyGeneration}::integer,
      parent.token_hash, ${token.issuedAt}::timestamptz, ${token.expiresAt}::timestamptz
    from (
      select token_hash from refresh_tokens
      where token_hash = ${token.refreshTokenHash} and revoked_at is null
      for share
    ) as parent
    returning 1`;
  return rows.length === 1;
}

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
export type StoredRefreshToken = ApiKey & {
  tokenHash: Buffer;
  keyGeneration: number;
  expiresAt: Date;
  revokedAt: Date | null;
  dataCenter: string;
  secretRequiredAtRefresh: boolean;
};

export type NewTokens = {
  refreshTokenHash: Buffer;
  accessTokenHash: Buffer;
  workspaceId: string;
  keyId: string;
  keyGeneration: number;
  issuedAt: Date;
  refreshExpiresAt: Date;
  accessExpiresAt: Date;
};

/**
 * Adds refresh tokens, each with its first access token, in one statement. The primary keys reject two equal tokens
 * (256 bits: a broken random source). Locks the keys' rows in order, so that a simultaneous removal of a key, as in a
 * reset of the sandbox, comes before or after. Index: primary key of api_keys.
 *
 * @returns for each token whether its key exists
 */
export async function insertTokens(tx: Queryable, tokens: readonly NewTokens[]): Promise<boolean[]> {
  const rows = await tx<{ place: number }[]>`
    with owners as materialized (
      select id from api_keys where id = any(${[...new Set(tokens.map(({ keyId }) => keyId))]}) order by id for key share
    ), asked as materialized (
      select asked.* from unnest(
        ${tokens.map(({ refreshTokenHash }) => refreshTokenHash)}::bytea[],
        ${tokens.map(({ accessTokenHash }) => accessTokenHash)}::bytea[],
        ${tokens.map(({ workspaceId }) => workspaceId)}::text[], ${tokens.map(({ keyId }) => keyId)}::text[],
        ${tokens.map(({ keyGeneration }) => keyGeneration)}::int[], ${tokens.map(({ issuedAt }) => issuedAt)}::timestamptz[],
        ${tokens.map(({ refreshExpiresAt }) => refreshExpiresAt)}::timestamptz[],
        ${tokens.map(({ accessExpiresAt }) => accessExpiresAt)}::timestamptz[]
      ) with ordinality as asked (
        refresh_hash, access_hash, workspace_id, key_id, generation, issued_at, refresh_expires_at, access_expires_at, place
      )
      join owners on owners.id = asked.key_id collate "C"
    ), refreshing as (
      insert into refresh_tokens (token_hash, workspace_id, key_id, key_generation, issued_at, expires_at)
      select refresh_hash, workspace_id, key_id, generation, issued_at, refresh_expires_at from asked
    ), accessing as (
      insert into access_tokens (
        token_hash, workspace_id, key_id, key_generation, refresh_token_hash, issued_at, expires_at
      )
      select access_hash, workspace_id, key_id, generation, refresh_hash, issued_at, access_expires_at from asked
    )
    select place::int as place from asked`;
  const stored = new Set(rows.map(({ place }) => place));
  return tokens.map((_, index) => stored.has(index + 1));
}

/** Finds a token by its hash, valid or not. Indexes: the three primary keys. */
export async function findRefreshToken(tx: Queryable, tokenHash: Buffer): Promise<StoredRefreshToken | undefined> {
  const [row] = await tx<StoredRefreshToken[]>`
    select ${apiKeyColumns(tx)}, refresh_tokens.token_hash as "tokenHash",
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
 * Revokes a refresh token of a workspace. Locks the row first: a simultaneous refresh is either rejected or has stored
 * its access token before revokeAccessTokensOfRefresh reads. Index: primary key.
 *
 * @returns whether there is such a token that was not revoked
 */
export async function revokeRefreshToken(
  tx: Queryable,
  { tokenHash, workspaceId, at }: { tokenHash: Buffer; workspaceId: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update refresh_tokens set revoked_at = ${at}
    where token_hash = ${tokenHash} and workspace_id = ${workspaceId} and revoked_at is null
    returning 1`;
  return rows.length === 1;
}

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

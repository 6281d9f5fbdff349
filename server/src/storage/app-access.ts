import type { IdentityAlgorithm } from '../domain/access/identity-tokens.ts';
import type { Queryable } from './database.ts';

export type AppAccess = { webOrigins: string[]; attributes: string[] };

/** Returns what the apps of a workspace may do. Index: primary key. */
export async function findAppAccess(tx: Queryable, workspaceId: string): Promise<AppAccess> {
  const [row] = await tx<AppAccess[]>`
    select web_origins as "webOrigins", attributes from app_access where workspace_id = ${workspaceId}`;
  return row ?? { webOrigins: [], attributes: [] };
}

/** Stores or replaces what the apps of a workspace may do. Index: primary key. */
export async function upsertAppAccess(
  tx: Queryable,
  { workspaceId, webOrigins, attributes, at }: AppAccess & { workspaceId: string; at: Date },
): Promise<void> {
  await tx`
    insert into app_access (workspace_id, web_origins, attributes, updated_at)
    values (${workspaceId}, ${webOrigins}, ${attributes}, ${at})
    on conflict (workspace_id) do update
    set web_origins = excluded.web_origins, attributes = excluded.attributes, updated_at = excluded.updated_at`;
}

export type IdentityKey = {
  id: string;
  algorithm: IdentityAlgorithm;
  /** HS256. */
  encryptedSecret: Buffer | null;
  /** ES256: SPKI in PEM. */
  publicKey: string | null;
  createdAt: Date;
};

/** Lists the keys that verify the identity tokens of a workspace, the oldest first. Index: primary key. */
export async function listIdentityKeys(tx: Queryable, workspaceId: string): Promise<IdentityKey[]> {
  return tx<IdentityKey[]>`
    select id, algorithm, secret_sealed as "encryptedSecret", public_key as "publicKey", created_at as "createdAt"
    from identity_keys where workspace_id = ${workspaceId} order by created_at, id`;
}

/** Adds a key; the caller has checked the number of keys under `lockAppAccess`. */
export async function insertIdentityKey(tx: Queryable, key: IdentityKey & { workspaceId: string }): Promise<void> {
  await tx`
    insert into identity_keys (workspace_id, id, algorithm, secret_sealed, public_key, created_at)
    values (${key.workspaceId}, ${key.id}, ${key.algorithm}, ${key.encryptedSecret}, ${key.publicKey}, ${key.createdAt})`;
}

/** Index: primary key. @returns whether there was one */
export async function deleteIdentityKey(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<boolean> {
  const rows = await tx`delete from identity_keys where workspace_id = ${workspaceId} and id = ${id} returning 1`;
  return rows.length === 1;
}

/** Makes callers that change the keys of a workspace run one after the other, until the transaction ends. */
export async function lockAppAccess(tx: Queryable, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`app-access:${workspaceId}`}, 0))`;
}

import type { EndingKey } from '../../domain/operations/conditions.ts';
import type { KeyKind } from '../../domain/access/keys.ts';
import type { Queryable } from '../database.ts';

export type ApiKey = {
  id: string;
  workspaceId: string;
  kind: KeyKind;
  name: string;
  scopes: string[];
  /** Raised when the key is archived or its secret replaced; tokens of other generations are invalid. */
  generation: number;
  accessTokenMinutes: number;
  secretHint: string;
  /** Push keys only: they sign, so the secret must be readable. */
  encryptedSecret: Buffer | null;
  createdAt: Date;
  /** To the minute. */
  lastUsedAt: Date | null;
  archivedAt: Date | null;
  /** When the key was rotated: the time it is archived. */
  endsAt: Date | null;
};

type KeyId = { workspaceId: string; id: string };

/** The columns of an ApiKey, for every statement that returns keys. */
export const apiKeyColumns = (tx: Queryable) => tx`
  api_keys.id, api_keys.workspace_id as "workspaceId", api_keys.kind, api_keys.name, api_keys.scopes,
  api_keys.generation, api_keys.access_token_minutes as "accessTokenMinutes", api_keys.secret_hint as "secretHint",
  api_keys.secret_sealed as "encryptedSecret", api_keys.created_at as "createdAt",
  api_keys.last_used_at as "lastUsedAt", api_keys.archived_at as "archivedAt", api_keys.ends_at as "endsAt"`;

/** Adds a key. The unique index rejects a secret that exists already (256 bits: a broken random source). */
export async function insertApiKey(
  tx: Queryable,
  key: {
    id: string;
    workspaceId: string;
    kind: KeyKind;
    name: string;
    scopes: readonly string[];
    secretHash: Buffer;
    encryptedSecret: Buffer | null;
    secretHint: string;
    accessTokenMinutes: number;
    createdAt: Date;
  },
): Promise<ApiKey> {
  const [row] = await tx<ApiKey[]>`
    insert into api_keys (
      id, workspace_id, kind, name, scopes, secret_hash, secret_sealed, secret_hint, access_token_minutes, created_at
    )
    values (
      ${key.id}, ${key.workspaceId}, ${key.kind}, ${key.name}, ${[...key.scopes]}, ${key.secretHash},
      ${key.encryptedSecret}, ${key.secretHint}, ${key.accessTokenMinutes}, ${key.createdAt}
    )
    returning ${apiKeyColumns(tx)}`;
  return row!;
}

/** Finds a key by id, archived or not. Index: primary key. */
export async function findApiKey(tx: Queryable, { workspaceId, id }: KeyId): Promise<ApiKey | undefined> {
  const [row] = await tx<ApiKey[]>`
    select ${apiKeyColumns(tx)} from api_keys where id = ${id} and workspace_id = ${workspaceId}`;
  return row;
}

/** A key with the numbers by which tokens name it and its workspace. */
export type NumberedKey = ApiKey & { number: number; workspaceNumber: number };

export const keyNumberColumns = (tx: Queryable) => tx`
  api_keys.number, workspaces.number as "workspaceNumber"`;

export type PresentedKey = NumberedKey & {
  secretHash: Buffer;
  /** The data center of the workspace (decision D1). */
  dataCenter: string;
};

type PresentedSecret = { workspaceId: string; secretHash: Buffer };

/**
 * Finds the key with a secret in a workspace, archived or not. An unknown workspace and a wrong secret are the same look-up.
 * Indexes: unique secret_hash, then the workspaces' primary key.
 */
export async function findApiKeyBySecretHash(
  tx: Queryable,
  { workspaceId, secretHash }: PresentedSecret,
): Promise<PresentedKey | undefined> {
  const [key] = await tx<PresentedKey[]>`
    select ${apiKeyColumns(tx)}, ${keyNumberColumns(tx)}, api_keys.secret_hash as "secretHash",
      workspaces.data_center as "dataCenter"
    from api_keys join workspaces on workspaces.id = api_keys.workspace_id
    where api_keys.secret_hash = ${secretHash} and api_keys.workspace_id = ${workspaceId}`;
  return key;
}

/** Finds a data key by its secret alone, archived or not. Index: unique secret_hash. */
export async function findDataKey(tx: Queryable, secretHash: Buffer): Promise<PresentedKey | undefined> {
  const [key] = await tx<PresentedKey[]>`
    select ${apiKeyColumns(tx)}, ${keyNumberColumns(tx)}, api_keys.secret_hash as "secretHash",
      workspaces.data_center as "dataCenter"
    from api_keys join workspaces on workspaces.id = api_keys.workspace_id
    where api_keys.secret_hash = ${secretHash} and api_keys.kind = 'data'`;
  return key;
}

/** What a token says about its key, and who its response is for. */
export type IssuingKey = Pick<
  NumberedKey,
  'id' | 'workspaceId' | 'number' | 'workspaceNumber' | 'generation' | 'accessTokenMinutes'
>;

/** A key that a client presents to a token route: few columns, because each takes time on every request. */
export type ClientKey = IssuingKey &
  Pick<PresentedKey, 'kind' | 'lastUsedAt' | 'archivedAt' | 'secretHash' | 'dataCenter'>;

export type AppKey = Pick<ApiKey, 'id' | 'workspaceId' | 'lastUsedAt'> & {
  secretHash: Buffer;
  dataCenter: string;
  /** What the apps of the workspace may do. */
  webOrigins: string[];
  attributes: string[];
};

/**
 * Finds a key of kind app by its secret alone, which names the workspace, unless it is archived. Indexes: unique secret_hash,
 * primary keys of workspaces and app_access.
 */
export async function findAppKey(tx: Queryable, secretHash: Buffer): Promise<AppKey | undefined> {
  const [row] = await tx<AppKey[]>`
    select api_keys.id, api_keys.workspace_id as "workspaceId", api_keys.last_used_at as "lastUsedAt",
      api_keys.secret_hash as "secretHash", workspaces.data_center as "dataCenter",
      coalesce(app_access.web_origins, '{}') as "webOrigins", coalesce(app_access.attributes, '{}') as attributes
    from api_keys
    join workspaces on workspaces.id = api_keys.workspace_id
    left join app_access on app_access.workspace_id = api_keys.workspace_id
    where api_keys.secret_hash = ${secretHash} and api_keys.kind = 'app' and api_keys.archived_at is null`;
  return row;
}

/** Lists the keys of one kind that are not archived, of several workspaces, oldest first. Index: api_keys_workspace. */
export async function listActiveApiKeys(
  tx: Queryable,
  search: { workspaceIds: readonly string[]; kind: KeyKind },
): Promise<ApiKey[]> {
  return tx<ApiKey[]>`
    select ${apiKeyColumns(tx)}
    from api_keys
    where workspace_id = any (${[...search.workspaceIds]}::text[]) and kind = ${search.kind} and archived_at is null
    order by id`;
}

/** Lists the keys of a workspace that have an end date and are not archived, the next to end first. Index: api_keys_ending. */
export async function listEndingKeys(tx: Queryable, workspaceId: string): Promise<EndingKey[]> {
  return tx<EndingKey[]>`
    select name, ends_at as "endsAt", last_used_at as "lastUsedAt" from api_keys
    where workspace_id = ${workspaceId} and ends_at is not null and archived_at is null
    order by ends_at limit 100`;
}

/** Lists every key of a workspace, newest first: the key dashboard. A workspace has tens of keys; the table is small. */
export async function listApiKeys(tx: Queryable, workspaceId: string): Promise<ApiKey[]> {
  return tx<ApiKey[]>`
    select ${apiKeyColumns(tx)} from api_keys where workspace_id = ${workspaceId} order by id desc`;
}

/**
 * Archives a key for good; its tokens are of an older generation from then on. Locks the row. Index: primary key.
 *
 * @returns whether this call archived it
 */
export async function archiveApiKey(tx: Queryable, { workspaceId, id, at }: KeyId & { at: Date }): Promise<boolean> {
  const rows = await tx`
    update api_keys set archived_at = ${at}, generation = generation + 1
    where id = ${id} and workspace_id = ${workspaceId} and archived_at is null
    returning 1`;
  return rows.length === 1;
}

/** Sets an end date for a key that has none yet. Locks the row. Index: primary key. @returns whether this call set it */
export async function endApiKeyAt(
  tx: Queryable,
  { workspaceId, id, endsAt }: KeyId & { endsAt: Date },
): Promise<boolean> {
  const rows = await tx`
    update api_keys set ends_at = ${endsAt}
    where id = ${id} and workspace_id = ${workspaceId} and archived_at is null and ends_at is null
    returning 1`;
  return rows.length === 1;
}

/** Archives the keys that have reached their end date. Index: api_keys_ending. @returns their number */
export async function archiveEndedApiKeys(tx: Queryable, at: Date): Promise<number> {
  const rows = await tx`
    update api_keys set archived_at = ends_at, generation = generation + 1
    where ends_at <= ${at} and archived_at is null`;
  return rows.count;
}

/**
 * Replaces a key's secret. The old secret fails at once, as do the tokens of the old generation. Locks the row. Index:
 * primary key.
 *
 * @returns undefined when there is no such key or it is archived
 */
export async function replaceApiKeySecret(
  tx: Queryable,
  change: KeyId & { secretHash: Buffer; encryptedSecret: Buffer | null; secretHint: string },
): Promise<ApiKey | undefined> {
  const [row] = await tx<ApiKey[]>`
    update api_keys
    set secret_hash = ${change.secretHash}, secret_sealed = ${change.encryptedSecret}, secret_hint = ${change.secretHint},
      generation = generation + 1
    where id = ${change.id} and workspace_id = ${change.workspaceId} and archived_at is null
    returning ${apiKeyColumns(tx)}`;
  return row;
}

/** Renames a key that is not archived. Index: primary key. @returns whether there is one */
export async function setApiKeyName(tx: Queryable, change: KeyId & { name: string }): Promise<boolean> {
  const rows = await tx`
    update api_keys set name = ${change.name}
    where id = ${change.id} and workspace_id = ${change.workspaceId} and archived_at is null
    returning 1`;
  return rows.length === 1;
}

/** Sets a key's scopes; its live tokens follow at once. Index: primary key. @returns whether there is one */
export async function setApiKeyScopes(tx: Queryable, change: KeyId & { scopes: readonly string[] }): Promise<boolean> {
  const rows = await tx`
    update api_keys set scopes = ${[...change.scopes]}
    where id = ${change.id} and workspace_id = ${change.workspaceId} and archived_at is null
    returning 1`;
  return rows.length === 1;
}

/**
 * Sets the lifetime of access tokens issued from now on; existing tokens keep theirs. Index: primary key.
 *
 * @returns whether there is such a key that is not archived
 */
export async function setAccessTokenMinutes(
  tx: Queryable,
  change: KeyId & { accessTokenMinutes: number },
): Promise<boolean> {
  const rows = await tx`
    update api_keys set access_token_minutes = ${change.accessTokenMinutes}
    where id = ${change.id} and workspace_id = ${change.workspaceId} and archived_at is null
    returning 1`;
  return rows.length === 1;
}

/** Records that a key was used; see `touchApiKeys`. */
export async function touchApiKey(tx: Queryable, { id, at }: { id: string; at: Date }): Promise<void> {
  await touchApiKeys(tx, { ids: [id], at });
}

/**
 * Records that keys were used, each at most once a minute, so that a busy key is not a hot row. Skips a row that
 * another request has locked: that request records the same. Does not wait for requests that store a token of the key.
 * Index: primary key.
 */
export async function touchApiKeys(tx: Queryable, { ids, at }: { ids: readonly string[]; at: Date }): Promise<void> {
  await tx`
    update api_keys set last_used_at = ${at}
    where id = any(array(
      select id from api_keys
      where id = any(${[...ids]}) and (last_used_at is null or last_used_at <= ${at}::timestamptz - interval '1 minute')
      for no key update skip locked
    ))`;
}

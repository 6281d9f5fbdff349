import { randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { assertKeySettings, defaultScopes, makeSecret, hashSecret, hintOfSecret } from '../../domain/access/keys.ts';
import type { KeyKind, Random, KeySettings } from '../../domain/access/keys.ts';
import { encryptionContext } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { defaultAccessTokenMinutes } from '../../domain/limits/access.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import {
  archiveApiKey,
  findApiKey,
  listApiKeys,
  insertApiKey,
  setAccessTokenMinutes,
  setApiKeyName,
  setApiKeyScopes,
  endApiKeyAt,
  replaceApiKeySecret,
} from '../../storage/keys/api-keys.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import type { TokenAuthority } from '../tokens/token-authority.ts';
import { requireWorkspace } from '../workspaces.ts';

export type KeyDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** The tokens of this node, so that a change is in force on it at once. A command has none: nodes follow within a second. */
  tokens?: Pick<TokenAuthority, 'forgetKeys'>;
};

type Change = { actor: Actor; workspaceId: string };

/** A newly created key: its secret is shown only here. */
export type MadeKey = { key: ApiKey; secret: string; dbName: string };

/** Lists keys, newest first. @throws ServiceError NOT_FOUND */
export async function listKeys({ database }: Pick<KeyDependencies, 'database'>, workspaceId: string) {
  await requireWorkspace(database, workspaceId);
  return listApiKeys(database, workspaceId);
}

/** @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
export async function issueKey(
  deps: KeyDependencies,
  command: Change & { kind: KeyKind; name: string; accessTokenMinutes?: number },
): Promise<MadeKey> {
  const { actor, workspaceId, ...settings } = command;
  const { database, clock } = deps;
  const { dbName } = await requireWorkspace(database, workspaceId);
  const at = clock.now();
  return await inTransaction(database, async (tx) => {
    const { key, secret } = await createKey(deps, tx, { ...settings, workspaceId, at });
    const object = { id: key.id, name: key.name };
    const detail = { kind: key.kind };
    await audit(tx, { actor, workspaceId, action: 'key.create', object, detail, at: clock.realNow() });
    return { key, secret, dbName };
  });
}

/**
 * Creates a successor of a key, with its kind, name, scopes and lifetime. The old key stays valid for the overlap, so
 * that callers can switch without a gap, and is then archived (engine/housekeeping/expiry.ts).
 *
 * @throws ServiceError NOT_FOUND, also for an archived key; PARAMETER_INVALID for one that was rotated already
 */
export async function rotateKey(
  deps: KeyDependencies,
  command: Change & { keyId: string; overlapHours: number },
): Promise<MadeKey & { endsAt: Date }> {
  const { actor, workspaceId, keyId: id, overlapHours } = command;
  const { database, clock } = deps;
  const { dbName } = await requireWorkspace(database, workspaceId);
  const at = clock.now();
  return inTransaction(database, async (tx) => {
    const old = await findApiKey(tx, { workspaceId, id });
    if (!old || old.archivedAt) throw new ServiceError('NOT_FOUND');
    const endsAt = new Date(at.getTime() + overlapHours * 3_600_000);
    if (!(await endApiKeyAt(tx, { workspaceId, id, endsAt })))
      throw new ServiceError('PARAMETER_INVALID', { field: 'id', reason: 'was rotated already' });
    const { kind, name, scopes, accessTokenMinutes } = old;
    const { key, secret } = await createKey(deps, tx, { workspaceId, kind, name, scopes, accessTokenMinutes, at });
    const detail = { successor: key.id, endsAt: endsAt.toISOString() };
    await audit(tx, { actor, workspaceId, action: 'key.rotate', object: { id, name }, detail, at: clock.realNow() });
    return { key, secret, dbName, endsAt };
  });
}

/**
 * Archives a key permanently. The key fails from the commit on, on every node, and so do its tokens on this node; on others they
 * fail within a second (decision D14). Archiving twice changes nothing.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function archiveKey(
  { database, clock, tokens }: Pick<KeyDependencies, 'database' | 'clock' | 'tokens'>,
  { actor, workspaceId, keyId: id }: Change & { keyId: string },
): Promise<void> {
  const at = clock.now();
  await inTransaction(database, async (tx) => {
    const key = await findApiKey(tx, { workspaceId, id });
    if (!key) throw new ServiceError('NOT_FOUND');
    if (!(await archiveApiKey(tx, { workspaceId, id, at }))) return;
    const object = { id, name: key.name };
    await audit(tx, { actor, workspaceId, action: 'key.revoke', object, at: clock.realNow() });
  });
  tokens?.forgetKeys();
}

export type CreateKeyCommand = {
  workspaceId: string;
  kind: KeyKind;
  /** 1 to 100 characters. */
  name: string;
  /** Default: the scopes of the kind. */
  scopes?: readonly string[];
  /** Minutes, 5 to 60; default 15. */
  accessTokenMinutes?: number;
  at: Date;
  random?: Random;
};

/**
 * Creates an API key in the caller's transaction. The secret is returned here and nowhere else: only its hash is stored and, for push keys, an encrypted
 * copy.
 *
 * @throws ServiceError PARAMETER_INVALID
 */
export async function createKey(
  { encryption }: { encryption: Encryption },
  tx: Queryable,
  command: CreateKeyCommand,
): Promise<{ key: ApiKey; secret: string }> {
  const { workspaceId, kind, name, random = randomBytes } = command;
  const scopes = command.scopes ?? defaultScopes[kind];
  const accessTokenMinutes = command.accessTokenMinutes ?? defaultAccessTokenMinutes;
  assertKeySettings({ name, scopes, accessTokenMinutes });
  const id = makeId(command.at, random(6));
  const secret = makeSecret(kind, random);
  const key = await insertApiKey(tx, {
    id,
    workspaceId,
    kind,
    name,
    scopes,
    accessTokenMinutes,
    createdAt: command.at,
    ...storedSecret(encryption, secret, { id, workspaceId, kind }),
  });
  return { key, secret };
}

/**
 * Changes the settings that are given. A shorter lifetime applies to tokens issued from now on (decision D15); scopes
 * apply to live tokens at once on this node, and within a second on others. The kind of a key cannot be changed (fact 1).
 *
 * @throws ServiceError PARAMETER_INVALID; NOT_FOUND, also for an archived key
 */
export async function editKey(
  { database, tokens }: Pick<KeyDependencies, 'database' | 'tokens'>,
  command: { workspaceId: string; keyId: string } & Partial<KeySettings>,
): Promise<ApiKey> {
  const { name, scopes, accessTokenMinutes } = command;
  assertKeySettings(command);
  const id = { workspaceId: command.workspaceId, id: command.keyId };
  const edited = await inTransaction(database, async (tx) => {
    if (name !== undefined) await setApiKeyName(tx, { ...id, name });
    if (scopes !== undefined) await setApiKeyScopes(tx, { ...id, scopes });
    if (accessTokenMinutes !== undefined) await setAccessTokenMinutes(tx, { ...id, accessTokenMinutes });
    const key = await findApiKey(tx, id);
    if (!key || key.archivedAt) throw new ServiceError('NOT_FOUND');
    return key;
  });
  tokens?.forgetKeys();
  return edited;
}

/**
 * Generates a new secret for a key and returns it once. The old value is invalid from the commit on, on every node, and so are
 * all tokens issued under it on this node; on others they are within a second (decision D14).
 *
 * @throws ServiceError NOT_FOUND, also for an archived key
 */
export async function regenerateKey(
  { database, encryption, tokens }: Omit<KeyDependencies, 'clock'>,
  command: { workspaceId: string; keyId: string; random?: Random },
): Promise<{ key: ApiKey; secret: string }> {
  const id = { workspaceId: command.workspaceId, id: command.keyId };
  const regenerated = await inTransaction(database, async (tx) => {
    const old = await findApiKey(tx, id);
    if (!old) throw new ServiceError('NOT_FOUND');
    const secret = makeSecret(old.kind, command.random ?? randomBytes);
    const key = await replaceApiKeySecret(tx, { ...id, ...storedSecret(encryption, secret, old) });
    if (!key) throw new ServiceError('NOT_FOUND', { detail: 'the key is archived' });
    return { key, secret };
  });
  tokens?.forgetKeys();
  return regenerated;
}

export type StoredSecret = { secretHash: Buffer; encryptedSecret: Buffer | null; secretHint: string };

/**
 * Returns the stored form of a key's secret. Push keys sign (interface 5), so they are encrypted as well. The key of an app is
 * public, so it is shown whole.
 */
function storedSecret(
  encryption: Encryption,
  secret: string,
  key: { id: string; workspaceId: string; kind: KeyKind },
): StoredSecret {
  return {
    secretHash: hashSecret(secret),
    encryptedSecret: key.kind === 'push' ? encryption.encrypt(secret, encryptionContext.pushKey(key)) : null,
    secretHint: key.kind === 'app' ? secret : hintOfSecret(secret),
  };
}

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { readPublicKey } from '../../domain/access/identity-tokens.ts';
import type { IdentityAlgorithm } from '../../domain/access/identity-tokens.ts';
import { canonicalOrigin } from '../../domain/access/installations.ts';
import { encryptionContext } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxIdentityKeys } from '../../domain/limits/installations.ts';
import { appAttributeFault } from '../../domain/users/app-attributes.ts';
import {
  deleteIdentityKey,
  findAppAccess,
  insertIdentityKey,
  listIdentityKeys,
  lockAppAccess,
  upsertAppAccess,
} from '../../storage/app-access.ts';
import type { AppAccess, IdentityKey } from '../../storage/app-access.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';

export type AppAccessDependencies = { database: Database; clock: Clock; encryption: Encryption };

type By = { actor: Actor; workspaceId: string };

export type ListedIdentityKey = Pick<IdentityKey, 'id' | 'algorithm' | 'createdAt'>;

/** Returns what the apps of a workspace may do, and the keys that verify their users. */
export async function readAppAccess(
  { database }: Pick<AppAccessDependencies, 'database'>,
  workspaceId: string,
): Promise<AppAccess & { identityKeys: ListedIdentityKey[] }> {
  const access = await findAppAccess(database, workspaceId);
  return { ...access, identityKeys: await listIdentityKeys(database, workspaceId) };
}

/** Replaces what the apps of a workspace may do. @throws ServiceError PARAMETER_INVALID */
export async function putAppAccess(
  { database, clock }: AppAccessDependencies,
  { actor, workspaceId, prefixes, ...sent }: By & AppAccess & { prefixes: readonly string[] },
): Promise<void> {
  const webOrigins = sent.webOrigins.map((text) => {
    const origin = canonicalOrigin(text);
    if (origin === undefined)
      throw invalid('web_origins', 'must hold https origins such as https://shop.example, or http://localhost:3000');
    return origin;
  });
  for (const name of sent.attributes) {
    const reason = appAttributeFault(name, prefixes);
    if (reason !== undefined) throw invalid('attributes', `${name.slice(0, 50)} ${reason}`);
  }
  const access = { webOrigins: [...new Set(webOrigins)], attributes: [...new Set(sent.attributes)] };
  await inTransaction(database, async (tx) => {
    await upsertAppAccess(tx, { ...access, workspaceId, at: clock.now() });
    const object = { id: workspaceId };
    await audit(tx, { actor, workspaceId, action: 'app.access', object, detail: access, at: clock.realNow() });
  });
}

type NewIdentityKey = By & { algorithm: IdentityAlgorithm; publicKey: string | undefined };

/**
 * Adds a key that verifies identity tokens. For HS256 the shared secret is made here and returned once; for ES256 only the
 * public key is known.
 *
 * @throws ServiceError PARAMETER_INVALID, also if two keys are valid already
 */
export async function addIdentityKey(
  { database, clock, encryption }: AppAccessDependencies,
  { actor, workspaceId, algorithm, publicKey }: NewIdentityKey,
): Promise<ListedIdentityKey & { secret: string | undefined }> {
  const read = readMaterial(algorithm, publicKey);
  const createdAt = clock.now();
  const id = makeId(createdAt);
  // Text of base64url: libraries take the bytes of this text as the secret.
  const secret = algorithm === 'HS256' ? randomBytes(32).toString('base64url') : undefined;
  const encryptedSecret =
    secret === undefined ? null : encryption.encrypt(secret, encryptionContext.identityKey({ workspaceId, id }));
  await inTransaction(database, async (tx) => {
    await lockAppAccess(tx, workspaceId);
    if ((await listIdentityKeys(tx, workspaceId)).length >= maxIdentityKeys)
      throw invalid('identity_keys', `are at most ${maxIdentityKeys}; remove the older one first`);
    await insertIdentityKey(tx, { workspaceId, id, algorithm, encryptedSecret, publicKey: read, createdAt });
    const object = { id };
    await audit(tx, {
      ...{ actor, workspaceId, action: 'app.identity-key-add' as const, object },
      ...{ detail: { algorithm }, at: clock.realNow() },
    });
  });
  return { id, algorithm, createdAt, secret };
}

function readMaterial(algorithm: IdentityAlgorithm, publicKey: string | undefined): string | null {
  if (algorithm === 'HS256') {
    if (publicKey !== undefined) throw invalid('public_key', 'is of ES256; the secret of HS256 is made here');
    return null;
  }
  if (publicKey === undefined) throw invalid('public_key', 'is required with ES256');
  const read = readPublicKey(publicKey);
  if ('fault' in read) throw invalid('public_key', read.fault);
  return read.pem;
}

/** Removes a key: tokens under it are refused from the commit on. @throws ServiceError NOT_FOUND */
export async function removeIdentityKey(
  { database, clock }: Pick<AppAccessDependencies, 'database' | 'clock'>,
  { actor, workspaceId, id }: By & { id: string },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    if (!(await deleteIdentityKey(tx, { workspaceId, id }))) throw new ServiceError('NOT_FOUND');
    const object = { id };
    await audit(tx, { actor, workspaceId, action: 'app.identity-key-remove', object, at: clock.realNow() });
  });
}

function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('PARAMETER_INVALID', { field, reason });
}

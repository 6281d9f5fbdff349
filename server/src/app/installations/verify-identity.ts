import { createPublicKey, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { JWTPayload } from 'jose';
import type { Clock } from '../../clock.ts';
import { readIdentity } from '../../domain/access/identity-tokens.ts';
import { encryptionContext } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import { identityClockSkewSeconds } from '../../domain/limits/installations.ts';
import { listIdentityKeys } from '../../storage/app-access.ts';
import type { IdentityKey } from '../../storage/app-access.ts';
import type { Database } from '../../storage/database.ts';

export type IdentityDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Only the sandbox accepts a user id without a token. No setting changes that in production. */
  isSandbox: boolean;
};

export type SentIdentity = { token: string | undefined; customerId: string | undefined };

/**
 * Returns the user that an app signs in. An identity token proves the user; a user id that is sent with it must be the same.
 *
 * @throws ServiceError IDENTITY_TOKEN_INVALID
 */
export async function verifyIdentity(
  deps: IdentityDependencies,
  workspaceId: string,
  { token, customerId }: SentIdentity,
): Promise<string> {
  if (token === undefined) {
    if (deps.isSandbox && customerId !== undefined) return customerId;
    throw refusal('is required');
  }
  const now = deps.clock.realNow();
  const claims = await verifyToken(deps, { workspaceId, token, now });
  const identity = readIdentity(claims, now);
  if ('fault' in identity) throw refusal(identity.fault);
  if (customerId !== undefined && customerId !== identity.customerId) throw refusal('is of another user');
  return identity.customerId;
}

type Verifying = { workspaceId: string; token: string; now: Date };

/** The stored key fixes the algorithm, so that neither `none` nor a public key used as a shared secret is accepted. */
async function verifyToken(
  { database, encryption }: IdentityDependencies,
  { workspaceId, token, now }: Verifying,
): Promise<JWTPayload> {
  const header = readHeader(token);
  const key = (await listIdentityKeys(database, workspaceId)).find(({ id }) => id === header.kid);
  if (!key) throw refusal('has a `kid` that is not a key of the workspace');
  if (header.alg !== key.algorithm) throw refusal(`is not signed with ${key.algorithm}, the algorithm of its key`);
  try {
    const { payload } = await jwtVerify(token, materialOf(encryption, { ...key, workspaceId }), {
      algorithms: [key.algorithm],
      audience: workspaceId,
      clockTolerance: identityClockSkewSeconds,
      currentDate: now,
      requiredClaims: ['sub', 'exp', 'aud'],
    });
    return payload;
  } catch (error) {
    throw refusal(describeFault(error));
  }
}

function readHeader(token: string): { alg?: unknown; kid?: unknown } {
  try {
    return decodeProtectedHeader(token);
  } catch {
    throw refusal('is not a JWT');
  }
}

function materialOf(encryption: Encryption, key: IdentityKey & { workspaceId: string }): KeyObject {
  if (key.algorithm === 'ES256') return createPublicKey(key.publicKey!);
  return createSecretKey(encryption.decrypt(key.encryptedSecret!, encryptionContext.identityKey(key)));
}

/** Any other fault of the library is a token that cannot be read. A fault of ours is thrown. */
function describeFault(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'has expired';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'has a wrong signature';
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.claim === 'aud'
      ? 'has an `aud` that is not the workspace id'
      : `has a missing or invalid \`${error.claim}\``;
  if (error instanceof errors.JOSEError) return 'cannot be verified';
  throw error;
}

function refusal(reason: string): ServiceError {
  return new ServiceError('IDENTITY_TOKEN_INVALID', { reason });
}

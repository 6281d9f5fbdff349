import { randomBytes } from 'node:crypto';
import { encryptionContext } from '../domain/encryption-context.ts';
import type { InstallationPurpose } from '../domain/encryption-context.ts';
import { makeEncryption, masterKeyWord } from '../domain/encryption.ts';
import type { Encryption, Keyring } from '../domain/encryption.ts';
import type { Database } from '../storage/database.ts';
import { findInstallation, insertInstallation } from '../storage/installation/installation.ts';
import type { Installation } from '../storage/installation/installation.ts';
import { StartError } from './start-errors.ts';

export type GivenKeys = { masterKey: Buffer; nextMasterKey: Buffer | undefined };

export type CheckedKeys = { encryption: Keyring; secrets: Record<InstallationPurpose, Buffer> };

/**
 * Makes the installation with its secrets, or holds the given keys to the one there is: the database says under which
 * key everything is encrypted, and as long as a rotation is under way also which other key is needed.
 *
 * @throws DecryptionError, StartError
 */
export async function checkMasterKey(
  database: Database,
  { masterKey, nextMasterKey, at }: GivenKeys & { at: Date },
): Promise<CheckedKeys> {
  const encryption = makeEncryption(masterKey, nextMasterKey);
  await insertInstallation(database, {
    createdAt: at,
    masterKeyCheck: encryption.encrypt(masterKeyWord, encryptionContext.masterKeyCheck()),
    encryptedSecrets: makeSecrets(encryption),
  });
  const installation = (await findInstallation(database))!;
  encryption.decrypt(installation.masterKeyCheck, encryptionContext.masterKeyCheck());
  encryption.encryptUnder(installation.masterKeyId);
  requireOldKey(encryption, installation);
  return { encryption, secrets: decryptSecrets(encryption, installation) };
}

function requireOldKey(encryption: Keyring, { masterKeyId, rotatingFromKeyId }: Installation): void {
  if (rotatingFromKeyId === null || encryption.masterKeyIds().includes(rotatingFromKeyId)) return;
  throw new StartError(
    'MASTER_KEY_WRONG',
    `The rotation from the master key ${rotatingFromKeyId} to ${masterKeyId} has not ended; give both keys (CARILLON_MASTER_KEY, CARILLON_MASTER_KEY_NEXT) and run: carillon master-key rotate.`,
  );
}

function decryptSecrets(
  encryption: Encryption,
  { encryptedSecrets }: Installation,
): Record<InstallationPurpose, Buffer> {
  const decrypt = (purpose: InstallationPurpose): Buffer =>
    encryption.decrypt(encryptedSecrets[purpose], encryptionContext.installationSecret(purpose));
  return { interactions: decrypt('interactions'), simulator: decrypt('simulator') };
}

function makeSecrets(encryption: Encryption): Record<InstallationPurpose, Buffer> {
  const make = (purpose: InstallationPurpose): Buffer =>
    encryption.encrypt(randomBytes(32), encryptionContext.installationSecret(purpose));
  return { interactions: make('interactions'), simulator: make('simulator') };
}

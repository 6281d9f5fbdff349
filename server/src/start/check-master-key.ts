import { hkdfSync, randomBytes } from 'node:crypto';
import { encryptionContext } from '../domain/encryption-context.ts';
import type { InstallationPurpose } from '../domain/encryption-context.ts';
import { makeEncryption, masterKeyIdOf, masterKeyWord } from '../domain/encryption.ts';
import type { Encryption, Keyring } from '../domain/encryption.ts';
import type { Database } from '../storage/database.ts';
import { fillInstallationSecrets, findInstallation, insertInstallation } from '../storage/installation/installation.ts';
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
    encryptedSecrets: encryptSecrets(encryption, () => randomBytes(32)),
  });
  const installation = (await findInstallation(database))!;
  encryption.decrypt(installation.masterKeyCheck, encryptionContext.masterKeyCheck());
  encryption.encryptUnder(installation.masterKeyId);
  requireOldKey(encryption, installation);
  const active = masterKeyIdOf(masterKey) === installation.masterKeyId ? masterKey : nextMasterKey!;
  return { encryption, secrets: await findSecrets(database, { encryption, installation, active }) };
}

function requireOldKey(encryption: Keyring, { masterKeyId, rotatingFromKeyId }: Installation): void {
  if (rotatingFromKeyId === null || encryption.masterKeyIds().includes(rotatingFromKeyId)) return;
  throw new StartError(
    'MASTER_KEY_WRONG',
    `The rotation from the master key ${rotatingFromKeyId} to ${masterKeyId} has not ended; give both keys (CARILLON_MASTER_KEY, CARILLON_MASTER_KEY_NEXT) and run: carillon master-key rotate.`,
  );
}

async function findSecrets(
  database: Database,
  { encryption, installation, active }: { encryption: Encryption; installation: Installation; active: Buffer },
): Promise<Record<InstallationPurpose, Buffer>> {
  let { interactions, simulator } = installation.encryptedSecrets;
  if (!interactions || !simulator) {
    // Installations from before secrets were kept derived them from the key; what was signed with them stays valid.
    const derive = (purpose: InstallationPurpose): Buffer =>
      Buffer.from(hkdfSync('sha256', active, '', `carillon:${purpose}`, 32));
    await fillInstallationSecrets(database, encryptSecrets(encryption, derive));
    ({ interactions, simulator } = (await findInstallation(database))!.encryptedSecrets);
  }
  return {
    interactions: encryption.decrypt(interactions!, encryptionContext.installationSecret('interactions')),
    simulator: encryption.decrypt(simulator!, encryptionContext.installationSecret('simulator')),
  };
}

function encryptSecrets(
  encryption: Encryption,
  make: (purpose: InstallationPurpose) => Buffer,
): Record<InstallationPurpose, Buffer> {
  const encrypt = (purpose: InstallationPurpose): Buffer =>
    encryption.encrypt(make(purpose), encryptionContext.installationSecret(purpose));
  return { interactions: encrypt('interactions'), simulator: encrypt('simulator') };
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encryptionContext } from '../../domain/encryption-context.ts';
import { DecryptionError, makeEncryption } from '../../domain/encryption.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { defaultDataFolder } from '../../start/config.ts';
import type { Config } from '../../start/config.ts';
import type { Database } from '../../storage/database.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { diagnosing } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const { good, attention, wrong } = diagnosing('master key');

/** Whether the given key, or the generated one, opens what the database holds. `encryption` only where it does. */
export async function checkMasterKey(
  database: Database,
  config: Config,
): Promise<{ encryption: Encryption | undefined; diagnosis: Diagnosis }> {
  const path = join(config.dataFolder ?? defaultDataFolder, 'master.key');
  const isGiven = config.masterKey !== undefined;
  const key = config.masterKey ?? (await readGenerated(path));
  const none = (diagnosis: Diagnosis) => ({ encryption: undefined, diagnosis });
  if (!isGiven && config.mode === 'production')
    return none(wrong('Production mode needs CARILLON_MASTER_KEY.', 'Set it to the key of this database.'));
  if (!key) return none(wrong(`There is no key in ${path}.`, 'Name its data folder, or set CARILLON_MASTER_KEY.'));
  const { masterKeyCheck, masterKeyId, rotatingFromKeyId } = (await findInstallation(database))!;
  const encryption = makeEncryption(key, config.nextMasterKey);
  try {
    encryption.decrypt(masterKeyCheck, encryptionContext.masterKeyCheck());
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    const found = `It is not the one of this database, which is encrypted under the key ${masterKeyId}.`;
    return none(wrong(found, `Give that one; ${isGiven ? 'CARILLON_MASTER_KEY' : path} has another.`));
  }
  encryption.encryptUnder(masterKeyId);
  if (rotatingFromKeyId !== null)
    return {
      encryption,
      diagnosis: attention(
        `A rotation from the key ${rotatingFromKeyId} has not ended.`,
        'Run carillon master-key rotate.',
      ),
    };
  return { encryption, diagnosis: good(`It is the one of this database (${masterKeyId}).`) };
}

async function readGenerated(path: string): Promise<Buffer | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Buffer.from(text, 'base64');
}

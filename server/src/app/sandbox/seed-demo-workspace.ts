import { randomBytes } from 'node:crypto';
import type { Random } from '../../domain/tokens/secret.ts';
import { makeId } from '../../domain/ids.ts';
import { encryptionContext } from '../../domain/encryption-context.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { defaultAppId } from '../../domain/apps/app.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { findInstallation, lockInstallation, setDemoWorkspace } from '../../storage/installation/installation.ts';
import { lockOrInsertUser, setUserIsTest } from '../../storage/users/users.ts';
import { insertWorkspace } from '../../storage/installation/workspaces.ts';
import { saveProviderCredential } from '../credentials/save-provider-credential.ts';
import { createKey } from '../keys/create-key.ts';
import { makeWorkspaceId } from '../workspaces/create-workspace.ts';
import { registerDevice } from '../data/register-device.ts';
import { upsertUser } from '../data/upsert-user.ts';
import { demoKeyKinds, makeSeededRandom } from './demo-seed.ts';
import type { DemoKeys } from './demo-seed.ts';
import { findDemoWorkspace } from './find-demo-workspace.ts';
import type { DemoWorkspace } from './find-demo-workspace.ts';
import { makeSimulatedCredentials } from './make-simulated-credentials.ts';

export type SeedDemoDependencies = {
  database: Database;
  encryption: Encryption;
  /** Makes the browser subscription of a simulated web device. */
  makeSubscription: (id: string) => string;
};

/**
 * Makes the demo workspace once: a workspace, one key of each kind, simulated provider credentials and three people
 * with a phone or browser each. A later call finds it made. One transaction, under the installation's lock, so two
 * nodes that start together make one.
 *
 * @param options.seed makes ids and keys repeatable
 */
export async function seedDemoWorkspace(
  deps: SeedDemoDependencies,
  options: { at: Date; seed: number | undefined },
): Promise<DemoWorkspace> {
  const { encryption } = deps;
  const made = await findDemoWorkspace(deps.database, {
    encryption,
    installation: await findInstallation(deps.database),
  });
  if (made) return made;
  const seed = options.seed === undefined ? randomBytes(32).toString('hex') : String(options.seed);
  const random = makeSeededRandom(seed);
  const workspaceId = makeWorkspaceId(random);
  // Key pairs take a while to generate, so they are created before the transaction.
  const credentials = await makeSimulatedCredentials(workspaceId.slice(0, 12).toLowerCase());
  return await inTransaction(deps.database, async (tx) => {
    await lockInstallation(tx);
    const already = await findDemoWorkspace(tx, { encryption, installation: await findInstallation(tx) });
    if (already) return already;
    const dbName = dbNameOf(workspaceId);
    const { at } = options;
    const isNew = await insertWorkspace(tx, { id: workspaceId, dbName, ...demoSettings, createdAt: at });
    if (!isNew) throw new Error(`the workspace ${workspaceId} that the seed gives is there, and is not the demo`);
    const keys = await fillDemoWorkspace(deps, tx, { workspaceId, at, random });
    for (const credential of credentials)
      await saveProviderCredential(deps, tx, { workspaceId, appId: defaultAppId, credential, at });
    await setDemoWorkspace(tx, {
      workspaceId,
      encryptedSeed: deps.encryption.encrypt(seed, encryptionContext.demoSeed()),
    });
    return { workspaceId, dbName, keys };
  });
}

export const demoSettings = { name: 'Demo', timeZone: 'UTC' };

/** What comes before the parts of the demo: their ids follow from the seed alone, so they have no time of their own. */
const seedOccurrence = new Date('2026-01-01T00:00:00Z');

/** Keys, people and devices of the demo, the same for the same random bytes. */
export async function fillDemoWorkspace(
  deps: Pick<SeedDemoDependencies, 'encryption' | 'makeSubscription'>,
  tx: Transaction,
  context: DemoContext & { random: Random },
): Promise<DemoKeys> {
  const keys = await createDemoKeys(deps, tx, context);
  await addDemoUsers(deps, tx, context);
  return keys;
}

function dbNameOf(workspaceId: string): string {
  return `demo_${workspaceId.slice(0, 8).toLowerCase()}`;
}

type DemoContext = { workspaceId: string; at: Date };

async function createDemoKeys(
  deps: Pick<SeedDemoDependencies, 'encryption'>,
  tx: Transaction,
  { workspaceId, random }: DemoContext & { random: Random },
): Promise<DemoKeys> {
  const secrets: Partial<DemoKeys> = {};
  for (const kind of demoKeyKinds) {
    const key = { workspaceId, kind, name: `Demo ${kind} key`, random, at: seedOccurrence };
    const { secret } = await createKey(deps, tx, key);
    secrets[kind] = secret;
  }
  return secrets as DemoKeys;
}

/** Device tokens have the form the real ones have; the simulators accept any of it. */
async function addDemoUsers(
  deps: Pick<SeedDemoDependencies, 'makeSubscription'>,
  tx: Transaction,
  { workspaceId, at, random }: DemoContext & { random: Random },
): Promise<void> {
  const users = [
    {
      customerId: 'ada',
      attributes: { u_fn: 'Ada', u_em: 'ada@example.com' },
      platform: 'ANDROID',
      pushId: `demo-android-${'a'.repeat(140)}`,
    },
    {
      customerId: 'grace',
      attributes: { u_fn: 'Grace', u_em: 'grace@example.com' },
      platform: 'IOS',
      pushId: 'a1'.repeat(32),
    },
    {
      customerId: 'tim',
      attributes: { u_fn: 'Tim', u_em: 'tim@example.com' },
      platform: 'WEB',
      pushId: deps.makeSubscription('demo-browser'),
    },
  ] as const;
  for (const [number, { customerId, attributes, platform, pushId }] of users.entries()) {
    const made = new Date(seedOccurrence.getTime() + number);
    const user = await lockOrInsertUser(tx, { workspaceId, customerId, id: makeId(made, random(6)), at });
    await upsertUser(tx, { workspaceId, customerId, attributes, at });
    await setUserIsTest(tx, { workspaceId, ...user, isTest: true, at });
    const id = makeId(made, random(6));
    await registerDevice(tx, { id, workspaceId, customerId, deviceId: `${customerId}-device`, platform, pushId, at });
  }
}

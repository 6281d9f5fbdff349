import { createHash, randomBytes } from 'node:crypto';
import type { Seal } from '../../domain/seal.ts';
import type { Database, Transaction } from '../../storage/pool.ts';
import { findInstallation, lockInstallation, setDemoWorkspace } from '../../storage/sql/installation.ts';
import { findWorkspace, insertWorkspace } from '../../storage/sql/workspaces.ts';
import { saveProviderCredential } from '../credentials/save-provider-credential.ts';
import { createKey } from '../keys/create-key.ts';
import { makeWorkspaceId } from '../workspaces/create-workspace.ts';
import { registerDevice } from '../data/register-device.ts';
import { upsertUser } from '../data/upsert-user.ts';
import { makeSimulatedCredentials } from './make-simulated-credentials.ts';

export type DemoKeys = { oauth: string; data: string; push: string; campaigns: string };
export type DemoWorkspace = {
  workspaceId: string;
  dbName: string;
  /** The secrets, only from the call that made them: they are stored as hashes. */
  keys: DemoKeys | undefined;
};

export type SeedDemoDependencies = {
  database: Database;
  seal: Seal;
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
  const installed = await findInstallation(deps.database);
  if (installed?.demoWorkspaceId) return findDemo(deps.database, installed.demoWorkspaceId);
  const random = options.seed === undefined ? randomBytes : makeSeededRandom(options.seed);
  const workspaceId = makeWorkspaceId(random);
  // Key pairs take a while to find, so they are made before the transaction.
  const credentials = await makeSimulatedCredentials(workspaceId.slice(0, 12).toLowerCase());
  return (await deps.database.begin(async (tx) => {
    await lockInstallation(tx);
    const already = (await findInstallation(tx))?.demoWorkspaceId;
    if (already) return findDemo(tx, already);
    const dbName = `demo_${workspaceId.slice(0, 8).toLowerCase()}`;
    await insertWorkspace(tx, { id: workspaceId, dbName, name: 'Demo', timeZone: 'UTC', createdAt: options.at });
    const keys = await createDemoKeys(deps, tx, { workspaceId, at: options.at, random });
    for (const credential of credentials)
      await saveProviderCredential(deps, tx, { workspaceId, credential, at: options.at });
    await addDemoPeople(deps, tx, { workspaceId, at: options.at });
    await setDemoWorkspace(tx, workspaceId);
    return { workspaceId, dbName, keys };
  })) as DemoWorkspace;
}

async function findDemo(tx: Database | Transaction, workspaceId: string): Promise<DemoWorkspace> {
  const workspace = await findWorkspace(tx, workspaceId);
  if (!workspace) throw new Error(`the demo workspace ${workspaceId} is gone`);
  return { workspaceId, dbName: workspace.dbName, keys: undefined };
}

type Random = (bytes: number) => Buffer;
type DemoContext = { workspaceId: string; at: Date };

async function createDemoKeys(
  deps: SeedDemoDependencies,
  tx: Transaction,
  context: DemoContext & { random: Random },
): Promise<DemoKeys> {
  const secrets: Partial<DemoKeys> = {};
  for (const kind of ['oauth', 'data', 'push', 'campaigns'] as const) {
    const { secret } = await createKey(deps, tx, { ...context, kind, name: `Demo ${kind} key` });
    secrets[kind] = secret;
  }
  return secrets as DemoKeys;
}

/** Device tokens have the form the real ones have; the simulators accept any of it. */
async function addDemoPeople(
  deps: SeedDemoDependencies,
  tx: Transaction,
  { workspaceId, at }: DemoContext,
): Promise<void> {
  const people = [
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
  for (const person of people) {
    await upsertUser(tx, { workspaceId, customerId: person.customerId, attributes: person.attributes, at });
    await registerDevice(tx, {
      workspaceId,
      customerId: person.customerId,
      deviceId: `${person.customerId}-device`,
      platform: person.platform,
      pushId: person.pushId,
      at,
    });
  }
}

/** Repeatable bytes: SHA-256 of seed and counter. For the sandbox only. */
export function makeSeededRandom(seed: number): Random {
  let counter = 0;
  return (bytes) => {
    const blocks: Buffer[] = [];
    for (let length = 0; length < bytes; length += 32) {
      blocks.push(
        createHash('sha256')
          .update(`carillon-seed:${seed}:${(counter += 1)}`)
          .digest(),
      );
    }
    return Buffer.concat(blocks).subarray(0, bytes);
  };
}

import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Random } from '../../domain/access/keys.ts';
import { defaultAppId } from '../../domain/apps.ts';
import { encryptionContext } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { retryDeadlock } from '../../domain/database-faults.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { inTransaction, isStillReferenced } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { findInstallation, lockInstallation, setDemoWorkspace } from '../../storage/installation/installation.ts';
import {
  countWorkUnderWay,
  emptyWorkspace,
  listLiveCampaigns,
  restoreWorkspace,
} from '../../storage/installation/sandbox.ts';
import { lockOrInsertUser, setUserIsTest } from '../../storage/users/users.ts';
import { insertWorkspace } from '../../storage/workspaces.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { changeInTransaction, retryChanges } from '../campaigns/change-campaign-state.ts';
import { saveProviderCredential } from '../credentials.ts';
import { createKey } from '../keys/keys.ts';
import { registerDevice } from '../users/devices.ts';
import { upsertUser } from '../users/users.ts';
import { makeWorkspaceId } from '../workspaces.ts';
import { demoKeyKinds, makeSeededRandom, findDemoWorkspace } from './find-demo-workspace.ts';
import type { DemoKeys, DemoWorkspace } from './find-demo-workspace.ts';
import { makeSimulatedCredentials } from './simulated-credentials.ts';

export type SeedDemoDependencies = {
  database: Database;
  encryption: Encryption;
  /** Makes the browser subscription of a simulated web device. */
  makeSubscription: (id: string) => string;
};

/**
 * Creates the demo workspace once: a workspace, one key of each kind, simulated provider credentials and three users with a
 * phone or browser each. A later call returns it. It is one transaction under the installation's lock, so two nodes that start
 * together create one.
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
    for (const credential of Object.values(credentials))
      await saveProviderCredential(deps, tx, { workspaceId, appId: defaultAppId, credential, at });
    await setDemoWorkspace(tx, {
      workspaceId,
      encryptedSeed: deps.encryption.encrypt(seed, encryptionContext.demoSeed()),
    });
    return { workspaceId, dbName, keys };
  });
}

const demoSettings = { name: 'Demo', timeZone: 'UTC' };

/** Creation time of the demo's parts: their ids follow from the seed alone, so the time must be fixed. */
const seedOccurrence = new Date('2026-01-01T00:00:00Z');

/** Creates keys, users and devices of the demo, the same for the same random bytes. */
async function fillDemoWorkspace(
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

/** Device tokens have the form of real ones; the simulators accept any of it. */
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

export type ResetDemoDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  makeSubscription: (id: string) => string;
  /** Resolves when everything that this node's phones received is in the inbox; a command has no phones. */
  settlePhones?: () => Promise<void>;
  /** Resolves when the calls that this node has answered are in the API log; a command answers none. */
  settleCalls?: () => Promise<void>;
};

// A window of a chunk takes seconds at most once its campaign is stopped.
const maxWaitMilliseconds = 20_000;
const lookMilliseconds = 50;
const maxResets = 10;

/**
 * Restores the demo workspace as its first start created it: the same ids, in the same order, the same keys. Sends in progress
 * are stopped first, and all work held for the workspace is released. Provider credentials, the audit log and other workspaces
 * are kept.
 *
 * @throws ServiceError NOT_FOUND without a demo workspace, OVERLOADED
 */
export async function resetDemoWorkspace(
  deps: ResetDemoDependencies,
  { actor }: { actor: Actor },
): Promise<{ workspaceId: string }> {
  const { database, clock, encryption } = deps;
  const installation = await findInstallation(database);
  const workspaceId = installation?.demoWorkspaceId;
  const encrypted = installation?.encryptedDemoSeed;
  if (!workspaceId || !encrypted) throw new ServiceError('NOT_FOUND', { detail: 'no demo workspace' });
  await stopSending(deps, workspaceId);
  await waitForWorkers(deps, workspaceId);
  // Messages and calls that are not stored yet would be added to the emptied inbox or log.
  await deps.settlePhones?.();
  await deps.settleCalls?.();
  const seed = encryption.decrypt(encrypted, encryptionContext.demoSeed()).toString('utf8');
  const reset = (): Promise<void> => {
    const random = makeSeededRandom(seed);
    // The first bytes of the seed are used for the workspace's id.
    makeWorkspaceId(random);
    return inTransaction(database, async (tx) => {
      await lockInstallation(tx);
      await emptyWorkspace(tx, workspaceId);
      await restoreWorkspace(tx, { id: workspaceId, ...demoSettings });
      await fillDemoWorkspace(deps, tx, { workspaceId, at: clock.now(), random });
      await audit(tx, { actor, action: 'sandbox.reset', at: clock.realNow() });
    });
  };
  for (let resets = 1; ; resets += 1) {
    try {
      await retryDeadlock(reset);
      break;
    } catch (error) {
      // A request under way stored something that belongs to the data being removed.
      if (!isStillReferenced(error)) throw error;
      if (resets === maxResets) throw new ServiceError('OVERLOADED', { retryAfterSeconds: 1 });
    }
  }
  return { workspaceId };
}

async function stopSending({ database, clock }: ResetDemoDependencies, workspaceId: string): Promise<void> {
  for (const campaignId of await listLiveCampaigns(database, workspaceId))
    await retryChanges(() =>
      inTransaction(database, async (tx) => {
        const actor = { kind: 'system', name: 'the reset of the sandbox' } as const;
        await changeInTransaction(tx, { workspaceId, campaignId, action: 'stop', actor }, clock);
      }),
    );
}

async function waitForWorkers({ database, clock }: ResetDemoDependencies, workspaceId: string): Promise<void> {
  const deadline = performance.now() + maxWaitMilliseconds;
  while ((await countWorkUnderWay(database, { workspaceId, at: clock.realNow() })) > 0) {
    if (performance.now() > deadline) throw new ServiceError('OVERLOADED', { retryAfterSeconds: 30 });
    await setTimeout(lookMilliseconds);
  }
}

import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { encryptionContext } from '../../domain/encryption-context.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { inTransaction, isStillReferenced } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  countWorkUnderWay,
  emptyWorkspace,
  listLiveCampaigns,
  restoreWorkspace,
} from '../../storage/installation/sandbox.ts';
import { findInstallation, lockInstallation } from '../../storage/installation/installation.ts';
import { retryDeadlock } from '../data/retry-deadlock.ts';
import { changeInTransaction, retryChanges } from '../campaigns/change-campaign-state.ts';
import { makeWorkspaceId } from '../workspaces/create-workspace.ts';
import { makeSeededRandom } from './demo-seed.ts';
import { demoSettings, fillDemoWorkspace } from './seed-demo-workspace.ts';

export type ResetDemoDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  makeSubscription: (id: string) => string;
  /** Settles when what this node's phones have received is in the inbox; a command has no phones. */
  settlePhones?: () => Promise<void>;
  /** Settles when the calls that this node has answered are in the API log; a command answers none. */
  settleCalls?: () => Promise<void>;
};

// A window of a chunk takes seconds at most once its campaign is stopped.
const maxWaitMilliseconds = 20_000;
const lookMilliseconds = 50;
const maxResets = 10;

/**
 * Restores the demo workspace as its first start created it: the same ids, in the same order, the same keys. Sends in
 * progress are stopped first, and all work held for the workspace is released. Provider credentials, the audit log and
 * other workspaces are kept.
 *
 * @param note what is written with it, in its transaction
 * @throws ServiceError NOT_FOUND without a demo workspace, OVERLOADED
 */
export async function resetDemoWorkspace(
  deps: ResetDemoDependencies,
  note?: (tx: Transaction) => Promise<void>,
): Promise<{ workspaceId: string }> {
  const { database, clock, encryption } = deps;
  const installation = await findInstallation(database);
  const workspaceId = installation?.demoWorkspaceId;
  const encrypted = installation?.encryptedDemoSeed;
  if (!workspaceId || !encrypted) throw new ServiceError('NOT_FOUND', { detail: 'no demo workspace' });
  await stopSending(deps, workspaceId);
  await waitForWorkers(deps, workspaceId);
  // What has been answered and is not in the inbox or the log yet would come into the emptied one.
  await deps.settlePhones?.();
  await deps.settleCalls?.();
  const seed = encryption.decrypt(encrypted, encryptionContext.demoSeed()).toString('utf8');
  const reset = (): Promise<void> => {
    const random = makeSeededRandom(seed);
    // The first bytes of the seed made the workspace's id.
    makeWorkspaceId(random);
    return inTransaction(database, async (tx) => {
      await lockInstallation(tx);
      await emptyWorkspace(tx, workspaceId);
      await restoreWorkspace(tx, { id: workspaceId, ...demoSettings });
      await fillDemoWorkspace(deps, tx, { workspaceId, at: clock.now(), random });
      await note?.(tx);
    });
  };
  for (let resets = 1; ; resets += 1) {
    try {
      await retryDeadlock(reset);
      break;
    } catch (error) {
      // A request that was under way stored something that belongs to what is being removed.
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
        const change = { workspaceId, campaignId, action: 'stop', by: 'the reset of the sandbox' } as const;
        await changeInTransaction(tx, change, clock.now());
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

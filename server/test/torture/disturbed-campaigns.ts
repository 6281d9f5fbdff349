import { auditRun, findBrokenPromises } from '../rig/audit.ts';
import { withTortureBundle } from '../rig/installation.ts';
import type { BundleOptions, TortureBundle, TortureOptions } from '../rig/installation.ts';
import { pickOccurrences } from '../rig/random.ts';
import { brokenOf } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';

export type KillWorkersOptions = TortureOptions & {
  workers: number;
  /** `ended`: the leases of a dead worker are ended at once. For a single worker only, because those of others end with them. */
  leases: 'waited out' | 'ended';
};

/**
 * Reliability R2, R3, fault F1: workers are killed with SIGKILL at random moments of a campaign to all users and started
 * again. No user is lost; what is repeated was in the open windows of the dead, and carries the same identity.
 */
export function killWorkers({ leases, ...options }: KillWorkersOptions): Promise<Report> {
  return sendDisturbed(options, {
    name: 'Torture: workers are killed',
    maxRepeats: options.rounds * options.parallelChunks * options.windowDevices,
    async disturb(bundle) {
      await bundle.endWorker(pickWorker(bundle), 'SIGKILL');
      if (leases === 'ended') await bundle.endLeases();
      await bundle.startWorker();
    },
  });
}

/** Fault F2: workers are stopped (SIGTERM) in the middle of a campaign to all users. Nothing is lost or repeated. */
export async function stopWorkers(options: TortureOptions & { workers: number }): Promise<Report> {
  let uncleanExits = 0;
  const { numbers, broken } = await sendDisturbed(options, {
    name: 'Torture: workers are stopped',
    maxRepeats: 0,
    async disturb(bundle) {
      if ((await bundle.endWorker(pickWorker(bundle), 'SIGTERM')) !== 0) uncleanExits += 1;
      await bundle.startWorker();
    },
  });
  return {
    numbers: { ...numbers, uncleanExits },
    broken: [...broken, ...brokenOf({ 'a stop ends with code 0': uncleanExits === 0 })],
  };
}

/**
 * Fault F17: all processes of the database are killed in the middle of a campaign and it starts again. The nodes keep
 * running. A worker remembers what it sent until that is stored, so hardly anything is repeated; the bound is what open
 * windows may hold.
 */
export function killDatabase(options: TortureOptions & { workers: number }): Promise<Report> {
  return sendDisturbed(options, {
    name: 'Torture: the database is killed',
    maxRepeats: options.rounds * options.workers * options.parallelChunks * options.windowDevices,
    disturb: (bundle) => bundle.killDatabase(),
    async finish(bundle) {
      // The API has its connections again.
      const answer = await bundle.push({ campaignName: 'Torture: after the kills', targetAudience: 'All Users' });
      return brokenOf({
        'the API node lives on': bundle.api().process.exitCode === null,
        'the API answers again': answer.status === 'Success',
      });
    },
  });
}

type Disturbance = {
  name: string;
  maxRepeats: number;
  disturb(bundle: TortureBundle): Promise<void>;
  /** Returns the promises that are broken in the end. */
  finish?(bundle: TortureBundle): Promise<string[]>;
};

/** One campaign to all users, disturbed at random moments, and its audit. */
function sendDisturbed(
  { workers, ...options }: BundleOptions & { workers: number },
  { name, maxRepeats, disturb, finish }: Disturbance,
): Promise<Report> {
  return withTortureBundle({ ...options, answers: 'of the field' }, async (bundle) => {
    await bundle.importDevices();
    await bundle.startWorkers(workers);
    const startedAt = performance.now();
    const campaignId = await bundle.pushToAll(name);
    for (const occurrence of pickOccurrences(bundle)) {
      await bundle.waitForReached(occurrence);
      await disturb(bundle);
    }
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return {
      numbers: { ...audit, kills: options.rounds, bound: maxRepeats, seconds },
      broken: [
        ...findBrokenPromises(audit, run),
        ...brokenOf({ [`at most ${maxRepeats} messages are repeated`]: audit.repeats <= maxRepeats }),
        ...((await finish?.(bundle)) ?? []),
      ],
    };
  });
}

const pickWorker = ({ workers, random }: TortureBundle) => workers[random.between(0, workers.length - 1)]!;

/**
 * Two campaigns to all users at once under a cap of one message a day, while workers are killed with SIGKILL: each user
 * gets one of the two, whichever was first, and is counted once however often a window is sent again.
 */
export function cappedCampaigns(options: TortureOptions): Promise<Report> {
  return withTortureBundle(options, async (bundle) => {
    await bundle.importDevices();
    await bundle.database`update workspaces set cap_messages = '{1}', cap_hours = '{24}'`;
    await bundle.startWorker();
    const campaignIds = [await bundle.pushToAll('Torture: the first'), await bundle.pushToAll('Torture: the second')];
    for (const occurrence of pickOccurrences(bundle)) {
      await bundle.waitForReached(occurrence);
      await bundle.endWorker(bundle.workers[0]!, 'SIGKILL');
      await bundle.endLeases();
      await bundle.startWorker();
    }
    const runs = [await bundle.waitForRunEnd(campaignIds[0]!), await bundle.waitForRunEnd(campaignIds[1]!)];
    const numbers = { ...(await auditCaps(bundle, campaignIds)), kills: options.rounds };
    return {
      numbers,
      broken: brokenOf({
        'both runs end SENT': runs.every(({ status }) => status === 'SENT'),
        'each run has a row a device': numbers.ledgerRows === 2 * numbers.devices,
        'every user gets one message': numbers.accepted === numbers.devices && numbers.reached === numbers.devices,
        'no user gets both': numbers.gotBoth === 0,
        'the other is withheld by the cap': numbers.withheld === numbers.devices,
        'every user is counted once, for the run that sent': numbers.countedOnce === numbers.devices,
      }),
    };
  });
}

async function auditCaps({ database, workspaceId, collector }: TortureBundle, campaignIds: string[]) {
  await collector.settle();
  const [first, second] = campaignIds.map((id) => collector.of(id));
  const gotBoth = [...first!.keys()].filter((device) => second!.has(device)).length;
  // Two queries: on a cluster, a query of one table cannot be part of a query of others.
  const [found] = await database<{ devices: number }[]>`
    select count(*) as devices from devices where workspace_id = ${workspaceId} and state <> 'OPTED_OUT'`;
  const { devices } = found!;
  const [row] = await database<{ ledgerRows: number; accepted: number; withheld: number; countedOnce: number }[]>`
    select count(*) as "ledgerRows", count(*) filter (where outcome = 'ACCEPTED') as accepted,
      count(*) filter (where outcome = 'WITHHELD' and code = 'FREQUENCY_CAP') as withheld,
      count(*) filter (where outcome = 'ACCEPTED' and message.run_ids = array[deliveries.run_id]) as "countedOnce"
    from readable_deliveries as deliveries
    left join user_messages as message on message.workspace_id = deliveries.workspace_id
      and message.bucket = deliveries.bucket and message.user_id = deliveries.user_id`;
  const reached = first!.size + second!.size - gotBoth;
  return { devices, ...row!, gotBoth, reached, lost: devices - reached };
}

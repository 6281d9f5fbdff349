import { auditLoad, auditRun, findBrokenPromises, findFaults, sumAudits } from '../rig/audit.ts';
import { startSmallDisk } from '../rig/databases.ts';
import type { SmallDisk } from '../rig/databases.ts';
import { openTortureBundle } from '../rig/installation.ts';
import type { TortureBundle, TortureOptions } from '../rig/installation.ts';
import { startPushLoad } from '../rig/load.ts';
import type { Load } from '../rig/load.ts';
import { brokenOf } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';

const clients = 8;
const baseMegabytes = 500;
const bytesPerDevice = 8_000;
const wantedRefusals = 40;
const maxFullMilliseconds = 30_000;
/** On a busy machine, 30 s can pass before a write needs a byte that the disk does not have. */
const maxMillisecondsToFirstRefusal = 120_000;

/**
 * The disk of the database and of the nodes' folder is filled to the last byte in a campaign and while pushes arrive, and
 * emptied again. Meanwhile callers get 503 and `/readyz` reports what is missing; afterwards everything that was accepted
 * is sent once. The only help is a start of a PostgreSQL that ended because it had no space for its log.
 */
export async function fullDisk(options: TortureOptions): Promise<Report> {
  const disk = await startSmallDisk(baseMegabytes + Math.ceil((options.devices * bytesPerDevice) / 1_000_000));
  if ('refused' in disk) return { numbers: { skipped: `no file system can be mounted: ${disk.refused}` }, broken: [] };
  const bundle = await openTortureBundle({ ...options, folder: disk });
  try {
    await bundle.importDevices();
    await bundle.startWorker();
    const campaigns: string[] = [];
    const load = startPushLoad(bundle.caller, { clients, users: options.devices });
    const numbers = { restarts: 0, 'rounds not told': 0 };
    const told = new Set<string>();
    // Also when a round fails: what goes on calling keeps the process.
    try {
      for (let round = 0; round < options.rounds; round += 1) {
        const reached = bundle.collector.reached();
        campaigns.push(await bundle.pushToAll(`Torture: a full disk, ${round}`));
        const wanted = reached + bundle.random.between(1, Math.floor(options.devices / 2));
        await bundle.waitForReached(wanted);
        const seen = await fillAndEmpty(bundle, { disk, refusals: () => load.statuses['503'] ?? 0 });
        if (seen.troubles.length === 0) numbers['rounds not told'] += 1;
        for (const trouble of seen.troubles) told.add(trouble);
        if (await bundle.restartEndedDatabase()) numbers.restarts += 1;
        const answered = load.answered.length;
        await bundle.waitFor('pushes are accepted again', () => load.answered.length > answered);
      }
    } finally {
      await load.stop();
    }
    await bundle.waitForAll();
    const report = await audit(bundle, { campaigns, load });
    return {
      numbers: { ...report.numbers, ...numbers, '/readyz told': [...told].join('; ') },
      broken: [
        ...report.broken,
        ...brokenOf({ '/readyz says in its body that something is missing': numbers['rounds not told'] === 0 }),
      ],
    };
  } finally {
    await bundle.stop();
  }
}

type Filling = { disk: SmallDisk; refusals: () => number };

/** @returns what `/readyz` said was missing */
async function fillAndEmpty(bundle: TortureBundle, { disk, refusals }: Filling): Promise<{ troubles: string[] }> {
  const before = refusals();
  const startedAt = performance.now();
  const troubles = new Set<string>();
  await disk.fill();
  await bundle.waitFor('refusals', async () => {
    const ready = await bundle.caller.readyz().catch(() => undefined);
    if (ready?.httpStatus === 503) for (const trouble of troublesIn(ready.body)) troubles.add(trouble);
    // What PostgreSQL frees meanwhile is taken, too.
    await disk.fill();
    const refused = troubles.size > 0 ? refusals() - before : 0;
    const elapsed = performance.now() - startedAt;
    const limit = refused > 0 ? maxFullMilliseconds : maxMillisecondsToFirstRefusal;
    return refused >= wantedRefusals || elapsed > limit;
  });
  await disk.empty();
  return { troubles: [...troubles] };
}

function troublesIn(body: Record<string, unknown>): string[] {
  return Object.values(body).flatMap((value) => (Array.isArray(value) ? value.map(String) : []));
}

async function audit(bundle: TortureBundle, { campaigns, load }: { campaigns: string[]; load: Load }): Promise<Report> {
  const broken: string[] = [];
  const audits: Awaited<ReturnType<typeof auditRun>>[] = [];
  const bound = bundle.parallelChunks * bundle.windowDevices;
  for (const campaignId of campaigns) {
    const run = await bundle.waitForRunEnd(campaignId);
    const one = await auditRun(bundle, campaignId);
    audits.push(one);
    broken.push(...findBrokenPromises(one, run));
    broken.push(...brokenOf({ 'repeats stay within chunks × window': one.repeats <= bound }));
  }
  const calls = await auditLoad(bundle, [load]);
  const { devices, lost, repeats, mixedIdentities } = sumAudits(audits);
  return {
    numbers: {
      ...{ devices, lost, repeats, mixedIdentities, bound: bound * campaigns.length, ...calls.numbers },
      'statuses of pushes': JSON.stringify(load.statuses),
    },
    broken: [
      ...broken,
      ...calls.broken,
      ...(await findFaults(bundle, [load])),
      ...brokenOf({ 'writes are refused while the disk is full': Boolean(load.statuses['503']) }),
    ],
  };
}

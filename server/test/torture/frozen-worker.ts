import { auditRun, findBrokenPromises } from '../rig/audit.ts';
import { makeTortureBundle } from '../rig/installation.ts';
import type { TortureBundle, TortureOptions } from '../rig/installation.ts';
import type { WorkerProcess } from '../rig/processes.ts';
import type { Report } from '../rig/report.ts';
import { watchFences } from './watch-fences.ts';

export type FrozenWorkerOptions = TortureOptions & {
  /** All others are ended for the frozen worker: a minute each would be a long test. */
  firstLease: 'waited out' | 'ended';
};

// Enough windows that the other worker is still in the chunk when the frozen one wakes.
const minDevices = 2_000;

/**
 * One of two workers is stopped with SIGSTOP in the middle of its windows until its lease has ended and the other has
 * gone past them, and then goes on (SIGCONT), as after a suspended machine or a long pause. What it knows by then is
 * stored over nothing; what is repeated was in its open windows.
 */
export async function frozenWorker(options: FrozenWorkerOptions): Promise<Report> {
  const bundle = await makeTortureBundle({
    ...options,
    answers: 'of the field',
    devices: Math.max(minDevices, Math.ceil(options.devices / options.rounds)),
  });
  try {
    await bundle.importDevices();
    const fences = await watchFences(bundle.database, bundle.ownerUrl);
    for (let number = 0; number < 2; number += 1) await bundle.startWorker();
    const report: Report = { numbers: {}, broken: [] };
    const sum = { devices: 0, lost: 0, repeats: 0, bound: 0, 'windows frozen': 0, 'rounds in a window': 0 };
    for (let round = 0; round < options.rounds; round += 1) {
      const { audit, run, frozenWindows, frozenDevices } = await freezeOnce(bundle, {
        round,
        lease: round === 0 ? options.firstLease : 'ended',
      });
      sum.devices += audit.devices;
      sum.lost += audit.lost;
      sum.repeats += audit.repeats;
      sum.bound += frozenDevices;
      sum['windows frozen'] += frozenWindows;
      sum['rounds in a window'] += Number(frozenWindows > 0);
      const broken = findBrokenPromises(audit, run);
      if (audit.repeats > frozenDevices) broken.push('only what was in the frozen windows is repeated');
      report.broken.push(...broken.map((promise) => `round ${round + 1}: ${promise}`));
    }
    const breaches = await fences.breaches();
    report.numbers = { ...sum, breaches: breaches.reduce((total, { times }) => total + times, 0) };
    report.broken.push(...breaches.map(({ what, times }) => `${what}: ${times} times`));
    if (sum['rounds in a window'] === 0) report.broken.push('a worker is frozen in the middle of a window');
    return report;
  } finally {
    await bundle.stop();
  }
}

type Freeze = { round: number; lease: FrozenWorkerOptions['firstLease'] };

async function freezeOnce(bundle: TortureBundle, { round, lease }: Freeze) {
  const reached = bundle.collector.reached();
  const campaignId = await bundle.pushToAll(`Torture: a worker is frozen, ${round}`);
  await bundle.waitForReached(reached + bundle.random.between(1, Math.floor(bundle.devices / 2)));
  const frozen = await freeze(bundle, { campaignId, lease });
  if (frozen) {
    if (lease === 'ended') await endLeasesOf(bundle, frozen.windows);
    await bundle.waitFor('the other worker goes past the frozen windows', async () =>
      (await arePassed(bundle, frozen.windows)) ? true : undefined,
    );
    frozen.worker.process.kill('SIGCONT');
    // It answers, so it is awake, and has heard what came meanwhile.
    await frozen.worker.followClock();
  }
  const run = await bundle.waitForRunEnd(campaignId);
  const windows = frozen?.windows ?? [];
  return {
    audit: await auditRun(bundle, campaignId),
    run,
    frozenWindows: windows.length,
    frozenDevices: windows.reduce((sum, { devices }) => sum + devices, 0),
  };
}

type OpenWindow = {
  runId: string;
  number: number;
  attempt: number;
  owner: string;
  bucket: number;
  position: string;
  devices: number;
};

function findOpenWindows({ database }: TortureBundle, campaignId: string): Promise<OpenWindow[]> {
  return database<OpenWindow[]>`
    select run_id as "runId", number, attempt, owner, window_bucket as bucket, window_position as position,
      window_devices as devices
    from chunks
    where run_id in (select id from runs where campaign_id = ${campaignId})
      and state = 'CLAIMED' and window_opened_at is not null`;
}

/** Stops a worker that has an open window. @returns undefined when the campaign was over first */
async function freeze(
  bundle: TortureBundle,
  { campaignId, lease }: { campaignId: string; lease: Freeze['lease'] },
): Promise<{ worker: WorkerProcess; windows: OpenWindow[] } | undefined> {
  for (;;) {
    const windows = await findOpenWindows(bundle, campaignId);
    const [run] = await bundle.database<{ isOpen: boolean }[]>`
      select status in ('QUEUED', 'SENDING') as "isOpen" from runs where campaign_id = ${campaignId}`;
    if (!run!.isOpen) return undefined;
    if (windows.length === 0) continue;
    const { owner } = windows[bundle.random.between(0, windows.length - 1)]!;
    const worker = bundle.workers.find(({ process }) => isOwnedBy(process.pid!, owner))!;
    worker.process.kill('SIGSTOP');
    // Since the look above it may have stored them; a statement that was on its way still counts.
    const held = (await findOpenWindows(bundle, campaignId)).filter((window) => window.owner === owner);
    // One that is in the middle of storing locks its chunk until the database ends it, a minute later.
    const isFree = lease === 'waited out' || (await areUnlocked(bundle, held));
    if (held.length > 0 && isFree) return { worker, windows: held };
    worker.process.kill('SIGCONT');
  }
}

/** As rig/worker.ts names itself. */
function isOwnedBy(pid: number, owner: string): boolean {
  return owner.startsWith(`${pid}-`);
}

async function areUnlocked({ database }: TortureBundle, windows: OpenWindow[]): Promise<boolean> {
  const free = await database`
    select 1 from chunks
    where (run_id, number) in (
      select * from unnest(${windows.map(({ runId }) => runId)}::text[], ${windows.map(({ number }) => number)}::int[])
    )
    for update skip locked`;
  return free.length === windows.length;
}

async function endLeasesOf({ database }: TortureBundle, windows: OpenWindow[]): Promise<void> {
  await database`
    update chunks set lease_until = lease_until - interval '1 hour'
    where state = 'CLAIMED' and (run_id, number, attempt) in (
      select * from unnest(${windows.map(({ runId }) => runId)}::text[], ${windows.map(({ number }) => number)}::int[],
        ${windows.map(({ attempt }) => attempt)}::int[])
    )`;
}

/** Another has stored each of these windows, and more. */
async function arePassed({ database }: TortureBundle, windows: OpenWindow[]): Promise<boolean> {
  const [row] = await database<{ passed: number }[]>`
    with cursors as materialized (
      select run_id, bucket, position from run_cursors where run_id = any(${windows.map(({ runId }) => runId)})
    )
    select count(*) as passed from chunks
    join unnest(${windows.map(({ runId }) => runId)}::text[], ${windows.map(({ number }) => number)}::int[],
      ${windows.map(({ attempt }) => attempt)}::int[], ${windows.map(({ bucket }) => bucket)}::int[],
      ${windows.map(({ position }) => position)}::text[]) as held (run_id, number, attempt, bucket, position)
      on held.run_id collate "C" = chunks.run_id and held.number = chunks.number
    where chunks.attempt > held.attempt
      and (chunks.ended_at is not null
        or exists (
          select 1 from cursors
          where cursors.run_id = chunks.run_id and cursors.bucket between held.bucket and chunks.bucket_to
            and (cursors.bucket, cursors.position) > (held.bucket, held.position collate "C")
        ))`;
  return row!.passed === windows.length;
}

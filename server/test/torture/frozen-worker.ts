import { isDistributed } from '../../src/storage/cluster.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { auditRun, findBrokenPromises, sumAudits } from '../rig/audit.ts';
import { withTortureBundle } from '../rig/installation.ts';
import type { TortureBundle, TortureOptions } from '../rig/installation.ts';
import type { WorkerProcess } from '../rig/processes.ts';
import { brokenOf } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';

type FrozenWorkerOptions = TortureOptions & {
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
export function frozenWorker(options: FrozenWorkerOptions): Promise<Report> {
  const devices = Math.max(minDevices, Math.ceil(options.devices / options.rounds));
  return withTortureBundle({ ...options, answers: 'of the field', devices }, async (bundle) => {
    await bundle.importDevices();
    const fences = await watchFences(bundle.database, bundle.ownerUrl);
    await bundle.startWorkers(2);
    const audits: Awaited<ReturnType<typeof auditRun>>[] = [];
    const [broken, frozen]: [string[], OpenWindow[][]] = [[], []];
    for (let round = 0; round < options.rounds; round += 1) {
      const lease = round === 0 ? options.firstLease : 'ended';
      const { audit, run, windows } = await freezeOnce(bundle, { round, lease });
      audits.push(audit);
      frozen.push(windows);
      broken.push(
        ...[
          ...findBrokenPromises(audit, run),
          ...brokenOf({ 'only messages of the frozen windows are repeated': audit.repeats <= countDevices(windows) }),
        ].map((promise) => `round ${round + 1}: ${promise}`),
      );
    }
    const breaches = await fences.breaches();
    const inWindow = frozen.filter((windows) => windows.length > 0).length;
    const { devices, lost, repeats } = sumAudits(audits);
    return {
      numbers: {
        ...{ devices, lost, repeats, bound: countDevices(frozen.flat()) },
        'windows frozen': frozen.flat().length,
        'rounds in a window': inWindow,
        breaches: breaches.reduce((total, { times }) => total + times, 0),
      },
      broken: [
        ...broken,
        ...breaches.map(({ what, times }) => `${what}: ${times} times`),
        ...brokenOf({ 'a worker is frozen in the middle of a window': inWindow > 0 }),
      ],
    };
  });
}

const countDevices = (windows: readonly OpenWindow[]): number => windows.reduce((sum, { devices }) => sum + devices, 0);

type Freeze = { round: number; lease: FrozenWorkerOptions['firstLease'] };

async function freezeOnce(bundle: TortureBundle, { round, lease }: Freeze) {
  const reached = bundle.collector.reached();
  const campaignId = await bundle.pushToAll(`Torture: a worker is frozen, ${round}`);
  await bundle.waitForReached(reached + bundle.random.between(1, Math.floor(bundle.devices / 2)));
  const frozen = await freeze(bundle, { campaignId, lease });
  if (frozen) {
    if (lease === 'ended') await endLeasesOf(bundle, frozen.windows);
    await bundle.waitFor('the other worker goes past the frozen windows', () => arePassed(bundle, frozen.windows));
    frozen.worker.process.kill('SIGCONT');
    // It answers, so it is awake, and has heard what came meanwhile.
    await frozen.worker.followClock();
  }
  const run = await bundle.waitForRunEnd(campaignId);
  return { audit: await auditRun(bundle, campaignId), run, windows: frozen?.windows ?? [] };
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

/** What was stored over what another worker had stored, by kind. */
type Fences = { breaches(): Promise<{ what: string; times: number }[]> };

type Watched = { table: string; what: string; when: string };

const watched: Watched[] = [
  { table: 'chunks', what: 'an ended chunk was changed', when: 'old.ended_at is not null' },
  { table: 'run_cursors', what: 'a cursor moved back', when: 'new.position < old.position' },
  { table: 'deliveries', what: 'an accepted message was stored again', when: `old.outcome = 'A'` },
];

/**
 * Triggers that write down each statement which takes back what is known: a cursor that moves back, an ended chunk that
 * changes, a device's accepted message that is overwritten. A worker that lost its lease does none of it. On a cluster
 * they are those of shards, and each node writes down what it sees.
 */
async function watchFences(database: Database, ownerUrl: string): Promise<Fences> {
  const owner = openDatabase({ url: ownerUrl, connections: 1, name: 'torture owner' });
  const isOnCluster = await isDistributed(database, 'deliveries');
  try {
    // Of a round before, on the same installation.
    await owner`drop function if exists torture_watch cascade`;
    for (const statement of [
      'drop table if exists torture_breaches',
      'create table torture_breaches (what text not null)',
      'grant select on torture_breaches to public',
    ])
      await onEveryNode(owner, statement);
    await owner`
      create function torture_watch() returns trigger language plpgsql security definer as $body$
      begin
        insert into torture_breaches values (tg_argv[0]);
        return null;
      end $body$`;
    for (const each of watched) await watch(owner, each);
  } finally {
    await owner.end();
  }

  async function onEveryNode(on: Database, statement: string): Promise<string[]> {
    if (!isOnCluster) {
      await on.unsafe(statement);
      return [];
    }
    return resultsOf(await on`select * from run_command_on_all_nodes(${statement})`);
  }

  async function watch(on: Database, { table, what, when }: Watched): Promise<void> {
    const trigger = (name: string): string =>
      `create trigger torture_watch after update on ${name} for each row when (${when})
        execute function torture_watch('${what}')`;
    if (!isOnCluster || table === 'chunks') await on.unsafe(trigger(table));
    else resultsOf(await on`select * from run_command_on_shards(${table}, ${trigger('%s')})`);
  }

  return {
    async breaches() {
      if (!isOnCluster)
        return database<{ what: string; times: number }[]>`
          select what, count(*) as times from torture_breaches group by what order by what`;
      const nodes = resultsOf(
        await database`select * from run_command_on_all_nodes(
          'select coalesce(json_agg(what), ''[]'') from torture_breaches')`,
      );
      const all = nodes.flatMap((node) => JSON.parse(node) as string[]);
      return [...Map.groupBy(all, (what) => what)].map(([what, times]) => ({ what, times: times.length }));
    },
  };
}

/** What the nodes answered, who tell what failed there as a result. */
function resultsOf(rows: Record<string, unknown>[]): string[] {
  const failed = rows.find(({ success }) => success !== true);
  if (failed) throw new Error(`a node of the cluster refused: ${String(failed['result'])}`);
  return rows.map(({ result }) => String(result));
}

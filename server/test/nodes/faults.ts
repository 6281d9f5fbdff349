import { once } from 'node:events';
import { join } from 'node:path';
import { inTransaction, openDatabase, withSession } from '../../src/storage/database.ts';
import { auditLoad, auditRun, findBrokenPromises, findMiscounts, isAllEnded } from '../rig/audit.ts';
import type { FinishedRun } from '../rig/audit.ts';
import type { Collector } from '../rig/collector.ts';
import { pushToAll, waitForRunEnd } from '../rig/fleet.ts';
import type { ApiNode, Fleet, FleetNode } from '../rig/fleet.ts';
import { startPushLoad } from '../rig/load.ts';
import type { Load } from '../rig/load.ts';
import { startScript } from '../rig/processes.ts';
import { brokenOf } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';
import { until } from '../rig/until.ts';
import type { Place } from './network.ts';

/** Where nodes are that are to be cut off. */
type Places = { worker: Place; senderWithoutDatabase: Place; api: Place };

/**
 * Of the work of a dead node, of what it holds in the database, and of its coming back. How long the last of its chunks wait
 * depends on what else those that are left have to do; the campaign ends in any case.
 */
const limits = { taken: 60, lastTaken: Number.POSITIVE_INFINITY, ended: 45, back: 60 };
// A worker has slots for a few chunks, and a push to one user takes a slot for as long as the provider takes. The load is what
// the one remaining worker can send, because pushes to users go before campaigns.
const load = { clients: 1, pauseMilliseconds: 500 };
const answersBeforeStrike = 8;
/** What a crash may repeat is small, and a campaign is met in its middle. The remaining worker has slots for the work of the others. */
const settings = { windowDevices: 100, parallelChunks: 4 };
const slotsOfUntouched = 8;
const slow = { delayMilliseconds: 300 };
const slowProviders = { fcm: slow, apns: slow, webpush: slow };

type Round = { fleet: Fleet; name: string; times: Times; numbers: Report['numbers'] };

/**
 * One campaign to all users by four workers and, at the same time, pushes to single users by three api nodes. In the middle
 * one worker is killed, one is cut off from everything, and one from the database alone, so that it goes on sending; of the
 * api nodes one is killed and started again, and one is cut off. When others have done the work the network comes back.
 *
 * @param places undefined where there are no network namespaces: then no node is cut off
 */
export async function playFaults(
  fleet: Fleet,
  { name, places }: { name: string; places: Places | undefined },
): Promise<Report> {
  const round: Round = { fleet, name, times: startTimes(limits), numbers: {} };
  const [first, second] = fleet.apis as [ApiNode, ApiNode];
  const apis = [first, second, ...(places ? [await fleet.startApi(places.api)] : [])];
  const workers = await startWorkers(fleet, places);
  const loads = apis.map((api, index) =>
    startPushLoad(
      { push: (body) => (apis[index] ?? api).caller.push(body) },
      { ...load, users: fleet.devices, prefix: `${name}-${index}` },
    ),
  );
  try {
    // Slow enough for a campaign to be met in its middle.
    await fleet.collector.setFaults(slowProviders);
    const campaignId = await pushToAll(first, `Nodes: ${name}`);
    await strikeWorkers(round, { campaignId, workers, places });
    await strikeApis(round, { apis, loads, places });
    await fleet.collector.setFaults({});
    const answeredBefore = loads[0]!.answered.length;
    await round.times.settled();
    const run = await waitForRunEnd(fleet, campaignId);
    round.numbers['answered by others meanwhile'] = loads[0]!.answered.length - answeredBefore;
    if (places)
      await mend(round, { places, nodes: [workers['cut off']!, workers['cut off from the database']!, apis[2]!] });
    await Promise.all(loads.map((load) => load.stop()));
    await until('the end of every run', { seconds: 240, look: () => isAllEnded(fleet.observer) });
    return await audit(round, { campaignId, run, strikes: Object.keys(workers).length - 1, loads });
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
    await Promise.all(Object.values(workers).map((worker) => fleet.end(worker, 'SIGKILL')));
    if (places) await fleet.end(apis[2]!, 'SIGKILL');
    fleet.apis[1] = apis[1]!;
  }
}

async function startWorkers(fleet: Fleet, places: Places | undefined): Promise<Record<string, FleetNode>> {
  const names = ['untouched', 'killed', ...(places ? ['cut off', 'cut off from the database'] : [])];
  const placeOf: Record<string, Place | undefined> = {
    'cut off': places?.worker,
    'cut off from the database': places?.senderWithoutDatabase,
  };
  const started = await Promise.all(
    names.map(async (name) => {
      const parallelChunks = name === 'untouched' ? slotsOfUntouched : settings.parallelChunks;
      return [name, await fleet.startWorker({ place: placeOf[name], ...settings, parallelChunks })] as const;
    }),
  );
  return Object.fromEntries(started);
}

type Struck = { campaignId: string; workers: Record<string, FleetNode>; places: Places | undefined };

/** Each in the middle of chunks of the campaign. */
async function strikeWorkers({ fleet, times }: Round, { campaignId, workers, places }: Struck): Promise<void> {
  const { observer } = fleet;
  for (const [what, worker] of Object.entries(workers)) {
    if (what === 'untouched') continue;
    const owner = await fleet.nameOf(worker);
    const held = async (): Promise<number> => {
      const rows = await observer`
        select 1 from chunks where owner = ${owner} and state = 'CLAIMED'
          and run_id in (select id from runs where campaign_id = ${campaignId}) and window_opened_at is not null`;
      return rows.length;
    };
    await until(`an open window of the worker that is to be ${what}`, {
      seconds: 120,
      look: async () => (await held()) > 0,
    });
    if (what === 'killed') worker.process.kill('SIGKILL');
    else await worker.place!.cut(what === 'cut off' ? 'everything' : 'the database');
    await measureTakeOver({ fleet, times }, { owner, what: `worker ${what}` });
    if (places && worker.place) measureSessions({ fleet, times }, `worker ${what}`, worker.place);
  }
}

/** From what it holds now: another's claim of any of it, and of all. */
async function measureTakeOver(
  { fleet: { observer }, times }: Pick<Round, 'fleet' | 'times'>,
  { owner, what }: { owner: string; what: string },
): Promise<void> {
  const held = await observer<{ runId: string; number: number; attempt: number }[]>`
    select run_id as "runId", number, attempt from chunks where owner = ${owner} and state = 'CLAIMED'`;
  times.measure('taken', `${what}: the first of its ${held.length} chunks was taken over`, async () => {
    const rows = await observer`
      select 1
      from chunks
      join unnest(${held.map(({ runId }) => runId)}::text[], ${held.map(({ number }) => number)}::int[],
        ${held.map(({ attempt }) => attempt)}::int[]) as held (run_id, number, attempt) using (run_id, number)
      where chunks.attempt > held.attempt limit 1`;
    return rows.length === 1;
  });
  times.measure('lastTaken', `${what}: the last, by the one worker that is left`, async () => {
    const rows = await observer`select 1 from chunks where owner = ${owner} and state = 'CLAIMED' limit 1`;
    return rows.length === 0;
  });
}

function measureSessions({ fleet, times }: Pick<Round, 'fleet' | 'times'>, what: string, { address }: Place): void {
  times.measure('ended', `${what}: its sessions ended`, async () => {
    const rows = await fleet.observer`select 1 from pg_stat_activity where client_addr = ${address}::inet limit 1`;
    return rows.length === 0;
  });
}

/** While they accept requests. The one that is killed is started again on its port, and its callers find it there. */
async function strikeApis(
  { fleet, times }: Round,
  { apis, loads, places }: { apis: ApiNode[]; loads: Load[]; places: Places | undefined },
): Promise<void> {
  for (const load of loads)
    await until('answered requests', {
      seconds: 120,
      look: () => load.answered.length >= answersBeforeStrike,
    });
  await fleet.end(apis[1]!, 'SIGKILL');
  if (places) {
    await places.api.cut('everything');
    measureSessions({ fleet, times }, 'api node cut off', places.api);
  }
  apis[1] = await fleet.startApi(undefined, new URL(apis[1]!.url).port);
}

/** The network is back: each reports itself again, and the api node is ready. */
async function mend({ fleet, times }: Round, { places, nodes }: { places: Places; nodes: FleetNode[] }): Promise<void> {
  for (const place of [places.worker, places.senderWithoutDatabase, places.api]) await place.mend();
  const [clock] = await fleet.observer<{ at: Date }[]>`select clock_timestamp() as at`;
  for (const [index, node] of nodes.entries()) {
    const id = await fleet.nameOf(node);
    const what = ['worker cut off', 'worker cut off from the database', 'api node cut off'][index]!;
    times.measure('back', `${what}: it worked again, with the network back`, async () => {
      const rows = await fleet.observer`select 1 from nodes where id = ${id} and seen_at > ${clock!.at}`;
      return rows.length === 1;
    });
  }
  const api = nodes[2] as ApiNode;
  times.measure('back', 'api node cut off: it was ready again, with the network back', async () => {
    const answer = await fetch(`${api.url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    return answer?.status === 200;
  });
  await times.settled();
}

type Ended = {
  campaignId: string;
  run: FinishedRun;
  strikes: number;
  loads: Load[];
};

async function audit({ fleet, times, numbers }: Round, { campaignId, run, strikes, loads }: Ended): Promise<Report> {
  const { observer, workspaceId } = fleet;
  const campaigns = await observer<{ id: string }[]>`select distinct campaign_id as id from runs`;
  const collector = (await fleet.collector.read(campaigns.map(({ id }) => id))) as Collector;
  const result = await auditRun({ database: observer, workspaceId, collector }, campaignId);
  const calls = await auditLoad({ database: observer, collector }, loads);
  const bound = strikes * settings.parallelChunks * settings.windowDevices;
  const counters = (await findMiscounts(observer)).length;
  return {
    numbers: {
      ...{ ...numbers, ...times.numbers(), ...result, bound },
      'counters that are not the ledger': counters,
      ...calls.numbers,
    },
    broken: [
      ...[...findBrokenPromises(result, run), ...calls.broken, ...times.broken()],
      ...brokenOf({
        'repeats stay within strikes × chunks × window': result.repeats <= bound,
        'each counter is what the ledger has in its bucket': counters === 0,
        'others answered meanwhile': Number(numbers['answered by others meanwhile']) > 0,
      }),
    ],
  };
}

/** A row lock that sessions of the node wait for one behind the other, a session's own lock, and the node's statement. */
// A session that gets the row next may be dead as well, and is found half a minute later.
const lockLimits = { freed: 45, passedOn: 70, failed: 60 };

/** Cuts off a process that holds locks, and waits for them as another node would. */
export async function playLocks(
  { database, observer, network }: Pick<Fleet, 'database' | 'observer' | 'network'>,
  place: Place,
): Promise<Report> {
  await observer`create table if not exists lock_probe (number int)`;
  await observer`delete from lock_probe`;
  await observer`insert into lock_probe values (0)`;
  await observer`grant all on lock_probe to public`;
  const url = new URL(database.url);
  url.hostname = network!.databaseAddress;
  const script = join(import.meta.dirname, 'lock-holder.ts');
  const { process: holder, exited } = await startScript(
    { PATH: process.env.PATH! },
    {
      words: [script, url.href],
      before: place.before,
    },
  );
  await until('two sessions that wait', {
    seconds: 30,
    async look() {
      const rows = await observer`
        select 1 from pg_stat_activity where client_addr = ${place.address}::inet and wait_event_type = 'Lock'`;
      return rows.length === 2;
    },
  });
  await place.cut('everything');
  holder.send('cut');
  const times = startTimes(lockLimits);
  const after = { row: false, session: false };
  const failed = once(holder, 'message') as Promise<[{ failedSeconds: number }]>;
  // The observer has two connections, which what is played meanwhile looks through.
  const waiting = openDatabase({ url: database.ownerUrl, connections: 2, name: 'lock-waiter' });
  const work = Promise.all([
    inTransaction(waiting, (tx) => tx`update lock_probe set number = number + 1`).then(() => (after.row = true)),
    withSession(waiting, (session) => session`select pg_advisory_lock(7)`).then(() => (after.session = true)),
  ]);
  times.measure('passedOn', 'a row that three of its sessions wanted was free', async () => after.row);
  times.measure('freed', 'a lock of its session was free', async () => after.session);
  let failedSeconds = Number.POSITIVE_INFINITY;
  void failed.then(([message]) => ({ failedSeconds } = message));
  times.measure(
    'failed',
    'its own statement failed, still cut off',
    async () => failedSeconds < Number.POSITIVE_INFINITY,
  );
  await times.settled();
  await place.mend();
  holder.kill('SIGKILL');
  await Promise.all([work, exited]);
  await waiting.end();
  return { numbers: times.numbers(), broken: times.broken() };
}

type Times = ReturnType<typeof startTimes>;

/** Far above every limit: what comes late is measured too. */
const patienceSeconds = 240;

/** Seconds from a call of `measure` until something is so, several at a time; each kind has a limit. */
function startTimes<Kind extends string>(limits: Record<Kind, number>) {
  const seen: { what: string; seconds: number; limit: number }[] = [];
  const measured: Promise<void>[] = [];
  return {
    measure(kind: Kind, what: string, isSo: () => Promise<boolean>): void {
      const begin = performance.now();
      const note = (): void =>
        void seen.push({ what, seconds: (performance.now() - begin) / 1000, limit: limits[kind] });
      measured.push(until(what, { seconds: patienceSeconds, look: isSo }).then(note, note));
    },
    async settled(): Promise<void> {
      await Promise.all(measured);
    },
    numbers: (): Report['numbers'] =>
      Object.fromEntries(seen.map(({ what, seconds }) => [`${what}, after s`, Math.round(seconds * 10) / 10])),
    broken: (): string[] =>
      seen.flatMap(({ what, seconds, limit }) => (seconds > limit ? [`${what} within ${limit} s`] : [])),
  };
}

import { setImmediate } from 'node:timers/promises';
import { makeManualClock } from '../../../src/clock.ts';
import type { ProviderCredentials } from '../../../src/domain/delivery/providers.ts';
import { makeDeliverCallbacks } from '../../../src/engine/outbox/callbacks.ts';
import { makeFillSegments } from '../../../src/engine/segment-fill/fill-segments.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeLog } from '../../../src/log.ts';
import { makeOutgoingClient, postOnce } from '../../../src/outgoing/client.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import type { Database } from '../../../src/storage/database.ts';
import { makeHistory, noteRows } from '../../rig/history.ts';
import type { History } from '../../rig/history.ts';
import { hashOf, makeRandom } from '../../rig/random.ts';
import { findDueWork } from '../simulated-store.ts';
import { pickBegin } from '../simulated-world.ts';
import { makeSimulatedWorker } from '../simulated-worker.ts';
import type { JobName, TaskName } from '../simulated-worker.ts';
import { makeCaller, users } from './draw-calls.ts';
import type { Caller } from './draw-calls.ts';
import { startCallsFileHost } from './file-host.ts';
import { makeRecordedNode } from './recorded-node.ts';
import { makeSimulatedPhones } from './simulated-phones.ts';

export type SimulatedCalls = { seed: number; history: History; numbers: Record<string, number> };

const steps = 60;
const maxSettlingSteps = 600;
/** Steps in a row in which nothing is due within a day. */
const idleStepsToQuiet = 3;
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
/** Slow enough for the limits of the campaign calls. */
const readingMilliseconds = 700;
const messagesPerDay = 4;
/** Turns of the event loop between the beginnings of two workers. */
const maxStagger = 60;
/** In one of this many seeds, the sessions of the database are ended now and then. */
const cutEvery = 4;

/**
 * One seed: two workspaces whose callers use the API while workers send, fill and die; then everything that is left is worked
 * off and every answer is read. The calls, their batches and the order of the steps follow from the seed. PostgreSQL decides
 * the order inside a batch. The history is the only result: the checker judges it.
 */
export async function simulateCalls(url: string, seed: number): Promise<SimulatedCalls> {
  const database = openDatabase({ url, connections: 6, name: 'simulated calls' });
  const cutter = openDatabase({ url, connections: 1, name: 'simulated cutter' });
  const simulation = await startCallSimulation({ database, cutter, seed });
  try {
    await simulation.disturb();
    await simulation.settle();
    await simulation.readEverything();
    return { seed, history: simulation.history, numbers: simulation.count() };
  } finally {
    await simulation.close();
    await database.end();
    await cutter.end();
  }
}

type Databases = { database: Database; cutter: Database; seed: number };

async function startCallSimulation({ database, cutter, seed }: Databases) {
  const random = makeRandom(hashOf(`calls ${seed}`));
  const clock = makeManualClock(pickBegin(random));
  const history = makeHistory();
  history.note({ kind: 'begin', rig: 'calls', seed, at: clock.now().getTime() });
  const host = await startCallsFileHost({ clock, history });
  const node = await makeRecordedNode({ database, clock, history });
  const callers: Caller[] = [];
  for (const [word, cap] of [
    ['alpha', null],
    ['beta', messagesPerDay],
  ] as const) {
    const workspace = await node.addWorkspace(word, cap);
    callers.push(makeCaller({ node, random, clock, host, workspace }));
    await callers.at(-1)!.begin();
  }
  const phones = makeSimulatedPhones({ seed, clock, history });
  const outbox = makeOutbox({ database, clock, encryption: node.encryption });
  const hasCuts = seed % cutEvery === 0;
  let workerNumber = 0;
  const addWorker = () =>
    makeSimulatedWorker(`w${(workerNumber += 1)}`, {
      ...{
        database,
        clock,
        history,
        providers: phones as never,
        windowDevices: random.between(1, 8),
        lateSendMinutes: 60,
      },
      spread: () => 0.5,
      credentials: { fcm: { projectId: `p${seed}`, simulated: true }, apns: { teamId: `t${seed}`, simulated: true } } as unknown as ProviderCredentials, // prettier-ignore
      credentialVersion: () => '1',
    });
  /** Two at a time: one that died is replaced. */
  const workers = [addWorker(), addWorker()];

  /** A job may fail while its connection is cut. The checker rejects any other failure. */
  const guarded = async (work: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await work();
    } catch (error) {
      history.note({ kind: 'fault', what: 'job failed', error: String((error as Error).stack) });
      return 0;
    }
  };

  async function begin(task: TaskName, place: 0 | 1 = 0): Promise<void> {
    const worker = workers[place]!;
    if (!worker.isFree(task)) return;
    worker.begin(task);
    while (!worker.isIdle() && worker.process.state === 'alive') await setImmediate();
    for (const fault of worker.faults.splice(0)) await guarded(() => Promise.reject(fault as Error));
    if (worker.process.state === 'dead') workers[place] = addWorker();
  }
  /** The second one begins somewhere in the work of the first. */
  const beginBoth = async (task: TaskName): Promise<void> => {
    const first = begin(task, 0);
    for (let turns = random.between(0, maxStagger); turns > 0; turns -= 1) await setImmediate();
    await Promise.all([first, begin(task, 1)]);
  };
  const runJob = (job: JobName) => guarded(() => workers[0]!.runJob(job));
  const engineSteps: (() => Promise<unknown>)[] = [
    () => runJob('fire'),
    () => runJob('release'),
    () => begin('chunk'),
    () => beginBoth('chunk'),
    () => beginBoth('retry'),
    () => runJob('end'),
    () => guarded(outbox.fill),
    () => guarded(outbox.callBack),
  ];

  async function cut(): Promise<void> {
    history.note({ kind: 'fault', what: 'cut' });
    await cutter`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
  }

  async function batch(): Promise<void> {
    const [own, other] = random.next() < 0.5 ? [callers[0]!, callers[1]!] : [callers[1]!, callers[0]!];
    const calls = Array.from({ length: random.between(1, 4) }, () => own.act(other.campaigns));
    const engine = random.next() < 0.4 ? [engineSteps[random.between(0, engineSteps.length - 1)]!()] : [];
    const cuts = hasCuts && random.next() < 0.12 ? [cut()] : [];
    await Promise.all([...calls, ...engine, ...cuts]);
  }

  async function disturb(): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      clock.advance(random.between(100, 4_000));
      const share = random.next();
      if (share < 0.06) workers[random.between(0, 1)]!.process.requestsToDeath ??= random.between(0, 4);
      if (share < 0.62) await batch();
      else if (share < 0.94) await engineSteps[random.between(0, engineSteps.length - 1)]!();
      else clock.advance(random.between(1, 90) * minute);
    }
  }

  /** Works off what is left, with no more faults. */
  async function settle(): Promise<void> {
    let idle = 0;
    for (const { process } of workers) process.requestsToDeath = undefined;
    for (let step = 0; step < maxSettlingSteps && idle < idleStepsToQuiet; step += 1) {
      clock.advance(1_000);
      const due = await findDueWork(database, clock);
      let moved = due.tasks.length;
      // A push that joined a scheduled campaign waits as a queued run, which no release moves.
      for (const job of due.jobs) moved += Number(await runJob(job));
      for (const task of due.tasks) await beginBoth(task);
      moved +=
        Number(await runJob('end')) + Number(await guarded(outbox.fill)) + Number(await guarded(outbox.callBack));
      if (moved > 0) idle = 0;
      else {
        idle += due.inMilliseconds >= day ? 1 : 0;
        clock.advance(Math.min(due.inMilliseconds, 6 * hour));
      }
    }
    history.note({ kind: 'quiet', isStuck: idle < idleStepsToQuiet });
  }

  async function readEverything(): Promise<void> {
    for (const caller of callers) await readAll(caller, () => clock.advance(readingMilliseconds));
    await noteRows(history, { database, addressOf: ({ pushId }) => pushId });
  }

  return {
    history,
    disturb,
    settle,
    readEverything,
    count: () => ({ calls: node.count(), messages: phones.count() }),
    async close(): Promise<void> {
      await node.close();
      await outbox.close();
      await host.close();
    },
  };
}

type OutboxParts = { database: Database; clock: ReturnType<typeof makeManualClock>; encryption: never | object };

/** The jobs that fill file segments and post callbacks, as one node has them. */
function makeOutbox({ database, clock, encryption }: OutboxParts) {
  const log = makeLog({ level: 'silent', pretty: false });
  const outgoing = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
  const outcomes = makeOutcomeBuffer({ log, pause: () => setImmediate() });
  const post = (request: Parameters<typeof postOnce>[1]) => postOnce(outgoing, request);
  const fills = makeFillSegments({
    ...{ database, clock, log, outgoing, outcomes, owner: 'filler', usersPerDay: 2_000_000, emailState: 'KEPT' },
    onEnded() {},
  });
  const callbacks = makeDeliverCallbacks({ database, clock, log, post, outcomes, encryption: encryption as never });
  return {
    async fill(): Promise<number> {
      const started = await fills.runOnce(clock.now());
      await fills.settled();
      return started;
    },
    async callBack(): Promise<number> {
      const sent = await callbacks.runOnce(clock.now());
      await callbacks.settled();
      return sent;
    },
    close: () => outgoing.close(),
  };
}

/** Asks every question whose answer is exact when nothing moves any more. */
async function readAll(caller: Caller, pause: () => void): Promise<void> {
  caller.listen();
  const ids = [...new Set(caller.campaigns.map(({ id }) => id))];
  for (const id of ids) {
    for (const read of [caller.readCampaign, caller.readExecutions, caller.readStatistics]) {
      pause();
      await read(id);
    }
    for (const user of users) {
      pause();
      await caller.readExplanation(id, caller.customer(user));
    }
  }
  const fields = [{}, { tags: ['sale'] }, { tags: ['news', 'sale'] }, { name: 'push' }, { name: 'AUTHORED 1' }];
  const statuses = [['SENT'], ['FAILED', 'STOPPED'], ['ACTIVE', 'RETIRED'], ['DRAFT']].map((status) => ({ status }));
  const both = { tags: ['sale'], status: ['SENT'], name: caller.workspace.word };
  for (const version of ['v1', 'v5'] as const) {
    for (const one of [...fields, ...statuses, both]) {
      pause();
      await caller.search(version, one);
    }
    for (const page of [1, 2, 3]) {
      pause();
      await caller.search(version, {}, { limit: 5, page });
    }
  }
}

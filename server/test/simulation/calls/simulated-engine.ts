import { setImmediate } from 'node:timers/promises';
import type { makeManualClock } from '../../../src/clock.ts';
import type { Encryption } from '../../../src/domain/crypto/encryption.ts';
import type { ProviderCredentials } from '../../../src/domain/delivery/providers.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeDeliverCallbacks } from '../../../src/engine/outbox/callbacks.ts';
import { makeFillSegments } from '../../../src/engine/segment-fill/fill-segments.ts';
import { makeLog } from '../../../src/log.ts';
import { makeOutgoingClient, postOnce } from '../../../src/outgoing/client.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { History } from '../../rig/history.ts';
import type { Random } from '../../rig/random.ts';
import { findDueWork } from '../simulated-store.ts';
import { makeSimulatedWorker } from '../simulated-worker.ts';
import type { JobName, TaskName } from '../simulated-worker.ts';
import type { makeSimulatedPhones } from './simulated-phones.ts';

type Parts = {
  database: Database;
  clock: ReturnType<typeof makeManualClock>;
  history: History;
  phones: ReturnType<typeof makeSimulatedPhones>;
  random: Random;
  seed: number;
  encryption: Encryption;
};

/** Turns of the event loop between the beginnings of two workers. */
const maxStagger = 60;

/** Two workers, one after the other or at the same time, and the jobs that fill segments and post callbacks. */
export function makeSimulatedEngine(parts: Parts) {
  const { database, clock, history, random } = parts;
  const outbox = makeOutbox(parts);
  const addWorker = makeWorkers(parts);
  /** One that died is replaced. */
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

  async function begin(task: TaskName, place: 0 | 1): Promise<void> {
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
  const steps: (() => Promise<unknown>)[] = [
    () => runJob('fire'),
    () => runJob('release'),
    () => begin('chunk', 0),
    () => beginBoth('chunk'),
    () => beginBoth('retry'),
    () => runJob('end'),
    () => guarded(outbox.fill),
    () => guarded(outbox.callBack),
  ];

  return {
    /** Does one thing that an engine does, by chance. */
    step: (): Promise<unknown> => steps[random.between(0, steps.length - 1)]!(),
    /** One of the workers will be killed in its next window. */
    killSoon: (): unknown => (workers[random.between(0, 1)]!.process.requestsToDeath ??= random.between(0, 4)),
    endFaults(): void {
      for (const { process } of workers) process.requestsToDeath = undefined;
    },
    /** Does everything that is due. @returns how much moved, and when something is due again */
    async workOff(): Promise<{ moved: number; inMilliseconds: number }> {
      const due = await findDueWork(database, clock);
      let moved = due.tasks.length;
      // A push that joined a scheduled campaign waits as a queued run, which no release moves.
      for (const job of due.jobs) moved += Number(await runJob(job));
      for (const task of due.tasks) await beginBoth(task);
      for (const work of [() => runJob('end'), () => guarded(outbox.fill), () => guarded(outbox.callBack)])
        moved += Number(await work());
      return { moved, inMilliseconds: due.inMilliseconds };
    },
    close: () => outbox.close(),
  };
}

function makeWorkers({ database, clock, history, phones, random, seed }: Parts) {
  let workers = 0;
  const credentials = {
    fcm: { projectId: `p${seed}`, simulated: true },
    apns: { teamId: `t${seed}`, simulated: true },
  } as unknown as ProviderCredentials;
  return () =>
    makeSimulatedWorker(`w${(workers += 1)}`, {
      ...{ database, clock, history, providers: phones as never, credentials, credentialVersion: () => '1' },
      ...{ windowDevices: random.between(1, 8), lateSendMinutes: 60, spread: () => 0.5 },
    });
}

/** The jobs that fill file segments and post callbacks, as one node has them. */
function makeOutbox({ database, clock, encryption }: Parts) {
  const log = makeLog({ level: 'silent', pretty: false });
  const outgoing = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
  const outcomes = makeOutcomeBuffer({ log, pause: () => setImmediate() });
  const post = (request: Parameters<typeof postOnce>[1]) => postOnce(outgoing, request);
  const fills = makeFillSegments({
    ...{ database, clock, log, outgoing, outcomes, owner: 'filler', usersPerDay: 2_000_000, emailState: 'KEPT' },
    onEnded() {},
  });
  const callbacks = makeDeliverCallbacks({ database, clock, log, post, outcomes, encryption });
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

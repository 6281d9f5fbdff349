import { probeMilliseconds } from '../../src/engine/governor/provider-evidence.ts';
import { setImmediate } from 'node:timers/promises';
import { changeCampaignState } from '../../src/app/campaigns/change-campaign-state.ts';
import { makeManualClock } from '../../src/clock.ts';
import type { Database } from '../../src/storage/database.ts';
import { makeHistory, noteRows } from '../rig/history.ts';
import type { History } from '../rig/history.ts';
import { hashOf, makeRandom } from '../rig/random.ts';
import { makeAccountTroubles } from './simulated-answers.ts';
import {
  clearSimulation,
  findDueWork,
  hasHeldRuns,
  listOpenCampaigns,
  makePauseWatch,
  makeStoredCredentials,
  separateRuns,
  splitChunks,
} from './simulated-store.ts';
import { makeWorld, pickBegin } from './simulated-world.ts';
import type { WorldCampaign } from './simulated-world.ts';
import { findBrokenRules } from './find-broken-rules.ts';
import { makeSimulatedProviders } from './simulated-providers.ts';
import { makeSimulatedWorker, heartbeatMilliseconds } from './simulated-worker.ts';
import type { JobName, SimulatedWorker, TaskName } from './simulated-worker.ts';

export type Simulated = {
  seed: number;
  broken: string[];
  trace: string[];
  numbers: Record<string, number>;
  history: History;
};

const lateSendMinutes = 60;
const steps = 70;
const maxWorkers = 3;
const maxCampaigns = 4;
/** Far more than any seed needs until nothing is left to do; beyond it, something goes round in a circle. */
const maxSettlingSteps = 3_000;
/** Waits in a row after which nothing was due: weeks of simulated time. */
const maxIdleSteps = 40;
const [second, minute, hour] = [1_000, 60_000, 3_600_000];
/** Three sends over at least 72 hours, and one more. */
const longSends = 4;
const longPause = 37 * hour;

/**
 * One seed: campaigns, workers, providers and faults on a clock that stands still between steps, one step after another
 * in an order that follows from the seed; then everything that is left is worked off, and the promises of reliability R2
 * to R7 are compared with what providers saw and the database holds. The same seed makes the same trace.
 *
 * @param database with one connection, so that statements have one order
 */
export async function simulate(database: Database, seed: number): Promise<Simulated> {
  await clearSimulation(database);
  const simulation = await makeSimulation(database, seed);
  await simulation.disturb();
  const stuck = await simulation.settle();
  if (stuck.length === 0) stuck.push(...(await simulation.sendForDays()));
  const broken = [...stuck, ...(await findBrokenRules(simulation.facts))];
  const { trace, history, world } = simulation;
  history.note({ kind: 'quiet', isStuck: stuck.length > 0 });
  await noteRows(history, { database, addressOf: ({ deviceId }) => world.deviceOf(deviceId).name });
  return { seed, broken, trace, history, numbers: simulation.count() };
}

async function makeSimulation(database: Database, seed: number) {
  const random = makeRandom(hashOf(`seed ${seed}`));
  const clock = makeManualClock(pickBegin(random));
  const trace: string[] = [];
  const history = makeHistory();
  history.note({ kind: 'begin', rig: 'faults', seed, at: clock.now().getTime() });
  const world = await makeWorld({ database, clock, random, history });
  const note = (line: string): void => void trace.push(line);
  const troubles = makeAccountTroubles({ seed, clock, hasHms: world.hasHms });
  const providers = makeSimulatedProviders({ seed, clock, note, troubles, history, ...world });
  const pauseWatch = makePauseWatch({ database, clock, requests: providers.requests });
  const workers: SimulatedWorker[] = [];
  const dead: SimulatedWorker[] = [];
  const windowDevices = random.between(1, 12);
  let stepNumber = 0;
  const stored = await makeStoredCredentials({ database, clock, seed, world, troubles });
  let isMendDue = false;

  const addWorker = (): SimulatedWorker => {
    const name = `w${workers.length + dead.length}`;
    const spread = (): number => makeRandom(hashOf(`${seed} ${stepNumber}`)).next();
    const worker = makeSimulatedWorker(name, {
      database,
      clock,
      providers,
      history,
      windowDevices,
      lateSendMinutes,
      spread,
      credentials: stored.credentials,
      credentialVersion: stored.versionOf,
    });
    workers.push(worker);
    return worker;
  };
  const say = (what: string): void => {
    stepNumber += 1;
    note(`${stepNumber} ${clock.now().toISOString()} ${what}`);
  };
  const pick = <Item>(items: readonly Item[]): Item => items[random.between(0, items.length - 1)]!;

  /** Until nothing moves by itself: every task waits for a provider or has ended. */
  async function drive(): Promise<void> {
    const { pool } = database.reach;
    do {
      do {
        await database`select 1`;
        await setImmediate();
      } while (pool.countHeld() > 0);
    } while (providers.answer());
    for (const worker of workers.filter(({ process }) => process.state === 'dead')) {
      workers.splice(workers.indexOf(worker), 1);
      dead.push(worker);
    }
  }

  /** A user replaces each credential whose trouble is over. */
  async function correctCredentials(): Promise<void> {
    const due = await stored.correct();
    if (due.length === 0) return;
    isMendDue = true;
    say(`corrected: ${due.join(', ')}`);
  }

  /** Real time passes; heartbeats and late answers come when they are due. */
  async function pass(milliseconds: number): Promise<void> {
    const end = clock.realNow().getTime() + milliseconds;
    for (let now = clock.realNow().getTime(); now < end; now = clock.realNow().getTime()) {
      const isWorking = workers.some((worker) => !worker.isIdle());
      const next = providers.nextAnswerAt();
      const until = isWorking ? Math.min(end, now + heartbeatMilliseconds, Math.max(next ?? end, now + 1)) : end;
      clock.advance(until - now);
      await correctCredentials();
      for (const worker of workers) await worker.beat();
      if (isWorking) await drive();
    }
    await pauseWatch.look();
  }

  async function runJob(worker: SimulatedWorker, job: JobName): Promise<number> {
    const done = await worker.runJob(job);
    say(`${worker.name} ${job}: ${done}`);
    if (job === 'fire' && done > 0) await separateRuns(database);
    if (job === 'release' && done > 0 && random.next() < 0.5) await splitChunks(database, random);
    await drive();
    return done;
  }

  async function begin(worker: SimulatedWorker, task: TaskName): Promise<void> {
    say(`${worker.name} ${task}`);
    worker.begin(task);
    await drive();
    await pauseWatch.look();
  }

  async function change(campaign: WorldCampaign, action: 'pause' | 'resume' | 'stop'): Promise<void> {
    const given = {
      workspaceId: world.workspaceId,
      campaignId: campaign.id,
      action,
      actor: { kind: 'system', name: 'the simulation' } as const,
    };
    const changed = await changeCampaignState({ database, clock }, given);
    say(`${action} ${campaign.name}: ${changed.kind}`);
    const [at, realAt] = [clock.now().getTime(), clock.realNow().getTime()];
    if (changed.kind === 'changed') {
      campaign.changes.push({ action, at, realAt, requestsBefore: providers.requests.length });
      history.note({ kind: 'change', campaign: campaign.id, action, at });
    }
    await drive();
  }

  function killAll(): void {
    for (const worker of workers) providers.kill(worker.process);
  }

  /** What may happen, and how often. */
  const happenings: [weight: number, () => Promise<unknown> | unknown][] = [
    [
      10,
      () =>
        world.campaigns.length < maxCampaigns &&
        world.addCampaign().then(({ name, timing }) => say(`${name} ${JSON.stringify(timing)}`)),
    ],
    [8, () => runJob(pick(workers), 'fire')],
    [14, () => runJob(pick(workers), 'release')],
    [6, () => runJob(pick(workers), 'end')],
    [4, () => runJob(pick(workers), 'mend')],
    [4, () => runJob(pick(workers), 'probe')],
    [
      24,
      () => {
        const worker = pick(workers);
        return worker.isFree('chunk') ? begin(worker, 'chunk') : undefined;
      },
    ],
    [
      14,
      () => {
        const worker = pick(workers);
        return worker.isFree('retry') ? begin(worker, 'retry') : undefined;
      },
    ],
    [12, () => pass(random.between(1 * second, 30 * second))],
    [6, () => pass(random.between(1 * minute, 20 * minute))],
    [2, () => pass(random.between(1 * hour, 20 * hour))],
    [
      2,
      () => {
        say('the clock is moved');
        clock.setOffset(clock.offsetMilliseconds() + random.between(1, 600) * minute);
      },
    ],
    [
      9,
      () => {
        const { process } = pick(workers);
        process.requestsToDeath ??= random.between(0, windowDevices);
        say(`${process.name} will die`);
      },
    ],
    [
      3,
      () => {
        const worker = pick(workers);
        providers.kill(worker.process);
        say(`${worker.name} is killed`);
        return drive();
      },
    ],
    [
      4,
      () => {
        const worker = pick(workers);
        worker.stall(random.between(5, 150) * second);
        say(`${worker.name} will stand still`);
      },
    ],
    [
      3,
      () => {
        const worker = pick(workers);
        worker.stop();
        say(`${worker.name} stops`);
      },
    ],
    [
      1,
      async () => {
        killAll();
        await drive();
        say('downtime');
        await pass(random.between(1, 30) * hour);
      },
    ],
    [3, () => world.campaigns.length > 0 && change(pick(world.campaigns), 'pause')],
    [4, () => world.campaigns.length > 0 && change(pick(world.campaigns), 'resume')],
    [1, () => world.campaigns.length > 0 && change(pick(world.campaigns), 'stop')],
    [2, () => world.addDevices(random.between(1, 4)).then(() => say('devices come'))],
  ];
  const weights = happenings.reduce((sum, [weight]) => sum + weight, 0);

  const facts = {
    ...{ database, world, clock, providers, troubles, lateSendMinutes, selfPauses: pauseWatch.pauses },
    workers: () => [...workers, ...dead],
  };
  return {
    trace,
    history,
    world,
    facts,
    count: () => ({
      requests: providers.requests.length,
      campaigns: world.campaigns.length,
      devices: world.devices.length,
      deaths: dead.filter(({ process }) => process.requestsToDeath !== undefined).length,
      steps: stepNumber,
      'worlds of several days': Number(world.longAudience.length > 0),
    }),

    async disturb(): Promise<void> {
      await world.addCampaign().then(({ name, timing }) => say(`${name} ${JSON.stringify(timing)}`));
      for (let step = 0; step < steps; step += 1) {
        while (workers.length < maxWorkers && (workers.length === 0 || random.next() < 0.5)) addWorker();
        clock.advance(random.between(1, 900));
        await correctCredentials();
        let share = random.between(0, weights - 1);
        const [, happen] = happenings.find(([weight]) => (share -= weight) < 0)!;
        await happen();
        await drive();
      }
    },

    settle,
    sendForDays,
  };

  /** Works off what is left, with nobody dying any more. @returns what is still open after far too many steps */
  async function settle(): Promise<string[]> {
    for (const { process } of workers) {
      process.requestsToDeath = undefined;
      process.stallMilliseconds = undefined;
    }
    let idleSteps = 0;
    for (let step = 0; step < maxSettlingSteps && idleSteps < maxIdleSteps; step += 1) {
      for (const worker of workers)
        if (!worker.isFree('chunk') && worker.isIdle() && !worker.isStalled()) worker.retire();
      const worker = workers.find((candidate) => candidate.isFree('chunk') && candidate.isIdle()) ?? addWorker();
      clock.advance(random.between(1, 900));
      await correctCredentials();
      if (isMendDue) {
        isMendDue = false;
        await runJob(worker, 'mend');
      }
      const isHeld = await hasHeldRuns(database);
      if (isHeld) for (const job of ['probe', 'mend'] as const) await runJob(worker, job);
      const due = await findDueWork(database, clock);
      for (const job of due.jobs) await runJob(worker, job);
      for (const task of due.tasks) if (worker.isFree(task)) await begin(worker, task);
      if (due.jobs.length + due.tasks.length > 0 || (await runJob(worker, 'end')) > 0) {
        if (due.jobs.length + due.tasks.length > 0) idleSteps = 0;
        continue;
      }
      const open = await listOpenCampaigns(database);
      if (open.length === 0) return [];
      for (const campaign of world.campaigns) {
        const state = open.find(({ id }) => id === campaign.id);
        if (state?.isRefused === true) await change(campaign, 'pause');
        if (state && (state.isRefused || state.status === 'PAUSED')) await change(campaign, 'resume');
      }
      const answer = providers.nextAnswerAt();
      const wait = Math.min(
        isHeld ? probeMilliseconds : due.inMilliseconds,
        due.inMilliseconds,
        troubles.untilCorrection(),
        answer === undefined ? 24 * hour : answer - clock.realNow().getTime(),
      );
      idleSteps += isHeld ? 0 : 1;
      // What is due soon after is worked off with it; a held credential is asked about every few seconds.
      await pass(Math.max(second, wait) + (isHeld ? 0 : random.between(0, minute)));
    }
    const open = await listOpenCampaigns(database);
    return [
      `nothing ends: ${open.map(({ id, status }) => `${world.nameOf(id)} is ${status}`).join(', ')} (reliability R7)`,
    ];
  }

  /**
   * In some worlds, one more campaign every day and a half: an address that is of no use leaves the audience after three
   * such sends.
   */
  async function sendForDays(): Promise<string[]> {
    const to = world.longAudience;
    if (to.length === 0) return [];
    for (let send = 0; send < longSends; send += 1) {
      if (send > 0) await pass(longPause);
      const { name } = await world.addCampaign({ to });
      say(`${name} is one of ${longSends} over ${((longSends - 1) * longPause) / hour} hours`);
      const stuck = await settle();
      if (stuck.length > 0) return stuck;
    }
    return [];
  }
}

import { makeManualClock } from '../../../src/clock.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import type { Database } from '../../../src/storage/database.ts';
import { makeHistory, noteRows } from '../../rig/history.ts';
import type { History } from '../../rig/history.ts';
import { hashOf, makeRandom } from '../../rig/random.ts';
import { pickBegin } from '../simulated-world.ts';
import { makeCaller, users } from './draw-calls.ts';
import type { Caller } from './draw-calls.ts';
import { makeTokenCaller } from './draw-token-calls.ts';
import type { TokenCaller } from './draw-token-calls.ts';
import { startCallsFileHost } from './file-host.ts';
import { makeRecordedNode } from './recorded-node.ts';
import { makeSimulatedEngine } from './simulated-engine.ts';
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
  const tokenCallers: TokenCaller[] = [];
  // Drawn apart, so that the other calls of a seed do not depend on those for tokens.
  const tokenRandom = makeRandom(hashOf(`tokens ${seed}`));
  for (const [word, cap] of [
    ['alpha', null],
    ['beta', messagesPerDay],
  ] as const) {
    const workspace = await node.addWorkspace(word, cap);
    callers.push(makeCaller({ node, random, clock, host, workspace }));
    await callers.at(-1)!.begin();
    const key = await node.addKey(workspace, { kind: 'oauth', name: `${word} tokens` });
    tokenCallers.push(makeTokenCaller({ node, random: tokenRandom, workspace, key: key! }));
  }
  const phones = makeSimulatedPhones({ seed, clock, history });
  const engine = makeSimulatedEngine({ database, clock, history, phones, random, seed, encryption: node.encryption });
  const hasCuts = seed % cutEvery === 0;

  async function cut(): Promise<void> {
    history.note({ kind: 'fault', what: 'cut' });
    await cutter`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
  }

  async function batch(): Promise<void> {
    const [own, other] = random.next() < 0.5 ? [callers[0]!, callers[1]!] : [callers[1]!, callers[0]!];
    const calls = Array.from({ length: random.between(1, 4) }, () => own.act(other.campaigns));
    const [ofTokens, strange] = tokenRandom.next() < 0.5 ? tokenCallers : tokenCallers.toReversed();
    calls.push(...Array.from({ length: tokenRandom.between(1, 3) }, () => ofTokens!.act(strange!.held)));
    const work = random.next() < 0.4 ? [engine.step()] : [];
    const cuts = hasCuts && random.next() < 0.12 ? [cut()] : [];
    await Promise.all([...calls, ...work, ...cuts]);
  }

  async function disturb(): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      clock.advance(random.between(100, 4_000));
      const share = random.next();
      if (share < 0.06) engine.killSoon();
      if (share < 0.62) await batch();
      else if (share < 0.94) await engine.step();
      else clock.advance(random.between(1, 90) * minute);
    }
  }

  /** Works off what is left, with no more faults. */
  async function settle(): Promise<void> {
    let idle = 0;
    engine.endFaults();
    for (let step = 0; step < maxSettlingSteps && idle < idleStepsToQuiet; step += 1) {
      clock.advance(1_000);
      const { moved, inMilliseconds } = await engine.workOff();
      if (moved > 0) idle = 0;
      else {
        idle += inMilliseconds >= day ? 1 : 0;
        clock.advance(Math.min(inMilliseconds, 6 * hour));
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
      await engine.close();
      await host.close();
    },
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

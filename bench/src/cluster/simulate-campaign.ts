import type { ClusterValues } from './cluster-values.ts';
import { makeDraws } from './draws.ts';
import { makeEventQueue } from './event-queue.ts';
import { makeOperations } from './operations.ts';
import type { Scenario } from './scenario.ts';
import { makeSimulatedDatabase } from './simulated-database.ts';
import type { DatabaseServer, SimulatedDatabase } from './simulated-database.ts';
import { makeSimulatedNode } from './simulated-node.ts';
import type { SimulatedNode } from './simulated-node.ts';
import { makeSimulatedProviders } from './simulated-providers.ts';
import { makeSimulatedRetries } from './simulated-retries.ts';
import { makeSimulatedRun } from './simulated-run.ts';
import type { SimulatedRun } from './simulated-run.ts';
import { makeStation, makeThread } from './stations.ts';
import { watchUse } from './watch-use.ts';
import type { Use } from './watch-use.ts';
import type { World } from './world.ts';

export type CampaignResult = {
  scenario: Scenario;
  /** From the accepted push to the end of its run. */
  seconds: number;
  ended: { accepted: number; gone: number; failed: number };
  /** Devices with a first stored outcome, by second. */
  storedPerSecond: readonly number[];
  uses: Use[];
  database: {
    statements: number;
    transactions: number;
    servers: { name: string; walBytes: number; statements: number; cpuSeconds: number }[];
    maxConnectionsHeld: number;
  };
  workerCpuSeconds: number;
  windows: number;
  repeatedWindows: number;
  repeatedDevices: number;
  takenOver: number;
  retriedDevices: number;
  tail: Tail;
  events: number;
};

/** The end of a campaign, when less and less work is left. */
export type Tail = {
  /** Time before the end from which no chunk was left to claim. */
  lastClaimSeconds: number;
  /** Time before the end when the last chunk ended; from then on only retries were left. */
  lastChunkSeconds: number;
  maxChunkSeconds: number;
  medianChunkSeconds: number;
};

/** The time slice in milliseconds by which the work of one shared machine alternates, as in the kernel's scheduler. */
const sliceMilliseconds = 3;
/** The longest retry delay and a lease are minutes: if nothing ended for this long, nothing will. */
const maxStandstillMilliseconds = 3_600_000;
/** The limit for a campaign that would take too long. */
const maxSimulatedMilliseconds = 30 * 24 * 3_600_000;

/** The campaign does not end on the described cluster. */
export class EndlessCampaignError extends Error {
  override readonly name = 'EndlessCampaignError';
}

/**
 * Simulates one campaign on a cluster: the same seed produces the same result. The events are windows, so a hundred million
 * devices are some millions of events; every device is counted, and ends exactly once.
 *
 * @throws EndlessCampaignError; any other error is a fault of the simulation, such as wrong counts
 */
export function simulateCampaign(scenario: Scenario, values: ClusterValues): CampaignResult {
  const queue = makeEventQueue();
  const draws = makeDraws(scenario.seed);
  const cores = scenario.sharedHostCores;
  const sharedHost =
    cores === undefined
      ? undefined
      : makeStation(queue, { name: 'machine: processor', servers: cores, sliceMilliseconds });
  const simulators =
    scenario.providers === 'simulated'
      ? makeThread('simulators: thread', sharedHost ?? makeStation(queue, { name: 'simulators', servers: 1 }))
      : undefined;
  const database = makeSimulatedDatabase({ queue, scenario, values, draws, sharedHost });
  const run = makeSimulatedRun(scenario, draws);
  const retries = makeSimulatedRetries({ queue, scenario });
  const providers = makeSimulatedProviders({ queue, scenario, values, draws, database, simulators });
  const operations = makeOperations(values);
  let isOver = false;
  let isEnding = false;
  const world: World = {
    ...{ queue, scenario, values, draws, operations, database, providers, run, retries, sharedHost },
    onEnded() {
      if (!run.isFinished() || isEnding) return;
      isEnding = true;
      database.perform(operations.endRun(), { asker: system, done: () => (isOver = true) });
    },
  };
  const system = { isAlive: true };
  const nodes = Array.from({ length: scenario.nodes }, (_, index) => makeSimulatedNode(world, `worker ${index + 1}`));
  const use = watchUse({ queue, run, database, nodes, accounts: providers.accounts, scenario, sharedHost, simulators });
  planCrashes(world, nodes);

  startRun(world, () => {
    // The node that cut the run into chunks knows of them; the others find them at their next poll.
    for (const [index, node] of nodes.entries()) node.start(index === 0 ? 'woken' : 'unaware');
  });
  const isStuck = watchStandstill(world);
  queue.run(() => isOver || isStuck() || queue.now() > maxSimulatedMilliseconds);
  if (!isOver)
    throw new EndlessCampaignError(
      `after ${Math.round(queue.now() / 3_600_000)} hours ${run.stored()} of ${scenario.devices} devices are stored, and ` +
        `${run.countEnded()} have ended`,
    );
  run.checkEveryDevice();
  return present({ scenario, run, database, nodes, seconds: queue.now() / 1000, events: queue.happened(), use });
}

function watchStandstill({ queue, run }: World): () => boolean {
  let isStuck = false;
  let before = -1;
  const look = (): void => {
    const now = run.stored() + run.countEnded();
    isStuck = now === before;
    before = now;
    queue.after(maxStandstillMilliseconds, look);
  };
  queue.after(maxStandstillMilliseconds, look);
  return () => isStuck;
}

/** One transaction counts the audience, with each server counting its part, and cuts it into chunks. */
function startRun({ queue, scenario, values, database }: World, started: () => void): void {
  const milliseconds = (scenario.devices / 1e6) * values.startMillisecondsPerMillionDevices;
  const servers = database.workers;
  let open = servers.length;
  queue.after(values.startMilliseconds, () => {
    for (const { cpu } of servers)
      cpu.work(milliseconds / servers.length, () => {
        open -= 1;
        if (open === 0) started();
      });
  });
}

/** Crashes nodes when random shares of the devices are stored, and restarts each after a while. */
function planCrashes({ queue, scenario, draws, run }: World, nodes: SimulatedNode[]): void {
  const parts = Array.from({ length: scenario.crashes }, () => draws.next()).sort((one, other) => one - other);
  const look = (): void => {
    if (parts.length === 0 || run.isFinished()) return;
    if (run.stored() >= parts[0]! * scenario.devices) {
      parts.shift();
      const node = nodes[Math.floor(draws.next() * nodes.length)]!;
      node.crash();
      queue.after(scenario.restartSeconds * 1000, () => {
        if (!node.isAlive()) node.start('unaware');
      });
    }
    queue.after(100, look);
  };
  if (parts.length > 0) queue.after(0, look);
}

type Finished = {
  scenario: Scenario;
  run: SimulatedRun;
  database: SimulatedDatabase;
  nodes: SimulatedNode[];
  seconds: number;
  events: number;
  use: ReturnType<typeof watchUse>;
};

function present({ scenario, run, database, nodes, seconds, events, use }: Finished): CampaignResult {
  const servers = new Set<DatabaseServer>([database.coordinator, ...database.workers]);
  const durations = run.chunks.map(({ claimedAt, endedAt }) => (endedAt - claimedAt) / 1000).sort((a, b) => a - b);
  const { windows, repeatedWindows, repeatedDevices, takenOver } = run.numbers;
  return {
    scenario,
    seconds,
    ended: run.ended(),
    storedPerSecond: use.storedPerSecond(),
    uses: use.read(),
    database: {
      statements: database.statements(),
      transactions: database.transactions(),
      servers: [...servers].map(({ name, walBytes, statements, cpu }) => ({
        name,
        walBytes,
        statements,
        cpuSeconds: cpu.busyMilliseconds() / 1000,
      })),
      maxConnectionsHeld: database.maxConnectionsHeld(),
    },
    workerCpuSeconds: nodes.reduce((sum, { thread }) => sum + thread.busyMilliseconds(), 0) / 1000,
    ...{ windows, repeatedWindows, repeatedDevices, takenOver },
    retriedDevices: nodes.reduce((sum, node) => sum + node.retriedDevices(), 0),
    tail: {
      lastClaimSeconds: seconds - use.lastClaimAt() / 1000,
      lastChunkSeconds: seconds - Math.max(...run.chunks.map(({ endedAt }) => endedAt)) / 1000,
      maxChunkSeconds: durations.at(-1) ?? 0,
      medianChunkSeconds: durations[Math.floor(durations.length / 2)] ?? 0,
    },
    events,
  };
}

import type { EventQueue } from './event-queue.ts';
import type { Scenario } from './scenario.ts';
import type { DatabaseServer, SimulatedDatabase } from './simulated-database.ts';
import type { SimulatedNode } from './simulated-node.ts';
import type { Account } from './simulated-account.ts';
import type { SimulatedRun } from './simulated-run.ts';
import type { Station } from './stations.ts';

/** The usage of a resource while the campaign was at its full rate: between a tenth and nine tenths of the devices. */
export type Use = {
  name: string;
  /** `slots`: windows that may be open, which wait for everything else. */
  kind: 'resource' | 'slots';
  /** 0 … 1 of the available amount. */
  share: number;
  /** How to get more of it. */
  remedy: string;
};

type Watched = {
  queue: EventQueue;
  run: SimulatedRun;
  database: SimulatedDatabase;
  nodes: SimulatedNode[];
  accounts: Account[];
  scenario: Scenario;
  sharedHost: Station | undefined;
  simulators: Station | undefined;
};

/** Both values only grow; `used` grows by at most as much as `offered`. */
type Counter = Omit<Use, 'share'> & { used: () => number; offered: () => number };

const [paceFrom, paceTo] = [0.1, 0.9];
const lookMilliseconds = 250;

/** Observes a running campaign: its rate, its usage, and the time of the last claim. */
export function watchUse(watched: Watched) {
  const { queue, run, scenario } = watched;
  const counters = listCounters(watched);
  const read = () => ({
    at: queue.now(),
    used: counters.map(({ used }) => used()),
    offered: counters.map(({ offered }) => offered()),
  });
  const start = read();
  let begin: typeof start | undefined;
  let end: typeof start | undefined;
  const stored: number[] = [];
  let storedBefore = 0;
  let lastClaimAt: number | undefined;

  const look = (): void => {
    const now = run.stored();
    const second = Math.floor((queue.now() - 1) / 1000);
    stored[second] = (stored[second] ?? 0) + now - storedBefore;
    storedBefore = now;
    for (const { offered } of counters) offered();
    if (now >= paceFrom * scenario.devices) begin ??= read();
    if (now >= paceTo * scenario.devices) end ??= read();
    if (now > 0 && run.hasOpenChunks() && !run.isClaimable(queue.now())) lastClaimAt ??= queue.now();
    if (!run.isFinished()) queue.after(lookMilliseconds, look);
  };
  queue.after(lookMilliseconds, look);

  return {
    storedPerSecond: (): readonly number[] => stored,
    /** Until this time every slot that became free found a chunk. */
    lastClaimAt: (): number => lastClaimAt ?? queue.now(),
    read(): Use[] {
      const last = end ?? read();
      // A run of a second or two has no steady rate, so all of it counts.
      const first = begin && last.at - begin.at >= 4 * lookMilliseconds ? begin : start;
      return counters.map(({ name, kind, remedy }, index) => {
        const offered = last.offered[index]! - first.offered[index]!;
        return { name, kind, remedy, share: offered > 0 ? (last.used[index]! - first.used[index]!) / offered : 0 };
      });
    },
  };
}

function listCounters({ queue, database, nodes, accounts, scenario, sharedHost, simulators }: Watched): Counter[] {
  const ofStation = (station: Station, remedy: string): Counter => ({
    name: station.name,
    kind: 'resource',
    remedy,
    used: () => station.busyMilliseconds(),
    offered: () => station.servers * queue.now(),
  });
  const servers = new Set<DatabaseServer>([database.coordinator, ...database.workers]);
  const ofServers = [...servers].flatMap((server) => [
    ...(sharedHost
      ? []
      : [ofStation(server.cpu, server === database.coordinator ? 'more cores there' : 'more database workers')]),
    ofStation(server.disk, 'a disk with faster flushes'),
  ]);
  const ofNodes: Counter[] = [
    {
      name: 'workers: threads',
      kind: 'resource',
      remedy: 'more worker processes',
      used: () => nodes.reduce((sum, { thread }) => sum + thread.busyMilliseconds(), 0),
      offered: () => nodes.length * queue.now(),
    },
    {
      name: 'workers: open windows',
      kind: 'slots',
      remedy: 'a higher CARILLON_WORKER_CHUNKS, or more worker processes',
      used: () => nodes.reduce((sum, node) => sum + node.slotMilliseconds(), 0),
      offered: () => nodes.length * scenario.parallelChunks * queue.now(),
    },
  ];
  const isUnlimited = scenario.providers === 'unlimited';
  const ofAccounts = accounts.flatMap((account): Counter[] => {
    const { platform, perMinute } = account;
    if (isUnlimited || scenario.shares[platform] === 0) return [];
    const streams: Counter = {
      name: `${platform}: streams`,
      kind: 'resource',
      remedy: 'more worker processes, each with connections of its own',
      used: () => account.busyStreamMilliseconds,
      offered: () => account.streams * nodes.length * queue.now(),
    };
    if (perMinute === undefined) return [streams];
    const quota: Counter = {
      name: `${platform}: quota of the provider`,
      kind: 'resource',
      remedy: 'a higher quota, asked for at the provider',
      used: () => account.messages,
      offered: account.offered,
    };
    return [quota, streams];
  });
  return [
    ...(sharedHost ? [ofStation(sharedHost, 'a machine for each part')] : []),
    ...(simulators ? [ofStation(simulators, 'providers elsewhere')] : []),
    ...ofServers,
    ...ofNodes,
    ...ofAccounts,
  ];
}

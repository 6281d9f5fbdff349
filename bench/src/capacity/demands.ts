import { fcmMessagesPerMinute, maxDeliveryAttempts } from '../../../server/src/domain/limits/delivery.ts';
import { bucketCount } from '../../../server/src/domain/users/users.ts';
import { batchDevices } from '../../../server/src/engine/fan-out/retry-deliveries.ts';
import { bucketGroup, cutBuckets } from '../../../server/src/engine/fan-out/runs.ts';
import { heartbeatMilliseconds } from '../../../server/src/engine/fan-out/work-chunks.ts';
import { accountBudget } from '../../../server/src/engine/governor/governor.ts';
import { maxLeases, pauseMilliseconds } from '../../../server/src/engine/governor/send-budgets.ts';
import { defaultSessionsPerTarget } from '../../../server/src/providers/http2/transport.ts';
import { expectLastResponse, meanLatency, normalShare } from './queueing.ts';
import { byPlatform, platforms, weigh } from './values.ts';
import type { ByPlatform, ClusterValues } from './values.ts';

/** A cluster, and a campaign to all users on it. */
export type Scenario = {
  devices: number;
  shares: ByPlatform;
  /** Processes of role `worker`, each on a separate host. */
  nodes: number;
  nodeCores: number;
  /** Chunks that a process sends concurrently. */
  parallelChunks: number;
  windowDevices: number;
  database: DatabaseShape;
  /** Nodes of role `api`; here they only hold connections. */
  apiNodes: number;
  connectionsPerNode: number;
  /** The database's (the coordinator's) max_connections. */
  maxConnections: number;
  /** `unlimited`: providers respond at once and accept everything. `simulated`: the simulators of the sandbox. */
  providers: 'real' | 'simulated' | 'unlimited';
  /** Set if everything runs on one machine with this many cores. */
  sharedHostCores: number | undefined;
  /** The share of all requests, 0 … 1, for which the provider requests a retry or responds with an error. */
  retryShare: number;
  /** Messages a minute that replace the providers' quotas in the code. */
  perMinute: Partial<ByPlatform>;
};

export type DatabaseShape =
  { kind: 'single'; cores: number } | { kind: 'citus'; workers: number; coordinatorCores: number; workerCores: number };

const kinds = [
  // Milliseconds of processors: a worker's thread, its other threads, the simulators, the database (with Citus: the coordinator),
  // and all database workers together.
  ...(['thread', 'helpers', 'simulators', 'database', 'databaseWorkers'] as const),
  // Milliseconds on the network.
  'trips',
  ...(['statements', 'commits', 'workerCommits', 'walBytes', 'workerWalBytes'] as const),
] as const;

/** What a piece of work needs of each resource. */
export type Demand = Record<(typeof kinds)[number], number>;

/** Returns the sum of pieces of work, each as often as said. */
export function addDemands(...parts: readonly (readonly [Partial<Demand>, number])[]): Demand {
  const sum = (kind: keyof Demand): number => parts.reduce((all, [part, times]) => all + (part[kind] ?? 0) * times, 0);
  return Object.fromEntries(kinds.map((kind) => [kind, sum(kind)])) as Demand;
}

type Transaction = {
  statements: number;
  milliseconds: number;
  walBytes: number;
  /** Rows of a shard, which pass through a coordinator; absent for tables on it. */
  devices?: number;
};

export type Demands = ReturnType<typeof findDemands>;

/** Returns what an average window of the scenario needs, and the work beside windows. Pure. */
export function findDemands(scenario: Scenario, values: ClusterValues) {
  const windows = countWindows(scenario);
  const devices = scenario.devices / windows;
  const counts = byPlatform((platform) => devices * scenario.shares[platform]);
  const { page, open, store, again, local } = transactionsOf(values);
  const needs = (...transactions: Transaction[]): Demand =>
    addDemands(...transactions.map((one) => [ofTransaction(one, { scenario, values }), 1] as const));
  const sending = (each: ByPlatform): Demand =>
    addDemands(
      [{ thread: (values.workerMicrosecondsPerWindow + weigh(each, values.workerMicrosecondsPerDevice)) / 1000 }, 1],
      [{ helpers: weigh(each, values.helperMicrosecondsPerDevice) / 1000 }, 1],
      [
        { simulators: weigh(each, values.simulatorMicrosecondsPerDevice) / 1000 },
        Number(scenario.providers === 'simulated'),
      ],
    );
  const idle = {
    statements: values.idleStatementsPerSecond,
    database: values.idleDatabaseMillisecondsPerSecond,
    thread: values.workerIdleMillisecondsPerSecond,
  };
  const renewal = { ...local(1), walBytes: scenario.parallelChunks * values.walBytesPerStatement };
  const lease = { ...local(4), walBytes: values.walBytesPerStatement };
  const quota = findQuota(scenario, values);
  const retryBatch = (size: number): Demand => {
    const each = byPlatform((platform) => size * scenario.shares[platform]);
    return addDemands([sending(each), 1], [needs(again(2, size), again(values.statementsPerWindow - 2, size)), 1]);
  };
  return {
    ...{ windows, devices, counts, quota, ...findResponses(scenario, { values, counts }) },
    /** The mean number of further attempts of a device that the provider asks for. */
    retriesPerDevice: expectRetries(scenario.retryShare),
    window: addDemands([sending(counts), 1], [needs(page(counts), open, store(counts)), 1]),
    chunk: needs({ ...local(1), walBytes: values.walBytesPerStatement }, local(2)),
    /** The work of a second beside windows: retries, leases of a quota, heartbeats, polls. */
    beside({ windowsPerSecond, retriesPerSecond, openWindows }: Pace): Demand {
      const batches = countRetryBatches(scenario, { retriesPerSecond, openWindows });
      return addDemands(
        [idle, scenario.nodes],
        [needs(renewal), (scenario.nodes * 1000) / heartbeatMilliseconds],
        [
          needs(lease),
          quota ? countLeases(scenario, { quota, messages: windowsPerSecond * counts[quota.platform] }) : 0,
        ],
        [retryBatch(batches === 0 ? 0 : retriesPerSecond / batches), batches],
      );
    },
  };
}

export type Pace = { windowsPerSecond: number; retriesPerSecond: number; openWindows: number };

/** The transactions of `engine/fan-out/send-window.ts`; the measured cost of a window is divided among its three. */
function transactionsOf(values: ClusterValues) {
  const { statementsPerWindow, databaseMicrosecondsPerWindow, pageShare } = values;
  const perStatement = databaseMicrosecondsPerWindow / statementsPerWindow / 1000;
  const storeStatements = statementsPerWindow - 2;
  const openWalBytes = values.walBytesPerWindow / 2;
  const rows = (counts: ByPlatform): number => weigh(counts, values.databaseMicrosecondsPerDevice) / 1000;
  const sum = (counts: ByPlatform): number => counts.ANDROID + counts.IOS + counts.WEB;
  return {
    page: (counts: ByPlatform): Transaction => ({
      ...{ statements: 1, milliseconds: perStatement + rows(counts) * pageShare, walBytes: 0 },
      devices: sum(counts),
    }),
    open: { statements: 1, milliseconds: perStatement, walBytes: openWalBytes },
    store: (counts: ByPlatform): Transaction => ({
      statements: storeStatements,
      milliseconds: perStatement * storeStatements + rows(counts) * (1 - pageShare),
      walBytes: values.walBytesPerWindow - openWalBytes + sum(counts) * values.walBytesPerDevice,
      devices: sum(counts),
    }),
    /** Half of the cost of a retried device is its claim, half the settling. */
    again: (statements: number, devices: number): Transaction => ({
      statements,
      milliseconds: perStatement * statements + (devices * values.retryMicrosecondsPerDevice) / 2000,
      walBytes: openWalBytes + (devices * values.retryWalBytesPerDevice) / 2,
      devices,
    }),
    /** Statements about runs, chunks and budgets, which are on the coordinator. */
    local: (statements: number): Transaction => ({
      ...{ statements, milliseconds: (statements * values.statementMicroseconds) / 1000, walBytes: 0 },
    }),
  };
}

function ofTransaction(
  { statements, milliseconds, walBytes, devices }: Transaction,
  { scenario, values }: { scenario: Scenario; values: ClusterValues },
): Partial<Demand> {
  const commits = walBytes > 0 ? 1 : 0;
  const trips = statements * values.roundTripMilliseconds;
  if (scenario.database.kind === 'single' || devices === undefined)
    return { statements, trips, commits, walBytes, database: milliseconds };
  const passing =
    statements * values.coordinatorMicrosecondsPerStatement + devices * values.coordinatorMicrosecondsPerDevice;
  return {
    // The row of the chunk, which the coordinator locks, is committed there too.
    ...{ commits, walBytes: commits * values.coordinatorWalBytesPerTransaction, database: passing / 1000 },
    ...{
      statements,
      trips: trips * 2,
      databaseWorkers: milliseconds,
      workerCommits: commits,
      workerWalBytes: walBytes,
    },
  };
}

/** Returns the expected windows: users are spread over buckets by a hash, so the last window of a group of buckets is partial. */
function countWindows({ devices, windowDevices }: Scenario): number {
  const chunks = cutBuckets(devices);
  const chunk = { bucketFrom: chunks[0]!.from, bucketTo: chunks[0]!.to };
  const run = { targetUsers: null, audienceDevices: devices, audienceUsers: null, settings: {}, isTest: false };
  const { buckets } = bucketGroup({ run, chunk, cursor: { bucket: chunk.bucketFrom, position: '' }, windowDevices })!;
  const groups = chunks.length * Math.ceil(bucketCount / chunks.length / buckets.length);
  const deviation = Math.sqrt((devices / groups) * (1 - 1 / groups));
  const chanceOfMore = (size: number): number =>
    normalShare((devices / groups - size - 0.5) / Math.max(deviation, 1e-9));
  let perGroup = 0;
  for (let size = 0; chanceOfMore(size) > 1e-6; size += windowDevices) perGroup += chanceOfMore(size);
  return groups * perGroup;
}

/** Returns the mean number of further attempts of a device. */
function expectRetries(retryShare: number): number {
  return Array.from({ length: maxDeliveryAttempts - 1 }, (_, index) => retryShare ** (index + 1)).reduce(
    (a, b) => a + b,
  );
}

/** Returns the batches of a second; on a cluster a batch has devices of one bucket, and buckets are sent to one by one. */
function countRetryBatches(
  { database }: Scenario,
  { retriesPerSecond, openWindows }: Pick<Pace, 'retriesPerSecond' | 'openWindows'>,
): number {
  const buckets = database.kind === 'citus' ? Math.max(1, Math.min(bucketCount, openWindows)) : 1;
  return Math.max(buckets * (1 - Math.exp(-retriesPerSecond / buckets)), retriesPerSecond / batchDevices);
}

export type Responses = {
  /** Milliseconds for which a window uses the streams of each platform. */
  streams: { platform: (typeof platforms)[number]; milliseconds: number }[];
  /** Until the last response to a window that is alone. */
  responseMilliseconds: number;
};

function findResponses(
  { providers }: Scenario,
  { values, counts }: { values: ClusterValues; counts: ByPlatform },
): Responses {
  if (providers === 'unlimited') return { streams: [], responseMilliseconds: 0 };
  if (providers === 'simulated') return { streams: [], responseMilliseconds: values.simulatorMilliseconds };
  const requests = platforms
    .filter((platform) => counts[platform] > 0)
    .map((platform) => {
      const latency = { median: values.latencyMilliseconds[platform], spread: values.latencySpread[platform] };
      const mean = meanLatency(latency);
      const milliseconds = (counts[platform] * mean) / (defaultSessionsPerTarget * values.streams[platform]);
      // The last request gets a stream when those before it have used theirs.
      return { platform, milliseconds, latency, count: counts[platform], sentAfter: Math.max(0, milliseconds - mean) };
    });
  return { streams: requests, responseMilliseconds: expectLastResponse(requests) };
}

export type Quota = NonNullable<ReturnType<typeof findQuota>>;

/** Returns the quota of an account with one. */
function findQuota({ providers, perMinute, shares }: Scenario, values: ClusterValues) {
  const ofProject = perMinute.ANDROID ?? fcmMessagesPerMinute;
  if (providers !== 'real' || shares.ANDROID === 0) return undefined;
  const leaseMilliseconds = pauseMilliseconds + 6 * values.roundTripMilliseconds + values.flushMilliseconds;
  return {
    platform: 'ANDROID' as const,
    leaseMilliseconds,
    /** A node leases a tenth of a second's worth at least. */
    leastLease: ofProject / 600,
    /** After so long without all of its messages, a node puts off those that are waiting. */
    patienceSeconds: (maxLeases * leaseMilliseconds) / 1000,
    /** Messages a second: an account that was idle grows to its whole rate over a minute (delivery 1). */
    perSecond: (secondsSinceFirst: number): number =>
      (ofProject / (60 + accountBudget.holdSeconds)) * Math.min(1, Math.max(0.1, secondsSinceFirst / 60)),
  };
}

/** Returns the leases a second; a node that waits leases again after each pause. */
function countLeases({ nodes }: Scenario, { quota, messages }: { quota: Quota; messages: number }): number {
  if (messages > 0.9 * quota.perSecond(60)) return (nodes * 1000) / quota.leaseMilliseconds;
  return messages === 0 ? 0 : Math.max(nodes, messages / quota.leastLease);
}

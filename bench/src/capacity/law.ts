import { cutBuckets } from '../../../server/src/engine/fan-out/runs.ts';
import { pollMilliseconds } from '../../../server/src/engine/fan-out/work-chunks.ts';
import { addDemands, findDemands } from './demands.ts';
import type { Demand, Demands, Scenario } from './demands.ts';
import { boundOf, flushShare, solveClosed } from './queueing.ts';
import type { Station } from './queueing.ts';
import { sendChunks } from './rounds.ts';
import type { Round } from './rounds.ts';
import type { ClusterValues } from './values.ts';

/** What the cluster is predicted to do with the campaign. */
export type Plan = {
  scenario: Scenario;
  /** From the accepted push to the end of its run. */
  seconds: number;
  windows: number;
  /** How long a window takes while all slots work, and the part of it in which it waits for the slowest response. */
  windowMilliseconds: number;
  responseMilliseconds: number;
  retriedDevices: number;
  uses: Use[];
  bottleneck: Bottleneck;
  statements: number;
  servers: { name: string; cpuSeconds: number; walBytes: number }[];
  workerCpuSeconds: number;
  /** Time before the end from which no chunk was left to claim, and from which only retries were left. */
  tail: { lastClaimSeconds: number; lastChunkSeconds: number };
};

/** The usage of a resource while the campaign is at its full rate; `slots` are windows that may be open. */
export type Use = { name: string; kind: 'resource' | 'slots'; share: number; remedy: string };

export type Bottleneck = Use & { cause: 'saturated' | 'waiting' | 'nothing' };

/**
 * Predicts a campaign by the bottleneck law: the rate is at most the capacity of each resource divided by what a window needs
 * of it. Below these bounds, the windows that may be open limit the rate, by the time that a window takes. Chunks are sent in
 * rounds, as many at a time as there are slots, so the last round may leave slots free. Variation within a round and crashed
 * workers are not included. Pure.
 */
export function planCampaign(scenario: Scenario, values: ClusterValues): Plan {
  const demands = findDemands(scenario, values);
  const setting = { scenario, values, demands };
  const slots = scenario.nodes * scenario.parallelChunks;
  const chunks = cutBuckets(scenario.devices).length;
  const sending = sendChunks({ scenario, demands, chunks, rateOf: (open) => findRate(setting, open) });
  const { rounds } = sending;
  const last = rounds.at(-1)!;
  const full = rounds.filter(({ openWindows }) => openWindows === rounds[0]!.openWindows);
  // The quota of a provider grows in the first minute.
  const usual = full[Math.floor(full.length / 2)]!;
  const begin = startSeconds(setting);
  const seconds = begin + sending.seconds + sending.tailSeconds;
  const rest = {
    windowsPerSecond: 0,
    retriesPerSecond: sending.tailRetries / sending.tailSeconds || 0,
    openWindows: last.openWindows,
  };
  const all = addDemands(
    [demands.window, demands.windows],
    [demands.chunk, chunks],
    [demands.beside(rest), sending.tailSeconds],
    [demands.beside({ ...rest, retriesPerSecond: 0 }), begin],
    ...rounds.map((round) => [demands.beside(round), round.seconds] as const),
  );
  const uses = usesOf(setting, { round: usual, slots });
  return {
    scenario,
    seconds,
    windows: demands.windows,
    windowMilliseconds: (usual.openWindows / usual.fullRate) * 1000,
    responseMilliseconds: demands.responseMilliseconds,
    retriedDevices: rounds.reduce((sum, round) => sum + round.retriesPerSecond * round.seconds, sending.tailRetries),
    uses,
    bottleneck: findBottleneck(uses),
    statements: all.statements,
    servers: serversOf(scenario, all),
    workerCpuSeconds: (all.thread + all.helpers) / 1000,
    tail: { lastClaimSeconds: last.seconds + sending.tailSeconds, lastChunkSeconds: sending.tailSeconds },
  };
}

/**
 * Returns the plan with the smallest number of workers that ends in time; undefined if none does. More workers than chunks have
 * nothing to do.
 */
export function findSmallest(
  scenario: Scenario,
  { values, withinSeconds }: { values: ClusterValues; withinSeconds: number },
): Plan | undefined {
  const most = Math.ceil(cutBuckets(scenario.devices).length / scenario.parallelChunks);
  for (let nodes = 1; nodes <= most; nodes += 1) {
    const plan = planCampaign({ ...scenario, nodes }, values);
    if (plan.seconds <= withinSeconds) return plan;
  }
  return undefined;
}

type Setting = { scenario: Scenario; values: ClusterValues; demands: Demands };

/** `sum`: its time is that of other resources, so it bounds the rate and adds nothing to the time of a window. */
type Resource = Station & { kind: 'station' | 'sum'; remedy: string };

/** Returns the processors, with the milliseconds that this work needs of each. */
function processorsOf({ nodes, nodeCores, database, sharedHostCores }: Scenario, work: Demand): Resource[] {
  const { thread, helpers, simulators } = work;
  const many = 'more worker processes';
  const of = (name: string, [copies, servers, milliseconds]: [number, number, number], remedy: string): Resource => ({
    ...{ name, copies, servers, milliseconds, remedy, kind: 'station' },
    windows: remedy === many ? 'own' : 'all',
  });
  const all = [
    of('workers: threads', [nodes, 1, thread], many),
    of('simulators: thread', [1, 1, simulators], 'providers elsewhere'),
  ];
  if (database.kind === 'single')
    all.push(of('database: processor', [1, database.cores, work.database], 'more cores there'));
  else
    all.push(
      of('coordinator: processor', [1, database.coordinatorCores, work.database], 'more cores there'),
      of(
        'database workers: processor',
        [database.workers, database.workerCores, work.databaseWorkers],
        'more database workers',
      ),
    );
  const host: Resource =
    sharedHostCores === undefined
      ? { ...of('workers: cores', [nodes, nodeCores, thread + helpers], many), kind: 'sum' }
      : {
          ...of(
            'machine: processor',
            [1, sharedHostCores, thread + helpers + simulators + work.database],
            'a machine for each part',
          ),
          kind: 'sum',
        };
  return [...all, host];
}

/** Returns the streams as resources. Platforms are sent to at the same time, so a window waits for the slowest. */
function streamsOf({ scenario, demands }: Setting): Resource[] {
  const slowest = Math.max(...demands.streams.map(({ milliseconds }) => milliseconds));
  return demands.streams.map(({ platform, milliseconds }) => ({
    ...{ name: `${platform}: streams`, copies: scenario.nodes, servers: 1, milliseconds, windows: 'own' },
    ...{
      kind: milliseconds === slowest ? 'station' : 'sum',
      remedy: 'more worker processes, each with its connections',
    },
  }));
}

/** Returns the windows a second that end while this many are open, without the quota of a provider. */
function findRate(setting: Setting, openWindows: number): number {
  const { scenario, demands } = setting;
  const streams = streamsOf(setting);
  const ofStreams = streams.find(({ kind }) => kind === 'station')?.milliseconds ?? 0;
  let rate = 0;
  // The wait for a flush, and the work beside windows, depend on the rate.
  for (let look = 0; look < 12; look += 1) {
    const pace = {
      windowsPerSecond: rate,
      retriesPerSecond: rate * demands.devices * demands.retriesPerDevice,
      openWindows,
    };
    const beside = processorsOf(scenario, demands.beside(pace));
    const resources = [...processorsOf(scenario, demands.window), ...streams].map((resource, index) => {
      const left = Math.max(0.02, 1 - (beside[index]?.milliseconds ?? 0) / capacityOf(resource));
      return { ...resource, milliseconds: resource.milliseconds / left };
    });
    const waits =
      demands.window.trips + flushWait(setting, rate) + Math.max(0, demands.responseMilliseconds - ofStreams);
    const stations = resources.filter(({ kind }) => kind === 'station');
    const closed = solveClosed(stations, { open: openWindows, delayMilliseconds: waits + claimMilliseconds(setting) });
    const next = Math.min(closed, ...resources.map(boundOf)) * 1000;
    rate = look === 0 ? next : (rate + next) / 2;
  }
  return rate;
}

/** Returns the milliseconds that all servers of a resource work in a second. */
function capacityOf({ copies, servers }: Station): number {
  return copies * servers * 1000;
}

/** Returns the wait for the flushes of a window's commits. */
function flushWait({ scenario, values, demands }: Setting, windowsPerSecond: number): number {
  return logsOf(scenario, demands.window).reduce((sum, { commits, copies }) => {
    const perMillisecond = (commits * windowsPerSecond) / 1000 / copies;
    const share = flushShare({ commits: perMillisecond, flushMilliseconds: values.flushMilliseconds });
    return sum + commits * values.flushMilliseconds * (1 + share / 2);
  }, 0);
}

function logsOf({ database }: Scenario, { commits, workerCommits }: Demand) {
  const first = { name: database.kind === 'single' ? 'database: log' : 'coordinator: log', copies: 1, commits };
  return database.kind === 'single'
    ? [first]
    : [first, { name: 'database workers: log', copies: database.workers, commits: workerCommits }];
}

/** Returns a window's part of the time in which its chunk is claimed. */
function claimMilliseconds({ scenario, demands }: Setting): number {
  const { trips, database } = demands.chunk;
  return ((trips + database) * cutBuckets(scenario.devices).length) / demands.windows;
}

/** Until the audience is counted, cut into chunks, and found by the slots of all nodes. */
function startSeconds({ scenario, values }: Setting): number {
  const servers = scenario.database.kind === 'citus' ? scenario.database.workers : 1;
  const counting = ((scenario.devices / 1e6) * values.startMillisecondsPerMillionDevices) / servers;
  // The node that cut the chunks knows of them; the others find them at their next poll.
  const unaware = (scenario.nodes - 1) / scenario.nodes;
  return (values.startMilliseconds + counting + (unaware * pollMilliseconds) / 2) / 1000;
}

function usesOf(setting: Setting, { round, slots }: { round: Round; slots: number }): Use[] {
  const { scenario, values, demands } = setting;
  const rate = round.windowsPerSecond;
  const use = (resource: Omit<Resource, 'kind'>, milliseconds: number): Use => ({
    ...{ name: resource.name, kind: 'resource', share: milliseconds / capacityOf(resource), remedy: resource.remedy },
  });
  const work = addDemands([demands.window, rate], [demands.beside(round), 1]);
  const streams = streamsOf(setting).map((one) =>
    use(one, one.milliseconds * (rate + round.retriesPerSecond / demands.devices)),
  );
  const logs = logsOf(scenario, work).map(({ name, copies, commits }): Use => {
    const share = flushShare({ commits: commits / copies / 1000, flushMilliseconds: values.flushMilliseconds });
    return { name, kind: 'resource', share, remedy: 'a disk with faster flushes' };
  });
  const moreSlots = 'a higher CARILLON_WORKER_CHUNKS, or more worker processes';
  const quota = { name: `${demands.quota?.platform}: quota of the provider`, kind: 'resource' } as const;
  return [
    ...processorsOf(scenario, work)
      .filter(({ milliseconds }) => milliseconds > 0)
      .map((one) => use(one, one.milliseconds)),
    ...logs,
    { name: 'workers: open windows', kind: 'slots', share: round.openWindows / slots, remedy: moreSlots },
    ...(demands.quota
      ? [{ ...quota, share: round.quotaShare, remedy: 'a higher quota, asked for at the provider' }]
      : []),
    ...streams,
  ];
}

/** From this share on, more of any other resource does not help. */
const saturatedShare = 0.85;

/**
 * Returns what limits the campaign: the saturated resource, else the windows if all are open and wait for responses. Otherwise
 * nothing does, because there is too little work.
 */
function findBottleneck(uses: readonly Use[]): Bottleneck {
  const greatest = (kind: Use['kind']): Use =>
    uses.filter((use) => use.kind === kind).reduce((one, other) => (one.share >= other.share ? one : other));
  const [resource, slots] = [greatest('resource'), greatest('slots')];
  if (resource.share >= saturatedShare) return { ...resource, cause: 'saturated' };
  return slots.share >= saturatedShare ? { ...slots, cause: 'waiting' } : { ...resource, cause: 'nothing' };
}

function serversOf({ database }: Scenario, all: Demand): Plan['servers'] {
  const isSingle = database.kind === 'single';
  const first = {
    name: isSingle ? 'database' : 'coordinator',
    cpuSeconds: all.database / 1000,
    walBytes: all.walBytes,
  };
  if (isSingle) return [first];
  const { workers } = database;
  const each = {
    name: 'each database worker',
    cpuSeconds: all.databaseWorkers / workers / 1000,
    walBytes: all.workerWalBytes / workers,
  };
  return [first, each];
}

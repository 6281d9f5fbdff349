import type { AccountTroubles } from './simulated-answers.ts';
import type { SelfPause } from './simulated-store.ts';
import type { World, WorldDevice } from './simulated-world.ts';
import type { PutOff, SimulatedProviders, SimulatedRequest } from './simulated-providers.ts';

export type ScopeFacts = {
  world: World;
  providers: SimulatedProviders;
  troubles: AccountTroubles;
  selfPauses: readonly SelfPause[];
  runs: readonly { id: string; campaignId: string; bound: string | null; createdAt: Date }[];
  /** Devices that the product dropped. */
  dropped: ReadonlySet<string>;
  requestsOf: ReadonlyMap<string, SimulatedRequest[]>;
  /** Runs and devices whose message was rejected at its first attempt. */
  rejected: ReadonlySet<string>;
};

const [second, hour] = [1_000, 3_600_000];
/** Retries are spread over five seconds, and a half-open hold tries another device every five. */
const maxHeldMilliseconds = 30 * second;

/**
 * Whether the product took an answer for what it was: about one device, or about a whole account. Judged by the truth of
 * the simulator alone, never by the product's table of codes.
 *
 * @returns what was held back, dropped, given up or kept without a cause
 */
export function findScopeFaults(facts: ScopeFacts): string[] {
  return [
    ...findHeldBack(facts),
    ...findPausedForOne(facts),
    ...findDropped(facts),
    ...findGivenUp(facts),
    ...findKeptForEver(facts),
  ];
}

/** A healthy device whose account is well does not wait for what another device was answered. */
function findHeldBack({ providers, world, troubles }: ScopeFacts): string[] {
  const causes = makeCauses(providers, troubles);
  const held = providers.putOffs.filter((putOff) => {
    const { condition, account } = world.deviceOf(putOff.deviceId);
    return (
      condition.kind === 'healthy' &&
      (putOff.until === undefined || putOff.until - putOff.at > maxHeldMilliseconds) &&
      !causes.has(account, putOff.realAt)
    );
  });
  // One line a run and account: the first says how it came.
  const byAccount = Map.groupBy(held, ({ runId, deviceId }) => `${runId} ${world.deviceOf(deviceId).account}`);
  return [...byAccount.values()].map((own) => describeHeld(own, { providers, world }));
}

function describeHeld(own: PutOff[], { providers, world }: Pick<ScopeFacts, 'providers' | 'world'>): string {
  const { runId, deviceId, at, realAt, until, code } = own[0]!;
  const { account, name } = world.deviceOf(deviceId);
  const last = providers.requests.findLast(
    (request) =>
      request.account === account &&
      request.answeredAt !== undefined &&
      request.answeredAt <= realAt &&
      request.given.about === 'device',
  );
  const long = until === undefined ? 'for ever' : `for ${Math.round((until - at) / second)} s`;
  const after = last
    ? `, after ${world.nameOf(last.deviceId)} got ${last.given.word} about the ${last.given.about}`
    : '';
  const devices = new Set(own.map((putOff) => putOff.deviceId)).size;
  return (
    `${world.nameOf(runId)} held back ${name} without cause ${long} (${code})${after}; ` +
    `${devices} healthy devices of ${account} in all (field A1, A3)`
  );
}

/** A run pauses by itself only where an account is at fault; healthy devices of others could have been sent to. */
function findPausedForOne({ selfPauses, runs, world, providers, troubles }: ScopeFacts): string[] {
  const causes = makeCauses(providers, troubles);
  return selfPauses.flatMap(({ runId, realAt, requestsBefore }) => {
    const run = runs.find(({ id }) => id === runId);
    const campaign = world.campaigns.find(({ id }) => id === run?.campaignId);
    if (!run?.bound || !campaign) return [];
    const asked = new Set(
      providers.requests.slice(0, requestsBefore).flatMap((one) => (one.runId === runId ? [one.deviceId] : [])),
    );
    const free = world.devices.filter(
      (device) =>
        device.condition.kind === 'healthy' &&
        !asked.has(device.id) &&
        isOfAudience(device, { run, campaign }) &&
        !causes.has(device.account, realAt),
    );
    return free.length === 0
      ? []
      : [
          `${world.nameOf(runId)} was paused by itself with ${free.length} healthy devices that were not asked (field A3)`,
        ];
  });
}

type Audience = { run: { bound: string | null }; campaign: { users: Set<string> | undefined } };

function isOfAudience({ id, userId }: WorldDevice, { run, campaign }: Audience): boolean {
  return id <= run.bound! && campaign.users?.has(userId) !== false;
}

/** When an account may rightly be held: in a trouble of its own, and as long as an answer about the account asked for. */
function makeCauses(providers: SimulatedProviders, troubles: AccountTroubles) {
  const answers = Map.groupBy(
    providers.requests.filter(({ given }) => given.about === 'account'),
    ({ account }) => account,
  );
  return {
    has: (account: string, at: number): boolean =>
      troubles.hadTrouble(account, at) ||
      (answers.get(account) ?? []).some(
        (request) => request.realAt <= at && at < (request.answeredAt ?? request.realAt) + extentOf(request),
      ),
  };
}

/** As long as a wait may last that follows from one answer: what was asked for, a grown delay, and a spread. */
function extentOf({ given: { waitSeconds = 60 }, asked }: SimulatedRequest): number {
  return (waitSeconds + 120 + Math.min(600, 10 * 2 ** asked)) * second;
}

/** A device is dropped for an answer that says so, or after days in which its address was of no use. */
function findDropped({ dropped, world, providers }: ScopeFacts): string[] {
  const byDevice = Map.groupBy(providers.requests, ({ deviceId }) => deviceId);
  return world.devices.flatMap(({ id, name, condition }) => {
    if (!dropped.has(id)) return [];
    const answers = byDevice.get(id) ?? [];
    const isDead = answers.some(({ given }) => given.about === 'death');
    const useless = answers.filter(({ given }) => given.isForEver);
    const isLongUseless = condition.kind === 'unresolved' ? spanOf(useless) >= 24 * hour : isProvenUseless(useless);
    if (isDead || isLongUseless) return [];
    const last = answers.at(-1);
    const reason = last ? `${last.given.word} about the ${last.given.about}` : 'no answer at all';
    return [`${name}, which is ${condition.kind}, was dropped without cause, after ${reason} (field A2)`];
  });
}

const minUselessSends = 3;
const minUselessMilliseconds = 72 * hour;

/** The product counts from the instants at which windows were stored: of a daily send they drift by the time of a window. */
const windowMilliseconds = hour;

function isProvenUseless(requests: readonly SimulatedRequest[], milliseconds = minUselessMilliseconds): boolean {
  return new Set(requests.map(({ runId }) => runId)).size >= minUselessSends && spanOf(requests) >= milliseconds;
}

function spanOf(requests: readonly SimulatedRequest[]): number {
  return requests.length === 0 ? 0 : requests.at(-1)!.at - requests[0]!.at;
}

/** A passing fault does not end a message: a device that is limited, throttled or refused once is retried. */
function findGivenUp({ requestsOf, world, rejected }: ScopeFacts): string[] {
  return [...requestsOf.values()].flatMap((requests) => {
    const [first] = requests as [SimulatedRequest];
    const { condition, name } = world.deviceOf(first.deviceId);
    const passes = condition.kind === 'limited' || condition.kind === 'throttled' || condition.kind === 'sporadic';
    const isAlone = requests.length === 1 && first.given.about === 'device' && first.wave.end === 'stored';
    if (!passes || !isAlone) return [];
    return rejected.has(`${first.runId}/${first.deviceId}`)
      ? [`${world.nameOf(first.runId)} gave up ${name} after one ${first.given.word}, which passes (field A3, A4)`]
      : [];
  });
}

/**
 * An address that got such answers in three sends over three days, in which most of its account were accepted, is not
 * sent to any more. A send counts only if the acceptances came first. Before them, a bad address looks like a bad
 * message or credential.
 */
function findKeptForEver({ world, providers, runs }: ScopeFacts): string[] {
  const createdAt = new Map(runs.map((run) => [run.id, run.createdAt.getTime()]));
  // A key may be of one platform or of all that the account carries: it holds for both.
  const keysOf = ({ runId, account, platform }: SimulatedRequest): string[] => [
    `${runId} ${account}`,
    `${runId} ${account} ${platform}`,
  ];
  const devicesOf = new Map<string, { asked: Set<string>; accepted: Set<string> }>();
  for (const request of providers.requests) {
    for (const key of keysOf(request)) {
      const devices = devicesOf.get(key) ?? { asked: new Set(), accepted: new Set() };
      devicesOf.set(key, devices);
      devices.asked.add(request.deviceId);
      if (request.given.about === 'acceptance' && request.wave.end === 'stored') devices.accepted.add(request.deviceId);
    }
  }
  const isMostlyAccepted = (request: SimulatedRequest): boolean =>
    keysOf(request)
      .map((key) => devicesOf.get(key)!)
      .every(({ asked, accepted }) => accepted.size * 2 >= asked.size);
  return world.devices.flatMap((device) => {
    const { condition, name, id } = device;
    if (condition.kind !== 'malformed' && condition.kind !== 'outdated' && condition.kind !== 'foreign') return [];
    const own = providers.requests.filter(({ deviceId }) => deviceId === id);
    const telling = own.filter(
      (request) =>
        request.given.isForEver &&
        request.wave.end === 'stored' &&
        isMostlyAccepted(request) &&
        wasKnownToWork(request, providers.requests),
    );
    const proof = telling.findIndex((_, index) =>
      isProvenUseless(telling.slice(0, index + 1), minUselessMilliseconds + windowMilliseconds),
    );
    if (proof < 0) return [];
    const provenAt = telling[proof]!.at;
    const later = own.find(({ runId }) => createdAt.get(runId)! > provenAt);
    if (!later) return [];
    const sends = new Set(telling.slice(0, proof + 1).map(({ runId }) => runId)).size;
    const hours = Math.round(spanOf(telling.slice(0, proof + 1)) / hour);
    return [
      `${world.nameOf(later.runId)} was sent to ${name}, which is ${condition.kind}: ${later.given.word} in ${sends} sends over ${hours} hours (field A8, A9)`,
    ];
  });
}

/** What a node remembers of an account is this old at most. */
const maxKnownMilliseconds = 12 * hour;

/**
 * True if half of the account's devices, this one among them, and one of the same run had been accepted before. What was
 * asked later may be of a later window of the same instant, so it does not count.
 */
function wasKnownToWork(request: SimulatedRequest, requests: readonly SimulatedRequest[]): boolean {
  const known = requests
    .slice(0, requests.indexOf(request) + 1)
    .filter(
      (other) =>
        other.account === request.account &&
        other.wave.end === 'stored' &&
        other.at > request.at - maxKnownMilliseconds &&
        (other.answeredAt ?? Number.POSITIVE_INFINITY) <= (request.answeredAt ?? request.realAt),
    );
  const accepted = known.filter(({ given }) => given.about === 'acceptance');
  const devicesOf = (some: readonly SimulatedRequest[]): number => new Set(some.map(({ deviceId }) => deviceId)).size;
  return devicesOf(accepted) * 2 >= devicesOf(known) && accepted.some(({ runId }) => runId === request.runId);
}

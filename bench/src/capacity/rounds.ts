import { retryDelaySeconds } from '../../../server/src/domain/delivery/retry-delay.ts';
import { maxDeliveryAttempts } from '../../../server/src/domain/limits/delivery.ts';
import { bucketCount } from '../../../server/src/domain/users/users.ts';
import { batchDevices, parallelBatches } from '../../../server/src/engine/fan-out/retry-deliveries.ts';
import { maxSpreadMilliseconds } from '../../../server/src/engine/fan-out/settle-outcome.ts';
import type { Demands, Pace, Scenario } from './demands.ts';

/** Chunks that are sent at the same time; its `Pace` is the mean of the round. */
export type Round = Pace & {
  seconds: number;
  /** Windows a second without the quota of a provider. */
  fullRate: number;
  /** Messages by the messages that the quota allowed meanwhile. */
  quotaShare: number;
};

export type Sending = {
  rounds: Round[];
  seconds: number;
  /** After the last chunk, when only retries are left. */
  tailSeconds: number;
  tailRetries: number;
};

type SendChunksOptions = {
  scenario: Scenario;
  demands: Demands;
  chunks: number;
  /** Returns the windows a second that end while this many are open, without the quota of a provider. */
  rateOf: (openWindows: number) => number;
};

/** Returns the rounds in which chunks are sent, as many at a time as there are slots, and the retries after the last one. */
export function sendChunks({ scenario, demands, chunks, rateOf }: SendChunksOptions): Sending {
  const slots = scenario.nodes * scenario.parallelChunks;
  const rounds: Round[] = [];
  const putOff: PutOff = { messages: 0, recent: 0 };
  let seconds = 0;
  for (let left = chunks; left > 0; left -= slots) {
    const openWindows = Math.min(slots, left);
    const fullRate = rounds[0]?.openWindows === openWindows ? rounds[0].fullRate : rateOf(openWindows);
    const windows = (demands.windows * openWindows) / chunks;
    const round = sendRound({ scenario, demands, putOff }, { openWindows, fullRate, windows, begin: seconds });
    rounds.push(round);
    seconds += round.seconds;
  }
  const rest = sendPutOff({ scenario, demands, putOff }, seconds);
  const expected = expectRetryTail({ scenario, demands }, { sending: seconds, last: rounds.at(-1)! });
  return { rounds, seconds, tailSeconds: Math.max(rest.seconds, expected), tailRetries: rest.retries };
}

/** Messages that wait in the ledger for a quota, and those of them that are not due yet. */
type PutOff = { messages: number; recent: number };
type State = { scenario: Scenario; demands: Demands; putOff: PutOff };

/** A second, and less while a quota still grows. */
const stepAt = (seconds: number): number => (seconds < 120 ? 0.25 : 1);
const maxDays = 10;

/** The campaign takes longer than any caller waits. */
export class EndlessCampaignError extends Error {
  override readonly name = 'EndlessCampaignError';
}

function sendRound(
  state: State,
  {
    openWindows,
    fullRate,
    windows,
    begin,
  }: Pick<Round, 'openWindows' | 'fullRate'> & { windows: number; begin: number },
): Round {
  const { devices, counts, quota, retriesPerDevice } = state.demands;
  const ofWindow = quota ? counts[quota.platform] : 0;
  let [left, seconds, sent, offered, retried] = [windows, 0, 0, 0, 0];
  while (left > 1e-9) {
    const at = begin + seconds;
    if (at > maxDays * 86_400) throw new EndlessCampaignError(`the campaign takes more than ${maxDays} days`);
    const isFree = !quota || (at > 60 && state.putOff.messages < 1 && fullRate * ofWindow < quota.perSecond(at));
    const taken = isFree
      ? { windows: fullRate, messages: fullRate * ofWindow, retries: 0 }
      : drawQuota(state, { at, messages: openWindows * ofWindow, cycleSeconds: openWindows / fullRate });
    const step = isFree ? left / fullRate : Math.min(stepAt(at), left / taken.windows);
    left -= taken.windows * step;
    seconds += step;
    sent += taken.messages * step;
    retried += taken.retries * step;
    offered += (quota?.perSecond(at) ?? 0) * step;
  }
  const retries = retried + windows * devices * retriesPerDevice;
  return {
    ...{ openWindows, fullRate, seconds, quotaShare: sent / offered },
    ...{ windowsPerSecond: windows / seconds, retriesPerSecond: retries / seconds },
  };
}

/**
 * Divides a quota for a moment among the open windows and the retries of what was put off, by the messages that wait. A node
 * that waited for some seconds puts off the messages that it has not got by then, so their windows end without them.
 *
 * @returns per second: windows that end, messages that are sent, devices that are tried again
 */
function drawQuota(
  { scenario, demands, putOff }: State,
  { at, messages, cycleSeconds }: { at: number; messages: number; cycleSeconds: number },
): { windows: number; messages: number; retries: number } {
  const quota = demands.quota!;
  const ofWindow = demands.counts[quota.platform];
  const allowed = quota.perSecond(at) / (1 + demands.retriesPerDevice);
  const due = Math.max(0, putOff.messages - putOff.recent);
  const batch = scenario.database.kind === 'citus' ? Math.min(batchDevices, due / bucketCount) : batchDevices;
  const retrying = Math.min(due, scenario.nodes * parallelBatches * batch);
  const forFresh = retrying === 0 ? allowed : (allowed * messages) / (messages + retrying);
  const fresh = drawPart({
    open: messages,
    cycleSeconds,
    allowed: forFresh,
    patience: quota.patienceSeconds,
    windowsPerNode: scenario.parallelChunks,
  });
  const again = drawPart({
    open: retrying,
    cycleSeconds,
    allowed: allowed - fresh.sent,
    patience: quota.patienceSeconds,
    windowsPerNode: parallelBatches,
  });
  const change = (fresh.putOff - again.sent) * stepAt(at);
  putOff.messages = Math.max(0, putOff.messages + change);
  // Put off for up to some seconds, evenly.
  putOff.recent += (fresh.putOff + again.putOff - putOff.recent / (maxSpreadMilliseconds / 2000)) * stepAt(at);
  return {
    windows: (fresh.sent + fresh.putOff) / ofWindow,
    messages: fresh.sent + again.sent,
    retries: again.sent + again.putOff,
  };
}

type Part = { open: number; cycleSeconds: number; allowed: number; patience: number; windowsPerNode: number };

/**
 * Returns the messages a second that are sent, and that are put off: those that wait, by Little's law, once in each patience,
 * unless all windows of the node had their messages at one time meanwhile.
 */
function drawPart({ open, cycleSeconds, allowed, patience, windowsPerNode }: Part): { sent: number; putOff: number } {
  if (open === 0) return { sent: 0, putOff: 0 };
  const sent = Math.min(allowed, open / cycleSeconds);
  const answering = Math.min(open, sent * cycleSeconds);
  const isNeverServed = (1 - (answering / open) ** windowsPerNode) ** (patience / cycleSeconds);
  // A window of which all is put off ends at once; the others get their responses before.
  const putOff = ((open - answering) * isNeverServed) / (patience + (cycleSeconds * answering) / open);
  return { sent, putOff };
}

/** Sends what is still put off when the last chunk has ended. */
function sendPutOff(state: State, begin: number): { seconds: number; retries: number } {
  let [seconds, retries] = [0, 0];
  while (state.putOff.messages >= 1) {
    const drawn = drawQuota(state, { at: begin + seconds, messages: 0, cycleSeconds: 1 });
    const step = stepAt(begin + seconds);
    retries += drawn.retries * step;
    seconds += step;
  }
  return { seconds, retries };
}

const gridSeconds = 0.5;

/**
 * Returns the expected seconds from the end of the last chunk to that of the last retry. Delays of further attempts add up, so
 * their distributions are folded; the last of all is found as that of a Poisson process.
 */
function expectRetryTail(
  { scenario, demands }: Pick<State, 'scenario' | 'demands'>,
  { sending, last }: { sending: number; last: Round },
): number {
  const { retryShare, nodes } = scenario;
  if (retryShare === 0) return 0;
  // A delivery is due at a whole second, and a node looks each second.
  const overhead = 0.5 + 1 / (nodes + 1) + last.openWindows / last.fullRate;
  const perStep = last.windowsPerSecond * demands.devices * gridSeconds;
  let chance = [1];
  /** The expected retries that end later than a step after the end. */
  const later: number[] = [];
  for (let attempts = 1; attempts < maxDeliveryAttempts; attempts += 1) {
    chance = addDelay(chance, { attempts, overhead });
    let beyond = 0;
    const share = retryShare ** attempts;
    const above = chance.map(() => 0);
    for (let step = chance.length - 1; step >= 0; step -= 1) above[step] = beyond += chance[step]!;
    // Those of the last `sending` seconds whose delay is longer than the time that is left.
    for (let step = 0; step < chance.length; step += 1) {
      const until = Math.min(chance.length, step + Math.ceil(sending / gridSeconds));
      let sum = 0;
      for (let after = step; after < until; after += 1) sum += above[after]!;
      later[step] = (later[step] ?? 0) + sum * share * perStep;
    }
  }
  return later.reduce((sum, expected) => sum + (1 - Math.exp(-expected)) * gridSeconds, 0);
}

function addDelay(chance: readonly number[], { attempts, overhead }: { attempts: number; overhead: number }): number[] {
  const [from, to] = [0, 1].map((random) =>
    Math.round((retryDelaySeconds({ attempts, isRateLimited: false, random }) + overhead) / gridSeconds),
  ) as [number, number];
  const sum = Array.from({ length: chance.length + to }, () => 0);
  for (const [step, part] of chance.entries())
    for (let delay = from; delay <= to; delay += 1) sum[step + delay]! += part / (to - from + 1);
  return sum;
}

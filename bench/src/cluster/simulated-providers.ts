import type { Platform } from '../../../server/src/domain/content/content.ts';
import { maxDeliveryAttempts } from '../../../server/src/domain/limits/delivery.ts';
import { maxSpreadMilliseconds, retryDelaySeconds } from '../../../server/src/engine/fan-out/settle-outcome.ts';
import type { ClusterValues } from './cluster-values.ts';
import type { Draws } from './draws.ts';
import type { EventQueue } from './event-queue.ts';
import { makeSimulatedShare } from './simulated-share.ts';
import type { Scenario } from './scenario.ts';
import { makeAccount } from './simulated-account.ts';
import type { Account } from './simulated-account.ts';
import type { Asker, SimulatedDatabase } from './simulated-database.ts';
import { noOutcomes } from './simulated-run.ts';
import type { Outcomes } from './simulated-run.ts';
import type { Station } from './stations.ts';

export type ToSend = { bucket: number; platform: Platform; count: number; attempt: number };

/** A process's state for the providers; it is lost with the process. */
export type Sender = {
  /** @param onSent called with the number of requests as they are sent */
  send(sending: ToSend & { onSent: (count: number) => void }, done: (outcomes: Outcomes) => void): void;
};

type ProvidersOptions = {
  queue: EventQueue;
  scenario: Scenario;
  values: ClusterValues;
  draws: Draws;
  database: SimulatedDatabase;
  /** The thread of the sandbox's simulators. */
  simulators: Station | undefined;
};

/** Waiting devices are drawn one by one up to this number; above it they are divided into this many equal parts. */
const maxParts = 64;

export function makeSimulatedProviders(options: ProvidersOptions) {
  const accounts = new Map(
    (['ANDROID', 'IOS', 'WEB'] as const).map((platform) => [platform, makeAccount(options, platform)]),
  );
  return {
    accounts: [...accounts.values()],
    makeSender: (asker: Asker): Sender => makeSender(options, { asker, accounts }),
  };
}

export type SimulatedProviders = ReturnType<typeof makeSimulatedProviders>;

function makeSender(
  { queue, scenario, values, draws, database, simulators }: ProvidersOptions,
  { asker, accounts }: { asker: Asker; accounts: ReadonlyMap<Platform, Account> },
): Sender {
  const lanes = new Map(
    [...accounts].map(([platform, account]) => [
      platform,
      {
        account,
        freeAt: 0,
        share:
          account.perMinute === undefined ? undefined : makeSimulatedShare({ queue, account, asker, database, values }),
      },
    ]),
  );

  /** All streams of the process serve requests in turn; waits for the slowest response. */
  function request(
    lane: { account: Account; freeAt: number },
    { count, done }: { count: number; done: () => void },
  ): void {
    const { account } = lane;
    if (scenario.providers === 'unlimited') return queue.after(0, done);
    const mean = meanLatency(values, { scenario, platform: account.platform });
    const begin = Math.max(queue.now(), lane.freeAt);
    lane.freeAt = begin + (count * mean) / account.streams;
    account.busyStreamMilliseconds += count * mean;
    const lastLeaves = Math.max(queue.now(), lane.freeAt - mean);
    const slowest = slowestLatency(values, { scenario, platform: account.platform, count, draws });
    queue.after(lastLeaves - queue.now() + slowest, () => {
      if (!simulators) return done();
      simulators.work((count * values.simulatorMicrosecondsPerDevice[account.platform]) / 1000, done);
    });
  }

  return {
    send({ bucket, platform, count, attempt, onSent }, done) {
      const lane = lanes.get(platform)!;
      const outcomes = noOutcomes();
      let open = count;
      const note = (answered: number): void => {
        open -= answered;
        if (open === 0 && asker.isAlive) done(outcomes);
      };
      const go = (granted: number): void => {
        onSent(granted);
        lane.account.messages += granted;
        request(lane, {
          count: granted,
          done() {
            if (!asker.isAlive) return;
            answer({ bucket, platform, count: granted, attempt }, outcomes);
            note(granted);
          },
        });
      };
      if (!lane.share) return go(count);
      lane.share.take(count, {
        go,
        /** They were not sent, so this does not count as an attempt. */
        later(told) {
          for (const { count: some, atMilliseconds } of told) {
            const apart = atMilliseconds + draws.next() * maxSpreadMilliseconds;
            outcomes.waiting.push({ bucket, platform, attempts: attempt - 1, count: some, atMilliseconds: apart });
            note(some);
          }
        },
      });
    },
  };

  function answer({ bucket, platform, count, attempt }: ToSend, outcomes: Outcomes): void {
    const gone = draws.ofMany(count, scenario.goneShare);
    const refused = draws.ofMany(count - gone, scenario.retryShare);
    outcomes.ended.gone += gone;
    outcomes.ended.accepted += count - gone - refused;
    if (attempt >= maxDeliveryAttempts) {
      outcomes.ended.failed += refused;
      return;
    }
    const parts = Math.min(refused, maxParts);
    for (let part = 0; part < parts; part += 1) {
      const some = Math.floor(((part + 1) * refused) / parts) - Math.floor((part * refused) / parts);
      const random = (part + draws.next()) / parts;
      const delay = retryDelaySeconds({ attempts: attempt, isRateLimited: false, random });
      const atMilliseconds = queue.now() + delay * 1000;
      outcomes.waiting.push({ bucket, platform, attempts: attempt, count: some, atMilliseconds });
    }
  }
}

type Asked = { scenario: Scenario; platform: Platform };

/** The distance of the 99th percentile of responses from the median of a lognormal distribution, in deviations. */
const deviationsTo99th = 2.326;

function meanLatency(values: ClusterValues, { scenario, platform }: Asked): number {
  if (scenario.providers === 'simulated') return values.simulatorMilliseconds;
  const deviation = Math.log(values.latencySpread[platform]) / deviationsTo99th;
  return values.latencyMilliseconds[platform] * Math.exp(deviation ** 2 / 2);
}

/** Returns the slowest of `count` responses, by the distribution of the maximum. */
function slowestLatency(
  values: ClusterValues,
  { scenario, platform, count, draws }: Asked & { count: number; draws: Draws },
): number {
  if (scenario.providers === 'simulated') return values.simulatorMilliseconds;
  const deviation = Math.log(values.latencySpread[platform]) / deviationsTo99th;
  const rank = Math.max(1e-9, draws.next() ** (1 / count));
  return values.latencyMilliseconds[platform] * Math.exp(deviation * normalQuantile(rank));
}

/**
 * Returns the point of a normal distribution with this share below it (Shore's formula: within 0.03 of the truth from 0.5 on).
 */
function normalQuantile(share: number): number {
  const below = Math.min(share, 1 - 1e-9);
  if (below < 0.5) return -normalQuantile(1 - below);
  return 5.5556 * (1 - ((1 - below) / below) ** 0.1186);
}

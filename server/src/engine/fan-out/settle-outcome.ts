import { shownAt } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import { makeRefusal } from '../../domain/delivery/refusal.ts';
import type { CredentialName } from '../../domain/apps/credentials-of-apps.ts';
import { maxDeliveryAttempts } from '../../domain/delivery/limits.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import type { Delivery } from '../../storage/ledger/deliveries.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { DecidedOutcome } from '../delivery/provider.ts';
import type { SendAccount } from '../delivery/send-account.ts';
import type { Governor } from '../governor/governor.ts';
import type { DeviceResult } from './device-result.ts';
import { retryDelaySeconds } from './retry-delay.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

export const maxSpreadMilliseconds = 5_000;

export type SettleDependencies = { clock: Clock; governor: Governor; random: () => number };

export type Attempt = {
  run: Pick<RunToSend, 'sendUntil'>;
  device: AudienceDevice;
  /** Counted from 1. */
  attempt: number;
};

/** Refusals that no provider was asked for: another try would end the same way until the credential changes. */
const localRefusals = new Set(['NO_CREDENTIAL', 'CREDENTIAL_UNUSABLE']);

/** What the ledger and the run must record of a device after a provider's outcome. Tells the governor of it. */
export function settleOutcome(
  { clock, governor, random }: SettleDependencies,
  settling: Attempt & {
    account: SendAccount | undefined;
    /** With which it was sent. */
    credential: CredentialName;
    /** The devices that a refusal concerns; undefined where no provider was asked. */
    evidenceKey: string | undefined;
    outcome: DecidedOutcome;
    /** Says in the ledger that the fallback was shown, and for which cause. */
    acceptedCode: string | null;
  },
): DeviceResult {
  const { account, credential, evidenceKey, outcome, attempt, run, device } = settling;
  if (account && outcome.kind !== 'unreached') governor.report(account, outcome);
  if (outcome.kind === 'accepted') {
    const { acceptedCode } = settling;
    return settleAs(settling, 'ACCEPTED', acceptedCode, { providerMessageId: outcome.providerMessageId ?? null });
  }
  const settle = (...how: Settled): DeviceResult => settleAs(settling, ...how);
  switch (outcome.kind) {
    case 'gone':
      return {
        ...settle('GONE', outcome.code),
        gone: { code: outcome.code, goneSince: goneSinceOf(outcome, clock) },
      };
    case 'rejected':
      return settle('REJECTED', outcome.code);
    case 'stopped':
      return {
        ...settle('WAITING', outcome.code, { retryAt: run.sendUntil, attempts: attempt - 1 }),
        refused: {
          refusal: makeRefusal({
            ...{ credential, platform: device.platform, ...outcome },
            evidenceKey: localRefusals.has(outcome.code) ? undefined : evidenceKey,
          }),
          by: 'the provider',
          reaches: 'others',
        },
      };
    case 'unreached': {
      const until = account ? governor.unreached(account) : clock.now();
      if (account?.isChosenByDevice) return settleStranger(settling, { code: outcome.code, until, random: random() });
      return settleUntried(settling, { code: outcome.code, until, random: random() });
    }
    case 'wait':
    case 'unknown': {
      if (attempt >= maxDeliveryAttempts) return settle('FAILED', outcome.code);
      const retryAfterSeconds = outcome.kind === 'wait' ? outcome.retryAfterSeconds : undefined;
      const delay = retryDelaySeconds({
        attempts: attempt,
        isRateLimited: outcome.kind === 'wait' && outcome.scope === 'credential',
        random: random(),
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      });
      const retryAt = new Date(clock.now().getTime() + delay * 1000);
      if (account && outcome.kind === 'wait' && outcome.scope === 'credential')
        governor.silence(account, { until: retryAt, reason: outcome.code });
      return retryAt >= run.sendUntil ? settle('EXPIRED', outcome.code) : settle('WAITING', outcome.code, { retryAt });
    }
    default:
      return unknownCase(outcome);
  }
}

type More = Partial<Pick<Delivery, 'providerMessageId' | 'attempts' | 'retryAt'>>;
type Settled = [outcome: Delivery['outcome'], code: string | null, more?: More];

/** A device's result that needs no provider's outcome, or follows from it. */
export function settleAs(
  { device, attempt }: Omit<Attempt, 'run'>,
  ...[outcome, code, more = {}]: Settled
): DeviceResult {
  const { bucket, id: deviceId, userId, platform } = device;
  const { providerMessageId = null, attempts = attempt, retryAt = null } = more;
  return { delivery: { bucket, deviceId, userId, platform, outcome, code, providerMessageId, attempts, retryAt } };
}

type Untried = { code: string; until: Date; random: number };

/** Not sent, so not an attempt. What would be tried when the message is over does not wait for that. */
export function settleUntried(attempt: Attempt, { code, until, random }: Untried): DeviceResult {
  const retryAt = retryOfUntried(until, random);
  if (retryAt >= attempt.run.sendUntil) return settleAs(attempt, 'EXPIRED', code);
  return settleAs(attempt, 'WAITING', code, { retryAt, attempts: attempt.attempt - 1 });
}

/**
 * A push service that a device chose cannot be reached. Each try counts, so that a run does not wait for a host that may be
 * gone for ever; a name that does not exist counts against the device.
 */
function settleStranger(attempt: Attempt, { code, until, random }: Untried): DeviceResult {
  const suspected = code === 'HOST_NOT_FOUND' ? { suspected: { code, isHealthy: true } } : {};
  const retryAt = retryOfUntried(until, random);
  if (attempt.attempt >= maxDeliveryAttempts) return { ...settleAs(attempt, 'FAILED', code), ...suspected };
  if (retryAt >= attempt.run.sendUntil) return { ...settleAs(attempt, 'EXPIRED', code), ...suspected };
  return settleAs(attempt, 'WAITING', code, { retryAt });
}

/** A few seconds apart, so that all who waited do not come back together. */
export function retryOfUntried(until: Date, random: number): Date {
  return new Date(until.getTime() + random * maxSpreadMilliseconds);
}

/** The provider's instant by the service's clock, by which devices are registered. */
function goneSinceOf({ goneSince }: { goneSince?: Date }, clock: Clock): Date {
  return goneSince ? shownAt(clock, goneSince) : clock.now();
}

import type { Clock } from '../../clock.ts';
import { maxDeliveryAttempts } from '../../domain/delivery/limits.ts';
import type { DueLiveMessage, SettledLiveMessage } from '../../storage/live-activities/live-activities.ts';
import type { DecidedOutcome } from '../delivery/provider.ts';
import type { SendAccount } from '../delivery/send-account.ts';
import { retryOfUntried } from '../fan-out/settle-outcome.ts';
import { retryDelaySeconds } from '../fan-out/retry-delay.ts';
import type { Governor } from '../governor/governor.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

export type SettleLiveDependencies = { clock: Clock; governor: Governor; random: () => number };

/** `held`: the account is to wait, so nothing was sent. */
type Held = { kind: 'held'; until: Date };

type Settling = {
  message: Pick<DueLiveMessage, 'attempts' | 'sendUntil'>;
  account: SendAccount | undefined;
  outcome: DecidedOutcome | Held;
};

// Looked for again this soon after it was refused: somebody may have mended it.
const mendedSeconds = 30;

/** What is stored of an attempt; the rules are those of campaigns. Tells the governor. */
export function settleLiveOutcome(
  { clock, governor, random }: SettleLiveDependencies,
  { message, account, outcome }: Settling,
): SettledLiveMessage {
  const { attempts, sendUntil } = message;
  const later = (code: string, nextAt: Date, counted: number): SettledLiveMessage =>
    nextAt >= sendUntil ? { state: 'EXPIRED', code } : { state: 'WAITING', code, nextAt, attempts: counted };
  const untried = (code: string, until: Date): SettledLiveMessage =>
    later(code, retryOfUntried(until, random()), attempts - 1);
  if (account && outcome.kind !== 'unreached' && outcome.kind !== 'held') governor.report(account, outcome);
  switch (outcome.kind) {
    case 'accepted':
      return { state: 'ACCEPTED', code: null };
    case 'gone':
      return { state: 'GONE', code: outcome.code };
    case 'rejected':
      return { state: 'REJECTED', code: outcome.code };
    case 'held':
      return untried('PROVIDER_WAIT', outcome.until);
    case 'stopped':
      return untried(outcome.code, new Date(clock.now().getTime() + mendedSeconds * 1000));
    case 'unreached':
      return untried(outcome.code, account ? governor.unreached(account) : clock.now());
    case 'wait':
    case 'unknown': {
      if (attempts >= maxDeliveryAttempts) return { state: 'FAILED', code: outcome.code };
      const retryAfterSeconds = outcome.kind === 'wait' ? outcome.retryAfterSeconds : undefined;
      const isOfAccount = outcome.kind === 'wait' && outcome.scope === 'credential';
      const delaySeconds = retryDelaySeconds({
        ...{ attempts, isRateLimited: isOfAccount, random: random() },
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      });
      const nextAt = new Date(clock.now().getTime() + delaySeconds * 1000);
      if (account && isOfAccount) governor.silence(account, { until: nextAt, reason: outcome.code });
      return later(outcome.code, nextAt, attempts);
    }
    default:
      return unknownCase(outcome);
  }
}

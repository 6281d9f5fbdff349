import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { Outcome } from '../delivery/provider.ts';
import type { SendAccount } from '../delivery/send-account.ts';

export type AnswerWatch = { note(account: SendAccount, outcome: Outcome): void };

type Minute = { number: number; answers: number; clientErrors: number; refusals: number };

const minuteMilliseconds = 60_000;
// Google raises quotas of projects below 5 % client errors only, and counts them against the quota (delivery 1).
const maxClientErrors = 0.05;
const tellingAnswers = 1_000;
/** Responses 429 of one push service within a minute; a single browser that is sent too much does not cause as many. */
const noisyRefusals = 20;
/** How push services say that a site or browser sends too much; Windows says 406. */
const limitCodes = new Set(['429', '406']);
const maxAccounts = 10_000;

/**
 * Counts an account's answers by the minute: warns of client errors, and notices a push service that finds us noisy.
 */
export function makeAnswerWatch({
  clock,
  log,
  onNoisy,
}: {
  clock: Clock;
  log: Logger;
  onNoisy: (account: SendAccount) => void;
}): AnswerWatch {
  const minutes = new Map<string, Minute>();
  return {
    note(account, outcome) {
      const number = Math.floor(clock.now().getTime() / minuteMilliseconds);
      let minute = minutes.get(account.key);
      if (minute?.number !== number) {
        if (minute) warnOfClientErrors(log, account, minute);
        minute = { number, answers: 0, clientErrors: 0, refusals: 0 };
        minutes.delete(account.key);
        minutes.set(account.key, minute);
        if (minutes.size > maxAccounts) minutes.delete(minutes.keys().next().value!);
      }
      minute.answers += 1;
      if (outcome.kind === 'gone' || outcome.kind === 'rejected' || outcome.kind === 'stopped')
        minute.clientErrors += 1;
      if (outcome.kind !== 'wait' || !limitCodes.has(outcome.code) || account.penaltyPerMinute === undefined) return;
      minute.refusals += 1;
      if (minute.refusals === noisyRefusals) onNoisy(account);
    },
  };
}

function warnOfClientErrors(log: Logger, account: SendAccount, { answers, clientErrors }: Minute): void {
  if (answers < tellingAnswers || clientErrors <= answers * maxClientErrors) return;
  log.warn({ account: account.key, answers, clientErrors }, 'more than 5 % of the answers are client errors');
}

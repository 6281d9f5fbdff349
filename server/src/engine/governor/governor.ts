import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { Outcome } from '../../providers/provider.ts';
import type { SendAccount } from '../../providers/send-account.ts';
import type { Database } from '../../storage/database.ts';
import { listAccountLimits, throttleAccount, pauseAccount } from '../../storage/limits/governor.ts';
import type { AccountLimit } from '../../storage/limits/governor.ts';
import { leaseBudget, makeShare } from './send-budgets.ts';
import type { Share, Turns } from './send-budgets.ts';

/**
 * Keeps every account within the limits of its provider, across all nodes: pauses after a refusal that concerns the account or
 * while the provider is unreachable, the rate of its quota, and the lower rate of a site that sends too much. Other accounts,
 * even of the same workspace, are not affected (fault F4).
 */
export type Governor = {
  /** Requests turns for a number of messages. `onTurn` is called once per message. */
  acquire(account: SendAccount, turns: Turns): void;
  /** Pauses the account, because the provider asked it to wait. */
  pause(account: SendAccount, pause: { until: Date; reason: string }): void;
  /** Pauses the account after a failed connection. Consecutive failures double the pause. @returns its end */
  pauseAfterFailure(account: SendAccount): Date;
  /** Records the outcome of a request. */
  report(account: SendAccount, outcome: Outcome): void;
};

export type GovernorDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  pause: (milliseconds: number) => Promise<void>;
};

// Accounts are projects, teams and push services. Subscriptions name the push services, so the number must be bounded.
const maxAccounts = 10_000;
const freshMilliseconds = 1_000;
const firstUnreachedSeconds = 5;
const maxUnreachedSeconds = 120;
/** How an account's quota is drawn: at most one second of it is held, and it ramps up after an idle period. */
export const accountBudget = { holdSeconds: 1, isRamped: true } as const;

export function makeGovernor(deps: GovernorDependencies): Governor {
  const { database, clock, log } = deps;
  const limits = makeKnownLimits(deps);
  const shareOf = makeShares(deps);
  const failures = new Map<string, number>();
  const answers = makeAnswerWatch({ clock, log, onNoisy: (account) => void throttle(account) });

  function pauseUntil(account: SendAccount, { until, reason }: { until: Date; reason: string }): void {
    const known = limits.find(account.key)?.pausedUntil;
    limits.addPause(account.key, until);
    if (known && known >= until) return;
    pauseAccount(database, { key: account.key, until, reason, at: clock.now() }).catch((error: unknown) =>
      log.warn({ err: error, account: account.key }, 'the pause of an account is not shared'),
    );
  }

  async function throttle(account: SendAccount): Promise<void> {
    try {
      const until = await throttleAccount(database, { key: account.key, at: clock.now() });
      if (until === undefined) return;
      limits.expire();
      log.warn({ account: account.key, until }, 'a push service limits this site; sending at its lower rate');
    } catch (error) {
      log.warn({ err: error, account: account.key }, 'the lower rate of an account is not stored');
    }
  }

  return {
    acquire(account, turns) {
      void limits.refresh().then(() => {
        const now = clock.now();
        const limit = limits.find(account.key);
        const pausedUntil = limit?.pausedUntil && limit.pausedUntil > now ? limit.pausedUntil : undefined;
        const isThrottled = limit?.throttledUntil && limit.throttledUntil > now;
        const perMinute = isThrottled ? account.throttledPerMinute : account.perMinute;
        if (pausedUntil === undefined && perMinute !== undefined) shareOf(account, perMinute).take(turns);
        else for (let message = 0; message < turns.messages; message += 1) turns.onTurn(pausedUntil);
      });
    },
    pause: pauseUntil,
    pauseAfterFailure(account) {
      const now = clock.now();
      const known = limits.find(account.key)?.pausedUntil;
      // All requests that waited for the same connection fail together and count as one failure.
      if (known && known > now) return known;
      const times = failures.get(account.key) ?? 0;
      failures.set(account.key, times + 1);
      bound(failures);
      const seconds = Math.min(maxUnreachedSeconds, firstUnreachedSeconds * 2 ** Math.min(times, 10));
      const until = new Date(now.getTime() + seconds * 1000);
      pauseUntil(account, { until, reason: 'not reached' });
      return until;
    },
    report(account, outcome) {
      if (failures.size > 0) failures.delete(account.key);
      answers.note(account, outcome);
    },
  };
}

/** The limits of accounts: those that nodes stored, read once a second, and the pauses of this node. */
function makeKnownLimits({ database, clock, log }: GovernorDependencies) {
  let limits = new Map<string, AccountLimit>();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  function addPause(key: string, until: Date): void {
    const known = limits.get(key);
    if (known?.pausedUntil && known.pausedUntil >= until) return;
    limits.set(key, { key, pausedUntil: until, throttledUntil: known?.throttledUntil ?? null });
    bound(limits);
  }

  return {
    find: (key: string): AccountLimit | undefined => limits.get(key),
    addPause,
    /** Reads the limits that other nodes stored. If the database is unavailable, this node continues with what it knows. */
    async refresh(): Promise<void> {
      const now = clock.now();
      if (Math.abs(now.getTime() - readAt) < freshMilliseconds) return;
      reading ??= listAccountLimits(database, now)
        .then((rows) => {
          const mine = [...limits.values()].filter(({ pausedUntil }) => pausedUntil && pausedUntil > now);
          limits = new Map(rows.map((row) => [row.key, row]));
          for (const { key, pausedUntil } of mine) addPause(key, pausedUntil!);
        })
        .catch((error: unknown) => log.debug({ err: error }, 'account limits were not read'))
        .finally(() => {
          readAt = now.getTime();
          reading = undefined;
        });
      await reading;
    },
    /** Makes the next `refresh` read, because a limit was just stored. */
    expire(): void {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Returns each account's share of its budget at the current rate. */
function makeShares({ database, clock, log, pause }: GovernorDependencies) {
  const shares = new Map<string, Share>();
  return (account: SendAccount, perMinute: number): Share => {
    const key = `${account.key} ${perMinute}`;
    const known = shares.get(key);
    if (known) return known;
    const rule = { key: account.key, perMinute, ...accountBudget };
    const share = makeShare({
      clock,
      perMinute,
      pause,
      lease: (draw) =>
        leaseBudget(database, { ...rule, at: clock.now(), ...draw }).catch((error: unknown) => {
          log.warn({ err: error, account: account.key }, 'no lease of a budget');
          return 0;
        }),
    });
    shares.set(key, share);
    bound(shares);
    return share;
  };
}

function bound(map: Map<string, unknown>): void {
  if (map.size > maxAccounts) map.delete(map.keys().next().value!);
}

export type AnswerWatch = { note(account: SendAccount, outcome: Outcome): void };

type Minute = { number: number; answers: number; clientErrors: number; refusals: number };

const minuteMilliseconds = 60_000;
// Google raises quotas only for projects below 5 % client errors, and counts client errors against the quota (delivery 1).
const maxClientErrors = 0.05;
const tellingAnswers = 1_000;
/** 429 responses of one push service within a minute. A single browser that gets too many messages does not cause this many. */
const noisyRefusals = 20;
/** Codes for a site or browser that sends too much. Windows uses 406. */
const limitCodes = new Set(['429', '406']);
const maxWatchedAccounts = 10_000;

/** Counts an account's responses per minute. Warns about client errors, and detects a push service that limits this site. */
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
        if (minutes.size > maxWatchedAccounts) minutes.delete(minutes.keys().next().value!);
      }
      minute.answers += 1;
      if (outcome.kind === 'gone' || outcome.kind === 'rejected' || outcome.kind === 'stopped')
        minute.clientErrors += 1;
      if (outcome.kind !== 'wait' || !limitCodes.has(outcome.code) || account.throttledPerMinute === undefined) return;
      minute.refusals += 1;
      if (minute.refusals === noisyRefusals) onNoisy(account);
    },
  };
}

function warnOfClientErrors(log: Logger, account: SendAccount, { answers, clientErrors }: Minute): void {
  if (answers < tellingAnswers || clientErrors <= answers * maxClientErrors) return;
  log.warn({ account: account.key, answers, clientErrors }, 'more than 5 % of the answers are client errors');
}

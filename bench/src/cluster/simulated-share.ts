import {
  leaseMilliseconds,
  maxLeases,
  pauseMilliseconds,
  urgentShare,
} from '../../../server/src/engine/governor/send-budgets.ts';
import type { ClusterValues } from './cluster-values.ts';
import type { EventQueue } from './event-queue.ts';
import type { Asker, SimulatedDatabase } from './simulated-database.ts';
import type { Account } from './simulated-account.ts';

type Told = { count: number; atMilliseconds: number };
type Turn = { go(count: number): void; later(told: Told[]): void };

export type SimulatedShare = { take(count: number, turn: Turn): void };

/** The resolution of the retry times for deferred messages. */
const toldMilliseconds = 1_000;

/**
 * Simulates a process's share of an account's budget, for many messages at once: the same leases, pauses and waits as
 * `engine/governor/send-budgets.ts`, which counts single ones.
 */
export function makeSimulatedShare({
  queue,
  account,
  asker,
  database,
  values,
}: {
  queue: EventQueue;
  account: Account;
  asker: Asker;
  database: SimulatedDatabase;
  values: ClusterValues;
}): SimulatedShare {
  let waiting: { count: number; turn: Turn }[] = [];
  let waitingCount = 0;
  let held = 0;
  let heldUntil = 0;
  let isLeasing = false;
  const perMinute = account.perMinute!;

  function serve(): void {
    while (held > 0 && waiting.length > 0) {
      const first = waiting[0]!;
      const granted = Math.min(held, first.count);
      held -= granted;
      waitingCount -= granted;
      first.count -= granted;
      if (first.count === 0) waiting.shift();
      first.turn.go(granted);
    }
  }

  function lease(leases: number): void {
    const returned = held;
    held = 0;
    const wanted = Math.max(waitingCount, Math.ceil(perMinute / 600));
    // The budget's row is locked from the read until the commit.
    account.lock.work(values.roundTripMilliseconds * 2 + values.flushMilliseconds, () => {
      const granted = asker.isAlive ? account.draw({ wanted, returned, reserve: urgentShare }) : 0;
      const operation = {
        statements: 4,
        microseconds: values.statementMicroseconds * 4,
        walBytes: values.walBytesPerStatement,
        kind: 'read',
      } as const;
      database.perform(operation, {
        asker,
        done() {
          held = granted;
          heldUntil = queue.now() + leaseMilliseconds;
          serve();
          if (waitingCount === 0) isLeasing = false;
          else if (leases < maxLeases) queue.after(pauseMilliseconds, () => lease(leases + 1));
          else sendAway();
        },
      });
    });
  }

  /** Defers the waiting messages, spaced by the rate, as the engine does for each message. */
  function sendAway(): void {
    isLeasing = false;
    const away = waiting;
    waiting = [];
    waitingCount = 0;
    let place = 0;
    for (const { count, turn } of away) {
      const told: Told[] = [];
      const perTold = Math.max(1, Math.floor((perMinute * toldMilliseconds) / 60_000));
      for (let rest = count; rest > 0;) {
        const some = Math.min(rest, perTold);
        place += some;
        rest -= some;
        told.push({ count: some, atMilliseconds: queue.now() + (place * 60_000) / perMinute });
      }
      turn.later(told);
    }
  }

  return {
    take(count, turn) {
      let rest = count;
      if (held > 0 && waitingCount === 0 && queue.now() < heldUntil) {
        const granted = Math.min(held, rest);
        held -= granted;
        rest -= granted;
        turn.go(granted);
      }
      if (rest === 0) return;
      waiting.push({ count: rest, turn });
      waitingCount += rest;
      if (isLeasing) return;
      isLeasing = true;
      lease(1);
    },
  };
}

import type { Clock } from '../../clock.ts';

/** What a node holds of an account's budget for a second, and who waits for more. */
export type Share = {
  /** A message's turn. @returns undefined when it may go now, else the instant to try again */
  take(lane: 0 | 1): Promise<Date | undefined>;
};

export type ShareDependencies = {
  clock: Clock;
  perMinute: number;
  /** Asks the budget that all nodes share. Never rejects. @returns how many were granted */
  lease(draw: { wanted: number; returned: number; reserve: number }): Promise<number>;
  /** Real time to pass between two leases. */
  pause(milliseconds: number): Promise<void>;
};

type Waiting = { lane: 0 | 1; end: (until: Date | undefined) => void };

export const leaseMilliseconds = 1_000;
export const pauseMilliseconds = 250;
// Three seconds: longer than that a window would keep its chunk from going on.
export const maxLeases = 12;
/** What mass sends leave to one-time passwords: a tenth of each second. */
export const urgentShare = 0.1;

/**
 * Hands out leased messages, urgent ones first. Callers that get none wait for the next leases, at most three seconds;
 * after that they are told when to return, spaced according to the rate.
 */
export function makeShare({ clock, perMinute, lease, pause }: ShareDependencies): Share {
  const waiting: Waiting[] = [];
  let held = 0;
  let heldUntil = 0;
  let isLeasing = false;

  function serve(): void {
    waiting.sort((one, other) => one.lane - other.lane);
    for (const { end } of waiting.splice(0, held)) {
      held -= 1;
      end(undefined);
    }
  }

  async function leaseForAll(): Promise<void> {
    isLeasing = true;
    for (let leases = 0; waiting.length > 0 && leases < maxLeases; leases += 1) {
      if (leases > 0) await pause(pauseMilliseconds);
      const returned = held;
      held = 0;
      const reserve = waiting.some(({ lane }) => lane === 0) ? 0 : urgentShare;
      held = await lease({ wanted: Math.max(waiting.length, Math.ceil(perMinute / 600)), returned, reserve });
      heldUntil = clock.realNow().getTime() + leaseMilliseconds;
      serve();
    }
    isLeasing = false;
    const now = clock.now().getTime();
    for (const [index, { end }] of waiting.splice(0).entries())
      end(new Date(now + Math.ceil(((index + 1) * 60_000) / perMinute)));
  }

  return {
    take(lane) {
      if (held > 0 && waiting.length === 0 && clock.realNow().getTime() < heldUntil) {
        held -= 1;
        return Promise.resolve(undefined);
      }
      return new Promise((end) => {
        waiting.push({ lane, end });
        if (!isLeasing) void leaseForAll();
      });
    },
  };
}

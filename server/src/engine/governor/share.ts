import type { Clock } from '../../clock.ts';

/** What a node holds of an account's budget for a second, and who waits for more. */
export type Share = { take(turns: Turns): void };

/** Turns of as many messages; each is told once. */
export type Turns = {
  lane: 0 | 1;
  messages: number;
  /** One message's turn: undefined when it may go now, else the instant to try again. */
  onTurn(later: Date | undefined): void;
};

export type ShareDependencies = {
  clock: Clock;
  perMinute: number;
  /** Asks the budget that all nodes share. Never rejects. @returns how many were granted */
  lease(draw: { wanted: number; returned: number; reserve: number }): Promise<number>;
  /** Real time to pass between two leases. */
  pause(milliseconds: number): Promise<void>;
};

/** `left`: messages that had no turn yet. */
type Waiting = { turns: Turns; left: number };

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
    waiting.sort((one, other) => one.turns.lane - other.turns.lane);
    for (let first = waiting[0]; first && held > 0; first = waiting[0]) {
      const served = Math.min(held, first.left);
      held -= served;
      first.left -= served;
      if (first.left === 0) waiting.shift();
      give(first.turns, served);
    }
  }

  function give({ onTurn }: Turns, messages: number): void {
    for (let message = 0; message < messages; message += 1) onTurn(undefined);
  }

  const countWaiting = (): number => waiting.reduce((sum, { left }) => sum + left, 0);

  async function leaseForAll(): Promise<void> {
    isLeasing = true;
    for (let leases = 0; waiting.length > 0 && leases < maxLeases; leases += 1) {
      if (leases > 0) await pause(pauseMilliseconds);
      const returned = held;
      held = 0;
      const reserve = waiting.some(({ turns }) => turns.lane === 0) ? 0 : urgentShare;
      held = await lease({ wanted: Math.max(countWaiting(), Math.ceil(perMinute / 600)), returned, reserve });
      heldUntil = clock.realNow().getTime() + leaseMilliseconds;
      serve();
    }
    isLeasing = false;
    const now = clock.now().getTime();
    let place = 0;
    for (const { turns, left } of waiting.splice(0))
      for (let message = 0; message < left; message += 1) {
        place += 1;
        turns.onTurn(new Date(now + Math.ceil((place * 60_000) / perMinute)));
      }
  }

  return {
    take(turns) {
      const isFresh = held > 0 && waiting.length === 0 && clock.realNow().getTime() < heldUntil;
      const served = isFresh ? Math.min(held, turns.messages) : 0;
      held -= served;
      if (served < turns.messages) {
        waiting.push({ turns, left: turns.messages - served });
        if (!isLeasing) void leaseForAll();
      }
      give(turns, served);
    },
  };
}

import type { Clock } from '../../clock.ts';
import { drawFromBudget } from '../../domain/delivery/send-budget.ts';
import type { BudgetDraw } from '../../domain/delivery/send-budget.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { lockSendBudget, storeSendBudget } from '../../storage/limits/governor.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';

/** The part of an account's budget that a node holds for a second, and the callers that wait for more. */
export type Share = { take(turns: Turns): void };

/** Turns for a number of messages. `onTurn` is called once per message. */
export type Turns = {
  lane: 0 | 1;
  messages: number;
  /** One message's turn: undefined if it may be sent now, otherwise the time to try again. */
  onTurn(later: Date | undefined): void;
};

export type ShareDependencies = {
  clock: Clock;
  perMinute: number;
  /** Draws from the budget that all nodes share. Never rejects. @returns how many messages were granted */
  lease(draw: { wanted: number; returned: number; reserve: number }): Promise<number>;
  /** Waits between two leases, in real time. */
  pause(milliseconds: number): Promise<void>;
};

/** `left`: messages that had no turn yet. */
type Waiting = { turns: Turns; left: number };

export const leaseMilliseconds = 1_000;
export const pauseMilliseconds = 250;
// Three seconds. A longer wait would block the window's chunk.
export const maxLeases = 12;
/** The share that mass sends reserve for one-time passwords: a tenth of each second. */
export const urgentShare = 0.1;

/**
 * Distributes leased messages, urgent ones first. Callers that get none wait for the next leases, at most three seconds. After
 * that they get a time to return, spaced according to the rate.
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

export type BudgetLease = BudgetDraw & { key: string };

/**
 * Draws messages from a budget that all nodes share. Holds its row's lock, so that together the nodes never exceed it.
 *
 * @returns the number of messages drawn, 0 … `wanted`
 */
export async function leaseBudget(database: Database, lease: BudgetLease): Promise<number> {
  return inTransaction(database, async (tx) => {
    const before = await lockSendBudget(tx, lease);
    const { budget, granted } = drawFromBudget(before, lease);
    await storeSendBudget(tx, { key: lease.key, budget });
    return granted;
  });
}

type Throttled = { run: RunToSend; at: Date };

/** Returns how many of the wanted devices a run may send to now. A throttled run draws from a budget that all nodes share. */
export async function leaseQuota(
  database: Database,
  { run, at, wanted }: Throttled & { wanted: number },
): Promise<number> {
  if (run.devicesPerMinute === null) return wanted;
  return leaseBudget(database, { ...throttleOf(run, at), wanted, returned: 0 });
}

/** Returns the unused part of a lease to the budget. */
export async function returnQuota(
  database: Database,
  { run, at, devices }: Throttled & { devices: number },
): Promise<void> {
  if (run.devicesPerMinute === null || devices === 0) return;
  await leaseBudget(database, { ...throttleOf(run, at), wanted: 0, returned: devices });
}

/**
 * Returns when the budget has a device again, but at least one second later: windows of a few devices cost as much as large
 * ones.
 */
export function nextQuota(run: RunToSend, at: Date): Date {
  return quotaFor(run, { at, devices: 1 });
}

/** Returns when the budget has accumulated this many devices. */
export function quotaFor(run: RunToSend, { at, devices }: { at: Date; devices: number }): Date {
  return new Date(at.getTime() + Math.max(1_000, Math.ceil((devices * 60_000) / run.devicesPerMinute!)));
}

function throttleOf(run: RunToSend, at: Date) {
  // An event-triggered campaign has a run every few seconds. Its runs share one throttle.
  const key = run.deliveryType === 'EVENT_TRIGGERED' ? `campaign:${run.canonicalCampaignId}` : `run:${run.id}`;
  return { key, perMinute: run.devicesPerMinute!, reserve: 0, holdSeconds: 5, isRamped: false, at };
}

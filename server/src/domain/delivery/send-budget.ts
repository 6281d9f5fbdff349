/** The unused part of an account's or a run's rate. */
export type SendBudget = {
  tokens: number;
  refilledAt: Date;
  /** Start of the current use. */
  busySince: Date;
};

export type BudgetDraw = {
  perMinute: number;
  /** Maximum messages requested. */
  wanted: number;
  /** Unused tokens of an earlier draw. */
  returned: number;
  /** Seconds of the rate that the bucket holds. */
  holdSeconds: number;
  /** Share of the bucket, 0…1, that is reserved for more urgent senders. */
  reserve: number;
  /** True if an account that was idle grows to its whole rate over a minute (delivery 1). */
  isRamped: boolean;
  at: Date;
};

const firstShare = 0.1;
const rampMilliseconds = 60_000;

/** Makes a bucket that starts with one second's worth, so that the first message need not wait. */
export function newSendBudget(at: Date): SendBudget {
  return { tokens: 0, refilledAt: new Date(at.getTime() - 1000), busySince: at };
}

/**
 * Draws from a token bucket with a capacity of `holdSeconds` worth of messages, at least one. Its rate allows for a full
 * bucket, so that no minute ever exceeds `perMinute`. A clock that moved back refills nothing.
 */
export function drawFromBudget(budget: SendBudget, draw: BudgetDraw): { budget: SendBudget; granted: number } {
  const now = draw.at.getTime();
  const idleMilliseconds = Math.max(0, now - budget.refilledAt.getTime());
  const busySince = idleMilliseconds > rampMilliseconds ? draw.at : budget.busySince;
  const ramp = Math.min(1, Math.max(firstShare, (now - busySince.getTime()) / rampMilliseconds));
  const perSecond = (draw.perMinute / (60 + draw.holdSeconds)) * (draw.isRamped ? ramp : 1);
  const capacity = Math.max(perSecond * draw.holdSeconds, 1);
  const tokens = Math.min(capacity, budget.tokens + draw.returned + (perSecond * idleMilliseconds) / 1000);
  const granted = Math.max(0, Math.min(draw.wanted, Math.floor(tokens - draw.reserve * capacity)));
  const refilledAt = new Date(Math.max(now, budget.refilledAt.getTime()));
  return { budget: { tokens: tokens - granted, refilledAt, busySince }, granted };
}

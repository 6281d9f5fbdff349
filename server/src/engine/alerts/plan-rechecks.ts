const firstMilliseconds = 15_000;
const maxMilliseconds = 600_000;

/**
 * When a provider that refuses is asked again: after a quarter of a minute, then ever more seldom, up to ten minutes. One
 * that accepts when it is asked and refuses what is sent then is not asked in a circle: the pace is kept while it was
 * refusing in the last ten minutes.
 */
export function makeRecheckPlan() {
  const plans = new Map<string, { nextAt: number; delay: number; seenAt: number }>();
  return {
    /** Whether it is due now; called at each look at which it refuses. */
    isDue(key: string, now: Date): boolean {
      const time = now.getTime();
      for (const [other, { seenAt }] of plans) if (time - seenAt > maxMilliseconds) plans.delete(other);
      const plan = plans.get(key) ?? { nextAt: time + firstMilliseconds, delay: firstMilliseconds, seenAt: time };
      plan.seenAt = time;
      plans.set(key, plan);
      if (time < plan.nextAt) return false;
      plan.delay = Math.min(plan.delay * 2, maxMilliseconds);
      plan.nextAt = time + plan.delay;
      return true;
    },
  };
}

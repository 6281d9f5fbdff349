/** Of so many trials, so many succeeded. */
export type Trials = { successes: number; trials: number };

export type Interval = { low: number; high: number };

/** The quantile of the normal distribution that leaves 2.5 % beyond it on each side. */
const z95 = 1.959_963_984_540_054;

/**
 * The interval that holds the true rate with 95 % confidence, by Wilson's score (1927), which is right for few trials and for
 * rates near nought, as rates of clicks are. From 0 to 1; undefined without trials.
 */
export function rateInterval({ successes, trials }: Trials): Interval | undefined {
  if (trials === 0) return undefined;
  const rate = successes / trials;
  const square = z95 * z95;
  const centre = rate + square / (2 * trials);
  const half = z95 * Math.sqrt((rate * (1 - rate)) / trials + square / (4 * trials * trials));
  const whole = 1 + square / trials;
  return { low: Math.max(0, (centre - half) / whole), high: Math.min(1, (centre + half) / whole) };
}

/** How much more often, as a share of the control's rate: 0.1 is a tenth more. */
export type Uplift = { value: number; interval: Interval | undefined };

/**
 * By how much the rate of the treated is above that of the control, with the 95 % interval of the ratio of two rates (Katz
 * and others 1978, on the logarithm). Undefined while the control has no success: nothing can be divided by its rate; the
 * interval is unknown while the treated have none.
 */
export function upliftOf({ treated, control }: { treated: Trials; control: Trials }): Uplift | undefined {
  if (treated.trials === 0 || control.trials === 0 || control.successes === 0) return undefined;
  const ratio = treated.successes / treated.trials / (control.successes / control.trials);
  if (treated.successes === 0) return { value: -1, interval: undefined };
  const error = Math.sqrt(1 / treated.successes - 1 / treated.trials + 1 / control.successes - 1 / control.trials);
  const factor = Math.exp(z95 * error);
  return { value: ratio - 1, interval: { low: ratio / factor - 1, high: ratio * factor - 1 } };
}

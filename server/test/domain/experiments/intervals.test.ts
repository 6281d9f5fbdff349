import { describe, expect, test } from 'vitest';
import { rateInterval, upliftOf } from '../../../src/domain/experiments/learning.ts';

describe('intervals', () => {
  test('are Wilson’s for a rate: 10 of 100, none of 20, all of 20', () => {
    const rounded = (successes: number, trials: number) => {
      const { low, high } = rateInterval({ successes, trials })!;
      return [low.toFixed(4), high.toFixed(4)];
    };
    expect(rounded(10, 100)).toEqual(['0.0552', '0.1744']);
    expect(rounded(0, 20)).toEqual(['0.0000', '0.1611']);
    expect(rounded(20, 20)).toEqual(['0.8389', '1.0000']);
    expect(rateInterval({ successes: 0, trials: 0 })).toBeUndefined();
  });

  test('are those of the ratio of two rates for an uplift, computed by hand', () => {
    // 30 of 200 against 20 of 200: ratio 1.5, standard error of its logarithm √(1/30 − 1/200 + 1/20 − 1/200) = 0.27080.
    const { value, interval } = upliftOf({
      treated: { successes: 30, trials: 200 },
      control: { successes: 20, trials: 200 },
    })!;
    expect(value).toBeCloseTo(0.5, 10);
    expect(interval!.low).toBeCloseTo(1.5 * Math.exp(-1.959964 * 0.270801) - 1, 4);
    expect(interval!.high).toBeCloseTo(1.5 * Math.exp(1.959964 * 0.270801) - 1, 4);
    expect(upliftOf({ treated: { successes: 3, trials: 9 }, control: { successes: 0, trials: 9 } })).toBeUndefined();
    expect(upliftOf({ treated: { successes: 0, trials: 9 }, control: { successes: 3, trials: 9 } })).toEqual({
      value: -1,
      interval: undefined,
    });
  });

  test('exist for an uplift from one trial and one success of the control group on', () => {
    const of = (successes: number, trials: number) => ({ successes, trials });
    expect(upliftOf({ treated: of(0, 0), control: of(3, 9) })).toBeUndefined();
    expect(upliftOf({ treated: of(3, 9), control: of(0, 0) })).toBeUndefined();
    // Conversions of messages that are not counted yet.
    expect(upliftOf({ treated: of(3, 9), control: of(3, 0) })).toBeUndefined();
    // Of everybody in both there is no error to reckon with.
    expect(upliftOf({ treated: of(1, 1), control: of(1, 1) })).toEqual({ value: 0, interval: { low: 0, high: 0 } });
  });
});

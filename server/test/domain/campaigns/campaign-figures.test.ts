import { describe, expect, test } from 'vitest';
import {
  areDeliveriesKnown,
  conversionRate,
  conversionRateOf,
  eligibleUsersOf,
  goalUplift,
  performanceOf,
  rateFigures,
} from '../../../src/domain/campaigns/figures.ts';
import type { Figures, GroupFigures } from '../../../src/domain/campaigns/figures.ts';

const reports = (total: number, messages: number, devices: number | undefined) => ({ total, messages, devices });
const goal = (users: number) => ({ goal: 'g', total: users, unique: users, users, revenue: undefined });
const figures: Figures = {
  ...{ devices: 220, attempted: 200, sent: 160, failed: 30, gone: 10, failures: undefined },
  impressions: reports(120, 80, 60),
  clicks: reports(36, 30, 24),
  closes: reports(5, 4, 3),
  conversions: [goal(8), goal(20)],
  audience: { reachable: 400, installed: 500 },
  groups: undefined,
};
const group = (name: GroupFigures['group'], users: number, goals: number[]): GroupFigures => ({
  ...{ group: name, users },
  conversions: goals.map((count) => ({ total: count, unique: count, users: count })),
});

describe('the figures of a platform (fact 7)', () => {
  const counts = { attempted: 200, sent: 160, failed: 30, gone: 10 };

  test('count everything as TOTAL', () => {
    const total = {
      ...{ impressions: 120, clicks: 36, closes: 5, delivered: 80, clickRate: 30 },
      ...{ ...counts, deliveryRate: 50, sentRate: 80, failureRate: 20 },
    };
    expect(performanceOf(figures, { runs: 1, metric: 'TOTAL' })).toStrictEqual(total);
    expect(performanceOf(figures, { runs: 2, metric: 'TOTAL' })).toStrictEqual(total);
  });

  test('count a device once as UNIQUE; devices of several runs cannot be matched', () => {
    const unique = { impressions: 60, clicks: 24, closes: 3, delivered: 60, clickRate: 40 };
    expect(performanceOf(figures, { runs: 1, metric: 'UNIQUE' })).toStrictEqual({
      ...unique,
      ...{ ...counts, deliveryRate: 37.5, sentRate: 80, failureRate: 20 },
    });
    expect(performanceOf(figures, { runs: 2, metric: 'UNIQUE' })).toStrictEqual(unique);
    expect([0, 1, 2].map((runs) => areDeliveriesKnown({ runs, metric: 'UNIQUE' }))).toEqual([true, true, false]);
  });

  test('have no share of zero, and none of an unknown number', () => {
    const none = { ...figures, attempted: 0, sent: 0, impressions: reports(0, 0, undefined) };
    const { clickRate, deliveryRate, sentRate, failureRate } = performanceOf(none, { runs: 1, metric: 'TOTAL' });
    expect([clickRate, deliveryRate, sentRate, failureRate]).toEqual(new Array(4).fill(undefined));
    const unknown = performanceOf(none, { runs: 1, metric: 'UNIQUE' });
    expect([unknown.clickRate, unknown.delivered]).toEqual([undefined, undefined]);
    const clicksUnknown = { ...figures, clicks: reports(1, 1, undefined) };
    expect(performanceOf(clicksUnknown, { runs: 1, metric: 'UNIQUE' }).clickRate).toBeUndefined();
  });

  test('are percentages with two decimals, and may exceed 100: 4 clicks on 2 impressions are 200', () => {
    const rate = (clicks: number, impressions: number) =>
      performanceOf(
        { ...figures, clicks: reports(clicks, 0, 0), impressions: reports(impressions, 0, 0) },
        { runs: 1, metric: 'TOTAL' },
      ).clickRate;
    expect([rate(4, 2), rate(1, 3), rate(2, 3), rate(0, 7)]).toEqual([200, 33.33, 66.67, 0]);
  });
});

describe('the eligible users of a campaign', () => {
  const groups = [group('CAMPAIGN_CONTROL_GROUP', 50, [5, 1]), group(null, 200, [10, 40])];

  test('are the users in no control group, or else all who could be reached', () => {
    expect(eligibleUsersOf({ ...figures, groups })).toBe(200);
    expect(eligibleUsersOf({ ...figures, groups: [groups[0]!] })).toBeUndefined();
    expect(eligibleUsersOf(figures)).toBe(400);
    expect(eligibleUsersOf({ ...figures, audience: undefined })).toBeUndefined();
  });

  test('have a conversion rate, separately from the control groups', () => {
    expect(conversionRateOf(figures, 0)?.rate).toBe(2);
    expect(conversionRateOf(figures, 1)?.rate).toBe(5);
    expect(conversionRateOf({ ...figures, groups }, 0)?.rate).toBe(5);
    expect(conversionRateOf({ ...figures, groups }, 1)?.rate).toBe(20);
    expect(conversionRateOf({ ...figures, audience: undefined }, 0)).toBeUndefined();
  });

  test('have a separate rate for each group, and none for an empty group', () => {
    expect([conversionRate(groups[0]!, 0), conversionRate(groups[1]!, 1)]).toEqual([10, 20]);
    expect(conversionRate(group(null, 0, [0]), 0)).toBeUndefined();
  });
});

describe('a rate', () => {
  // Wilson's interval of 8 in 400 and of 3 in 3, worked out by hand.
  test('has the bounds of its interval, in percent', () => {
    expect(rateFigures(8, 400)).toStrictEqual({ rate: 2, low: 1.02, high: 3.9 });
    expect(rateFigures(0, 0)).toStrictEqual({ rate: undefined, low: undefined, high: undefined });
  });

  test('has at least as many trials as successes, even if fewer are known', () => {
    expect(rateFigures(3, 1)).toStrictEqual({ rate: 100, low: 43.85, high: 100 });
  });
});

describe('the uplift over the control group', () => {
  const treated = group(null, 1_000, [120, 60]);
  const campaign = group('CAMPAIGN_CONTROL_GROUP', 1_000, [100, 60]);
  const global = group('GLOBAL_CONTROL_GROUP', 1_000, [60, 30]);

  // The ratio of 120 in 1,000 and 100 in 1,000 is 1.2, and its standard error on the logarithm sqrt(1/120 + 1/100 − 2/1000).
  test('is a percentage with bounds', () => {
    expect(goalUplift([treated, campaign], 0)).toStrictEqual({ uplift: 20, low: -6.59, high: 54.16 });
    expect(goalUplift([treated, campaign], 1).uplift).toBe(0);
    expect(goalUplift([treated, global], 0).uplift).toBe(100);
  });

  test('uses the campaign’s own group if it has one', () => {
    expect(goalUplift([global, treated, campaign], 0).uplift).toBe(20);
  });

  test('is unknown without both numbers', () => {
    const unknown = { uplift: undefined, low: undefined, high: undefined };
    for (const groups of [[], [treated], [campaign], [treated, group('CAMPAIGN_CONTROL_GROUP', 0, [0])]])
      expect(goalUplift(groups, 0)).toStrictEqual(unknown);
    expect(goalUplift([group(null, 10, [0]), campaign], 0)).toStrictEqual({ ...unknown, uplift: -100 });
  });
});

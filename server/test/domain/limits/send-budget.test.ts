import { expect, test } from 'vitest';
import { drawFromBudget, newSendBudget } from '../../../src/domain/delivery/send-budget.ts';
import type { BudgetDraw, SendBudget } from '../../../src/domain/delivery/send-budget.ts';

const at = (seconds: number) => new Date(1_767_225_600_000 + seconds * 1_000);

/** 100 messages a second, and a bucket of 500: a full one and a minute's refill are what a minute may have. */
const usual: Omit<BudgetDraw, 'at'> = {
  ...{ perMinute: 6_500, holdSeconds: 5 },
  ...{ wanted: 10_000, returned: 0, reserve: 0, isRamped: false },
};
const draw = (budget: SendBudget, second: number, more: Partial<BudgetDraw> = {}) =>
  drawFromBudget(budget, { ...usual, ...more, at: at(second) });

type Row = {
  what: string;
  /** What is left, when it was refilled, and since when it has been used. */
  from?: Partial<Record<'tokens' | 'refilled' | 'busy', number>>;
  second?: number;
  more?: Partial<BudgetDraw>;
  granted: number;
  left: number;
};

const rows: Row[] = [
  { what: 'a second’s worth is there to begin with', granted: 100, left: 0 },
  { what: 'no more is granted than is asked for', more: { wanted: 30 }, granted: 30, left: 70 },
  { what: 'nothing is granted when nothing is asked for', more: { wanted: 0 }, granted: 0, left: 100 },
  { what: 'what time brings is added to what is left', from: { tokens: 50 }, second: 2, granted: 250, left: 0 },
  { what: 'the bucket holds so many seconds', second: 20, granted: 500, left: 0 },
  { what: 'what an earlier draw did not use comes back', more: { returned: 40 }, granted: 140, left: 0 },
  { what: 'and fills no more than the bucket', second: 3, more: { returned: 400 }, granted: 500, left: 0 },
  { what: 'whole messages alone are granted', from: {}, second: 0.115, granted: 11, left: 0.5 },
  { what: 'a share of the bucket is left to others', second: 20, more: { reserve: 0.2 }, granted: 400, left: 100 },
  { what: 'which is all there is', from: { tokens: 60 }, more: { reserve: 0.2 }, granted: 0, left: 60 },
  {
    what: 'a rate below one a second comes to a message all the same',
    ...{ second: 63, more: { perMinute: 1, holdSeconds: 4 }, granted: 1, left: 0 },
  },
  {
    what: 'and to no message before its time',
    ...{ second: 31, more: { perMinute: 1, holdSeconds: 4 }, granted: 0, left: 0.5 },
  },
  { what: 'a clock that moved back refills nothing', from: { tokens: 7 }, second: -30, granted: 7, left: 0 },
  {
    what: 'an account that was idle for more than a minute begins with a tenth of its rate (delivery 1)',
    ...{ from: { refilled: -61, busy: -500 }, more: { isRamped: true }, granted: 50, left: 0 },
  },
  {
    what: 'one that was idle for a minute goes on as before',
    ...{ from: { refilled: -60, busy: -500 }, more: { isRamped: true }, granted: 500, left: 0 },
  },
  {
    what: 'after half a minute it has half of its rate',
    ...{ from: { refilled: -2, busy: -30 }, more: { isRamped: true }, granted: 100, left: 0 },
  },
  {
    what: 'and from a minute on the whole',
    ...{ from: { refilled: -2, busy: -600 }, more: { isRamped: true }, granted: 200, left: 0 },
  },
  {
    what: 'what is not ramped has its rate at once',
    ...{ from: { refilled: -61, busy: -61 }, granted: 500, left: 0 },
  },
];

test.each(rows)('grants with $what: $granted', ({ from, second = 0, more, granted, left }) => {
  const begun = newSendBudget(at(0));
  const budget = from
    ? { tokens: from.tokens ?? 0, refilledAt: at(from.refilled ?? 0), busySince: at(from.busy ?? 0) }
    : begun;
  const drawn = draw(budget, second, more);
  expect(drawn.granted).toBe(granted);
  expect(drawn.budget.tokens).toBeCloseTo(left, 9);
});

test('stores each draw, and since when the budget has been in use', () => {
  const first = draw(newSendBudget(at(0)), 10).budget;
  expect([first.refilledAt, first.busySince]).toEqual([at(10), at(0)]);
  const again = draw(first, 75).budget;
  expect([again.refilledAt, again.busySince]).toEqual([at(75), at(75)]);
  // A node whose clock is behind takes nothing that another has taken.
  expect(draw(again, 70).budget.refilledAt).toEqual(at(75));
});

test('never exceeds its rate in a minute, whatever the requests', () => {
  let budget = newSendBudget(at(0));
  const granted: [second: number, count: number][] = [];
  // A pause that fills the bucket, and then every 0.7 s.
  for (let second = 10; second < 140; second += 0.7) {
    const drawn = draw(budget, second);
    budget = drawn.budget;
    granted.push([second, drawn.granted]);
  }
  for (const [from] of granted) {
    const minute = granted.filter(([second]) => second >= from && second < from + 60);
    expect(minute.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(6_500);
  }
  expect(granted.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(13_000);
});

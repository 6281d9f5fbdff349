import { expect, test } from 'vitest';
import { makeRecheckPlan } from '../../../src/engine/monitoring/alerts.ts';

const start = Date.parse('2026-03-01T12:00:00Z');
/** The seconds at which it was due, of looks every five. */
function dueAt(plan: ReturnType<typeof makeRecheckPlan>, { key = 'a', from = 0, to = 0 }): number[] {
  const due: number[] = [];
  for (let seconds = from; seconds <= to; seconds += 5)
    if (plan.isDue(key, new Date(start + seconds * 1_000))) due.push(seconds);
  return due;
}

test('a provider that refuses is asked after 15 seconds, then after twice as long each time, at most ten minutes', () => {
  expect(dueAt(makeRecheckPlan(), { to: 3_000 })).toEqual([15, 45, 105, 225, 465, 945, 1_545, 2_145, 2_745]);
});

test('the pace is kept of one that refused within ten minutes, and begins anew after that', () => {
  const plan = makeRecheckPlan();
  expect(dueAt(plan, { to: 50 })).toEqual([15, 45]);
  // Last seen at 50; 650 is ten minutes later.
  expect(dueAt(plan, { from: 650, to: 650 })).toEqual([650]);
  expect(dueAt(plan, { from: 1_255, to: 1_275 })).toEqual([1_270]);
});

test('each provider has a pace of its own', () => {
  const plan = makeRecheckPlan();
  expect([dueAt(plan, { to: 15 }), dueAt(plan, { key: 'b', from: 15, to: 30 })]).toEqual([[15], [30]]);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepInStep, makeClock } from '../src/clock.ts';

const at = new Date('2026-11-23T12:00:00Z');
const later = (milliseconds: number) => new Date(at.getTime() + milliseconds);

beforeEach(() => void vi.useFakeTimers({ now: at, toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** The database's answer, which is `instant` when it is read, and that long on its way. */
const answer = (instant: Date, milliseconds: number) => () => {
  vi.advanceTimersByTime(milliseconds);
  return Promise.resolve(instant);
};

test('a clock that is behind what the database said goes there', async () => {
  const clock = makeClock();
  await keepInStep(clock, answer(later(5_000), 20));
  expect(clock.realNow()).toEqual(later(5_000));
});

test('a clock that is before all that the database can show by now goes back to that', async () => {
  const clock = makeClock();
  await keepInStep(clock, answer(later(-60_000), 20));
  expect(clock.realNow()).toEqual(later(-60_000 + 20));
});

test('an answer that was long on its way takes back no clock that is right', async () => {
  const clock = makeClock();
  // Read at once: by now the database shows 200 ms more, as the clock does.
  await keepInStep(clock, answer(at, 200));
  expect(clock.realNow()).toEqual(later(200));
});

test('a quick answer corrects what a slow one left open', async () => {
  const clock = makeClock();
  // The database is 300 ms behind: the slow answer leaves that possible.
  await keepInStep(clock, answer(later(-300), 400));
  expect(clock.realNow()).toEqual(later(100));
  await keepInStep(clock, answer(later(100), 3));
  expect(clock.realNow()).toEqual(later(103));
  await keepInStep(clock, answer(later(50), 3));
  expect(clock.realNow()).toEqual(later(53));
});

import { expect, test } from 'vitest';
import { secondsUntilPass } from '../../../src/domain/access/rate-limits.ts';

const windows = [
  { events: 5, seconds: 60 },
  { events: 30, seconds: 600 },
];
const at = (seconds: number) => new Date(seconds * 1000);
const wait = (events: number[], now: number) => secondsUntilPass(windows, { events: events.map(at), at: at(now) });
const every = (count: number, seconds: number) => Array.from({ length: count }, (_, index) => index * seconds);

/** 25 events that begin `offset` seconds late, and five in the last seconds. */
function bothFull(offset: number): number[] {
  return [...every(25, 16).map((second) => second + offset), 590, 591, 592, 593, 594];
}

type Row = { name: string; events: number[]; now: number; seconds: number };

test.each<Row>([
  { name: 'no event', events: [], now: 0, seconds: 0 },
  { name: 'four events', events: [0, 1, 2, 3], now: 3, seconds: 0 },
  { name: 'five events at once', events: [0, 0, 0, 0, 0], now: 0, seconds: 60 },
  { name: 'five events, the first 59.999 s ago', events: [0, 1, 2, 3, 4], now: 59.999, seconds: 1 },
  { name: 'five events, the first exactly 60 s ago', events: [0, 1, 2, 3, 4], now: 60, seconds: 0 },
  { name: 'a fraction of a second is rounded up', events: [0.4, 1, 2, 3, 4], now: 10, seconds: 51 },
  { name: 'thirty events in 450 s', events: every(30, 15), now: 450, seconds: 150 },
  { name: 'thirty events, the first exactly 600 s ago', events: every(30, 15), now: 600, seconds: 0 },
  { name: 'both limits are full, the narrow one for longer', events: bothFull(0), now: 595, seconds: 55 },
  { name: 'both limits are full, the wide one for longer', events: bothFull(100), now: 595, seconds: 105 },
  { name: 'order does not matter', events: [4, 0, 3, 1, 2], now: 10, seconds: 50 },
  { name: 'events of a clock that was moved back', events: every(5, 0).map(() => 86_400), now: 0, seconds: 0 },
  { name: 'five events of a node whose clock is 5 s ahead', events: every(5, 0).map(() => 5), now: 0, seconds: 65 },
  { name: 'five events of one that is further ahead', events: every(5, 0).map(() => 5.001), now: 0, seconds: 0 },
])('waits with $name: $seconds s', ({ events, now, seconds }) => {
  expect(wait(events, now)).toBe(seconds);
});

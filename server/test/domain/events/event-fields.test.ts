import { expect, test } from 'vitest';
import { isOffset, readEventPlatform, readEventTime } from '../../../src/domain/events/events.ts';

test.each<[unknown, string | undefined]>([
  [0, '1970-01-01T00:00:00.000Z'],
  [1_772_366_400, '2026-03-01T12:00:00.000Z'],
  [1_772_366_400.25, '2026-03-01T12:00:00.250Z'],
  ['1772366400', '2026-03-01T12:00:00.000Z'],
  ['1772366400.5', '2026-03-01T12:00:00.500Z'],
  ['1772366400.123456789', '2026-03-01T12:00:00.123Z'],
  ['8640000000000', '+275760-09-13T00:00:00.000Z'],
  [8.64e12, '+275760-09-13T00:00:00.000Z'],
  [8.64e12 + 1, undefined],
  ['8640000000001', undefined],
  ['17723664000000', undefined],
  ['1772366400.1234567891', undefined],
  ['1772366400.', undefined],
  ['1772366400x', undefined],
  ['x1772366400', undefined],
  [-1, undefined],
  ['-1', undefined],
  [Number.NaN, undefined],
  ['2026-03-01', '2026-03-01T00:00:00.000Z'],
  ['2026-03-01T13:00:00+01:00', '2026-03-01T12:00:00.000Z'],
  ['2026-02-30', undefined],
  ['', undefined],
  [null, undefined],
  [['1772366400'], undefined],
])('parses the time %j of an event as %s (fact 5)', (value, time) => {
  expect(readEventTime(value)?.toISOString()).toBe(time);
});

test('accepts only the documented platforms of events (fact 5)', () => {
  expect(['ANDROID', 'iOS', 'web', 'TV', 'unknown'].map(readEventPlatform)).toEqual([
    ...['ANDROID', 'IOS', 'WEB', 'TV', 'UNKNOWN'],
  ]);
  for (const other of ['android', 'IOS', 'toString', '', 7, null, undefined, ['TV']])
    expect(readEventPlatform(other)).toBeUndefined();
});

test('accepts an offset from UTC as a whole number of seconds within 15 hours (fact 5)', () => {
  expect([0, 54_000, -54_000].map(isOffset)).toEqual([true, true, true]);
  expect([54_001, -54_001, 0.5, '0', null].map(isOffset)).toEqual([false, false, false, false, false]);
});

import { describe, expect, test } from 'vitest';
import { decideLocalSend, inFirstZone, isInUserZone, localSendOf } from '../../../src/domain/timing/local-send.ts';
import { fromStoredTiming } from '../../../src/domain/timing/timing.ts';
import type { PassedPolicy, Timing } from '../../../src/domain/timing/timing.ts';

const instant = (text: string): Date => new Date(`2026-03-01T${text}Z`);
const send = (ifPassed: PassedPolicy) => ({ date: '2026-03-01', time: '09:00', timeZone: 'UTC', ifPassed });

/** Nine o'clock in Kolkata is half past three in UTC. */
const kolkata = (startedAt: string, now: string, ifPassed: PassedPolicy = 'SKIP') =>
  decideLocalSend(send(ifPassed), {
    timeZone: 'Asia/Kolkata',
    startedAt: instant(startedAt),
    now: instant(now),
  });

describe('a user gets a message', () => {
  test('at the local time', () => {
    expect(kolkata('00:00:00', '03:29:59')).toEqual(instant('03:30:00'));
    expect(kolkata('00:00:00', '03:30:00')).toBeUndefined();
    expect(kolkata('00:00:00', '12:00:00')).toBeUndefined();
  });

  test('if the run started at most an hour after the local time', () => {
    expect(kolkata('04:30:00', '04:30:01')).toBeUndefined();
    expect(kolkata('04:30:01', '04:30:02')).toBe('passed');
  });

  test('at the time of the campaign’s zone if the local time had passed', () => {
    expect(kolkata('06:00:00', '06:00:00', 'SEND')).toEqual(instant('09:00:00'));
    expect(kolkata('06:00:00', '09:00:00', 'SEND')).toBeUndefined();
    expect(kolkata('06:00:00', '10:00:00', 'SEND')).toBeUndefined();
  });
});

const zoned = { time: '09:00', timeZone: 'Asia/Kolkata', inUserZone: 'SKIP' } as const;
const span = { firstDate: '2026-03-01', endDate: '2026-03-09' };
const later: Timing = { kind: 'later', at: instant('03:30:00'), date: '2026-03-01', ...zoned };
const periodic: Timing = { kind: 'periodic', repeatAfterDays: 1, ...span, ...zoned };
const calendar: Timing = { kind: 'calendar', rule: { every: 'week', step: 1, weekdays: [7] }, ...span, ...zoned };
const soon: Timing = { kind: 'soon' };
const triggered: Timing = { kind: 'triggered', startsAt: null, endsAt: null, timeZone: 'UTC' };

/** The same at one instant for all. */
function forAll(timing: Timing): Timing {
  const { inUserZone: _own, ...rest } = timing as Extract<Timing, { kind: 'later' }>;
  return rest;
}

describe('a campaign in the zones of its users', () => {
  test('is configured to', () => {
    expect([later, periodic, calendar].map(isInUserZone)).toEqual([true, true, true]);
    expect([soon, triggered, ...[later, periodic, calendar].map(forAll)].map(isInUserZone)).toEqual(
      new Array(5).fill(false),
    );
  });

  test('is due when the first zone is, UTC+14', () => {
    expect(inFirstZone(later)).toStrictEqual({ ...later, at: new Date('2026-02-28T19:00:00Z') });
    expect(inFirstZone(periodic)).toStrictEqual({ ...periodic, timeZone: 'Etc/GMT-14' });
    expect(inFirstZone(calendar)).toStrictEqual({ ...calendar, timeZone: 'Etc/GMT-14' });
    for (const timing of [soon, triggered, forAll(later), forAll(periodic)]) expect(inFirstZone(timing)).toBe(timing);
  });

  test('has a run for each local time', () => {
    const local = { date: '2026-03-01', time: '09:00', timeZone: 'Asia/Kolkata', ifPassed: 'SKIP' };
    expect(localSendOf(later, null)).toStrictEqual(local);
    expect(localSendOf(later, instant('23:00:00'))).toStrictEqual(local);
    for (const timing of [periodic, calendar]) {
      expect(localSendOf(timing, new Date('2026-03-02T19:00:00Z'))).toStrictEqual({ ...local, date: '2026-03-03' });
      expect(localSendOf(timing, null)).toBeNull();
    }
  });

  test('has such runs, unlike others', () => {
    for (const timing of [soon, triggered, ...[later, periodic, calendar].map(forAll)])
      expect(localSendOf(timing, instant('03:30:00'))).toBeNull();
  });
});

test('restores the instant of a stored timing', () => {
  const stored = { ...later, at: '2026-03-01T03:30:00.000Z' };
  expect(fromStoredTiming(stored)).toStrictEqual(later);
  for (const timing of [soon, periodic, triggered] as const) expect(fromStoredTiming(timing as never)).toBe(timing);
});

import { describe, expect, test } from 'vitest';
import { decideDueOccurrences, whyTooLate } from '../../../src/domain/timing/occurrences.ts';
import type { Timing } from '../../../src/domain/timing/timing.ts';

const daily: Timing = {
  ...{ kind: 'periodic', repeatAfterDays: 1, firstDate: '2026-03-01', endDate: '2026-03-05' },
  ...{ time: '09:00', timeZone: 'UTC' },
};
const day = (date: number, time = '09:00:00'): Date => new Date(`2026-03-0${date}T${time}Z`);
const decide = (now: Date, { timing = daily as Timing, from = 1, lateMinutes = 60, limit = 10 } = {}) => {
  const { occurrences, nextAt } = decideDueOccurrences(timing, { dueAt: day(from), now, lateMinutes, limit });
  return [...occurrences, nextAt];
};
const send = (date: number) => ({ kind: 'send', occurrence: day(date) });
const missed = (date: number, reason = 'a later moment had come before this one could be sent') => ({
  ...{ kind: 'missed', occurrence: day(date), reason },
});
const late = (minutes: number, allowed = 60) =>
  `${minutes} minutes late; at most ${allowed} are allowed (CARILLON_LATE_SEND_MINUTES)`;

describe('due occurrences (decision D37)', () => {
  test('are one send, and the next is known', () => {
    expect(decide(day(1))).toEqual([send(1), day(2)]);
    expect(decide(day(2, '08:59:59'), { lateMinutes: 2_000 })).toEqual([send(1), day(2)]);
  });

  test('send only the last of several, so that a downtime ends in one send', () => {
    expect(decide(day(3, '09:30:00'))).toEqual([missed(1), missed(2), send(3), day(4)]);
    // Due at this very instant.
    expect(decide(day(2))).toEqual([missed(1), send(2), day(3)]);
  });

  test('miss the last too if it is too late', () => {
    expect(decide(day(2, '10:01:00'))).toEqual([missed(1), missed(2, late(61)), day(3)]);
  });

  test('have no next after the last of the series', () => {
    expect(decide(day(5), { from: 5 })).toEqual([send(5), undefined]);
    expect(decide(day(9), { from: 5 })).toEqual([missed(5, late(4 * 24 * 60)), undefined]);
  });

  test('are decided up to the requested number, and none is the last while others are due', () => {
    expect(decide(day(4), { limit: 2 })).toEqual([missed(1), missed(2), day(3)]);
    expect(decide(day(4), { limit: 3 })).toEqual([missed(1), missed(2), missed(3), day(4)]);
    expect(decide(day(4), { limit: 4 })).toEqual([missed(1), missed(2), missed(3), send(4), day(5)]);
  });

  test('have no next for a single instant', () => {
    const once: Timing = { kind: 'later', at: day(1), date: '2026-03-01', time: '09:00', timeZone: 'UTC' };
    expect(decide(day(1), { timing: once })).toEqual([send(1), undefined]);
  });
});

describe('an occurrence is sent', () => {
  const ask = (time: string, lateMinutes: number) => whyTooLate({ occurrence: day(1), now: day(1, time), lateMinutes });

  test('late up to the minutes of the setting', () => {
    expect([ask('08:59:00', 60), ask('09:00:00', 60), ask('10:00:00', 60)]).toEqual([undefined, undefined, undefined]);
    expect([ask('10:00:01', 60), ask('12:00:30', 60)]).toEqual([late(60), late(180)]);
  });

  test('late by a minute in any case, because the scheduler polls every second', () => {
    expect([ask('09:01:00', 0), ask('09:01:01', 0)]).toEqual([undefined, late(1, 0)]);
  });
});

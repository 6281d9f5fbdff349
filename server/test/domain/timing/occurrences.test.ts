import { describe, expect, test } from 'vitest';
import { calendarDates, calendarSpan } from '../../../src/domain/timing/calendar.ts';
import type { CalendarRule } from '../../../src/domain/timing/calendar.ts';
import { decideLocalSend, inFirstZone, isInUserZone, localSendOf } from '../../../src/domain/timing/local-send.ts';
import {
  findTimeZone,
  localDate,
  localTime,
  offsetAt,
  parseDate,
  parseTime,
  timeZoneAliases,
  toInstant,
} from '../../../src/domain/timing/local-time.ts';
import {
  decideDueOccurrences,
  describeOccurrences,
  nextOccurrences,
  whyTooLate,
} from '../../../src/domain/timing/occurrences.ts';
import { parseTiming } from '../../../src/domain/timing/push-timing.ts';
import type { TimingInput } from '../../../src/domain/timing/push-timing.ts';
import { bestTimeOf, bestTimeOfTiming, fromStoredTiming } from '../../../src/domain/timing/timing.ts';
import type { BestTime, PassedPolicy, Timing } from '../../../src/domain/timing/timing.ts';

describe('parse timing', () => {
  const now = new Date('2026-03-01T12:00:00Z');
  const parse = (input: object, workspaceTimeZone = 'Asia/Kolkata') =>
    parseTiming(input as TimingInput, { now, workspaceTimeZone });
  const later = { type: 'later', date: '03/02/2026', time: '09:00 AM' };
  const periodic = { type: 'periodic', time: '09:00 AM', endDate: '03/09/2026', repeatAfter: '2' };

  describe('a delivery (interface 2.9, decision D36)', () => {
    const at = (instant: string) => ({ kind: 'later', at: new Date(instant), date: '2026-03-02', time: '09:00' });
    const every = (days: number, firstDate: string) => ({
      ...{ kind: 'periodic', firstDate, endDate: '2026-03-09', time: '09:00', timeZone: 'Asia/Kolkata' },
      repeatAfterDays: days,
    });

    test.each<[string, object, object]>([
      ['soon', { type: 'soon' }, { kind: 'soon' }],
      ['soon, with members of other types', { ...periodic, type: 'soon', time: 5 }, { kind: 'soon' }],
      ['later, in the zone of the workspace', later, { ...at('2026-03-02T03:30:00Z'), timeZone: 'Asia/Kolkata' }],
      [
        'later, in its own',
        { ...later, timezone: 'America/New_York' },
        { ...at('2026-03-02T14:00:00Z'), timeZone: 'America/New_York' },
      ],
      [
        'later, by an alias',
        { ...later, timezone: 'ist' },
        { ...at('2026-03-02T03:30:00Z'), timeZone: 'Asia/Kolkata' },
      ],
      ['periodic, from tomorrow when its time is over today', periodic, every(2, '2026-03-02')],
      [
        'periodic, from today when its time is still to come',
        { ...periodic, time: '05:31 PM' },
        { ...every(2, '2026-03-01'), time: '17:31' },
      ],
      [
        'periodic, from tomorrow when its time is now',
        { ...periodic, time: '05:30 PM' },
        { ...every(2, '2026-03-02'), time: '17:30' },
      ],
      ['periodic, by a number', { ...periodic, repeatAfter: 2 }, every(2, '2026-03-02')],
      ['periodic, daily', { ...periodic, repeatAfter: '1' }, every(1, '2026-03-02')],
      ['periodic, yearly', { ...periodic, repeatAfter: '365' }, every(365, '2026-03-02')],
      [
        'periodic, whose last day is the first',
        { ...periodic, endDate: '03/02/2026' },
        { ...every(2, '2026-03-02'), endDate: '2026-03-02' },
      ],
    ])('is parsed: %s', (_what, ...[input, timing]) => expect(parse(input)).toStrictEqual(timing));

    test('may use an alias as the zone of the workspace', () => {
      expect(parse(later, 'IST')).toStrictEqual({ ...at('2026-03-02T03:30:00Z'), timeZone: 'Asia/Kolkata' });
    });

    const noTime = 'must be hh:mm AM/PM';
    const noDay = 'must be a day as MM/DD/YYYY';
    const noDays = 'must be a number of days from 1 to 365, as text';
    const notNow = { ...later, date: '03/01/2026', timezone: 'UTC' };
    test.each<[string, string, object[]]>([
      [
        'timezone',
        'is not a time-zone name',
        [5, '', 'Mars', '+05:30', null].map((timezone) => ({ ...later, timezone })),
      ],
      [
        'time',
        'is required',
        [
          { ...later, time: undefined },
          { ...periodic, time: undefined },
        ],
      ],
      ['time', noTime, ['', '09:00', '13:00 PM', 900, null].map((time) => ({ ...later, time }))],
      ['date', 'is required', [{ ...later, date: undefined }]],
      ['date', noDay, ['', '2026-03-02', '02/30/2026', 20_260_302, null].map((date) => ({ ...later, date }))],
      ['date', 'is in the past', ['12:00 PM', '11:59 AM'].map((time) => ({ ...notNow, time }))],
      ['endDate', 'is required', [{ ...periodic, endDate: undefined }]],
      ['endDate', noDay, ['', '2026-03-09', '13/01/2026', 9, null].map((endDate) => ({ ...periodic, endDate }))],
      ['endDate', 'leaves nothing to send', ['03/01/2026', '12/31/2025'].map((endDate) => ({ ...periodic, endDate }))],
      ['repeatAfter', 'is required', [{ ...periodic, repeatAfter: undefined }]],
      [
        'repeatAfter',
        noDays,
        ['', '0', '366', '1000', '-1', '1.5', 'x', 'x2', '2x', '2 ', 0, 366, 1.5, null, true, ['2']].map(
          (repeatAfter) => ({ ...periodic, repeatAfter }),
        ),
      ],
    ])('rejects %s %s', (field, ...[reason, inputs]) => {
      for (const input of inputs)
        expect(parse(input), JSON.stringify(input)).toEqual({ fault: { field: `campaignDelivery.${field}`, reason } });
    });

    test('accepts a minute from now as the future', () => {
      expect(parse({ ...notNow, time: '12:01 PM' })).toMatchObject({ at: new Date('2026-03-01T12:01:00Z') });
    });
  });

  describe('a single instant', () => {
    const once = { kind: 'later', at: now, date: '2026-03-01', time: '12:00', timeZone: 'UTC' } as const;

    test('is due until it has come', () => {
      const next = (after: string) => nextOccurrences(once, { after: new Date(after), count: 3 });
      expect([next('2026-03-01T11:59:59Z'), next('2026-03-01T12:00:00Z'), next('2026-03-01T12:00:01Z')]).toEqual([
        ...[[now], [], []],
      ]);
    });

    test('does not exist if it is missing or not requested', () => {
      const daily: Timing = {
        ...{ kind: 'periodic', repeatAfterDays: 1, firstDate: '2026-03-01', endDate: '2026-03-09' },
        ...{ time: '09:00', timeZone: 'UTC' },
      };
      expect(nextOccurrences({ kind: 'soon' }, { after: now, count: 1 })).toEqual([]);
      const before = new Date('2026-02-01T00:00:00Z');
      expect(nextOccurrences(daily, { after: before, count: 0 })).toEqual([]);
      expect(nextOccurrences(daily, { after: before, count: 1 })).toEqual([new Date('2026-03-01T09:00:00Z')]);
    });
  });

  test.each(['x02/28/2026', '02/28/2026x', '02/28/20260', ' 02/28/2026'])('rejects the date %j', (text) => {
    expect(parseDate(text)).toBeUndefined();
  });

  test.each([
    ['01:05 AM', '01:05'],
    ['9:05AM', '09:05'],
    ['x09:05 AM', undefined],
    ['109:05 AM', undefined],
    ['09:05 AMx', undefined],
    ['09:05  AM', undefined],
  ])('parses the time %j as %s', (text, time) => expect(parseTime(text)).toBe(time));

  test('formats seconds of a local time only if there are any', () => {
    expect(localTime(new Date('2026-03-01T12:00:00Z'), 'Asia/Kolkata')).toBe('17:30');
    expect(localTime(new Date('2026-03-01T12:00:07Z'), 'Asia/Kolkata')).toBe('17:30:07');
  });

  test('accepts no zone name in an instant, although Temporal does', () => {
    expect(findTimeZone('2026-01-01T00:00Z')).toBeUndefined();
  });
});

describe('calendar dates', () => {
  test.each<[string, CalendarRule, string, string[]]>([
    ['a Monday', { every: 'week', step: 1, weekdays: [1] }, '2026-03-09', ['2026-03-02', '2026-03-09']],
    ['a first', { every: 'month', step: 1, dates: [1, 2], weekdays: [] }, '2026-04-01', ['2026-03-02', '2026-04-01']],
  ])('includes %s, the first day of its period, in a series that ends there', (_day, ...[rule, until, days]) => {
    const firstDate = '2026-03-02';
    expect([...calendarDates(rule, { firstDate, from: firstDate, until })]).toEqual(days);
  });

  test.each<[CalendarRule, string[]]>([
    [{ every: 'week', step: 1, weekdays: [5, 1, 5] }, ['2026-03-02', '2026-03-06']],
    [
      { every: 'month', step: 1, dates: [6, 2, 6], weekdays: [{ week: 1, weekday: 2 }] },
      ['2026-03-02', '2026-03-03', '2026-03-06'],
    ],
  ])('returns the days of %j in order, each once', (rule, days) => {
    const firstDate = '2026-03-02';
    expect([...calendarDates(rule, { firstDate, from: firstDate, until: '2026-03-08' })]).toEqual(days);
  });
});

describe('calendar span', () => {
  // 2026-03-01 is a Sunday, 2026-06-01 a Monday; February 2021 has four whole weeks.
  test.each([
    ['week', '2026-03-04', { date: '2026-03-04', from: '2026-03-02', days: 7 }],
    ['week', '2026-03-01', { date: '2026-03-01', from: '2026-02-23', days: 7 }],
    ['week', '2026-06-01', { date: '2026-06-01', from: '2026-06-01', days: 7 }],
    ['month', '2026-03-04', { date: '2026-03-04', from: '2026-02-23', days: 42 }],
    ['month', '2026-06-30', { date: '2026-06-30', from: '2026-06-01', days: 35 }],
    ['month', '2021-02-14', { date: '2021-02-14', from: '2021-02-01', days: 28 }],
    ['month', '2026-02-30', { date: '2026-02-28', from: '2026-01-26', days: 35 }],
    ['week', '2026-02-31', { date: '2026-02-28', from: '2026-02-23', days: 7 }],
  ] as const)('returns the %s of %s in whole weeks', (view, date, span) => {
    expect(calendarSpan({ view, date })).toStrictEqual(span);
  });
});

describe('decide due occurrences', () => {
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
    const ask = (time: string, lateMinutes: number) =>
      whyTooLate({ occurrence: day(1), now: day(1, time), lateMinutes });

    test('late up to the minutes of the setting', () => {
      expect([ask('08:59:00', 60), ask('09:00:00', 60), ask('10:00:00', 60)]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect([ask('10:00:01', 60), ask('12:00:30', 60)]).toEqual([late(60), late(180)]);
    });

    test('late by a minute in any case, because the scheduler polls every second', () => {
      expect([ask('09:01:00', 0), ask('09:01:01', 0)]).toEqual([undefined, late(1, 0)]);
    });
  });
});

describe('the next occurrences', () => {
  const daily = (more: object): Timing => ({
    kind: 'periodic',
    repeatAfterDays: 1,
    firstDate: '2026-01-01',
    endDate: '2026-12-31',
    time: '10:00',
    timeZone: 'America/New_York',
    ...more,
  });
  const ask = (timing: Timing, after: string) =>
    describeOccurrences(timing, { after: new Date(after), count: 3 }).map(({ at, local, offset, clockChange }) => [
      at.toISOString(),
      `${local.date} ${local.time}`,
      offset,
      clockChange,
    ]);

  test('are those at which it is sent, with their local time and offset from UTC', () => {
    const timing = daily({});
    const after = new Date('2026-06-01T00:00:00Z');
    expect(describeOccurrences(timing, { after, count: 3 }).map(({ at }) => at)).toEqual(
      nextOccurrences(timing, { after, count: 3 }),
    );
    expect(ask(timing, '2026-06-01T00:00:00Z')[0]).toEqual([
      '2026-06-01T14:00:00.000Z',
      '2026-06-01 10:00',
      '-04:00',
      undefined,
    ]);
  });

  test('report a clock change, once', () => {
    // New York goes to summer time on 8 March 2026, and back on 1 November.
    expect(ask(daily({}), '2026-03-07T00:00:00Z').map((row) => [row[0], row[3]])).toEqual([
      ['2026-03-07T15:00:00.000Z', undefined],
      ['2026-03-08T14:00:00.000Z', { kind: 'shifted', before: '-05:00', after: '-04:00' }],
      ['2026-03-09T14:00:00.000Z', undefined],
    ]);
  });

  test('report that a local time does not exist, or occurs twice', () => {
    expect(ask(daily({ time: '02:30' }), '2026-03-08T00:00:00Z')[0]).toEqual([
      '2026-03-08T07:30:00.000Z',
      '2026-03-08 03:30',
      '-04:00',
      { kind: 'skipped', asked: '02:30' },
    ]);
    expect(ask(daily({ time: '01:30' }), '2026-11-01T00:00:00Z')[0]).toEqual([
      '2026-11-01T05:30:00.000Z',
      '2026-11-01 01:30',
      '-04:00',
      { kind: 'twice' },
    ]);
  });

  test('are due when the first zone is, at the local time of every zone, for a campaign in each user’s zone', () => {
    expect(ask(daily({ time: '02:30', inUserZone: 'SKIP' }), '2026-03-07T13:00:00Z')[0]).toEqual([
      '2026-03-08T12:30:00.000Z',
      '2026-03-09 02:30',
      '-04:00',
      undefined,
    ]);
  });

  test('are empty for an immediate campaign and for one started by an event', () => {
    expect(ask({ kind: 'soon' }, '2026-01-01T00:00:00Z')).toEqual([]);
    expect(ask({ kind: 'triggered', startsAt: null, endsAt: null, timeZone: 'UTC' }, '2026-01-01T00:00:00Z')).toEqual(
      [],
    );
  });
});

describe('local send', () => {
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
});

describe('best time', () => {
  const start = new Date('2026-03-01T00:00:00Z');
  const opensAt = (opens: Record<number, number>): number[] =>
    Array.from({ length: 24 }, (_, hour) => opens[hour] ?? 0);
  const rule: BestTime = { windowHours: 24, ifUnknown: 'DO_NOT_SEND', ifOutside: 'DO_NOT_SEND' };

  describe('the best time of a user', () => {
    test.each<[string, Record<number, number>, number]>([
      ['is the hour with the most opens', { 5: 3, 9: 4, 20: 3 }, 9],
      ['the earliest of equal ones', { 9: 3, 20: 3 }, 9],
      ['counts half what was opened in the hour before', { 9: 4, 14: 1, 15: 4 }, 15],
      ['and in the hour after', { 9: 4, 15: 4, 16: 1 }, 15],
      ['which is not the hour itself', { 10: 3, 14: 2, 15: 2 }, 10],
      ['across the end of the day', { 12: 3, 22: 1, 23: 2, 0: 2 }, 23],
      ['and its beginning', { 12: 3, 23: 2, 0: 2, 1: 1 }, 0],
      ['is known from three opens', { 7: 3 }, 7],
    ])('%s', (_what, ...[opens, hour]) => expect(hourOf(opens)).toBe(hour));

    test('is unknown from two opens: the campaign decides', () => {
      const policies = ['DO_NOT_SEND', 'SEND_AT_START', 'SEND_AT_END'] as const;
      for (const opens of [{}, { 7: 2 }])
        expect(policies.map((ifUnknown) => hourOf(opens, { ifUnknown, windowHours: 6 }))).toEqual([undefined, 0, 6]);
    });

    test('may be outside the time of the campaign, which then decides', () => {
      const policies = ['DO_NOT_SEND', 'SEND_AT_START', 'SEND_AT_END'] as const;
      const ask = (hour: number) =>
        policies.map((ifOutside) => hourOf({ [hour]: 3 }, { ifOutside, windowHours: 6, ifUnknown: 'SEND_AT_START' }));
      expect(ask(5)).toEqual([5, 5, 5]);
      expect(ask(6)).toEqual([undefined, 0, 6]);
    });
  });

  test('reports whether a timing uses the best time', () => {
    const daily = { firstDate: '2026-03-01', endDate: '2026-03-09', time: '09:00', timeZone: 'UTC' };
    expect(bestTimeOfTiming({ kind: 'periodic', repeatAfterDays: 1, ...daily, bestTime: rule })).toBe(rule);
    expect(bestTimeOfTiming({ kind: 'periodic', repeatAfterDays: 1, ...daily })).toBeNull();
    expect(bestTimeOfTiming({ kind: 'soon' })).toBeNull();
  });

  /** Hours after the start; undefined: not at all. */
  function hourOf(opens: Record<number, number>, more: Partial<BestTime> = {}): number | undefined {
    const at = bestTimeOf({ ...rule, ...more }, { opens: opensAt(opens), start });
    return at && (at.getTime() - start.getTime()) / 3_600_000;
  }
});

const names = Object.keys(timeZoneAliases);
const seasons = [new Date('2026-01-15T12:00:00Z'), new Date('2026-07-15T12:00:00Z')];

describe('the name of a time zone', () => {
  test('is valid if and only if local times can be computed with it', () => {
    const legacy = ['EST', 'MST', 'HST', 'EST5EDT', 'Asia/Calcutta', 'asia/calcutta', 'GB', 'ROC', 'Zulu', 'W-SU'];
    const wrong = ['+05:30', 'GMT+5:30', 'Mars/Phobos', 'India', 'XYZ', '', ' ', 'a\0b', 'constructor', 'UTC '];
    for (const name of [...Intl.supportedValuesOf('timeZone'), ...legacy, ...names]) {
      const zone = findTimeZone(name);
      expect(zone, name).toBeDefined();
      expect(toInstant({ date: '2026-03-01', time: '09:00', timeZone: name }), name).toEqual(
        toInstant({ date: '2026-03-01', time: '09:00', timeZone: zone! }),
      );
    }
    for (const name of wrong) expect(findTimeZone(name), name).toBeUndefined();
  });

  test.each(names)('maps %s, which Intl knows and Temporal rejects, to the zone that ICU means', (name) => {
    const zone = findTimeZone(name)!;
    expect(findTimeZone(name.toLowerCase())).toBe(zone);
    for (const at of seasons) {
      expect(offsetAt(at, zone)).toBe(offsetOfIntl(at, name));
      expect([localDate(at, name), localTime(at, name)]).toEqual([localDate(at, zone), localTime(at, zone)]);
    }
  });

  test('has 25 aliases, of which IST is India', () => {
    expect(names).toHaveLength(25);
    expect(findTimeZone('IST')).toBe('Asia/Kolkata');
  });
});

/** The same at one instant for all. */
function forAll(timing: Timing): Timing {
  const { inUserZone: _own, ...rest } = timing as Extract<Timing, { kind: 'later' }>;
  return rest;
}

/** As the machine's ICU reckons. */
function offsetOfIntl(at: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(at);
  const text = parts.find(({ type }) => type === 'timeZoneName')!.value.replace('GMT', '');
  return text === '' ? '+00:00' : text;
}

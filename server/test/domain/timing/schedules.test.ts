import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { calendarDates } from '../../../src/domain/timing/calendar.ts';
import type { CalendarRule, MonthWeekday, Weekday } from '../../../src/domain/timing/calendar.ts';
import { addDays, localDate, parseDate, parseTime, toInstant } from '../../../src/domain/timing/local-time.ts';
import { nextOccurrences } from '../../../src/domain/timing/occurrences.ts';
import { parseTiming } from '../../../src/domain/timing/push-timing.ts';
import type { Timing } from '../../../src/domain/timing/timing.ts';
import { propertyRuns } from '../../property-runs.ts';

const now = new Date('2026-03-01T12:00:00Z');
const context = { now, workspaceTimeZone: 'UTC' };

describe('local times (decision D36)', () => {
  // Instants checked by hand against the tz database.
  test.each([
    [
      'a skipped time moves forward by the gap',
      { date: '2026-03-08', time: '02:30', timeZone: 'America/New_York' },
      '2026-03-08T07:30:00Z',
    ],
    [
      'a repeated time means the first',
      { date: '2026-11-01', time: '01:30', timeZone: 'America/New_York' },
      '2026-11-01T05:30:00Z',
    ],
    [
      'a gap of half an hour',
      { date: '2026-10-04', time: '02:10', timeZone: 'Australia/Lord_Howe' },
      '2026-10-03T15:40:00Z',
    ],
    ['a zone without changes', { date: '2026-07-01', time: '09:00', timeZone: 'Asia/Kolkata' }, '2026-07-01T03:30:00Z'],
    ['an old alias', { date: '2026-07-01', time: '09:00', timeZone: 'Asia/Calcutta' }, '2026-07-01T03:30:00Z'],
    [
      'the zone ahead of all',
      { date: '2026-01-01', time: '00:00', timeZone: 'Pacific/Kiritimati' },
      '2025-12-31T10:00:00Z',
    ],
  ])('are: %s', (_what, local, instant) =>
    expect(toInstant(local).toISOString()).toBe(new Date(instant).toISOString()),
  );

  test.each([
    ['02/28/2026', '2026-02-28'],
    ['02/29/2028', '2028-02-29'],
    ['02/30/2026', undefined],
    ['13/01/2026', undefined],
    ['2/3/2026', undefined],
    ['2026-02-03', undefined],
    ['02/29/2026', undefined],
    ['', undefined],
  ])('parse the date %s as %s', (text, date) => expect(parseDate(text)).toBe(date));

  test.each([
    ['09:05 AM', '09:05'],
    ['12:00 AM', '00:00'],
    ['12:30 PM', '12:30'],
    ['11:59 pm', '23:59'],
    ['9:05 AM', '09:05'],
    ['00:30 AM', undefined],
    ['13:00 PM', undefined],
    ['09:60 AM', undefined],
    ['09:05', undefined],
    ['21:05', undefined],
  ])('parse the time %s as %s', (text, time) => expect(parseTime(text)).toBe(time));
});

describe('recurring sends', () => {
  const periodic = (input: object): Timing => {
    const timing = parseTiming(
      { type: 'periodic', time: '09:00 AM', endDate: '12/31/2026', repeatAfter: '1', ...input },
      context,
    );
    if ('fault' in timing) throw new Error(timing.fault.reason);
    return timing;
  };

  test('start at the next occurrence of the time, and end on or before the end date', () => {
    const occurrences = nextOccurrences(periodic({ endDate: '03/06/2026', repeatAfter: '2' }), {
      after: now,
      count: 10,
    });
    expect(occurrences.map((occurrence) => occurrence.toISOString())).toEqual([
      '2026-03-02T09:00:00.000Z',
      '2026-03-04T09:00:00.000Z',
      '2026-03-06T09:00:00.000Z',
    ]);
    expect(nextOccurrences(periodic({ time: '12:01 PM' }), { after: now, count: 1 })[0]!.toISOString()).toBe(
      '2026-03-01T12:01:00.000Z',
    );
  });

  test.each([
    {
      what: '02:30 in New York happens once on the day that skips it',
      given: { time: '02:30 AM', timezone: 'America/New_York' },
      after: '2026-03-07T12:00:00Z',
      expected: ['2026-03-08T07:30:00.000Z', '2026-03-09T06:30:00.000Z'],
    },
    {
      what: '23:00 in Scoresbysund falls on midnight on the day whose last hour is skipped',
      given: { time: '11:00 PM', timezone: 'America/Scoresbysund' },
      after: '2026-03-28T12:00:00Z',
      expected: ['2026-03-29T01:00:00.000Z', '2026-03-30T00:00:00.000Z'],
    },
  ])('are $what', ({ given, after, expected }) => {
    const occurrences = nextOccurrences(periodic(given), { after: new Date(after), count: 2 });
    expect(occurrences.map((occurrence) => occurrence.toISOString())).toEqual(expected);
  });

  test('strictly increase in every zone and fall on the requested days', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 1439 }),
        fc.integer({ min: 1, max: 40 }),
        (timeZone, minute, repeatAfterDays) => {
          const time = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
          const timing: Timing = {
            kind: 'periodic',
            firstDate: '2026-01-01',
            endDate: '2027-12-31',
            time,
            timeZone,
            repeatAfterDays,
          };
          const all = nextOccurrences(timing, { after: new Date('2025-12-01T00:00:00Z'), count: 1000 });
          expect(all.length).toBe(Math.floor(729 / repeatAfterDays) + 1);
          all.forEach((occurrence, index) => {
            const wanted = addDays('2026-01-01', index * repeatAfterDays);
            const day = localDate(occurrence, timeZone);
            // The hour before midnight may be the one that a clock change skips: it ends on the next day (decision D36).
            if (day === wanted) return;
            expect([day, localDate(new Date(occurrence.getTime() - 3_600_000), timeZone)]).toEqual([
              addDays(wanted, 1),
              wanted,
            ]);
          });
          for (let index = 1; index < all.length; index += 1) expect(all[index]! > all[index - 1]!).toBe(true);
          // Asking again from the middle gives the same series: preview and firing agree.
          const middle = all[Math.floor(all.length / 2)]!;
          expect(nextOccurrences(timing, { after: middle, count: 1 })).toEqual(
            all.slice(Math.floor(all.length / 2) + 1).slice(0, 1),
          );
        },
      ),
      { numRuns: propertyRuns(40) },
    );
  });
});

const zones = Intl.supportedValuesOf('timeZone');
const weekdays: Weekday[] = [1, 2, 3, 4, 5, 6, 7];
const firstDate = '2026-01-01';

const rules: fc.Arbitrary<CalendarRule> = fc.oneof(
  fc.record({
    every: fc.constant('week' as const),
    step: fc.integer({ min: 1, max: 8 }),
    weekdays: fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }),
  }),
  fc.record({
    every: fc.constant('month' as const),
    step: fc.integer({ min: 1, max: 12 }),
    dates: fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { minLength: 1, maxLength: 5 }),
    weekdays: fc.array(
      fc.record({
        week: fc.constantFrom<MonthWeekday['week']>(1, 2, 3, 4, 5, 'last'),
        weekday: fc.constantFrom(...weekdays),
      }),
      { maxLength: 3 },
    ),
  }),
);

describe('days that repeat by the calendar', () => {
  test('are the intended days, in order, each once, from any first day', () => {
    fc.assert(
      fc.property(rules, fc.integer({ min: 0, max: 400 }), (rule, shift) => {
        const first = addDays(firstDate, shift);
        const until = addDays(first, 900);
        const all = [...calendarDates(rule, { firstDate: first, from: first, until })];
        expect(all).toEqual(wantedDays(rule, first, until));
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('are the rest of the same series from a later day on', () => {
    fc.assert(
      fc.property(rules, fc.integer({ min: -10, max: 900 }), (rule, shift) => {
        const until = addDays(firstDate, 900);
        const from = addDays(firstDate, shift);
        const all = [...calendarDates(rule, { firstDate, from: firstDate, until })];
        expect([...calendarDates(rule, { firstDate, from, until })]).toEqual(all.filter((day) => day >= from));
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test.each<[string, CalendarRule, string[]]>([
    [
      'the 31st is left out where a month has none',
      { every: 'month', step: 1, dates: [31], weekdays: [] },
      ['2026-01-31', '2026-03-31', '2026-05-31'],
    ],
    [
      'a fifth Friday too; the last one is always there',
      { every: 'month', step: 1, dates: [], weekdays: [{ week: 5, weekday: 5 }] },
      ['2026-01-30', '2026-05-29'],
    ],
    [
      'the last Friday',
      { every: 'month', step: 2, dates: [], weekdays: [{ week: 'last', weekday: 5 }] },
      ['2026-01-30', '2026-03-27', '2026-05-29'],
    ],
    [
      'every second week counts from the Monday of the first day, a Thursday',
      { every: 'week', step: 2, weekdays: [1, 4] },
      ['2026-01-01', '2026-01-12', '2026-01-15', '2026-01-26', '2026-01-29'],
    ],
  ])('are %s', (_name, rule, days) => {
    const until = rule.every === 'week' ? '2026-02-01' : '2026-05-31';
    expect([...calendarDates(rule, { firstDate, from: firstDate, until })]).toEqual(days);
  });
});

describe('sends by the calendar', () => {
  test('strictly increase in every zone, on the intended days unless a clock change moves one (decision D36)', () => {
    fc.assert(
      fc.property(
        fc.record({
          rule: rules,
          timeZone: fc.constantFrom(...zones),
          minute: fc.integer({ min: 0, max: 1_439 }),
          pick: fc.nat(),
        }),
        ({ rule, timeZone, minute, pick }) => {
          const time = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
          const timing: Timing = { kind: 'calendar', rule, firstDate, endDate: '2027-12-31', time, timeZone };
          const all = nextOccurrences(timing, { after: new Date('2025-12-01T00:00:00Z'), count: 1_000 });
          const wanted = wantedDays(rule, firstDate, '2027-12-31');
          expect(all.length).toBe(wanted.length);
          all.forEach((occurrence, index) => {
            if (index > 0) expect(occurrence > all[index - 1]!).toBe(true);
            const day = localDate(occurrence, timeZone);
            expect([wanted[index]!, addDays(wanted[index]!, 1)]).toContain(day);
          });
          if (all.length === 0) return;
          const at = pick % all.length;
          expect(nextOccurrences(timing, { after: all[at]!, count: 2 })).toEqual(all.slice(at + 1, at + 3));
          expect(nextOccurrences(timing, { after: new Date(all[at]!.getTime() - 1), count: 1 })).toEqual([all[at]]);
        },
      ),
      { numRuns: propertyRuns(60) },
    );
  });

  test('happen once at 02:30 in New York on the Sunday that skips it, and once on the one that repeats it', () => {
    const rule: CalendarRule = { every: 'week', step: 1, weekdays: [7] };
    const timing: Timing = {
      kind: 'calendar',
      rule,
      firstDate: '2026-03-01',
      endDate: '2026-11-08',
      time: '02:30',
      timeZone: 'America/New_York',
    };
    const after = (instant: string) => nextOccurrences(timing, { after: new Date(instant), count: 2 });
    expect(after('2026-03-02T00:00:00Z').map((occurrence) => occurrence.toISOString())).toEqual([
      '2026-03-08T07:30:00.000Z',
      '2026-03-15T06:30:00.000Z',
    ]);
    expect(after('2026-10-31T00:00:00Z').map((occurrence) => occurrence.toISOString())).toEqual([
      '2026-11-01T07:30:00.000Z',
      '2026-11-08T07:30:00.000Z',
    ]);
  });
});

/** Whether a day is meant, asked of the day alone: another way than the one that makes the series. */
function isMeant(rule: CalendarRule, first: string, day: string): boolean {
  const date = Temporal.PlainDate.from(day);
  const start = Temporal.PlainDate.from(first);
  if (rule.every === 'week') {
    const monday = (of: Temporal.PlainDate) => of.subtract({ days: of.dayOfWeek - 1 });
    const weeks = monday(start).until(monday(date), { largestUnit: 'day' }).days / 7;
    return weeks % rule.step === 0 && rule.weekdays.includes(date.dayOfWeek as Weekday);
  }
  const months = (date.year - start.year) * 12 + date.month - start.month;
  if (months % rule.step !== 0) return false;
  if (rule.dates.includes(date.day)) return true;
  return rule.weekdays.some(({ week, weekday }) => {
    if (weekday !== date.dayOfWeek) return false;
    return week === 'last' ? date.day + 7 > date.daysInMonth : Math.ceil(date.day / 7) === week;
  });
}

function wantedDays(rule: CalendarRule, first: string, until: string): string[] {
  const days: string[] = [];
  for (let day = first; day <= until; day = addDays(day, 1)) if (isMeant(rule, first, day)) days.push(day);
  return days;
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, localDate, parseDate, parseTime, toInstant } from '../../src/domain/timing/local-time.ts';
import { nextOccurrences } from '../../src/domain/timing/occurrences.ts';
import { parseTiming } from '../../src/domain/timing/push-timing.ts';
import type { Timing } from '../../src/domain/timing/timing.ts';
import { propertyRuns } from '../property-runs.ts';

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

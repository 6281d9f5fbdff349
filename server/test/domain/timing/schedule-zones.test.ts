import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { addDays, localDate } from '../../../src/domain/timing/local-time.ts';
import { nextOccurrences } from '../../../src/domain/timing/occurrences.ts';
import type { Timing } from '../../../src/domain/timing/timing.ts';
import { propertyRuns } from '../../property-runs.ts';

const zones = Intl.supportedValuesOf('timeZone');
const firstYear = 2026;
const years = 10;
const hour = 3_600_000;

type Periodic = Extract<Timing, { kind: 'periodic' }>;

const localTime = (occurrence: Date, timeZone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(occurrence.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainTime()
    .toString()
    .slice(0, 5);

const formats = new Map<string, Intl.DateTimeFormat>();

describe('recurring sends in every zone over ten years (fault F11)', () => {
  test('are correct around every clock change, at times in the gap, in the overlap and next to them', () => {
    let checked = 0;
    const seen = new Set<string>();
    for (const timeZone of zones) {
      const changes = changesOf(timeZone);
      // Many zones share their rules for these years: one of each is tried, and every one under FULL=1.
      const rules = changes.map((change) => `${change.epochMilliseconds} ${change.offset}`).join();
      if (seen.has(rules) && process.env.FULL !== '1') continue;
      seen.add(rules);
      for (const change of changes) {
        const day = change.toPlainDate();
        // The time just before the change, the time it leads to, and the middle between them.
        const before = change.subtract({ nanoseconds: 1 }).toPlainTime();
        const minutes = [before.hour * 60 + before.minute, change.hour * 60 + change.minute];
        const middle = (minutes[0]! + 30) % 1_440;
        for (const minute of [...minutes, middle]) {
          const series = {
            kind: 'periodic',
            firstDate: day.subtract({ days: 2 }).toString(),
            endDate: day.add({ days: 2 }).toString(),
            time: timeOfDay(minute),
            timeZone,
            repeatAfterDays: 1,
          } as const;
          checked += checkSeries(series).length;
        }
      }
    }
    expect(zones.length).toBeGreaterThan(400);
    expect(seen.size).toBeGreaterThan(20);
    expect(checked).toBeGreaterThan(process.env.FULL === '1' ? 10_000 : 3_000);
  }, 120_000);

  test('are complete series for sampled zones, times and steps; any start instant gives the rest', () => {
    fc.assert(
      fc.property(
        fc.record({
          timeZone: fc.constantFrom(...zones),
          minute: fc.integer({ min: 0, max: 1_439 }),
          repeatAfterDays: fc.constantFrom(1, 1, 2, 3, 7, 30, 365),
          pick: fc.nat(),
        }),
        ({ timeZone, minute, repeatAfterDays, pick }) => {
          const timing: Periodic = {
            kind: 'periodic',
            firstDate: `${firstYear}-01-01`,
            endDate: `${firstYear + years - 1}-12-31`,
            time: timeOfDay(minute),
            timeZone,
            repeatAfterDays,
          };
          const all = checkSeries(timing);
          const at = pick % all.length;
          const after = new Date(all[at]!.getTime() - 1);
          expect(nextOccurrences(timing, { after, count: 3 })).toEqual(all.slice(at, at + 3));
          expect(nextOccurrences(timing, { after: all[at]!, count: 3 })).toEqual(all.slice(at + 1, at + 4));
        },
      ),
      { numRuns: propertyRuns(40, 5) },
    );
  }, 120_000);

  test('include a send that a gap moves over midnight, from any instant before it', () => {
    const timing: Periodic = {
      kind: 'periodic',
      firstDate: '2026-03-26',
      endDate: '2026-03-30',
      time: '23:30',
      timeZone: 'America/Scoresbysund',
      repeatAfterDays: 1,
    };
    // 2026-03-28 23:30 does not exist there: it is 00:30 on the 29th, 2026-03-29T01:30Z.
    const moved = new Date('2026-03-29T01:30:00Z');
    expect(nextOccurrences(timing, { after: new Date('2026-03-29T01:10:00Z'), count: 2 })).toEqual([
      moved,
      new Date('2026-03-30T00:30:00Z'),
    ]);
  });

  test('do not occur on a day that a zone skips (Apia, 2011-12-30)', () => {
    const timing: Periodic = {
      kind: 'periodic',
      firstDate: '2011-12-28',
      endDate: '2012-01-01',
      time: '09:00',
      timeZone: 'Pacific/Apia',
      repeatAfterDays: 1,
    };
    const occurrences = nextOccurrences(timing, { after: new Date('2011-12-01T00:00:00Z'), count: 10 });
    expect(occurrences.map((occurrence) => localDate(occurrence, timing.timeZone))).toEqual([
      '2011-12-28',
      '2011-12-29',
      '2011-12-31',
      '2012-01-01',
    ]);
  });
});

/** Every day that the series means, by the calendar alone. */
function wantedDays({ firstDate, endDate, repeatAfterDays }: Periodic): string[] {
  const days: string[] = [];
  for (let date = firstDate; date <= endDate; date = addDays(date, repeatAfterDays)) days.push(date);
  return days;
}

function timeOfDay(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

/**
 * What holds for every series: one send for each day it means, in order, at the local time, or later by the gap where
 * that day skips it; never two daily sends within 20 hours, nor on one local day unless a gap moved one over midnight.
 */
function checkSeries(timing: Periodic): Date[] {
  const days = wantedDays(timing);
  const after = new Date(Date.parse(`${timing.firstDate}T00:00:00Z`) - 48 * hour);
  const occurrences = nextOccurrences(timing, { after, count: days.length + 1 });
  const about = `${timing.timeZone} ${timing.time} from ${timing.firstDate} every ${timing.repeatAfterDays}`;
  expect(occurrences.length, `none missing, none too many: ${about}`).toBe(days.length);
  occurrences.forEach((occurrence, index) => {
    const isOnTime = localTime(occurrence, timing.timeZone) === timing.time;
    const isOnDay = localDate(occurrence, timing.timeZone) === days[index];
    if (!isOnTime || !isOnDay) {
      const gap = gapThatSkips(timing, days[index]!);
      expect(gap, `${occurrence.toISOString()} is not at its time: ${about}`).toBeDefined();
      const wanted = Temporal.PlainDateTime.from(`${days[index]!}T${timing.time}`).add({ minutes: gap! });
      const { timeZone } = timing;
      const actual = Temporal.Instant.fromEpochMilliseconds(occurrence.getTime())
        .toZonedDateTimeISO(timeZone)
        .toPlainDateTime();
      expect(actual.toString(), `moved by the gap: ${about}`).toBe(wanted.toString());
    }
    const previous = occurrences[index - 1];
    if (previous) expect(occurrence.getTime() - previous.getTime(), about).toBeGreaterThanOrEqual(20 * hour);
  });
  return occurrences;
}

/** Minutes that a zone is ahead of UTC. Asked of Intl, not of Temporal. */
function offsetAt(at: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    formats.set(timeZone, format);
  }
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const local = Date.parse(`${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}:00Z`);
  return Math.round((local - at) / 60_000);
}

/**
 * Minutes a clock change skips around a local time, or undefined when the time exists: when one of the offsets that the
 * zone has around it leads to an instant at which the zone has that offset.
 */
function gapThatSkips({ time, timeZone }: Periodic, day: string): number | undefined {
  const middle = Date.parse(`${day}T${time}:00Z`);
  const offsets = [-30, -24, -18, -12, -6, 0, 6, 12, 18, 24, 30].map((by) => offsetAt(middle + by * hour, timeZone));
  if (offsets.some((offset) => offsetAt(middle - offset * 60_000, timeZone) === offset)) return undefined;
  return offsets.at(-1)! - offsets[0]!;
}

/** The clock changes of a zone in these years. */
function changesOf(timeZone: string): Temporal.ZonedDateTime[] {
  const found: Temporal.ZonedDateTime[] = [];
  let at = Temporal.PlainDate.from({ year: firstYear, month: 1, day: 1 }).toZonedDateTime(timeZone);
  for (;;) {
    const next = at.getTimeZoneTransition('next');
    if (!next || next.year >= firstYear + years) return found;
    found.push(next);
    at = next;
  }
}

import { describe, expect, test } from 'vitest';
import { localTime, parseDate, parseTime, findTimeZone } from '../../../src/domain/timing/local-time.ts';
import { nextOccurrences } from '../../../src/domain/timing/occurrences.ts';
import { parseTiming } from '../../../src/domain/timing/push-timing.ts';
import type { TimingInput } from '../../../src/domain/timing/push-timing.ts';
import type { Timing } from '../../../src/domain/timing/timing.ts';

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
    ['later, by an alias', { ...later, timezone: 'ist' }, { ...at('2026-03-02T03:30:00Z'), timeZone: 'Asia/Kolkata' }],
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

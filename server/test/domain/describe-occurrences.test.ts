import { describe, expect, test } from 'vitest';
import { describeOccurrences, nextOccurrences } from '../../src/domain/timing/occurrences.ts';
import type { Timing } from '../../src/domain/timing/timing.ts';

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

describe('the next occurrences', () => {
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

  test('are those of the first zone for a campaign in each user’s zone, without a clock note', () => {
    expect(ask(daily({ time: '02:30', inUserZone: 'SKIP' }), '2026-03-07T13:00:00Z')[0]).toEqual([
      '2026-03-08T12:30:00.000Z',
      '2026-03-08 08:30',
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

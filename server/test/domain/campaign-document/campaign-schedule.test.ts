import { describe, expect, test } from 'vitest';
import { startOf, whatMayNotChange, mergeParts } from '../../../src/domain/campaign-document/changes.ts';
import { scheduleTiming } from '../../../src/domain/campaign-document/schedule.ts';
import type { Schedule } from '../../../src/domain/campaign-document/schedule.ts';
import { read } from './campaign-bodies.ts';
import type { Json } from './campaign-bodies.ts';

const fixed = { delivery_type: 'AT_FIXED_TIME', start_time: '2026-03-10T10:00:00' };
const once = (details: Json): Json => ({ scheduling_details: { ...fixed, ...details } });
const repeated = (period: Json, details: Json = {}): Json => ({
  campaign_delivery_type: 'PERIODIC',
  scheduling_details: { ...fixed, expiry_time: '2026-04-10T10:00:00', periodic_details: period, ...details },
});
const onEvent = (details: Json): Json => ({
  campaign_delivery_type: 'BUSINESS_EVENT_TRIGGERED',
  'basic_details.business_event': 'Late',
  scheduling_details: details,
});
const start = { date: '2026-03-10', time: '10:00' };
const expiry = { date: '2026-04-10', time: '10:00' };
const period = (more: object) => ({
  kind: 'repeated',
  start,
  expiry,
  period: { step: 1, occurrences: undefined, ...more },
  timeZone: undefined,
});

describe('a schedule (fact 6.2)', () => {
  test.each<[string, Json, object]>([
    [
      'at once',
      { scheduling_details: { delivery_type: 'asap', timezone: 'Europe/Rome' } },
      { kind: 'asap', timeZone: 'Europe/Rome' },
    ],
    ['at a time', once({}), { kind: 'once', start, timeZone: undefined }],
    ['at a time of a zone', once({ timezone: 'Asia/Kolkata' }), { kind: 'once', start, timeZone: 'Asia/Kolkata' }],
    [
      'at a second',
      once({ start_time: '2026-03-10 10:00:05' }),
      { kind: 'once', start: { date: '2026-03-10', time: '10:00:05' }, timeZone: undefined },
    ],
    ['at a minute', once({ start_time: '2026-03-10T10:00' }), { kind: 'once', start, timeZone: undefined }],
    [
      'at an instant',
      once({ start_time: '2026-03-10T10:00:00.123Z' }),
      { kind: 'once', start: { at: new Date('2026-03-10T10:00:00Z') }, timeZone: undefined },
    ],
    [
      'at an instant with an offset',
      once({ start_time: '2026-03-10T10:00:05+05:30' }),
      { kind: 'once', start: { at: new Date('2026-03-10T04:30:05Z') }, timeZone: undefined },
    ],
    [
      'at an instant with a short offset',
      once({ start_time: '2026-03-10T10:00-0330' }),
      { kind: 'once', start: { at: new Date('2026-03-10T13:30:00Z') }, timeZone: undefined },
    ],
    [
      'on a day that there is every four years',
      once({ start_time: '2028-02-29T10:00:00' }),
      { kind: 'once', start: { date: '2028-02-29', time: '10:00' }, timeZone: undefined },
    ],
    [
      'in every zone',
      once({ delivery_type: 'SEND_IN_USER_TIMEZONE' }),
      { kind: 'once', start, timeZone: undefined, inUserZone: 'SKIP' },
    ],
    [
      'in every zone, later where it has passed',
      once({
        delivery_type: 'SEND_IN_USER_TIMEZONE',
        user_timezone_details: { send_if_user_timezone_has_passed: true },
      }),
      { kind: 'once', start, timeZone: undefined, inUserZone: 'SEND' },
    ],
    [
      'not where it has passed',
      once({
        delivery_type: 'SEND_IN_USER_TIMEZONE',
        user_timezone_details: { send_if_user_timezone_has_passed: false },
      }),
      { kind: 'once', start, timeZone: undefined, inUserZone: 'SKIP' },
    ],
    [
      "at each user's best time",
      once({ delivery_type: 'SEND_IN_BTS' }),
      {
        kind: 'once',
        start,
        timeZone: undefined,
        bestTime: { windowHours: 24, ifUnknown: 'SEND_AT_START', ifOutside: 'SEND_AT_START' },
      },
    ],
    [
      "at each user's best time of some hours",
      once({
        delivery_type: 'SEND_IN_BTS',
        bts_details: {
          window_in_hours: 1,
          if_best_time_is_unknown: 'DO_NOT_SEND',
          if_best_time_is_outside: 'SEND_AT_START',
        },
      }),
      {
        kind: 'once',
        start,
        timeZone: undefined,
        bestTime: { windowHours: 1, ifUnknown: 'DO_NOT_SEND', ifOutside: 'SEND_AT_START' },
      },
    ],
    ['every day', repeated({ sending_frequency: 'DAILY' }), period({ every: 'day' })],
    [
      'every 365 days, 1,000 times',
      repeated({ sending_frequency: 'DAILY', repeat_frequency: 365, no_of_occurences: 1_000 }),
      period({ every: 'day', step: 365, occurrences: 1_000 }),
    ],
    [
      'so often, without an end',
      repeated({ sending_frequency: 'daily', no_of_occurences: 3 }, { expiry_time: undefined }),
      { ...period({ every: 'day', occurrences: 3 }), expiry: undefined },
    ],
    [
      'every week',
      repeated({ sending_frequency: 'WEEKLY', repeat_frequency: 52 }),
      period({ every: 'week', step: 52, weekdays: [] }),
    ],
    [
      'on days of the week',
      repeated({ sending_frequency: 'WEEKLY', repeat_on_days_of_week: ['sunday', 'Mon', 'WED', 'monday'] }),
      period({ every: 'week', weekdays: [1, 3, 7] }),
    ],
    [
      'every month',
      repeated({ sending_frequency: 'MONTHLY', repeat_frequency: 12 }),
      period({ every: 'month', step: 12, dates: [], weekdays: [] }),
    ],
    [
      'on days of the month',
      repeated({ sending_frequency: 'MONTHLY', repeat_on_date_of_month: [31, 9, '10', 1, 9] }),
      period({ every: 'month', dates: [1, 9, 10, 31], weekdays: [] }),
    ],
    [
      'on weekdays of the month',
      repeated({
        sending_frequency: 'MONTHLY',
        repeat_on_days_of_week_for_month: [
          { week_granularity: 'FIRST', repeat_on_days_of_week: ['MONDAY', 'TUE'] },
          { week_granularity: 'last', repeat_on_days_of_week: ['SATURDAY'] },
        ],
      }),
      period({
        every: 'month',
        dates: [],
        weekdays: [
          { week: 1, weekday: 1 },
          { week: 1, weekday: 2 },
          { week: 'last', weekday: 6 },
        ],
      }),
    ],
    [
      'with an event',
      onEvent({ delivery_type: 'ASAP' }),
      { kind: 'triggered', start: undefined, expiry: undefined, timeZone: undefined },
    ],
    [
      'with an event, from a time to another',
      onEvent({ ...fixed, expiry_time: '2026-04-10T10:00:00' }),
      { kind: 'triggered', start, expiry, timeZone: undefined },
    ],
  ])('%s', (_name, changes, schedule) => {
    const { told, definition } = read(changes);
    expect(told).toEqual([]);
    expect(definition!.schedule).toStrictEqual(schedule);
  });
});

const invalid = 'must be a date and time as YYYY-MM-DDThh:mm:ss';

describe('an invalid schedule (fact 6.2)', () => {
  test.each<[string, Json, string[]]>([
    ['nothing', { scheduling_details: { timezone: 'UTC' } }, ['delivery_type: missing']],
    [
      'another type',
      { scheduling_details: { delivery_type: 'LATER' } },
      [
        'delivery_type: must be one of ASAP, AT_FIXED_TIME, SEND_IN_USER_TIMEZONE, SEND_IN_BTS in this version, not "LATER"',
      ],
    ],
    ['no zone', once({ timezone: 'Mars/Base' }), ['timezone: is not a time-zone name']],
    [
      'a time without a type',
      { scheduling_details: { ...fixed, delivery_type: 'ASAP' } },
      ['start_time: needs AT_FIXED_TIME'],
    ],
    ['no time', once({ start_time: undefined }), ['start_time: missing']],
    [
      'an end of one',
      once({ expiry_time: '2026-04-10T10:00:00' }),
      ['expiry_time: is for campaigns that are sent more than once'],
    ],
    [
      'days of one',
      once({ periodic_details: { sending_frequency: 'DAILY' } }),
      ['periodic_details: is for campaigns of type PERIODIC'],
    ],
    [
      'zones without the type',
      once({ user_timezone_details: { send_if_user_timezone_has_passed: true } }),
      ['user_timezone_details: needs SEND_IN_USER_TIMEZONE'],
    ],
    ['best times without the type', once({ bts_details: { window_in_hours: 1 } }), ['bts_details: needs SEND_IN_BTS']],
    [
      'other best times',
      once({
        delivery_type: 'SEND_IN_BTS',
        bts_details: {
          window_in_hours: 25,
          if_best_time_is_unknown: 'WAIT',
          if_best_time_is_outside: 'WAIT',
          other: 1,
        },
      }),
      [
        'bts_details.window_in_hours: must be a whole number from 1 to 24',
        'bts_details.if_best_time_is_unknown: must be one of SEND_AT_START, SEND_AT_END, DO_NOT_SEND in this version, not "WAIT"',
        'bts_details.if_best_time_is_outside: must be one of SEND_AT_START, SEND_AT_END, DO_NOT_SEND in this version, not "WAIT"',
        'bts_details.other: is not available in this version',
      ],
    ],
    [
      'best times of no hours',
      once({ delivery_type: 'SEND_IN_BTS', bts_details: { window_in_hours: 0 } }),
      ['bts_details.window_in_hours: must be a whole number from 1 to 24'],
    ],
    [
      'a zone of every user for an event',
      onEvent({ ...fixed, delivery_type: 'SEND_IN_USER_TIMEZONE' }),
      ['delivery_type: must be ASAP or AT_FIXED_TIME for a campaign of an event'],
    ],
    [
      'a best time for an event',
      onEvent({ ...fixed, delivery_type: 'SEND_IN_BTS' }),
      ['delivery_type: must be ASAP or AT_FIXED_TIME for a campaign of an event'],
    ],
    [
      'at once, every day',
      repeated({ sending_frequency: 'DAILY' }, { delivery_type: 'ASAP', start_time: undefined }),
      ['delivery_type: must name a time for a campaign of type PERIODIC'],
    ],
    ['no end', repeated({ sending_frequency: 'DAILY' }, { expiry_time: undefined }), ['expiry_time: missing']],
    ['no frequency', repeated({ repeat_frequency: 1 }), ['periodic_details.sending_frequency: missing']],
    [
      'another frequency',
      repeated({ sending_frequency: 'HOURLY' }),
      ['periodic_details.sending_frequency: must be one of DAILY, WEEKLY, MONTHLY in this version, not "HOURLY"'],
    ],
    [
      'steps of too many days',
      repeated({ sending_frequency: 'DAILY', repeat_frequency: 366 }),
      ['periodic_details.repeat_frequency: must be a whole number from 1 to 365'],
    ],
    [
      'steps of too many weeks',
      repeated({ sending_frequency: 'WEEKLY', repeat_frequency: 53 }),
      ['periodic_details.repeat_frequency: must be a whole number from 1 to 52'],
    ],
    [
      'steps of too many months',
      repeated({ sending_frequency: 'MONTHLY', repeat_frequency: 13 }),
      ['periodic_details.repeat_frequency: must be a whole number from 1 to 12'],
    ],
    [
      'no steps',
      repeated({ sending_frequency: 'DAILY', repeat_frequency: 0 }),
      ['periodic_details.repeat_frequency: must be a whole number from 1 to 365'],
    ],
    [
      '1,001 times',
      repeated({ sending_frequency: 'DAILY', no_of_occurences: 1_001 }),
      ['periodic_details.no_of_occurences: must be a whole number from 1 to 1000'],
    ],
    [
      'no time at all',
      repeated({ sending_frequency: 'DAILY', no_of_occurences: 0 }),
      ['periodic_details.no_of_occurences: must be a whole number from 1 to 1000'],
    ],
    [
      'days of weeks and months every day',
      repeated({
        sending_frequency: 'DAILY',
        repeat_on_days_of_week: ['MON'],
        repeat_on_date_of_month: [1],
        repeat_on_days_of_week_for_month: [{ week_granularity: 'FIRST', repeat_on_days_of_week: ['MON'] }],
      }),
      ['repeat_on_days_of_week', 'repeat_on_date_of_month', 'repeat_on_days_of_week_for_month'].map(
        (name) => `periodic_details.${name}: is not for daily campaigns`,
      ),
    ],
    [
      'days of months every week',
      repeated({ sending_frequency: 'WEEKLY', repeat_on_date_of_month: [1] }),
      ['periodic_details.repeat_on_date_of_month: is not for weekly campaigns'],
    ],
    [
      'days of weeks every month',
      repeated({ sending_frequency: 'MONTHLY', repeat_on_days_of_week: ['MON'] }),
      ['periodic_details.repeat_on_days_of_week: is not for monthly campaigns'],
    ],
    ...['MO', 'MOND', 'MONDAYS', 'DAY', '', 1].map((day): [string, Json, string[]] => [
      `the day ${JSON.stringify(day)}`,
      repeated({ sending_frequency: 'WEEKLY', repeat_on_days_of_week: ['FRI', day] }),
      [
        'periodic_details.repeat_on_days_of_week: must hold only MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY',
      ],
    ]),
    [
      'eight days of the week',
      repeated({ sending_frequency: 'WEEKLY', repeat_on_days_of_week: Array(8).fill('MON') }),
      ['periodic_details.repeat_on_days_of_week: must be a list of at most 7 items'],
    ],
    ...[0, 32, 1.5, 'first'].map((day): [string, Json, string[]] => [
      `the date ${JSON.stringify(day)}`,
      repeated({ sending_frequency: 'MONTHLY', repeat_on_date_of_month: [1, day] }),
      ['periodic_details.repeat_on_date_of_month: must hold whole numbers from 1 to 31'],
    ]),
    [
      'weeks of the month that are none',
      repeated({
        sending_frequency: 'MONTHLY',
        repeat_on_days_of_week_for_month: [{}, { week_granularity: 'SIXTH', repeat_on_days_of_week: ['XXX'] }],
      }),
      [
        '[0].week_granularity: missing',
        '[0].repeat_on_days_of_week: missing',
        '[1].week_granularity: must be one of FIRST, SECOND, THIRD, FOURTH, FIFTH, LAST in this version, not "SIXTH"',
        '[1].repeat_on_days_of_week: must hold only MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY',
      ].map((told) => `periodic_details.repeat_on_days_of_week_for_month${told}`),
    ],
    ...[
      '2026-03-10',
      '10.03.2026 10:00',
      '2026-03-10T24:00',
      '2026-03-10T10:60',
      '2026-03-10T10:00:60',
      '2026-02-29T10:00',
      '2026-02-30T10:00',
      '2026-13-01T10:00',
      '2026-03-10T10:00:00+15:00',
      '2026-03-10T10:00:00Zulu',
      'x2026-03-10T10:00:00',
    ].map((text): [string, Json, string[]] => [
      `the time ${text}`,
      once({ start_time: text }),
      [`start_time: ${invalid}`],
    ]),
  ])('%s', (_name, changes, told) => {
    const found = read(changes);
    expect(found.told).toEqual(told.map((one) => `scheduling_details.${one}`));
    expect(found.definition).toBeUndefined();
  });
});

describe('the occurrences of a schedule', () => {
  const now = new Date('2026-03-09T12:00:00Z');
  const timing = (schedule: object, { at = now, start: rule = 'to come' as 'to come' | 'as it was' } = {}) =>
    scheduleTiming({ timeZone: undefined, ...schedule } as Schedule, {
      now: at,
      workspaceTimeZone: 'Europe/Berlin',
      start: rule,
    });
  const told = (field: string, reason: string) => ({ fault: { field: `scheduling_details.${field}`, reason } });
  const daily = (more: object = {}, around: object = {}) => ({
    kind: 'repeated',
    start,
    expiry: undefined,
    period: { every: 'day', step: 1, occurrences: undefined, ...more },
    ...around,
  });
  const base = { firstDate: '2026-03-10', endDate: '9999-12-31', time: '10:00', timeZone: 'Europe/Berlin' };

  test('are one in the zone of the workspace, unless it names another', () => {
    expect(timing({ kind: 'asap' })).toEqual({ kind: 'soon' });
    expect(timing({ kind: 'once', start })).toStrictEqual({
      kind: 'later',
      at: new Date('2026-03-10T09:00:00Z'),
      ...start,
      timeZone: 'Europe/Berlin',
    });
    expect(timing({ kind: 'once', start, timeZone: 'Asia/Kolkata' })).toMatchObject({
      at: new Date('2026-03-10T04:30:00Z'),
    });
    expect(timing({ kind: 'once', start: { at: new Date('2026-03-10T23:30:05Z') } })).toMatchObject({
      at: new Date('2026-03-10T23:30:05Z'),
      date: '2026-03-11',
      time: '00:30:05',
    });
    expect(timing({ kind: 'once', start }, { at: new Date('2026-03-10T08:59:59Z') })).toHaveProperty('at');
    expect(timing({ kind: 'once', start }, { at: new Date('2026-03-10T09:00:00Z') })).toEqual(
      told('start_time', 'is in the past'),
    );
  });

  test('keep the zone or the best time of each user if it is requested', () => {
    const bestTime = { windowHours: 5, ifUnknown: 'DO_NOT_SEND', ifOutside: 'DO_NOT_SEND' };
    expect(timing({ kind: 'once', start, inUserZone: 'SKIP' })).toMatchObject({ inUserZone: 'SKIP' });
    expect(timing({ kind: 'once', start, bestTime })).toMatchObject({ bestTime });
    expect(timing(daily({}, { bestTime }))).toStrictEqual({ kind: 'periodic', repeatAfterDays: 1, ...base, bestTime });
  });

  test('are every day until the last of the number, or its end, whichever is first', () => {
    expect(timing(daily())).toStrictEqual({ kind: 'periodic', repeatAfterDays: 1, ...base });
    expect(timing(daily({ step: 3, occurrences: 4 }))).toMatchObject({ repeatAfterDays: 3, endDate: '2026-03-19' });
    const until = (time: string) => ({ expiry: { date: '2026-03-12', time } });
    expect(timing(daily({}, until('10:00')))).toMatchObject({ endDate: '2026-03-12' });
    expect(timing(daily({}, until('09:59')))).toMatchObject({ endDate: '2026-03-11' });
    expect(timing(daily({}, { expiry: { at: new Date('2026-03-12T09:00:00Z') } }))).toMatchObject({
      endDate: '2026-03-12',
    });
    expect(timing(daily({ occurrences: 2 }, until('10:00')))).toMatchObject({ endDate: '2026-03-11' });
    expect(timing(daily({ occurrences: 9 }, until('10:00')))).toMatchObject({ endDate: '2026-03-12' });
  });

  test('are every week and month on the day of its start if no day is named', () => {
    const of = (more: object) => timing(daily(more));
    expect(of({ every: 'week', step: 2, weekdays: [] })).toStrictEqual({
      kind: 'calendar',
      rule: { every: 'week', step: 2, weekdays: [2] },
      ...base,
    });
    expect(of({ every: 'week', weekdays: [7] })).toMatchObject({ rule: { weekdays: [7] } });
    expect(
      timing({ ...daily({ every: 'week', weekdays: [] }), start: { date: '2026-03-15', time: '10:00' } }),
    ).toMatchObject({
      rule: { weekdays: [7] },
    });
    expect(of({ every: 'month', dates: [], weekdays: [] })).toMatchObject({
      rule: { every: 'month', step: 1, dates: [10], weekdays: [] },
    });
    expect(of({ every: 'month', dates: [31], weekdays: [] })).toMatchObject({ rule: { dates: [31] } });
    const last = [{ week: 'last', weekday: 5 }];
    expect(of({ every: 'month', dates: [], weekdays: last })).toMatchObject({ rule: { dates: [], weekdays: last } });
    expect(of({ every: 'week', weekdays: [1, 2], occurrences: 3 })).toMatchObject({ endDate: '2026-03-17' });
    expect(of({ every: 'month', dates: [31], weekdays: [], occurrences: 2 })).toMatchObject({ endDate: '2026-05-31' });
  });

  test('are none for days that never occur, or for an end before the first', () => {
    const never = { every: 'month', step: 12, dates: [31], weekdays: [], occurrences: 1 };
    const february = { start: { date: '2027-02-10', time: '10:00' } };
    expect(timing({ ...daily(never), ...february })).toEqual(told('periodic_details', 'leaves nothing to send'));
    expect(timing(daily({}, { expiry: { date: '2026-03-10', time: '09:00' } }))).toEqual(
      told('expiry_time', 'leaves nothing to send'),
    );
  });

  test('may not start in the past for a new schedule, in any of the zones', () => {
    const late = new Date('2026-03-10T09:00:00Z');
    expect(timing(daily(), { at: late })).toEqual(told('start_time', 'is in the past'));
    expect(timing(daily(), { at: late, start: 'as it was' })).toHaveProperty('kind', 'periodic');
    const zoned = daily({}, { inUserZone: 'SKIP' });
    // In the first zone 10:00 of March 10 is 20:00 of March 9 UTC.
    expect(timing(zoned, { at: new Date('2026-03-09T19:59:59Z') })).toMatchObject({ inUserZone: 'SKIP' });
    expect(timing(zoned, { at: new Date('2026-03-09T20:00:00Z') })).toEqual(
      told('start_time', 'has passed in some time zones: begin a day later'),
    );
    expect(timing(zoned, { at: new Date('2026-03-09T20:00:00Z'), start: 'as it was' })).toHaveProperty(
      'kind',
      'periodic',
    );
  });

  test('start and end with an event trigger, whose end must be in the future', () => {
    const at = (date: string) => ({ date, time: '10:00' });
    expect(timing({ kind: 'triggered', start: undefined, expiry: undefined })).toStrictEqual({
      kind: 'triggered',
      startsAt: null,
      endsAt: null,
      timeZone: 'Europe/Berlin',
    });
    expect(timing({ kind: 'triggered', start: at('2026-03-01'), expiry: at('2026-03-10') })).toMatchObject({
      startsAt: '2026-03-01T09:00:00.000Z',
      endsAt: '2026-03-10T09:00:00.000Z',
    });
    expect(timing({ kind: 'triggered', start: at('2026-03-10'), expiry: at('2026-03-10') })).toEqual(
      told('expiry_time', 'is before the start'),
    );
    expect(timing({ kind: 'triggered', start: undefined, expiry: at('2026-03-09') })).toEqual(
      told('expiry_time', 'is in the past'),
    );
    expect(timing({ kind: 'triggered', start: undefined, expiry: { at: now } })).toEqual(
      told('expiry_time', 'is in the past'),
    );
  });
});

describe('a change of a campaign', () => {
  const before = {
    campaign_delivery_type: 'ONE_TIME',
    basic_details: { name: 'A', business_event: 'E' },
    scheduling_details: { delivery_type: 'ASAP', timezone: 'UTC' },
    segmentation_details: { included_filters: { filters: [{ a: 1, b: 2 }] } },
    advanced: { app_ids: ['a'] },
  };
  const changed = (after: Json, state: 'waiting' | 'live') =>
    whatMayNotChange({ before, after: { ...before, ...after }, state }).map(({ field }) => field);

  test('leaves the kind of schedule, and the audience and goals of a live campaign, unchanged (fact 6.3)', () => {
    const after = {
      campaign_delivery_type: 'PERIODIC',
      basic_details: { name: 'B', business_event: 'F' },
      scheduling_details: { delivery_type: 'AT_FIXED_TIME', timezone: 'Asia/Tokyo' },
      segmentation_details: { included_filters: { filters: [{ a: 1, b: 3 }] } },
      trigger_condition: { a: 1 },
      conversion_goal_details: { goals: [] },
      advanced: { app_ids: ['a', 'b'] },
    };
    expect(changed(after, 'waiting')).toEqual(['campaign_delivery_type', 'scheduling_details.delivery_type']);
    expect(changed(after, 'live')).toEqual([
      'campaign_delivery_type',
      'scheduling_details.delivery_type',
      'basic_details.business_event',
      'trigger_condition',
      'segmentation_details',
      'advanced.app_ids',
      'conversion_goal_details',
    ]);
    expect(whatMayNotChange({ before, after, state: 'waiting' })[0]!.reason).toBe(
      'cannot be changed once the campaign is published',
    );
  });

  test('ignores the order of members, but not of list items', () => {
    expect(changed({ segmentation_details: { included_filters: { filters: [{ b: 2, a: 1 }] } } }, 'live')).toEqual([]);
    expect(changed({ segmentation_details: { included_filters: { filters: [{ b: 2 }, { a: 1 }] } } }, 'live')).toEqual([
      'segmentation_details',
    ]);
    expect(changed({ scheduling_details: 'now' }, 'waiting')).toEqual(['scheduling_details.delivery_type']);
    expect(changed({ basic_details: { name: 'B', business_event: 'E' } }, 'live')).toEqual([]);
  });

  test('merges objects, removes null members, and replaces the rest (RFC 7396 §2)', () => {
    expect(
      mergeParts({ a: { b: 1, c: 2 }, d: [1], e: 1 }, { a: { b: null, f: 3 }, d: [2], e: null, g: { h: null, i: 1 } }),
    ).toEqual({
      a: { c: 2, f: 3 },
      d: [2],
      g: { i: 1 },
    });
    expect(mergeParts({ a: 5 }, { a: { b: 1 } })).toEqual({ a: { b: 1 } });
  });

  test('keeps the first day', () => {
    const days = { firstDate: '2026-03-10', endDate: '2026-04-10', time: '10:00', timeZone: 'UTC' };
    expect(startOf({ kind: 'periodic', repeatAfterDays: 1, ...days })).toBe('2026-03-10T10:00 UTC');
    expect(startOf({ kind: 'calendar', rule: { every: 'week', step: 1, weekdays: [1] }, ...days })).toBe(
      '2026-03-10T10:00 UTC',
    );
    expect(startOf({ kind: 'triggered', startsAt: null, endsAt: null, timeZone: 'UTC' })).toBe('');
    expect(startOf({ kind: 'triggered', startsAt: '2026-03-10T10:00:00.000Z', endsAt: null, timeZone: 'UTC' })).toBe(
      '2026-03-10T10:00:00.000Z',
    );
    expect(startOf({ kind: 'soon' })).toBe('soon');
    expect(startOf({ kind: 'later', at: now(), date: '2026-03-10', time: '10:00', timeZone: 'UTC' })).toBe('later');
  });
});

function now(): Date {
  return new Date('2026-03-09T12:00:00Z');
}

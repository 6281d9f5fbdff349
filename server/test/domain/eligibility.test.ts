import { describe, expect, test } from 'vitest';
import { defaultDeliverySettings } from '../../src/domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../src/domain/campaigns/delivery-settings.ts';
import { drawFromBudget, newSendBudget } from '../../src/domain/delivery/send-budget.ts';
import type { BudgetDraw, SendBudget } from '../../src/domain/delivery/send-budget.ts';
import { eligibilityRulesOf, makeDecideEligibility } from '../../src/domain/eligibility.ts';
import type { EligibilityUser, UserMessage } from '../../src/domain/eligibility.ts';
import { maxCapHours, maxCaps } from '../../src/domain/limits/campaigns.ts';
import type { LocalSend } from '../../src/domain/timing/local-send.ts';
import { bestTimeOf } from '../../src/domain/timing/timing.ts';
import type { BestTime } from '../../src/domain/timing/timing.ts';
import {
  parseFrequencyCaps,
  parseQuietSpan,
  presentFrequencyCap,
  quietUntil,
} from '../../src/domain/workspace-controls.ts';
import type { WorkspaceControls } from '../../src/domain/workspace-controls.ts';

const now = new Date('2026-03-10T12:00:00Z');
const hour = 3_600_000;
const ago = (hours: number): Date => new Date(now.getTime() - hours * hour);
const none: WorkspaceControls = {
  caps: [],
  quietHours: null,
  minimumDelayMinutes: null,
  controlGroupPercent: null,
  zoneAttribute: 'time_zone',
  timeZone: 'UTC',
};
const run = {
  ...{ id: 'run', campaignId: 'this', startedAt: now, start: now },
  sendUntil: new Date(now.getTime() + 36 * hour),
  queueUntil: null as Date | null,
};
const sent = (hours: number, more: Partial<UserMessage> = {}): UserMessage => ({
  runId: `run-${hours}`,
  campaignId: 'other',
  sentAt: ago(hours),
  isCounted: true,
  ...more,
});

type Case = {
  controls?: Partial<WorkspaceControls>;
  settings?: Partial<DeliverySettings>;
  localSend?: LocalSend;
  bestTime?: BestTime;
  user?: Partial<EligibilityUser>;
  run?: Partial<typeof run>;
};

describe('the eligibility check', () => {
  test('exists only for a run with conditions, and always passes a test send', () => {
    expect(admit({})).toBe('no gate');
    const controls = { caps: [{ messages: 1, hours: 24 }], minimumDelayMinutes: 60 };
    expect(admit({ controls, settings: { ignoresCap: true, countsForCap: false } })).toBe('no gate');
    expect(admit({ controls, settings: { ignoresCap: true, countsForCap: true } })).toBe('send');
    const quietHours = { from: '11:00', to: '13:00', mode: 'DROP' } as const;
    expect(admit({ controls: { quietHours }, settings: { bypassesQuietHours: true } })).toBe('no gate');
    const isTest = {
      settings: defaultDeliverySettings,
      controls: { ...none, quietHours },
      localSend: null,
      bestTime: null,
      isTest: true,
    };
    expect(eligibilityRulesOf(isTest)).toBeUndefined();
  });

  const capped = {
    caps: [
      { messages: 2, hours: 24 },
      { messages: 3, hours: 168 },
    ],
  };
  test.each<[string, Case, string]>([
    ['lets the first message pass', { controls: capped }, 'send'],
    ['lets the last one of a cap pass', { controls: capped, user: { messages: [sent(1)] } }, 'send'],
    ['stops the one after it', { controls: capped, user: { messages: [sent(23), sent(1)] } }, 'FREQUENCY_CAP'],
    [
      'counts back from now: at the full length a message counts no more',
      { controls: capped, user: { messages: [sent(24), sent(1)] } },
      'send',
    ],
    ['asks every rule', { controls: capped, user: { messages: [sent(100), sent(60), sent(30)] } }, 'FREQUENCY_CAP'],
    [
      'does not count what is not to be counted',
      { controls: capped, user: { messages: [sent(2, { isCounted: false }), sent(1)] } },
      'send',
    ],
    [
      'does not count a run against itself',
      { controls: capped, user: { messages: [sent(1), sent(0, { runId: 'run' })] } },
      'send',
    ],
    [
      'lets a campaign pass that ignores the cap',
      { controls: capped, settings: { ignoresCap: true }, user: { messages: [sent(2), sent(1)] } },
      'send',
    ],
  ])('decides: %s', (_name, given, expected) => {
    expect(admit(given)).toBe(expected);
  });

  const delayed = { minimumDelayMinutes: 90 };
  const obeying = { ignoresMinimumDelay: false };
  test.each<[string, Case, string]>([
    [
      'stops what comes too soon after another campaign',
      { controls: delayed, settings: obeying, user: { messages: [sent(1)] } },
      'MINIMUM_DELAY',
    ],
    ['lets pass what comes later', { controls: delayed, settings: obeying, user: { messages: [sent(1.5)] } }, 'send'],
    [
      'is about other campaigns',
      { controls: delayed, settings: obeying, user: { messages: [sent(1, { campaignId: 'this' })] } },
      'send',
    ],
    [
      'holds for no campaign that ignores it, as the push API does unless told (fact 3.4)',
      { controls: delayed, user: { messages: [sent(1)] } },
      'send',
    ],
    [
      'a campaign’s own delay is about the campaign',
      { settings: { ownDelayHours: 2 }, user: { messages: [sent(1, { campaignId: 'this', isCounted: false })] } },
      'MINIMUM_DELAY',
    ],
    ['and about nothing else', { settings: { ownDelayHours: 2 }, user: { messages: [sent(1)] } }, 'send'],
  ])('applies a minimum delay: %s', (_name, given, expected) => {
    expect(admit(given)).toBe(expected);
  });

  const own = (hours: number) => sent(hours, { campaignId: 'this', isCounted: false });
  const limited = { sendLimit: { messages: 2, minutes: 90 } };
  test.each<[string, Case, string]>([
    ['lets the last one pass', { settings: limited, user: { messages: [own(1)] } }, 'send'],
    ['stops the one after it', { settings: limited, user: { messages: [own(1.4), own(1)] } }, 'CAMPAIGN_SEND_LIMIT'],
    ['counts back from now', { settings: limited, user: { messages: [own(1.5), own(1)] } }, 'send'],
    ['is about the campaign', { settings: limited, user: { messages: [sent(1), own(1)] } }, 'send'],
    [
      'does not count a run against itself',
      { settings: limited, user: { messages: [own(1), own(0.5), sent(0, { runId: 'run', campaignId: 'this' })] } },
      'send',
    ],
    [
      'is not waited for in a queue',
      {
        settings: limited,
        user: { messages: [own(1), own(0.5)] },
        run: { queueUntil: new Date(now.getTime() + hour) },
      },
      'CAMPAIGN_SEND_LIMIT',
    ],
  ])('applies the campaign’s own limit: %s', (_name, given, expected) => {
    expect(admit(given)).toBe(expected);
  });

  const queued = (hours: number) => ({ queueUntil: new Date(now.getTime() + hours * hour) });
  const night = { quietHours: { from: '22:00', to: '08:00', mode: 'DROP' } } as const;
  test.each<[string, Case, string]>([
    [
      'holds until the oldest message that is too many has left the cap',
      {
        controls: { caps: [{ messages: 2, hours: 24 }] },
        user: { messages: [sent(20), sent(5), sent(1)] },
        run: queued(48),
      },
      'FREQUENCY_CAP until 2026-03-11T07:00:00.000Z',
    ],
    [
      'however the messages lie',
      {
        controls: { caps: [{ messages: 2, hours: 24 }] },
        user: { messages: [sent(1), sent(20), sent(5)] },
        run: queued(48),
      },
      'FREQUENCY_CAP until 2026-03-11T07:00:00.000Z',
    ],
    [
      'asks all rules: the last that lets it pass decides',
      { controls: capped, user: { messages: [sent(130), sent(20), sent(1)] }, run: queued(48) },
      'FREQUENCY_CAP until 2026-03-12T02:00:00.000Z',
    ],
    [
      'takes what ends with it',
      { controls: capped, user: { messages: [sent(20), sent(5)] }, run: queued(4) },
      'FREQUENCY_CAP until 2026-03-10T16:00:00.000Z',
    ],
    [
      'and nothing that ends later',
      { controls: capped, user: { messages: [sent(20), sent(5)] }, run: queued(3.9) },
      'FREQUENCY_CAP',
    ],
    [
      'holds until a delay is over',
      { controls: delayed, settings: obeying, user: { messages: [sent(1)] }, run: queued(48) },
      'MINIMUM_DELAY until 2026-03-10T12:30:00.000Z',
    ],
    [
      'holds until a cap is over too',
      {
        controls: { ...delayed, caps: [{ messages: 1, hours: 6 }] },
        settings: obeying,
        user: { messages: [sent(1)] },
        run: queued(48),
      },
      'MINIMUM_DELAY until 2026-03-10T17:00:00.000Z',
    ],
    [
      'holds what quiet hours would drop',
      { controls: night, user: { timeZone: 'America/Los_Angeles' }, run: queued(4) },
      'QUIET_HOURS until 2026-03-10T15:00:00.000Z',
    ],
    [
      'but no longer than it lasts',
      { controls: night, user: { timeZone: 'America/Los_Angeles' }, run: queued(2) },
      'QUIET_HOURS',
    ],
  ])('applies a queue: %s', (_name, given, expected) => {
    expect(admit(given)).toBe(expected);
  });

  const quiet = { quietHours: { from: '22:00', to: '08:00', mode: 'HOLD' } } as const;
  test.each<[string, Case, string]>([
    ['at noon of the workspace it passes', { controls: quiet }, 'send'],
    ['in Tokyo it is 21:00: it passes', { controls: quiet, user: { timeZone: 'Asia/Tokyo' } }, 'send'],
    [
      'in Auckland it is 01:00',
      { controls: quiet, user: { timeZone: 'Pacific/Auckland' } },
      'QUIET_HOURS until 2026-03-10T19:00:00.000Z',
    ],
    [
      'in Los Angeles it is 05:00',
      { controls: quiet, user: { timeZone: 'America/Los_Angeles' } },
      'QUIET_HOURS until 2026-03-10T15:00:00.000Z',
    ],
    [
      'a blank name is the workspace’s',
      { controls: { ...quiet, timeZone: 'Pacific/Auckland' }, user: { timeZone: ' ' } },
      'QUIET_HOURS until 2026-03-10T19:00:00.000Z',
    ],
    [
      'a name that is no zone fails: nobody knows when',
      { controls: quiet, user: { timeZone: '+13' } },
      'TIME_ZONE_UNKNOWN',
    ],
    [
      'an alias is the zone it stands for',
      { controls: quiet, user: { timeZone: 'NST' } },
      'QUIET_HOURS until 2026-03-10T19:00:00.000Z',
    ],
    [
      'the zone of the workspace may be an alias that was stored before',
      { controls: { ...quiet, timeZone: 'PST' } },
      'QUIET_HOURS until 2026-03-10T15:00:00.000Z',
    ],
    [
      'what is dead by the morning does not wait for it',
      {
        controls: quiet,
        user: { timeZone: 'Pacific/Auckland' },
        run: { sendUntil: new Date(now.getTime() + 7 * hour) },
      },
      'QUIET_HOURS',
    ],
    [
      'what is dropped is dropped',
      { controls: { quietHours: { ...quiet.quietHours, mode: 'DROP' } }, user: { timeZone: 'America/Los_Angeles' } },
      'QUIET_HOURS',
    ],
    [
      'a user who is held is not asked what came before',
      {
        controls: { ...quiet, caps: [{ messages: 1, hours: 24 }] },
        user: { timeZone: 'Pacific/Auckland', messages: [sent(1)] },
      },
      'QUIET_HOURS until 2026-03-10T19:00:00.000Z',
    ],
  ])('applies quiet hours: %s', (_name, given, expected) => {
    expect(admit(given)).toBe(expected);
  });

  const localSend = (time: string, ifPassed: LocalSend['ifPassed'] = 'SKIP'): LocalSend => ({
    ...{ date: '2026-03-10', time, timeZone: 'Europe/Paris', ifPassed },
  });
  test.each<[string, Case, string]>([
    [
      'waits for the zone',
      { localSend: localSend('09:00'), user: { timeZone: 'America/New_York' } },
      'USER_TIME_ZONE until 2026-03-10T13:00:00.000Z',
    ],
    ['goes when the zone is there', { localSend: localSend('21:00'), user: { timeZone: 'Asia/Tokyo' } }, 'send'],
    [
      'goes when the zone was there since the run began',
      { localSend: localSend('09:00'), user: { timeZone: 'Asia/Tokyo' }, run: { startedAt: ago(13) } },
      'send',
    ],
    [
      'does not go when the zone was past it before',
      { localSend: localSend('09:00'), user: { timeZone: 'Asia/Tokyo' } },
      'USER_TIME_ZONE',
    ],
    [
      'or goes with the campaign’s own zone',
      { localSend: localSend('15:00', 'SEND'), user: { timeZone: 'Asia/Tokyo' } },
      'USER_TIME_ZONE until 2026-03-10T14:00:00.000Z',
    ],
    [
      'or at once when that is past too',
      { localSend: localSend('09:00', 'SEND'), user: { timeZone: 'Asia/Tokyo' } },
      'send',
    ],
    [
      'takes the campaign’s zone for users without one',
      { localSend: localSend('13:00'), user: { timeZone: null } },
      'send',
    ],
    [
      'then asks the quiet hours of the zone',
      { controls: quiet, localSend: localSend('22:00'), user: { timeZone: 'Asia/Vladivostok' } },
      'QUIET_HOURS until 2026-03-10T22:00:00.000Z',
    ],
  ])('applies a local time: %s', (_name, given, expected) => {
    expect(admit(given)).toBe(expected);
  });
});

describe('a best time', () => {
  const policy: BestTime = { windowHours: 6, ifUnknown: 'SEND_AT_START', ifOutside: 'SEND_AT_END' };
  const opens = (byHour: Record<number, number>) => Array.from({ length: 24 }, (_, hour) => byHour[hour] ?? 0);
  type Given = [byHour: Record<number, number>, more: Partial<BestTime>];
  const hourOf = ([byHour, more]: Given) => {
    const at = bestTimeOf({ ...policy, ...more }, { opens: opens(byHour), start: now });
    return at && (at.getTime() - now.getTime()) / hour;
  };
  test.each<[string, Given, number | undefined]>([
    ['is the hour with the most opens', [{ 1: 2, 4: 3 }, {}], 4],
    ['counts the hours beside it half', [{ 1: 3, 3: 2, 4: 2, 5: 2 }, {}], 4],
    ['goes round the day', [{ 23: 2, 0: 2, 1: 2, 5: 4 }, {}], 0],
    ['is the earliest of equal ones', [{ 2: 3, 5: 3 }, {}], 2],
    ['is not known of two opens', [{ 4: 2 }, {}], 0],
    ['is at the end if the campaign says so', [{ 4: 2 }, { ifUnknown: 'SEND_AT_END' }], 6],
    ['or never', [{}, { ifUnknown: 'DO_NOT_SEND' }], undefined],
    ['outside the hours is at the end', [{ 12: 5 }, {}], 6],
    ['at the start', [{ 12: 5 }, { ifOutside: 'SEND_AT_START' }], 0],
    ['or never', [{ 6: 5 }, { ifOutside: 'DO_NOT_SEND' }], undefined],
    ['in the last of the hours is within', [{ 5: 5 }, { ifOutside: 'DO_NOT_SEND' }], 5],
  ])('is known: %s', (_name, given, expected) => {
    expect(hourOf(given)).toBe(expected);
  });

  test('is checked before quiet hours, and again when it has come', () => {
    const quietHours = { from: '11:00', to: '20:00', mode: 'DROP' } as const;
    const user = { opens: opens({ 3: 5 }) };
    expect(admit({ bestTime: policy, controls: { quietHours }, user })).toBe(
      'BEST_TIME until 2026-03-10T15:00:00.000Z',
    );
    expect(admit({ bestTime: policy, controls: { quietHours }, user, run: { start: ago(3) } })).toBe('QUIET_HOURS');
    expect(admit({ bestTime: policy, user, run: { start: ago(3) } })).toBe('send');
    const never = { ...policy, ifUnknown: 'DO_NOT_SEND' } as const;
    expect(admit({ bestTime: never, user: { opens: opens({}) } })).toBe('BEST_TIME');
  });
});

describe('quiet hours during a clock change', () => {
  const hours = { from: '22:00', to: '02:30', mode: 'HOLD' } as const;
  const inNewYork = (at: string): string | undefined =>
    quietUntil(hours, { at: new Date(at), timeZone: 'America/New_York' })?.toISOString();

  test('end after the clock change if the end is skipped', () => {
    expect(inNewYork('2026-03-08T06:30:00Z')).toBe('2026-03-08T07:30:00.000Z');
  });
  test('never end in the past if the end occurs twice', () => {
    const late = quietUntil(
      { ...hours, to: '01:30' },
      { at: new Date('2026-11-01T06:10:00Z'), timeZone: 'America/New_York' },
    );
    expect(late?.toISOString()).toBe('2026-11-01T06:30:00.000Z');
  });
  test('include the first minute, not the last', () => {
    const inUtc = (time: string) => quietUntil(hours, { at: new Date(`2026-05-01T${time}Z`), timeZone: 'UTC' });
    expect(inUtc('21:59:59')).toBeUndefined();
    expect(inUtc('22:00:00')?.toISOString()).toBe('2026-05-02T02:30:00.000Z');
    expect(inUtc('02:29:59')?.toISOString()).toBe('2026-05-01T02:30:00.000Z');
    expect(inUtc('02:30:00')).toBeUndefined();
  });
});

describe('the parser of typed controls', () => {
  test.each([
    [
      '2/1d,5/7d',
      [
        { messages: 2, hours: 24 },
        { messages: 5, hours: 168 },
      ],
    ],
    ['1/6h', [{ messages: 1, hours: 6 }]],
    ['100/30d', [{ messages: 100, hours: 720 }]],
  ])('parses the list of caps %s, and formats it the same', (text, caps) => {
    expect(parseFrequencyCaps(text)).toEqual(caps);
    expect(parseFrequencyCaps(text)!.map(presentFrequencyCap).join(',')).toBe(text);
  });
  test.each([
    '',
    '0/1d',
    '101/1d',
    '1/0d',
    '1/31d',
    '1/721h',
    '1/1w',
    '1/1d,2/24h',
    '1/1d,1/2d,1/3d,1/4d,1/5d,1/6d',
    '1-1d',
  ])('rejects %j as a list of caps', (text) => {
    expect(parseFrequencyCaps(text)).toBeUndefined();
  });
  test.each(['22:00', '22:00-22:00', '24:00-08:00', '22:60-08:00', '10pm-8am', '9:00-17:00'])(
    'rejects %j as quiet hours',
    (text) => {
      expect(parseQuietSpan(text)).toBeUndefined();
    },
  );
  test('parses 22:00-08:00 as quiet hours', () => {
    expect(parseQuietSpan('22:00-08:00')).toEqual({ from: '22:00', to: '08:00' });
  });
});

describe('workspace controls', () => {
  test.each([
    ['12:59:59', undefined],
    ['13:00:00', '15:00'],
    ['14:59:59', '15:00'],
    ['15:00:00', undefined],
    ['23:00:00', undefined],
  ])('ends quiet hours from 13:00 to 15:00, at %s, at %s', (time, until) => {
    const at = new Date(`2026-05-01T${time}Z`);
    const wanted = until === undefined ? undefined : new Date(`2026-05-01T${until}:00Z`);
    expect(quietUntil({ from: '13:00', to: '15:00', mode: 'HOLD' }, { at, timeZone: 'UTC' })).toEqual(wanted);
  });

  test.each([
    ['22:00-08:00', { from: '22:00', to: '08:00' }],
    ['  19:59-23:59  ', { from: '19:59', to: '23:59' }],
    ['00:00-20:00', { from: '00:00', to: '20:00' }],
    ['24:00-08:00', undefined],
    ['22:00-24:00', undefined],
    ['22:60-08:00', undefined],
    ['08:00-08:00', undefined],
    ['x22:00-08:00', undefined],
    ['22:00-08:00x', undefined],
    ['22:00-08:00, 12:00-13:00', undefined],
  ])('parses the span %j as %j', (text, span) => expect(parseQuietSpan(text)).toEqual(span));

  const list = (count: number): string => Array.from({ length: count }, (_, index) => `1/${index + 1}h`).join(',');

  test.each([
    ['1/1h', [{ messages: 1, hours: 1 }]],
    [
      ' 2/1d , 5/7d ',
      [
        { messages: 2, hours: 24 },
        { messages: 5, hours: 168 },
      ],
    ],
    [`1/${maxCapHours / 24}d`, [{ messages: 1, hours: maxCapHours }]],
    [`1/${maxCapHours / 24 + 1}d`, undefined],
    ['0/1h', undefined],
    ['1/0h', undefined],
    ['2/1d,0/7d', undefined],
    ['2/1d,3/24h', undefined],
    ['x2/1d', undefined],
    ['2/1dx', undefined],
    [list(maxCaps + 1), undefined],
  ])('parses the caps %j as %j', (text, caps) => expect(parseFrequencyCaps(text)).toEqual(caps));

  test('parses the maximum number of caps', () => expect(parseFrequencyCaps(list(maxCaps))).toHaveLength(maxCaps));
});

type Row = {
  what: string;
  /** What is left, when it was refilled, and since when it has been used. */
  from?: Partial<Record<'tokens' | 'refilled' | 'busy', number>>;
  second?: number;
  more?: Partial<BudgetDraw>;
  granted: number;
  left: number;
};

describe('send budgets', () => {
  const at = (seconds: number) => new Date(1_767_225_600_000 + seconds * 1_000);

  /** 100 messages a second, and a bucket of 500: a full one and a minute's refill are what a minute may have. */
  const usual: Omit<BudgetDraw, 'at'> = {
    ...{ perMinute: 6_500, holdSeconds: 5 },
    ...{ wanted: 10_000, returned: 0, reserve: 0, isRamped: false },
  };
  const draw = (budget: SendBudget, second: number, more: Partial<BudgetDraw> = {}) =>
    drawFromBudget(budget, { ...usual, ...more, at: at(second) });

  const rows: Row[] = [
    { what: 'a second’s worth is there to begin with', granted: 100, left: 0 },
    { what: 'no more is granted than is asked for', more: { wanted: 30 }, granted: 30, left: 70 },
    { what: 'nothing is granted when nothing is asked for', more: { wanted: 0 }, granted: 0, left: 100 },
    { what: 'what time brings is added to what is left', from: { tokens: 50 }, second: 2, granted: 250, left: 0 },
    { what: 'the bucket holds so many seconds', second: 20, granted: 500, left: 0 },
    { what: 'what an earlier draw did not use comes back', more: { returned: 40 }, granted: 140, left: 0 },
    { what: 'and fills no more than the bucket', second: 3, more: { returned: 400 }, granted: 500, left: 0 },
    { what: 'whole messages alone are granted', from: {}, second: 0.115, granted: 11, left: 0.5 },
    { what: 'a share of the bucket is left to others', second: 20, more: { reserve: 0.2 }, granted: 400, left: 100 },
    { what: 'which is all there is', from: { tokens: 60 }, more: { reserve: 0.2 }, granted: 0, left: 60 },
    {
      what: 'a rate below one a second comes to a message all the same',
      ...{ second: 63, more: { perMinute: 1, holdSeconds: 4 }, granted: 1, left: 0 },
    },
    {
      what: 'and to no message before its time',
      ...{ second: 31, more: { perMinute: 1, holdSeconds: 4 }, granted: 0, left: 0.5 },
    },
    { what: 'a clock that moved back refills nothing', from: { tokens: 7 }, second: -30, granted: 7, left: 0 },
    {
      what: 'an account that was idle for more than a minute begins with a tenth of its rate (delivery 1)',
      ...{ from: { refilled: -61, busy: -500 }, more: { isRamped: true }, granted: 50, left: 0 },
    },
    {
      what: 'one that was idle for a minute goes on as before',
      ...{ from: { refilled: -60, busy: -500 }, more: { isRamped: true }, granted: 500, left: 0 },
    },
    {
      what: 'after half a minute it has half of its rate',
      ...{ from: { refilled: -2, busy: -30 }, more: { isRamped: true }, granted: 100, left: 0 },
    },
    {
      what: 'and from a minute on the whole',
      ...{ from: { refilled: -2, busy: -600 }, more: { isRamped: true }, granted: 200, left: 0 },
    },
    {
      what: 'what is not ramped has its rate at once',
      ...{ from: { refilled: -61, busy: -61 }, granted: 500, left: 0 },
    },
  ];

  test.each(rows)('grants with $what: $granted', ({ from, second = 0, more, granted, left }) => {
    const begun = newSendBudget(at(0));
    const budget = from
      ? { tokens: from.tokens ?? 0, refilledAt: at(from.refilled ?? 0), busySince: at(from.busy ?? 0) }
      : begun;
    const drawn = draw(budget, second, more);
    expect(drawn.granted).toBe(granted);
    expect(drawn.budget.tokens).toBeCloseTo(left, 9);
  });

  test('stores each draw, and since when the budget has been in use', () => {
    const first = draw(newSendBudget(at(0)), 10).budget;
    expect([first.refilledAt, first.busySince]).toEqual([at(10), at(0)]);
    const again = draw(first, 75).budget;
    expect([again.refilledAt, again.busySince]).toEqual([at(75), at(75)]);
    // A node whose clock is behind takes nothing that another has taken.
    expect(draw(again, 70).budget.refilledAt).toEqual(at(75));
  });

  test('never exceeds its rate in a minute, whatever the requests', () => {
    let budget = newSendBudget(at(0));
    const granted: [second: number, count: number][] = [];
    // A pause that fills the bucket, and then every 0.7 s.
    for (let second = 10; second < 140; second += 0.7) {
      const drawn = draw(budget, second);
      budget = drawn.budget;
      granted.push([second, drawn.granted]);
    }
    for (const [from] of granted) {
      const minute = granted.filter(([second]) => second >= from && second < from + 60);
      expect(minute.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(6_500);
    }
    expect(granted.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(13_000);
  });
});

function admit(given: Case) {
  const rules = eligibilityRulesOf({
    settings: { ...defaultDeliverySettings, ...given.settings },
    controls: { ...none, ...given.controls },
    localSend: given.localSend ?? null,
    bestTime: given.bestTime ?? null,
    isTest: false,
  });
  if (!rules) return 'no gate';
  const eligibility = makeDecideEligibility(rules, { run: { ...run, ...given.run }, now })({
    timeZone: null,
    messages: [],
    opens: [],
    ...given.user,
  });
  if (eligibility.kind === 'send') return 'send';
  return eligibility.kind === 'hold'
    ? `${eligibility.code} until ${eligibility.until.toISOString()}`
    : eligibility.code;
}

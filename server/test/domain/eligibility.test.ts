import { describe, expect, test } from 'vitest';
import { defaultDeliverySettings } from '../../src/domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../src/domain/campaigns/delivery-settings.ts';
import { makeDecideEligibility, eligibilityRulesOf } from '../../src/domain/eligibility.ts';
import type { EligibilityUser, UserMessage } from '../../src/domain/eligibility.ts';
import {
  quietUntil,
  parseFrequencyCaps,
  parseQuietSpan,
  presentFrequencyCap,
} from '../../src/domain/workspace-controls.ts';
import type { WorkspaceControls } from '../../src/domain/workspace-controls.ts';
import { bestTimeOf } from '../../src/domain/timing/timing.ts';
import type { BestTime } from '../../src/domain/timing/timing.ts';
import type { LocalSend } from '../../src/domain/timing/local-send.ts';

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

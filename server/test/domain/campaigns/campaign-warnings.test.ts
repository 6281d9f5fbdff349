import { describe, expect, test } from 'vitest';
import { warnOfCampaign } from '../../../src/domain/campaigns/warnings.ts';
import type { App } from '../../../src/domain/apps.ts';
import type { WarnedCampaign } from '../../../src/domain/campaigns/warnings.ts';
import type { CampaignContent } from '../../../src/domain/content/content.ts';
import { defaultDeliverySettings } from '../../../src/domain/campaigns/delivery-settings.ts';

const android = { message: 'M', title: 'T', richContent: [], additionalActions: [] };
const campaign: WarnedCampaign = {
  platforms: ['ANDROID'],
  content: { ANDROID: android },
  variants: null,
  recurs: false,
  settings: defaultDeliverySettings,
  occurrences: [new Date('2026-03-01T12:00:00Z')],
  controls: {
    caps: [],
    quietHours: null,
    minimumDelayMinutes: null,
    zoneAttribute: 'time_zone',
    timeZone: 'UTC',
    controlGroupPercent: null,
  },
  credentials: { ANDROID: 'real' },
  eventAttributes: [],
  apps: [],
  androidMode: 'data',
};
const warn = (more: Partial<WarnedCampaign>) =>
  warnOfCampaign({ ...campaign, ...more }).map(({ code, tone, message }) => [code, tone, message]);
const controls = (more: object) => ({ controls: { ...campaign.controls, ...more } });
const title = (text: string, fallback?: object) => ({
  content: { ANDROID: { ...android, title: text, ...(fallback ? { fallback: { ...android, ...fallback } } : {}) } },
});

test('returns no warning for an ordinary campaign', () => {
  expect(warn({})).toEqual([]);
});

describe('platforms', () => {
  const platforms = ['ANDROID', 'IOS', 'WEB'] as const;

  test('pause the campaign without a credential, and reach no real device with a simulated one', () => {
    expect(warn({ platforms, credentials: {} })).toEqual([
      [
        'NO_CREDENTIAL',
        'warning',
        'There is no provider credential for Android and iOS and Web: the campaign pauses before the first message.',
      ],
    ]);
    expect(warn({ platforms, credentials: { ANDROID: 'simulated', IOS: 'real', WEB: 'simulated' } })).toEqual([
      ['SIMULATED', 'note', 'Providers are simulated here (Android and Web): no real device gets it.'],
    ]);
  });
});

test('names the step of the composer for each warning', () => {
  const title = '{{ UserAttribute.nick }}';
  const content = { ANDROID: { ...android, title, summary: 'S' } };
  const found = warnOfCampaign({
    ...campaign,
    ...{ platforms: ['ANDROID', 'IOS'], credentials: { ANDROID: 'simulated' }, content, androidMode: 'both' },
    ...controls({ quietHours: { from: '22:00', to: '08:00', mode: 'HOLD' }, caps: [{ messages: 1, hours: 24 }] }),
    variants: {
      ...{ locales: [], percents: [100, 0], contents: [[content], [content]] },
      learning: { by: 'GOAL', floorPercent: 5 },
    },
  });
  expect(found.map(({ code, part }) => `${code} ${part}`)).toEqual([
    ...['NO_CREDENTIAL audience', 'SIMULATED audience'],
    ...['TEMPLATE_CAN_FAIL content', 'PAYLOAD_MODE content', 'TEMPLATE_CAN_FAIL content', 'PAYLOAD_MODE content'],
    ...['VARIATION_UNUSED content', 'LEARNS_LATE content', 'QUIET_HOURS schedule', 'FREQUENCY_CAP schedule'],
  ]);
});

describe('the mode of Android messages', () => {
  const buttons = {
    content: {
      ANDROID: { ...android, summary: 'S', additionalActions: [{ type: 'copy', value: 'V', name: 'N' } as const] },
    },
  };

  test.each(['notification', 'both'] as const)('names what the system does not show in %s', (androidMode) => {
    expect(warn({ ...buttons, androidMode })).toEqual([
      [
        'PAYLOAD_MODE',
        'warning',
        `Android: while the app is in the background, mode ${androidMode} loses buttons, the summary.`,
      ],
    ]);
    expect(warn({ androidMode })).toEqual([]);
    expect(warn({ ...buttons, androidMode, platforms: [] })).toEqual([]);
  });

  test('loses nothing in data', () => expect(warn(buttons)).toEqual([]));

  test('names the apps that have a different mode', () => {
    const app = (appId: string): App => ({
      ...{ platform: 'ANDROID', appId, name: appId, identifier: 'com.example.shop', environment: null },
      ...{ restrictsPackage: false, settings: { mode: 'notification' } },
    });
    expect(warn({ ...buttons, apps: [app('lite'), app('pro')] })).toEqual([
      [
        'PAYLOAD_MODE',
        'warning',
        'Android: while app lite or pro is in the background, mode notification loses buttons, the summary.',
      ],
    ]);
  });
});

describe('variations and locales', () => {
  test('are each named, including one that no user gets', () => {
    const fails = { ANDROID: { ...android, title: "Hi {{ UserAttribute['First Name'] }}" } };
    const variants = {
      locales: ['default', 'pt'],
      percents: [100, 0],
      contents: [
        [campaign.content, fails],
        [campaign.content, campaign.content],
      ],
    };
    expect(warn({ variants })).toEqual([
      ['TEMPLATE_CAN_FAIL', 'warning', expect.stringMatching(/^Variation 1, pt: Android: the template of title fails/)],
      ['VARIATION_UNUSED', 'note', 'Variation 2 has a share of 0 %: nobody gets it.'],
    ]);
  });
});

test('warns that learning variations need time, unless they have it', () => {
  const contents = [[campaign.content], [campaign.content]];
  const learning = { by: 'CLICKS' as const, floorPercent: 5 };
  const learned = { variants: { locales: [], percents: [50, 50], contents, learning } };
  expect(warn(learned)).toEqual([['LEARNS_LATE', 'note', expect.stringContaining('campaign_throttle_rpm')]]);
  expect(warn({ ...learned, recurs: true })).toEqual([]);
  expect(warn({ ...learned, settings: { ...campaign.settings, devicesPerMinute: 60 } })).toEqual([]);
});

describe('templates', () => {
  const personal = "Hi {{ UserAttribute['First Name'] }}";

  test('are named with their place if they need an attribute that some users lack and have no working fallback', () => {
    const lost = [['TEMPLATE_CAN_FAIL', 'warning', expect.stringContaining('template of title')]];
    expect(warn(title(personal))).toEqual(lost);
    expect(warn(title(personal, { title: personal }))).toEqual(lost);
    expect(warn(title(personal, { title: 'Hi there' }))).toEqual([]);
    expect(warn(title("Hi {{ UserAttribute['First Name'] | default('you') }}"))).toEqual([]);
  });

  test('cannot fail if they only need the user id or event attributes', () => {
    expect(warn(title("{{ UserAttribute['ID'] }}"))).toEqual([]);
    const team = { eventAttributes: [{ name: 'team', type: 'string' as const }] };
    expect(warn({ ...title('{{ BusinessEventAttribute.team }}'), ...team })).toEqual([]);
  });

  test.each([
    ['string', "{{ BusinessEventAttribute.a.replace('x', 'y') }}"],
    ['int', '{{ BusinessEventAttribute.a + 1 }}'],
    ['float', '{{ BusinessEventAttribute.a + 1.5 }}'],
    ['array', "{{ (BusinessEventAttribute.a + ['x'])[0] }}"],
    ['date', "{{ BusinessEventAttribute.a.split('-')[2] }}"],
  ] as const)('know the type of an event attribute: %s', (type, text) => {
    expect(warn({ ...title(text), eventAttributes: [{ name: 'a', type }] })).toEqual([]);
    const others = (['string', 'int', 'array'] as const).filter((other) => other[0] !== type[0]);
    const failing = others.filter(
      (other) => warn({ ...title(text), eventAttributes: [{ name: 'a', type: other }] }).length > 0,
    );
    expect(failing).not.toEqual([]);
  });

  test('are reported once if they fail the same on several platforms, with the effect of the fallback', () => {
    const web = { ...android, redirectUrl: 'https://a.example/', iconUrl: 'https://a.example/', autoDismiss: false };
    const both = (more: object) => ({
      platforms: ['ANDROID', 'IOS', 'WEB'] as const,
      credentials: { ANDROID: 'real', IOS: 'real', WEB: 'real' } as const,
      content: { ANDROID: { ...android, ...more }, WEB: { ...web, ...more } } as CampaignContent,
    });
    const reason = "UserAttribute['nick'] has no value";
    const told = (way: string) => [
      [
        'TEMPLATE_CAN_FAIL',
        'warning',
        `Android and Web: the template of title fails for people of whom too little is known (${reason}), ${way}: they get nothing.`,
      ],
    ];
    const own = '{{ UserAttribute.nick }}';
    expect(warn(both({ title: own }))).toEqual(told('and there is no fallback and no default filter'));
    expect(warn(both({ title: own, fallback: { ...web, title: own } }))).toEqual(told('and so does the fallback'));
  });
});

describe('quiet hours', () => {
  const quietHours = { from: '22:00', to: '08:00', mode: 'HOLD' as const };
  const night = { occurrences: [new Date('2026-03-01T23:30:00Z')] };

  const lives = (minutes: number, more: object = {}) => ({
    settings: { ...defaultDeliverySettings, ttlMinutes: { ANDROID: minutes, IOS: 1, WEB: 2_160 }, ...more },
  });
  const quiet = (more: Partial<WarnedCampaign>, mode: 'HOLD' | 'DROP' = 'HOLD') =>
    warn({ ...night, ...more, ...controls({ quietHours: { ...quietHours, mode } }) });
  const told = (rest: string) => [
    ['QUIET_HOURS', 'warning', `2026-03-01 23:30 is in the quiet hours (22:00-08:00) of people in UTC${rest}`],
  ];
  const held = told(': they get it at 08:00, when they are over.');
  const dropped = told(': they do not get it.');
  const dead = told(': it lives no longer than they last, so they do not get it.');

  test('are reported by day as applying in the zones of users', () => {
    expect(quiet({ occurrences: campaign.occurrences })).toEqual([
      [
        'QUIET_HOURS',
        'note',
        "Quiet hours (22:00-08:00) hold in each person's zone; in UTC it is sent outside of them.",
      ],
    ]);
  });

  test('send held messages at their end if these live long enough', () => {
    expect(quiet({})).toEqual(held);
    // Eight and a half hours.
    expect([quiet(lives(510)), quiet(lives(509))]).toEqual([held, dead]);
    expect([quiet(lives(390, { queueHours: 2 })), quiet(lives(389, { queueHours: 2 }))]).toEqual([held, dead]);
    // Of platforms that are not sent to nothing is asked.
    expect(
      quiet({ ...lives(600), platforms: ['ANDROID', 'IOS'], credentials: { ANDROID: 'real', IOS: 'real' } }),
    ).toEqual(dead);
  });

  test('send dropped messages only from the queue of the campaign', () => {
    expect(quiet({}, 'DROP')).toEqual(dropped);
    expect(quiet(lives(2_160, { queueHours: 8 }), 'DROP')).toEqual(dropped);
    expect(quiet(lives(0, { queueHours: 9 }), 'DROP')[0]).toEqual(held[0]);
  });

  test('name the first occurrence in them, in the zone of the workspace', () => {
    const occurrences = [...campaign.occurrences, new Date('2026-03-02T17:15:20Z'), ...night.occurrences];
    const [found] = warn({ occurrences, ...controls({ quietHours, timeZone: 'Asia/Kolkata' }) });
    expect(found![2]).toBe(
      '2026-03-02 22:45 is in the quiet hours (22:00-08:00) of people in Asia/Kolkata: they get it at 08:00, when they are over.',
    );
  });

  test('are not reported for a campaign that ignores them', () => {
    expect(quiet({ settings: { ...defaultDeliverySettings, bypassesQuietHours: true } })).toEqual([]);
  });

  test('belong to the schedule, whatever they do', () => {
    const asked = { ...campaign, ...controls({ quietHours }) };
    for (const more of [{}, night, { ...night, ...lives(1) }])
      expect(warnOfCampaign({ ...asked, ...more }).map(({ part }) => part)).toEqual(['schedule']);
  });
});

describe('caps and the minimum delay of the workspace', () => {
  const caps = [
    { messages: 2, hours: 24 },
    { messages: 5, hours: 36 },
  ];
  const asked = controls({ caps, minimumDelayMinutes: 90 });
  const notes = (more: object) => warn({ ...asked, settings: { ...defaultDeliverySettings, ...more } });

  test('are reported if the campaign obeys them', () => {
    expect(notes({ ignoresMinimumDelay: false })).toEqual([
      ['FREQUENCY_CAP', 'note', 'Frequency caps hold (2/1d, 5/36h): people who have had as many are left out.'],
      ['MINIMUM_DELAY', 'note', 'People who got another campaign in the last 90 minutes are left out.'],
    ]);
    expect(notes({ ignoresCap: true })).toEqual([]);
    expect(warn({ settings: { ...defaultDeliverySettings, ignoresMinimumDelay: false } })).toEqual([]);
  });

  test('let users wait in the queue of the campaign', () => {
    expect(notes({ ignoresMinimumDelay: false, queueHours: 3 }).map(([, , words]) => words)).toEqual([
      'Frequency caps hold (2/1d, 5/36h): people who have had as many wait, 3 hours at most.',
      'People who got another campaign in the last 90 minutes wait, 3 hours at most.',
    ]);
  });
});

test('warns that a message with no time to live is lost on disconnected devices', () => {
  const settings = { ...defaultDeliverySettings, ttlMinutes: { ANDROID: 0, IOS: 0, WEB: 0 } };
  expect(warn({ settings })).toEqual([
    ['SHORT_LIVED', 'note', 'It lives for no time: devices that are not connected at that moment never get it.'],
  ]);
});

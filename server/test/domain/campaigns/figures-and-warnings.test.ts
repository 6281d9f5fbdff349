import { describe, expect, test } from 'vitest';
import type { App } from '../../../src/domain/apps.ts';
import { defaultDeliverySettings } from '../../../src/domain/campaigns/delivery-settings.ts';
import {
  areDeliveriesKnown,
  conversionRate,
  conversionRateOf,
  eligibleUsersOf,
  goalUplift,
  performanceOf,
  rateFigures,
} from '../../../src/domain/campaigns/figures.ts';
import type { Figures, GroupFigures } from '../../../src/domain/campaigns/figures.ts';
import { lostInApps, warnOfCampaign } from '../../../src/domain/campaigns/warnings.ts';
import type { WarnedCampaign } from '../../../src/domain/campaigns/warnings.ts';
import type { AndroidContent, CampaignContent, PayloadMode } from '../../../src/domain/content/content.ts';

const reports = (total: number, messages: number, devices: number | undefined) => ({ total, messages, devices });
const goal = (users: number) => ({ goal: 'g', total: users, unique: users, users, revenue: undefined });
const figures: Figures = {
  ...{ devices: 220, attempted: 200, sent: 160, failed: 30, gone: 10, failures: undefined },
  impressions: reports(120, 80, 60),
  clicks: reports(36, 30, 24),
  closes: reports(5, 4, 3),
  conversions: [goal(8), goal(20)],
  audience: { reachable: 400, installed: 500 },
  groups: undefined,
};
const group = (name: GroupFigures['group'], users: number, goals: number[]): GroupFigures => ({
  ...{ group: name, users },
  conversions: goals.map((count) => ({ total: count, unique: count, users: count })),
});

describe('the figures of a platform (fact 7)', () => {
  const counts = { attempted: 200, sent: 160, failed: 30, gone: 10 };

  test('count everything as TOTAL', () => {
    const total = {
      ...{ impressions: 120, clicks: 36, closes: 5, delivered: 80, clickRate: 30 },
      ...{ ...counts, deliveryRate: 50, sentRate: 80, failureRate: 20 },
    };
    expect(performanceOf(figures, { runs: 1, metric: 'TOTAL' })).toStrictEqual(total);
    expect(performanceOf(figures, { runs: 2, metric: 'TOTAL' })).toStrictEqual(total);
  });

  test('count a device once as UNIQUE; devices of several runs cannot be matched', () => {
    const unique = { impressions: 60, clicks: 24, closes: 3, delivered: 60, clickRate: 40 };
    expect(performanceOf(figures, { runs: 1, metric: 'UNIQUE' })).toStrictEqual({
      ...unique,
      ...{ ...counts, deliveryRate: 37.5, sentRate: 80, failureRate: 20 },
    });
    expect(performanceOf(figures, { runs: 2, metric: 'UNIQUE' })).toStrictEqual(unique);
    expect([0, 1, 2].map((runs) => areDeliveriesKnown({ runs, metric: 'UNIQUE' }))).toEqual([true, true, false]);
  });

  test('have no share of zero, and none of an unknown number', () => {
    const none = { ...figures, attempted: 0, sent: 0, impressions: reports(0, 0, undefined) };
    const { clickRate, deliveryRate, sentRate, failureRate } = performanceOf(none, { runs: 1, metric: 'TOTAL' });
    expect([clickRate, deliveryRate, sentRate, failureRate]).toEqual(new Array(4).fill(undefined));
    const unknown = performanceOf(none, { runs: 1, metric: 'UNIQUE' });
    expect([unknown.clickRate, unknown.delivered]).toEqual([undefined, undefined]);
    const clicksUnknown = { ...figures, clicks: reports(1, 1, undefined) };
    expect(performanceOf(clicksUnknown, { runs: 1, metric: 'UNIQUE' }).clickRate).toBeUndefined();
  });

  test('are percentages with two decimals, and may exceed 100: 4 clicks on 2 impressions are 200', () => {
    const rate = (clicks: number, impressions: number) =>
      performanceOf(
        { ...figures, clicks: reports(clicks, 0, 0), impressions: reports(impressions, 0, 0) },
        { runs: 1, metric: 'TOTAL' },
      ).clickRate;
    expect([rate(4, 2), rate(1, 3), rate(2, 3), rate(0, 7)]).toEqual([200, 33.33, 66.67, 0]);
  });
});

describe('the eligible users of a campaign', () => {
  const groups = [group('CAMPAIGN_CONTROL_GROUP', 50, [5, 1]), group(null, 200, [10, 40])];

  test('are the users in no control group, or else all who could be reached', () => {
    expect(eligibleUsersOf({ ...figures, groups })).toBe(200);
    expect(eligibleUsersOf({ ...figures, groups: [groups[0]!] })).toBeUndefined();
    expect(eligibleUsersOf(figures)).toBe(400);
    expect(eligibleUsersOf({ ...figures, audience: undefined })).toBeUndefined();
  });

  test('have a conversion rate, separately from the control groups', () => {
    expect(conversionRateOf(figures, 0)?.rate).toBe(2);
    expect(conversionRateOf(figures, 1)?.rate).toBe(5);
    expect(conversionRateOf({ ...figures, groups }, 0)?.rate).toBe(5);
    expect(conversionRateOf({ ...figures, groups }, 1)?.rate).toBe(20);
    expect(conversionRateOf({ ...figures, audience: undefined }, 0)).toBeUndefined();
  });

  test('have a separate rate for each group, and none for an empty group', () => {
    expect([conversionRate(groups[0]!, 0), conversionRate(groups[1]!, 1)]).toEqual([10, 20]);
    expect(conversionRate(group(null, 0, [0]), 0)).toBeUndefined();
  });
});

describe('a rate', () => {
  // Wilson's interval of 8 in 400 and of 3 in 3, worked out by hand.
  test('has the bounds of its interval, in percent', () => {
    expect(rateFigures(8, 400)).toStrictEqual({ rate: 2, low: 1.02, high: 3.9 });
    expect(rateFigures(0, 0)).toStrictEqual({ rate: undefined, low: undefined, high: undefined });
  });

  test('has at least as many trials as successes, even if fewer are known', () => {
    expect(rateFigures(3, 1)).toStrictEqual({ rate: 100, low: 43.85, high: 100 });
  });
});

describe('the uplift over the control group', () => {
  const treated = group(null, 1_000, [120, 60]);
  const campaign = group('CAMPAIGN_CONTROL_GROUP', 1_000, [100, 60]);
  const global = group('GLOBAL_CONTROL_GROUP', 1_000, [60, 30]);

  // The ratio of 120 in 1,000 and 100 in 1,000 is 1.2, and its standard error on the logarithm sqrt(1/120 + 1/100 − 2/1000).
  test('is a percentage with bounds', () => {
    expect(goalUplift([treated, campaign], 0)).toStrictEqual({ uplift: 20, low: -6.59, high: 54.16 });
    expect(goalUplift([treated, campaign], 1).uplift).toBe(0);
    expect(goalUplift([treated, global], 0).uplift).toBe(100);
  });

  test('uses the campaign’s own group if it has one', () => {
    expect(goalUplift([global, treated, campaign], 0).uplift).toBe(20);
  });

  test('is unknown without both numbers', () => {
    const unknown = { uplift: undefined, low: undefined, high: undefined };
    for (const groups of [[], [treated], [campaign], [treated, group('CAMPAIGN_CONTROL_GROUP', 0, [0])]])
      expect(goalUplift(groups, 0)).toStrictEqual(unknown);
    expect(goalUplift([group(null, 10, [0]), campaign], 0)).toStrictEqual({ ...unknown, uplift: -100 });
  });
});

const bare: AndroidContent = { title: 'T', message: 'M', richContent: [], additionalActions: [] };
const summary = { ...bare, summary: 'S' };
const app = (appId: string, mode?: PayloadMode, more: Partial<App> = {}): App => ({
  ...{ platform: 'ANDROID', appId, name: appId, identifier: 'com.example.shop', environment: null },
  ...{ restrictsPackage: false, ...(mode && { settings: { mode } }), ...more },
});
type Question = { mode?: PayloadMode; apps?: App[]; appIds?: string[]; isSilent?: boolean };
const lost = (content: AndroidContent, { mode = 'both', apps = [], appIds, isSilent = false }: Question = {}) =>
  lostInApps(content, { mode, apps, settings: { isSilent, ...(appIds && { appIds }) } });

describe('a notification of the system', () => {
  const rows: [string, Partial<AndroidContent>, { field: string; words: string }][] = [
    [
      'buttons',
      { additionalActions: [{ type: 'copy', value: 'V', name: 'N' }] },
      { field: 'additionalActions', words: 'buttons' },
    ],
    ['group', { groupKey: 'g' }, { field: 'groupKey', words: 'the group' }],
    ['summary', { summary: 'S' }, { field: 'summary', words: 'the summary' }],
    [
      'coupon',
      {
        richContent: [
          { type: 'image', value: 'i' },
          { type: 'coupon', value: 'c' },
        ],
      },
      { field: 'richContent', words: 'the coupon' },
    ],
    [
      'action of its own',
      { defaultAction: { type: 'deeplinking', value: 'a://b', keyValuePairs: {} } },
      { field: 'defaultAction', words: 'what a tap opens' },
    ],
    [
      'time after which it goes away',
      { options: { timeoutSeconds: 60 } },
      { field: 'options.timeoutSeconds', words: 'the time after which it goes away' },
    ],
    [
      'badge that it clears',
      { options: { badge: { operation: 'clear' } } },
      { field: 'options.badge', words: 'the cleared badge' },
    ],
  ];

  test.each(rows)('loses %s', (_what, more, member) => {
    const content = { ...bare, ...more };
    for (const mode of ['notification', 'both'] as const)
      expect(lost(content, { mode })).toEqual([{ mode, apps: [], lost: [member] }]);
    // The app shows it itself.
    expect(lost(content, { mode: 'data' })).toEqual([]);
  });

  test('keeps an image, a sound, a set badge and other options', () => {
    const content: AndroidContent = {
      ...bare,
      richContent: [
        { type: 'image', value: 'i' },
        { type: 'sound', value: 's' },
      ],
      collapseReplaceKey: 'k',
      options: { icon: 'i', badge: { operation: 'set', value: 2 } },
    };
    expect(lost(content)).toEqual([]);
  });

  test('reports all losses, in this order', () => {
    const all = Object.assign({}, bare, ...rows.map(([, more]) => more)) as AndroidContent;
    const options = { timeoutSeconds: 60, badge: { operation: 'clear' as const } };
    expect(lost({ ...all, options })[0]!.lost).toEqual(rows.map(([, , member]) => member));
  });
});

describe('the mode is', () => {
  const modes = (question: Question, content: AndroidContent = summary) =>
    lost(content, question).map(({ mode, apps }) => [mode, ...apps]);
  const chosen = { ...summary, options: { deliveryMode: 'notification' as const } };

  test('that of the workspace, for every app without its own', () => {
    expect(modes({ apps: [app('a'), app('b', undefined, { settings: {} })] })).toEqual([['both']]);
    expect(modes({ mode: 'data', apps: [app('a')] })).toEqual([]);
  });

  test('an app’s own, grouped with other apps of the same mode', () => {
    const apps = [app('a', 'notification'), app('b', 'data'), app('c', 'notification')];
    expect(modes({ apps })).toEqual([['both'], ['notification', 'a', 'c']]);
    expect(modes({ mode: 'data', apps })).toEqual([['notification', 'a', 'c']]);
  });

  test('that of the apps that the message is for', () => {
    const apps = [app('a', 'notification'), app('b')];
    expect(modes({ apps, appIds: ['a'] })).toEqual([['notification', 'a']]);
    expect(modes({ apps, appIds: ['b'] })).toEqual([['both']]);
    expect(modes({ apps, appIds: ['a', 'default'] })).toEqual([['both'], ['notification', 'a']]);
    expect(modes({ apps, appIds: ['a', 'b'] })).toEqual([['both'], ['notification', 'a']]);
  });

  test('not that of an app on another platform', () => {
    expect(modes({ apps: [app('a', 'notification', { platform: 'WEB' })] })).toEqual([['both']]);
    expect(modes({ apps: [app('a', undefined, { platform: 'IOS' })], appIds: ['a'] })).toEqual([]);
  });

  test('that of the message, in every app', () => {
    const apps = [app('a', 'both'), app('b', 'data')];
    expect(modes({ mode: 'data', apps }, chosen)).toEqual([['notification']]);
    expect(modes({ mode: 'data', apps, appIds: ['a'] }, chosen)).toEqual([['notification']]);
    const data = { ...summary, options: { deliveryMode: 'data' as const } };
    expect(modes({ apps }, data)).toEqual([]);
  });

  test('data for a silent message', () => expect(modes({ isSilent: true })).toEqual([]));
});

describe('campaign warnings', () => {
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
        [
          'TEMPLATE_CAN_FAIL',
          'warning',
          expect.stringMatching(/^Variation 1, pt: Android: the template of title fails/),
        ],
        ['VARIATION_UNUSED', 'note', 'Variation 2 has a share of 0 %: no one gets it.'],
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
          `Android and Web: the template of title fails for people with too few known attributes (${reason}), ${way}: they get nothing.`,
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
});

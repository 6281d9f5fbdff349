import { describe, expect, test } from 'vitest';
import { warnOfCampaign } from '../../src/domain/campaigns/campaign-warnings.ts';
import type { WarnedCampaign } from '../../src/domain/campaigns/campaign-warnings.ts';
import { defaultDeliverySettings } from '../../src/domain/campaigns/delivery-settings.ts';

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

test('a campaign that goes as anybody expects has no warning', () => {
  expect(warn({})).toEqual([]);
});

describe('platforms', () => {
  test('without a credential pause the campaign; simulated ones reach no real device', () => {
    expect(warn({ credentials: {} })).toEqual([
      ['NO_CREDENTIAL', 'warning', expect.stringContaining('credential for Android')],
    ]);
    expect(warn({ credentials: { ANDROID: 'simulated' } })).toEqual([
      ['SIMULATED', 'note', expect.stringContaining('no real device')],
    ]);
  });
});

describe('the mode of Android messages', () => {
  const buttons = {
    content: {
      ANDROID: { ...android, summary: 'S', additionalActions: [{ type: 'copy', value: 'V', name: 'N' } as const] },
    },
  };

  test.each(['notification', 'both'] as const)('%s: what the system does not show is named', (androidMode) => {
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

  test('data loses nothing', () => expect(warn(buttons)).toEqual([]));
});

describe('variations and locales', () => {
  test('are each told of by name, and one that nobody gets', () => {
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

test('of variations that are learned it is told that they need time, unless they have it', () => {
  const contents = [[campaign.content], [campaign.content]];
  const learning = { by: 'CLICKS' as const, floorPercent: 5 };
  const learned = { variants: { locales: [], percents: [50, 50], contents, learning } };
  expect(warn(learned)).toEqual([['LEARNS_LATE', 'note', expect.stringContaining('campaign_throttle_rpm')]]);
  expect(warn({ ...learned, recurs: true })).toEqual([]);
  expect(warn({ ...learned, settings: { ...campaign.settings, devicesPerMinute: 60 } })).toEqual([]);
});

describe('templates', () => {
  const personal = "Hi {{ UserAttribute['First Name'] }}";

  test('that need what not everybody has, without a fallback that holds, are told with their place', () => {
    const lost = [['TEMPLATE_CAN_FAIL', 'warning', expect.stringContaining('template of title')]];
    expect(warn(title(personal))).toEqual(lost);
    expect(warn(title(personal, { title: personal }))).toEqual(lost);
    expect(warn(title(personal, { title: 'Hi there' }))).toEqual([]);
    expect(warn(title("Hi {{ UserAttribute['First Name'] | default('you') }}"))).toEqual([]);
  });

  test('that need what everybody has cannot fail: the user id, and what the event brings', () => {
    expect(warn(title("{{ UserAttribute['ID'] }}"))).toEqual([]);
    const team = { eventAttributes: [{ name: 'team', type: 'string' as const }] };
    expect(warn({ ...title('{{ BusinessEventAttribute.team }}'), ...team })).toEqual([]);
  });
});

describe('quiet hours', () => {
  const quietHours = { from: '22:00', to: '08:00', mode: 'HOLD' as const };
  const night = { occurrences: [new Date('2026-03-01T23:30:00Z')] };

  test.each([
    { asked: 'hold', more: night, mode: 'HOLD' as const, tone: 'warning', words: 'they get it at 08:00' },
    { asked: 'drop', more: night, mode: 'DROP' as const, tone: 'warning', words: 'they do not get it' },
    { asked: 'do nothing by day', more: {}, mode: 'HOLD' as const, tone: 'note', words: 'outside of them' },
  ])('$asked', ({ more, mode, tone, words }) => {
    expect(warn({ ...more, ...controls({ quietHours: { ...quietHours, mode } }) })).toEqual([
      ['QUIET_HOURS', tone, expect.stringContaining(words)],
    ]);
  });

  test('outlast what lives shorter; a campaign that passes them hears nothing of them', () => {
    const settings = { ...defaultDeliverySettings, ttlMinutes: { ANDROID: 60, IOS: 60, WEB: 60 } };
    expect(warn({ ...night, settings, ...controls({ quietHours }) })[0]![2]).toContain('lives no longer');
    const bypassing = { ...defaultDeliverySettings, bypassesQuietHours: true };
    expect(warn({ ...night, settings: bypassing, ...controls({ quietHours }) })).toEqual([]);
  });
});

test('caps and the minimum delay of the workspace are reported where the campaign obeys them', () => {
  const asked = controls({ caps: [{ messages: 2, hours: 24 }], minimumDelayMinutes: 90 });
  const obeying = { ...defaultDeliverySettings, ignoresMinimumDelay: false };
  expect(warn({ ...asked, settings: obeying }).map(([code, tone]) => [code, tone])).toEqual([
    ['FREQUENCY_CAP', 'note'],
    ['MINIMUM_DELAY', 'note'],
  ]);
  const ignoring = { ...defaultDeliverySettings, ignoresCap: true };
  expect(warn({ ...asked, settings: ignoring })).toEqual([]);
});

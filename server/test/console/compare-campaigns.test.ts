import { expect, test } from 'vitest';
import { compareCampaigns } from '../../../console/src/campaigns/report/summary/compare-campaigns.ts';
import { describeSchedule } from '../../../console/src/campaigns/report/describe-schedule.ts';
import { sentMessages } from '../../../console/src/campaigns/report/sent-messages.ts';

const rate = (percent: number, low: number, high: number) => ({ percent, low, high });

function side(changes: { accepted: number; reachable: number; clicked: ReturnType<typeof rate>; goals?: object[] }) {
  const { accepted, reachable, clicked, goals = [] } = changes;
  const outcomes = [
    { platform: 'ANDROID', outcome: 'ACCEPTED', devices: accepted },
    { platform: 'IOS', outcome: 'GONE', devices: reachable - accepted },
  ];
  const all = { shown: 0, shownRate: null, clicked: 7, clickedRate: clicked, goals };
  return { progress: { reachableDevices: reachable, outcomes }, figures: { all } } as never;
}

test('two campaigns differ by points of their shares, and it is said whether that may be chance', () => {
  const rows = compareCampaigns({
    one: side({
      accepted: 90,
      reachable: 100,
      clicked: rate(3, 2.5, 3.5),
      goals: [{ name: 'Bought', users: 4, rate: rate(4, 2, 6) }],
    }),
    other: side({ accepted: 1600, reachable: 2000, clicked: rate(2, 1.8, 2.2) }),
  });
  const named = Object.fromEntries(rows.map(({ name, ...row }) => [name, row]));
  expect(named['Reachable devices']).toMatchObject({ difference: '−1,900' });
  expect(named['Accepted']).toMatchObject({
    one: { count: '90', rate: '90 % of reachable' },
    other: { count: '1,600', rate: '80 % of reachable' },
    difference: '+10.0 points',
  });
  expect(named['Clicked']).toMatchObject({ difference: '+1.0 points', verdict: 'more than chance' });
  expect(named['Shown']).toMatchObject({ difference: undefined, verdict: undefined });
  // Only one of them has this goal.
  expect(named['Converted: Bought']).toMatchObject({
    one: { count: '4' },
    other: { count: '–' },
    difference: undefined,
  });
  expect(named['Not delivered']).toMatchObject({ difference: '−10.0 points' });
  const near = compareCampaigns({
    one: side({ accepted: 1, reachable: 1, clicked: rate(3, 2.1, 4) }),
    other: side({ accepted: 1, reachable: 1, clicked: rate(2, 1.8, 2.2) }),
  });
  expect(near.find(({ name }) => name === 'Clicked')!.verdict).toBe('may be chance');
});

test('the message that was sent is read of one content, of languages of a push, and of locales and variations', () => {
  const android = (title: string) => ({ android: { basic_details: { title, message: 'M' } } });
  const record = (content: object) => ({ campaign_content: { content } });
  const titles = (content: object) =>
    sentMessages(record(content)).map(({ locale, variation, platforms }) => [
      ...[locale, variation],
      ...platforms.map((platform) => (platform.content.basic_details as { title: string }).title),
    ]);
  expect(titles({ push: android('Hello') })).toEqual([[null, null, 'Hello']]);
  expect(titles({ push: { ...android('Hello'), locales: { de: { android: { title: 'Hallo' } } } } })).toEqual([
    ['default', null, 'Hello'],
    ['de', null, 'Hallo'],
  ]);
  const ofLocale = (word: string) => ({
    variation_1: { push: android(`${word} 1`) },
    variation_2: { push: android(`${word} 2`) },
  });
  expect(titles({ default: ofLocale('Hello'), de: ofLocale('Hallo') })).toEqual([
    ['default', 1, 'Hello 1'],
    ['default', 2, 'Hello 2'],
    ['de', 1, 'Hallo 1'],
    ['de', 2, 'Hallo 2'],
  ]);
  // What is the same for all is not told by names.
  expect(titles({ default: { variation_1: { push: android('One') } } })).toEqual([[null, null, 'One']]);
  expect(sentMessages({})).toEqual([]);
});

test('a schedule is told in words', () => {
  const schedule = (type: string, details: object) =>
    describeSchedule({ campaign_delivery_type: type, scheduling_details: details });
  const start = { delivery_type: 'AT_FIXED_TIME', start_time: '2026-12-01T10:00:00', timezone: 'Asia/Kolkata' };
  expect(schedule('ONE_TIME', { delivery_type: 'ASAP' })).toBe('At once, when it is published');
  expect(schedule('ONE_TIME', start)).toBe('Once, on 1 Dec 2026 at 10:00 (Asia/Kolkata)');
  expect(schedule('ONE_TIME', { ...start, delivery_type: 'SEND_IN_USER_TIMEZONE' })).toBe(
    'Once, on 1 Dec 2026 at 10:00 (Asia/Kolkata), at that time in everyone’s own zone',
  );
  const period = (details: object) =>
    schedule('PERIODIC', { ...start, expiry_time: '2027-01-01T10:00:00', periodic_details: details });
  expect(period({ sending_frequency: 'DAILY', repeat_frequency: 2 })).toBe(
    'Every 2 days at 10:00 (Asia/Kolkata), from 1 Dec 2026 until 1 Jan 2027',
  );
  expect(period({ sending_frequency: 'WEEKLY', repeat_on_days_of_week: ['MONDAY', 'THURSDAY'] })).toContain(
    'Every week on Monday, Thursday at 10:00',
  );
  const first = [{ week_granularity: 'FIRST', repeat_on_days_of_week: ['MONDAY'] }];
  expect(period({ sending_frequency: 'MONTHLY', repeat_on_days_of_week_for_month: first })).toContain(
    'Every month on the first Monday at 10:00',
  );
});

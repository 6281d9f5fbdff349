import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultDeliverySettings } from '../../src/domain/campaigns/delivery-settings.ts';
import { android, campaign, expectStatus, faultsOf, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

let bundle: AuthoringBundle;
beforeAll(async () => {
  bundle = await makeAuthoringBundle();
  // user-0 and user-3 have Android phones, user-1 and user-4 iPhones, user-2 and user-5 browsers.
  await bundle.addDevices(6);
  await bundle.setAttribute('user-0', { city: 'Rome', visits: 3 });
  await bundle.setAttribute('user-3', { city: 'Oslo', visits: 9 });
});
afterAll(() => bundle.close());

const at = (start_time: string, more: object = {}) => ({
  scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time, ...more },
});
const filters = (...list: object[]) => ({ filter_operator: 'and', filters: list });
const attribute = (name: string, value: unknown) => ({
  filter_type: 'user_attributes',
  name,
  data_type: 'string',
  operator: 'in',
  value,
});

describe('publishing', () => {
  test('sends an as-soon-as-possible campaign through the normal fan-out', async () => {
    const id = await bundle.live();
    expect((await bundle.get(id)).status).toBe('SENDING');
    expect(await bundle.deliver()).toEqual(['user-0', 'user-3']);
    expect((await bundle.get(id)).status).toBe('SENT');
  });

  test('stores the same record as the push API, column by column (fact 6.2)', async () => {
    const pushed = await bundle.push({
      campaignName: 'The same',
      targetPlatform: ['ANDROID', 'IOS', 'WEB'],
      payload: {
        ANDROID: {
          title: 'T',
          message: 'M',
          summary: 'S',
          channel_id: 'news',
          groupKey: 'g',
          collapseReplaceKey: 'c',
          richContent: [
            { type: 'image', value: 'https://a.b/i.png' },
            { type: 'coupon', value: 'C1' },
          ],
          defaultAction: { type: 'deeplinking', value: 'app://x', kvPairs: { a: '1' } },
          additionalActions: [{ type: 'copy', name: 'Copy', value: 'C1' }],
        },
        IOS: {
          title: 'T',
          message: 'M',
          subtitle: 'U',
          enableIosBadge: true,
          richContent: [{ type: 'video', value: 'https://a.b/v.mp4' }],
          additionalActions: [{ category: 'OFFER' }],
        },
        WEB: { title: 'T', message: 'M', redirectURL: 'https://a.b/', iconURL: 'https://a.b/i.png', autoDismiss: true },
      },
      campaignTags: ['x'],
      campaignDelivery: { type: 'later', date: '05/01/2026', time: '09:30 AM', timezone: 'Europe/Berlin' },
      conversionGoals: [
        { name: 'g', eventName: 'e', attrs: { name: 'n', type: 'numeric', filter: 'is less than', value: 3 } },
      ],
    });
    const made = await bundle.live({
      basic_details: { name: 'The same', platforms: ['ANDROID', 'IOS', 'WEB'], tags: ['x'] },
      campaign_content: {
        content: {
          default: {
            variation_1: {
              push: {
                android: {
                  template_type: 'BASIC',
                  basic_details: {
                    title: 'T',
                    message: 'M',
                    summary: 'S',
                    notification_channel: 'news',
                    image_url: 'https://a.b/i.png',
                    default_click_action: 'DEEPLINKING',
                    default_click_action_value: 'app://x',
                    key_value_pairs: [{ key: 'a', value: '1' }],
                  },
                  buttons: [{ btn_name: 'Copy', click_action_type: 'COPY', click_action_value: 'C1' }],
                  advanced: { coupon_code: 'C1', group_key: 'g', collapse_replace_key: 'c' },
                },
                ios: {
                  basic_details: {
                    title: 'T',
                    message: 'M',
                    subtitle: 'U',
                    rich_media_type: 'Video',
                    rich_media_value: 'https://a.b/v.mp4',
                  },
                  buttons: [{ button_category: 'OFFER' }],
                  advanced: { enable_ios_badge: true },
                },
                web: {
                  basic_details: {
                    title: 'T',
                    message: 'M',
                    redirect_url: 'https://a.b/',
                    auto_dismiss_notification: true,
                  },
                  advanced: { icon_image_type: 'ICON_URL', icon_url: 'https://a.b/i.png' },
                },
              },
            },
          },
        },
      },
      ...at('2026-05-01T09:30:00', { timezone: 'Europe/Berlin' }),
      // The one setting of which the two doors have different defaults (docs/decisions/0018).
      delivery_controls: { ignore_global_minimum_delay: true },
      conversion_goal_details: {
        attribution_window_in_hours: 36,
        goals: [
          {
            goal_name: 'g',
            goal_event_name: 'e',
            is_primary_goal: true,
            goal_event_attribute: { name: 'n', type: 'numeric', operator: 'is less than', value: 3 },
          },
        ],
      },
    });
    const columns = (row: any) =>
      Object.fromEntries(
        [
          'name',
          'channel',
          'delivery_type',
          'audience',
          'segment_id',
          'platforms',
          'content',
          'timing',
          'tags',
          'conversion_goals',
          'settings',
          'status',
          'next_at',
        ].map((name) => [name, row[name]]),
      );
    expect(columns(await bundle.row(made))).toEqual(columns(await bundle.row(pushed)));
  });

  test('schedules a fixed time in its zone, which the scheduler fires and search shows normalised', async () => {
    const id = await bundle.live(at('2026-03-08T02:30:00', { timezone: 'America/New_York' }));
    const shown = await bundle.get(id);
    expect(shown.status).toBe('SCHEDULED');
    expect(shown.scheduling_details).toEqual({
      delivery_type: 'SCHEDULED',
      schedule_time: '2026-03-08T02:30:00',
      time_zone: 'America/New_York',
    });
    // The hour that New York skips is read an hour later (decision D36).
    expect((await bundle.row(id)).next_at.toISOString()).toBe('2026-03-08T07:30:00.000Z');
    bundle.clock.anchor(new Date('2026-03-08T07:30:00Z'));
    await bundle.fire();
    expect(await bundle.deliver()).toEqual(['user-0', 'user-3']);
    expect((await bundle.get(id)).status).toBe('SENT');
  });

  test('uses the zone of the workspace by default, reads a time with an offset as that instant, and keeps seconds', async () => {
    await bundle.database`update workspaces set time_zone = 'Asia/Kolkata'`;
    const own = await bundle.live(at('2026-06-01T09:00:30'));
    expect((await bundle.row(own)).next_at.toISOString()).toBe('2026-06-01T03:30:30.000Z');
    expect((await bundle.get(own)).scheduling_details.schedule_time).toBe('2026-06-01T09:00:30');
    const instant = await bundle.live(at('2026-06-01T09:00:00Z', { timezone: 'Europe/Berlin' }));
    expect((await bundle.row(instant)).timing).toMatchObject({ date: '2026-06-01', time: '11:00' });
    await bundle.database`update workspaces set time_zone = 'UTC'`;
  });

  test('rejects an incomplete draft with its errors, and leaves it a draft', async () => {
    const id = await bundle.draft({ segmentation_details: {} });
    const answer = await bundle.act(id, 'PUBLISH');
    expect([answer.statusCode, faultsOf(answer)]).toEqual([400, ['segmentation_details is required.']]);
    expect((await bundle.get(id)).status).toBe('DRAFT');
    expect(await bundle.runs(id)).toEqual([]);
  });

  test('creates one run for two concurrent publications', async () => {
    const id = await bundle.draft();
    const answers = await Promise.all([bundle.act(id, 'PUBLISH'), bundle.act(id, 'PUBLISH')]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 422]);
    expect(await bundle.runs(id)).toHaveLength(1);
    await bundle.deliver();
  });
});

describe('the audience', () => {
  test('is one segment by its id, as in the push API', async () => {
    const segment = await bundle.fileSegment('VIP', ['user-3']);
    const id = await bundle.live({
      segmentation_details: { included_filters: filters({ filter_type: 'custom_segments', id: segment, name: 'VIP' }) },
    });
    expect(await bundle.row(id)).toMatchObject({ audience: 'SEGMENT', segment_id: segment });
    expect(await bundle.deliver()).toEqual(['user-3']);
  });

  test('is a filter tree that is resolved when the run begins', async () => {
    const id = await bundle.live({
      segmentation_details: { included_filters: filters(attribute('city', 'Rome')) },
      ...at('2026-07-01T09:00:00'),
    });
    await bundle.setAttribute('user-3', { city: 'Rome' });
    bundle.clock.anchor(new Date('2026-07-01T09:00:00Z'));
    await bundle.fire();
    expect(await bundle.deliver()).toEqual(['user-0', 'user-3']);
    await bundle.setAttribute('user-3', { city: 'Oslo' });
    expect((await bundle.get(id)).segmentation_details).toEqual({
      included_filters: filters(attribute('city', 'Rome')),
    });
  });

  test('is all users except some, or a segment except some', async () => {
    await bundle.live({
      segmentation_details: { is_all_user_campaign: true, excluded_filters: filters(attribute('city', 'Rome')) },
    });
    expect(await bundle.deliver()).toEqual(['user-3']);
    const segment = await bundle.fileSegment('Both', ['user-0', 'user-3']);
    await bundle.live({
      segmentation_details: {
        included_filters: filters({ filter_type: 'custom_segments', id: segment }),
        excluded_filters: filters(attribute('city', 'Oslo')),
      },
    });
    expect(await bundle.deliver()).toEqual(['user-0']);
  });

  test('has filters that do not appear as a segment in any list, look-up, name, filter or limit', async () => {
    const tree = filters(attribute('city', 'Paris'));
    const id = await bundle.live({ segmentation_details: { included_filters: tree }, ...at('2026-08-01T09:00:00') });
    const { segment_id: hidden } = await bundle.row(id);
    expect(hidden).toMatch(/^[0-9a-f]{24}$/);
    const listed = (await bundle.segments('GET', '/v3/custom-segments')).json().data;
    expect(listed.map((segment: any) => segment.id)).not.toContain(hidden);
    expectStatus(await bundle.segments('GET', `/v3/custom-segments/${hidden}`), 404);
    expectStatus(await bundle.segments('PATCH', `/v3/custom-segments/${hidden}`, { name: 'Mine' }), 404);
    const by = { name: 'By reference', included_filters: filters({ filter_type: 'custom_segments', id: hidden }) };
    expectStatus(await bundle.segments('POST', '/v3/custom-segments', by), 400);
    // The same filters as a segment of one's own are not a repeat.
    expectStatus(await bundle.segments('POST', '/v3/custom-segments', { name: 'Paris', included_filters: tree }), 201);
    const again = await bundle.draft({
      segmentation_details: { included_filters: filters({ filter_type: 'custom_segments', id: hidden }) },
    });
    expectStatus(await bundle.act(again, 'PUBLISH'), 400);
  });
});

describe('periodic campaigns', () => {
  const periodic = (start: string, period: object, more: object = {}) => ({
    campaign_delivery_type: 'PERIODIC',
    ...at(start, { periodic_details: period, ...more }),
  });
  beforeAll(() => bundle.clock.anchor(new Date('2026-09-01T00:00:00Z')));

  test('stores a daily campaign like the push API, fires each occurrence, and retires it', async () => {
    const id = await bundle.live(
      periodic('2026-09-01T09:00:00', { sending_frequency: 'DAILY', repeat_frequency: 2, no_of_occurences: 2 }),
    );
    expect((await bundle.row(id)).timing).toEqual({
      kind: 'periodic',
      firstDate: '2026-09-01',
      endDate: '2026-09-03',
      time: '09:00',
      timeZone: 'UTC',
      repeatAfterDays: 2,
    });
    for (const instant of ['2026-09-01T09:00:00Z', '2026-09-02T09:00:00Z', '2026-09-03T09:00:00Z']) {
      bundle.clock.anchor(new Date(instant));
      await bundle.fire();
      await bundle.deliver();
    }
    expect((await bundle.runs(id)).map((run) => [run.moment.toISOString(), run.status])).toEqual([
      ['2026-09-01T09:00:00.000Z', 'SENT'],
      ['2026-09-03T09:00:00.000Z', 'SENT'],
    ]);
    expect((await bundle.get(id)).status).toBe('RETIRED');
    const executions = await bundle.call('POST', `/v5/campaigns/${id}/executions`, { limit: 15, page: 1 });
    expect(executions.json().data.total_instances).toBe(2);
  });

  test('sends weekly on the given days until the expiry, and both versions show the words of the request', async () => {
    const period = {
      sending_frequency: 'WEEKLY',
      repeat_frequency: 2,
      repeat_on_days_of_week: ['MONDAY', 'FRIDAY'],
    };
    const more = { expiry_time: '2026-09-30T18:00:00', timezone: 'Europe/Berlin' };
    const id = await bundle.live(periodic('2026-09-07T18:00:00', period, more));
    const occurrences = ['2026-09-07', '2026-09-11', '2026-09-21', '2026-09-25'].map((day) => `${day}T16:00:00.000Z`);
    for (const occurrence of occurrences) {
      expect((await bundle.row(id)).next_at.toISOString()).toBe(occurrence);
      bundle.clock.anchor(new Date(occurrence));
      await bundle.fire();
    }
    expect((await bundle.row(id)).next_at).toBe(null);
    expect((await bundle.get(id)).scheduling_details).toEqual({
      delivery_type: 'PERIODIC',
      schedule_time: '2026-09-07T18:00:00',
      expiry_time: '2026-09-30T18:00:00',
      time_zone: 'Europe/Berlin',
      frequency: period,
    });
    const found = await bundle.call('POST', '/v1/campaigns/search', {
      request_id: 'r',
      limit: 1,
      page: 1,
      campaign_fields: { id },
    });
    expect(found.json()[0].scheduling_details).toEqual({
      delivery_type: 'AT_FIXED_TIME',
      start_time: '2026-09-07T16:00:00',
      expiry_time: '2026-09-30T16:00:00',
      periodic_details: period,
    });
    await bundle.deliver();
  });

  test('sends monthly on dates and on weekdays', async () => {
    bundle.clock.anchor(new Date('2026-10-01T00:00:00Z'));
    const id = await bundle.live(
      periodic('2026-10-01T09:00:00', {
        sending_frequency: 'MONTHLY',
        repeat_on_date_of_month: [31],
        repeat_on_days_of_week_for_month: [{ week_granularity: 'LAST', repeat_on_days_of_week: ['FRIDAY'] }],
        no_of_occurences: 4,
      }),
    );
    // October's last Friday is the 30th, November has no 31st.
    expect((await bundle.row(id)).timing).toMatchObject({ kind: 'calendar', endDate: '2026-12-25' });
  });

  test.each([
    [
      'a start in the past',
      periodic('2026-01-01T09:00:00', { sending_frequency: 'DAILY', no_of_occurences: 2 }),
      'scheduling_details.start_time is in the past.',
    ],
    [
      'an end before the first send',
      periodic('2027-01-02T09:00:00', { sending_frequency: 'DAILY' }, { expiry_time: '2027-01-02T08:59:00' }),
      'scheduling_details.expiry_time leaves nothing to send.',
    ],
    [
      'a day that never comes',
      periodic('2027-02-01T09:00:00', {
        sending_frequency: 'MONTHLY',
        repeat_frequency: 12,
        repeat_on_date_of_month: [30],
        no_of_occurences: 1,
      }),
      'scheduling_details.periodic_details leaves nothing to send.',
    ],
    [
      'no end',
      periodic('2027-01-02T09:00:00', { sending_frequency: 'DAILY' }),
      'scheduling_details.expiry_time is required.',
    ],
  ])('rejects %s', async (_name, body, fault) => {
    const answer = await bundle.act(await bundle.draft(body), 'PUBLISH');
    expect([answer.statusCode, faultsOf(answer)]).toEqual([400, [fault]]);
  });

  test.each([
    [
      'a list of another frequency',
      { sending_frequency: 'DAILY', repeat_on_days_of_week: ['MONDAY'] },
      'repeat_on_days_of_week',
    ],
    [
      'an unknown weekday',
      { sending_frequency: 'WEEKLY', repeat_on_days_of_week: ['FUNDAY'] },
      'repeat_on_days_of_week',
    ],
    ['a date beyond 31', { sending_frequency: 'MONTHLY', repeat_on_date_of_month: [32] }, 'repeat_on_date_of_month'],
    ['an unknown frequency', { sending_frequency: 'HOURLY' }, 'sending_frequency'],
  ])('rejects %s when the draft is created', async (_name, period, name) => {
    const answer = await bundle.call('POST', '/v5/campaigns', campaign(periodic('2027-01-02T09:00:00', period)));
    expect([answer.statusCode, answer.json().error.target]).toEqual([
      400,
      `scheduling_details.periodic_details.${name}`,
    ]);
  });
});

describe('actions (fact 6.3)', () => {
  const outcome = async (id: string, action: string) => {
    const answer = await bundle.act(id, action);
    return answer.statusCode === 200 ? answer.json().data : [answer.statusCode, answer.json().error.message];
  };
  const daily = {
    campaign_delivery_type: 'PERIODIC',
    ...at('2028-01-01T09:00:00', { periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 5 } }),
  };

  test('ends a one-time campaign with STOP before or while it is sent, and not a periodic one', async () => {
    const waiting = await bundle.live(at('2028-01-01T09:00:00'));
    expect(await outcome(waiting, 'STOP')).toEqual({ id: waiting, action: 'STOP' });
    expect((await bundle.get(waiting)).status).toBe('STOPPED');
    expect(await outcome(waiting, 'STOP')).toEqual([
      422,
      'Action STOP is not valid for a ONE_TIME campaign that is STOPPED.',
    ]);
    const sending = await bundle.live();
    expect(await outcome(sending, 'STOP')).toEqual({ id: sending, action: 'STOP' });
    expect((await bundle.runs(sending)).map(({ status }) => status)).toEqual(['STOPPED']);
    const periodic = await bundle.live(daily);
    expect(await outcome(periodic, 'STOP')).toEqual([422, 'Action STOP is not valid for a PERIODIC campaign.']);
  });

  test('pauses and resumes periodic campaigns only', async () => {
    const id = await bundle.live(daily);
    expect(await outcome(id, 'RESUME')).toEqual([
      422,
      'Action RESUME is not valid for a PERIODIC campaign that is ACTIVE.',
    ]);
    expect(await outcome(id, 'PAUSE')).toEqual({ id, action: 'PAUSE' });
    expect((await bundle.get(id)).status).toBe('PAUSED');
    expect(await outcome(id, 'RESUME')).toEqual({ id, action: 'RESUME' });
    expect((await bundle.get(id)).status).toBe('ACTIVE');
    const once = await bundle.live(at('2028-01-01T09:00:00'));
    expect(await outcome(once, 'PAUSE')).toEqual([422, 'Action PAUSE is not valid for a ONE_TIME campaign.']);
  });

  test('accepts the same actions for a campaign of the push API', async () => {
    const id = await bundle.push({
      campaignName: 'Stop me',
      campaignDelivery: { type: 'later', date: '01/01/2028', time: '09:00 AM' },
    });
    expect(await outcome(id, 'STOP')).toEqual({ id, action: 'STOP' });
    expect(await outcome(id, 'PUBLISH')).toEqual([
      422,
      'Action PUBLISH is not valid for a ONE_TIME campaign that is STOPPED.',
    ]);
  });

  test('returns 400 for an unknown action and 404 for an unknown campaign', async () => {
    const id = await bundle.draft();
    expect((await bundle.act(id, 'ARCHIVE')).json().error).toMatchObject({
      code: 'VALIDATION_FAILED',
      target: 'action',
    });
    expect(await outcome('f'.repeat(24), 'STOP')).toEqual([404, 'Campaign not found.']);
    expect(await outcome('f'.repeat(24), 'PUBLISH')).toEqual([404, 'Campaign not found.']);
  });
});

test('applies time to live, priorities and throttle', async () => {
  const id = await bundle.live({
    advanced: {
      expiration_settings: { expire_notification_after_value: 2, expire_notification_after_type: 'DAY' },
      platform_level_priority: {
        android_specific_priority: { send_with_priority: 'NORMAL' },
        ios_specific_priority: { apns_priority: '5' },
      },
    },
    delivery_controls: { campaign_throttle_rpm: 100_000 },
    campaign_content: { content: { push: { android: { ...android, template_backup: android } } } },
  });
  expect((await bundle.row(id)).settings).toEqual({
    ...defaultDeliverySettings,
    ignoresMinimumDelay: false,
    devicesPerMinute: 100_000,
    ttlMinutes: { ANDROID: 2_880, IOS: 2_880, WEB: 2_880 },
    androidPriority: 'NORMAL',
    iosPriority: 5,
  });
  expect((await bundle.row(id)).content.ANDROID.fallback.title).toBe('Title');
  const [run] = await bundle.runs(id);
  expect(run.send_until.getTime() - run.created_at.getTime()).toBe(2 * 86_400_000);
  await bundle.deliver();
});

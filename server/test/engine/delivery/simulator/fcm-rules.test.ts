import { describe, expect, test } from 'vitest';
import { findFcmViolation, readBrowserPayload } from '../../../../src/providers/fcm/simulator-rules.ts';
import type { FcmMessage } from '../../../../src/providers/fcm/simulator-rules.ts';

const token = 'a'.repeat(10);
const fieldOf = (message: object) => findFcmViolation({ token, ...message } as FcmMessage)?.field;

describe('a message of FCM', () => {
  test.each<[string, object]>([
    ['with nothing but its token', {}],
    [
      'with all of its parts',
      {
        ...{ data: { a: 'b' }, notification: {}, android: {}, name: 'x' },
        ...{ fcm_options: { analytics_label: 'spring.Sale-1_~%' }, apns: {}, webpush: {} },
      },
    ],
    ['to an installation', { token: undefined, fid: 'aB3_-'.padEnd(22, 'x') }],
    [
      'with every option of Android',
      {
        android: {
          ...{ collapse_key: 'k', priority: 'HIGH', ttl: '2419200s', restricted_package_name: 'com.shop', data: {} },
          ...{ direct_boot_ok: true, bandwidth_constrained_ok: false, restricted_satellite_ok: true },
          fcm_options: { analytics_label: 'a' },
        },
      },
    ],
    ['with part of a second of life', { android: { ttl: '3.55s' } }],
    ...['NORMAL', 'high', 'normal'].map((priority): [string, object] => [priority, { android: { priority } }]),
    [
      'with a notification in words of the app',
      {
        android: { notification: { title_loc_key: 'k', title_loc_args: ['a'], body_loc_key: 'k', body_loc_args: [] } },
      },
    ],
    [
      'with names that only begin like reserved ones',
      { data: { from_whom: 'x', message_types: 'x', googleplex: 'x' } },
    ],
  ])('%s is taken', (_what, message) => expect(fieldOf(message)).toBeUndefined());

  test.each<[unknown]>([[undefined], ['text'], [7]])('%j is none', (message) =>
    expect(findFcmViolation(message as FcmMessage)).toEqual({ field: 'message', description: 'Message is required.' }),
  );

  test.each<[string, string, object]>([
    ['a member that nobody knows', 'message.topic', { topic: 'x' }],
    ['one of Android', 'message.android.sound', { android: { sound: 'x' } }],
    [
      'one of its notification',
      'message.android.notification.subtitle',
      { android: { notification: { subtitle: 'x' } } },
    ],
    ['a short token', 'message.token', { token: 'a'.repeat(9) }],
    ['a token that is no text', 'message.token', { token: 1_234_567_890 }],
    ['no token', 'message.token', { token: undefined }],
    ['a token and an installation', 'message', { fid: 'x'.repeat(22) }],
    ...['x'.repeat(21), 'x'.repeat(23), '.'.repeat(22), 5].map((fid): [string, string, object] => [
      `the installation ${fid}`,
      'message.fid',
      { token: undefined, fid },
    ]),
    ...['from', 'message_type', 'google.x', 'gcm.x'].map((name): [string, string, object] => [
      `the reserved name ${name}`,
      'message.data',
      { data: { [name]: 'x' } },
    ]),
    ['data that are no texts', 'message.data', { data: { a: 'x', b: 1 } }],
    ...[' x', 'a'.repeat(51), '', 7, 'ü'].map((label): [string, string, object] => [
      `the label ${label}`,
      'message.fcm_options.analytics_label',
      { fcm_options: { analytics_label: label } },
    ]),
    ['an option that there is not', 'message.fcm_options.x', { fcm_options: { x: 'y' } }],
    [
      'a label of Android',
      'message.android.fcm_options.analytics_label',
      { android: { fcm_options: { analytics_label: '!' } } },
    ],
    ...['2419201s', '5', 's', '-1s', '1.s', 5, '1s ', ' 1s'].map((ttl): [string, string, object] => [
      `the life ${ttl}`,
      'message.android.ttl',
      { android: { ttl } },
    ]),
    ['a priority that there is not', 'message.android.priority', { android: { priority: 'URGENT' } }],
    ...['direct_boot_ok', 'bandwidth_constrained_ok', 'restricted_satellite_ok'].map(
      (name): [string, string, object] => [name, `message.android.${name}`, { android: { [name]: 'true' } }],
    ),
    ...['collapse_key', 'restricted_package_name'].map((name): [string, string, object] => [
      name,
      `message.android.${name}`,
      { android: { [name]: 1 } },
    ]),
    ...['title', 'body'].map((part): [string, string, object] => [
      `words for a ${part} without its key`,
      `message.android.notification.${part}_loc_args`,
      { android: { notification: { [`${part}_loc_args`]: ['a'] } } },
    ]),
  ])('is refused for %s', (_what, field, message) => expect(fieldOf(message)).toBe(field));

  const values: Record<string, [taken: unknown[], refused: unknown[]]> = {
    ...Object.fromEntries(
      [
        ...['title', 'body', 'icon', 'sound', 'tag', 'image', 'click_action', 'title_loc_key', 'body_loc_key'],
        ...['channel_id', 'ticker', 'event_time'],
      ].map((name) => [
        name,
        [
          ['', 'x'],
          [1, null, ['x']],
        ],
      ]),
    ),
    ...Object.fromEntries(
      ['sticky', 'local_only', 'default_sound', 'default_vibrate_timings', 'default_light_settings'].map((name) => [
        name,
        [
          [true, false],
          ['true', 1],
        ],
      ]),
    ),
    color: [['#0aF9bc'], ['0aF9bc', '#0aF9b', '#0aF9bcd', '#0aF9bg', 1]],
    notification_priority: [
      ['PRIORITY_MIN', 'PRIORITY_LOW', 'PRIORITY_DEFAULT', 'PRIORITY_HIGH', 'PRIORITY_MAX'],
      ['HIGH', 2, ''],
    ],
    vibrate_timings: [
      [[], ['10s', '0.5s', '3.123456789s']],
      [['1'], ['s'], ['.5s'], ['1.s'], ['1.1234567890s'], '1s', ['1s', 'x1s']],
    ],
    light_settings: [[{}], [null, 'x']],
    visibility: [
      ['PRIVATE', 'PUBLIC', 'SECRET'],
      ['private', 1],
    ],
    notification_count: [
      [0, 7],
      [-1, 1.5, '1'],
    ],
    proxy: [['ALLOW', 'DENY', 'IF_PRIORITY_LOWERED'], ['MAYBE']],
    title_loc_args: [[], ['x', [1], ['x', null]]],
    body_loc_args: [[], ['x', [1]]],
  };
  test.each(Object.entries(values))('of android.notification, %s is of its kind', (name, [taken, refused]) => {
    for (const value of taken)
      expect([value, fieldOf({ android: { notification: { [name]: value } } })]).toEqual([value, undefined]);
    for (const value of refused)
      expect([value, fieldOf({ android: { notification: { [name]: value } } })]).toEqual([
        value,
        `message.android.notification.${name}`,
      ]);
  });

  test('of 4096 bytes in names and values of data and notification is taken, of one more is not', () => {
    // ü and ten é: 22; body: 4 and the text; sticky and true: 10; channel_id and a: 11.
    const sized = (bytes: number) => ({
      data: { ü: 'é'.repeat(10) },
      android: { notification: { body: 'x'.repeat(bytes - 47), sticky: true, channel_id: 'a' } },
    });
    expect(fieldOf(sized(4_096))).toBeUndefined();
    expect(fieldOf(sized(4_097))).toBe('message');
  });
});

describe('the part of FCM for Apple', () => {
  const aps = { alert: 'x' };
  test.each<[string, object]>([
    [
      'with all members',
      {
        headers: {
          ...{ 'apns-push-type': 'alert', 'apns-priority': '10', 'apns-expiration': '0', 'apns-collapse-id': 'x' },
          'apns-id': 'x',
        },
        payload: { aps },
        fcm_options: { image: 'https://x.example/a.png', analytics_label: 'a'.repeat(50) },
        live_activity_token: 'x',
      },
    ],
    ['without anything', {}],
  ])('%s is taken', (_what, apns) => expect(fieldOf({ apns })).toBeUndefined());

  test.each<[string, string, object]>([
    ['an unknown member', '.topic', { topic: 'x' }],
    ['a topic, which is that of the app', '.headers', { headers: { 'apns-topic': 'x' } }],
    ['a header that is no text', '.headers', { headers: { 'apns-priority': 10 } }],
    ['a token of a Live Activity that is no text', '.live_activity_token', { live_activity_token: 1 }],
    ['an image that is no address', '.fcm_options.image', { fcm_options: { image: 'x' } }],
    ['an image that is no text', '.fcm_options.image', { fcm_options: { image: 1 } }],
    ['a label of 51 letters', '.fcm_options.analytics_label', { fcm_options: { analytics_label: 'a'.repeat(51) } }],
    ['an unknown option', '.fcm_options.x', { fcm_options: { x: 'a' } }],
    ['a payload without aps', '.payload.aps', { payload: {} }],
    ['aps that is nothing', '.payload.aps', { payload: { aps: null } }],
    ['aps that Apple does not take', '.payload', { payload: { aps: { badge: -1 } } }],
    [
      'a background push that is seen',
      '.payload',
      { headers: { 'apns-push-type': 'background', 'apns-priority': '5' }, payload: { aps } },
    ],
  ])('is refused for %s', (_what, field, apns) => expect(fieldOf({ apns })).toBe(`message.apns${field}`));

  test('is of 4096 bytes at most', () => {
    const sized = (bytes: number) => ({ apns: { payload: { aps: { alert: 'x'.repeat(bytes - 20) } } } });
    expect(JSON.stringify(sized(4_096).apns.payload)).toHaveLength(4_096);
    expect(fieldOf(sized(4_096))).toBeUndefined();
    expect(fieldOf(sized(4_097))).toBe('message.apns.payload');
  });
});

describe('the part of FCM for browsers', () => {
  test.each<[string, object]>([
    [
      'with all members',
      {
        headers: { TTL: '0', Urgency: 'very-low', Topic: 'a'.repeat(32) },
        data: { a: 'b', carillon: '{"title":"x"}' },
        notification: {},
        fcm_options: { link: 'https://x.example' },
      },
    ],
    ...['low', 'normal', 'high'].map((Urgency): [string, object] => [Urgency, { headers: { Urgency } }]),
    ['without anything', {}],
  ])('%s is taken', (_what, webpush) => expect(fieldOf({ webpush })).toBeUndefined());

  test.each<[string, string, object]>([
    ['an unknown member', '.topic', { topic: 'x' }],
    ...Object.entries({ TTL: '-1', Urgency: 'urgent', Topic: 'a'.repeat(33), Other: 'x' }).map(
      ([name, value]): [string, string, object] => [`the header ${name}`, '.headers', { headers: { [name]: value } }],
    ),
    ['a life that is no text', '.headers', { headers: { TTL: 60 } }],
    ['a life with a unit', '.headers', { headers: { TTL: '60s' } }],
    ['a topic of no letter', '.headers', { headers: { Topic: '' } }],
    ['a topic with a dot', '.headers', { headers: { Topic: 'a.b' } }],
    ['data that are no texts', '.data', { data: { a: 1 } }],
    ['an address without TLS', '.fcm_options.link', { fcm_options: { link: 'http://x.example' } }],
    ['an address that is none', '.fcm_options.link', { fcm_options: { link: 1 } }],
    ['a payload that the worker cannot read', '.data', { data: { carillon: '{' } }],
    ['a payload of nothing', '.data', { data: { carillon: '{}' } }],
    ['a payload that no browser takes', '.data', { data: { carillon: '{"title":1}' } }],
  ])('is refused for %s', (_what, field, webpush) => expect(fieldOf({ webpush })).toBe(`message.webpush${field}`));

  test('is of 4096 bytes of names and values at most', () => {
    const sized = (bytes: number) => ({ webpush: { data: { ü: 'é', b: 'x'.repeat(bytes - 5) } } });
    expect(fieldOf(sized(4_096))).toBeUndefined();
    expect(fieldOf(sized(4_097))).toBe('message.webpush.data');
  });

  test('is read as the worker reads it', () => {
    expect(readBrowserPayload({ data: { carillon: '{"title":"x"}' } })).toEqual({ title: 'x' });
    expect([readBrowserPayload({}), readBrowserPayload({ data: { carillon: '{' } })]).toEqual([{}, {}]);
  });
});

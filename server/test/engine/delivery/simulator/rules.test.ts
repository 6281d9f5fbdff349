import { describe, expect, test } from 'vitest';
import { findFcmViolation, readBrowserPayload } from '../../../../src/providers/fcm/simulator-rules.ts';
import type { FcmMessage } from '../../../../src/providers/fcm/simulator-rules.ts';
import { findHmsViolation } from '../../../../src/providers/hms/simulator-rules.ts';
import type { HmsMessage } from '../../../../src/providers/hms/simulator-rules.ts';
import { screenOfAndroid } from '../../../../src/providers/simulator/android-phone.ts';
import { findBrowserFault, screenOfBrowser } from '../../../../src/providers/simulator/browser.ts';
import { appPartOf, checkApnsContent, screenOfIphone } from '../../../../src/providers/simulator/iphone.ts';
import type { ApnsPayload } from '../../../../src/providers/simulator/iphone.ts';

const token = 'a'.repeat(10);
const fieldOf = (message: object) => findFcmViolation({ token, ...message } as FcmMessage)?.field;

describe('an FCM message', () => {
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
  ])('%s is accepted', (_what, message) => expect(fieldOf(message)).toBeUndefined());

  test.each<[unknown]>([[undefined], ['text'], [7]])('is missing if it is %j', (message) =>
    expect(findFcmViolation(message as FcmMessage)).toEqual({ field: 'message', description: 'Message is required.' }),
  );

  test.each<[string, string, object]>([
    ['an unknown member', 'message.topic', { topic: 'x' }],
    ['one of Android', 'message.android.sound', { android: { sound: 'x' } }],
    [
      'one of its notification',
      'message.android.notification.subtitle',
      { android: { notification: { subtitle: 'x' } } },
    ],
    ['a short token', 'message.token', { token: 'a'.repeat(9) }],
    ['a token that is not a text', 'message.token', { token: 1_234_567_890 }],
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
  ])('is rejected for %s', (_what, field, message) => expect(fieldOf(message)).toBe(field));

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
  test.each(Object.entries(values))('is checked for the type of android.notification.%s', (name, [taken, refused]) => {
    for (const value of taken)
      expect([value, fieldOf({ android: { notification: { [name]: value } } })]).toEqual([value, undefined]);
    for (const value of refused)
      expect([value, fieldOf({ android: { notification: { [name]: value } } })]).toEqual([
        value,
        `message.android.notification.${name}`,
      ]);
  });

  test('is accepted with 4096 bytes of names and values in data and notification, and rejected with one more', () => {
    // ü and ten é: 22; body: 4 and the text; sticky and true: 10; channel_id and a: 11.
    const sized = (bytes: number) => ({
      data: { ü: 'é'.repeat(10) },
      android: { notification: { body: 'x'.repeat(bytes - 47), sticky: true, channel_id: 'a' } },
    });
    expect(fieldOf(sized(4_096))).toBeUndefined();
    expect(fieldOf(sized(4_097))).toBe('message');
  });
});

describe('the Apple part of an FCM message', () => {
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
  ])('%s is accepted', (_what, apns) => expect(fieldOf({ apns })).toBeUndefined());

  test.each<[string, string, object]>([
    ['an unknown member', '.topic', { topic: 'x' }],
    ['a topic, which is that of the app', '.headers', { headers: { 'apns-topic': 'x' } }],
    ['a header that is not a text', '.headers', { headers: { 'apns-priority': 10 } }],
    ['a token of a Live Activity that is not a text', '.live_activity_token', { live_activity_token: 1 }],
    ['an image that is not an address', '.fcm_options.image', { fcm_options: { image: 'x' } }],
    ['an image that is not a text', '.fcm_options.image', { fcm_options: { image: 1 } }],
    ['a label of 51 letters', '.fcm_options.analytics_label', { fcm_options: { analytics_label: 'a'.repeat(51) } }],
    ['an unknown option', '.fcm_options.x', { fcm_options: { x: 'a' } }],
    ['a payload without aps', '.payload.aps', { payload: {} }],
    ['aps that is nothing', '.payload.aps', { payload: { aps: null } }],
    ['aps that Apple does not accept', '.payload', { payload: { aps: { badge: -1 } } }],
    [
      'a background push that is seen',
      '.payload',
      { headers: { 'apns-push-type': 'background', 'apns-priority': '5' }, payload: { aps } },
    ],
  ])('is rejected for %s', (_what, field, apns) => expect(fieldOf({ apns })).toBe(`message.apns${field}`));

  test('has at most 4096 bytes', () => {
    const sized = (bytes: number) => ({ apns: { payload: { aps: { alert: 'x'.repeat(bytes - 20) } } } });
    expect(JSON.stringify(sized(4_096).apns.payload)).toHaveLength(4_096);
    expect(fieldOf(sized(4_096))).toBeUndefined();
    expect(fieldOf(sized(4_097))).toBe('message.apns.payload');
  });
});

describe('the browser part of an FCM message', () => {
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
  ])('%s is accepted', (_what, webpush) => expect(fieldOf({ webpush })).toBeUndefined());

  test.each<[string, string, object]>([
    ['an unknown member', '.topic', { topic: 'x' }],
    ...Object.entries({ TTL: '-1', Urgency: 'urgent', Topic: 'a'.repeat(33), Other: 'x' }).map(
      ([name, value]): [string, string, object] => [`the header ${name}`, '.headers', { headers: { [name]: value } }],
    ),
    ['a lifetime that is not a text', '.headers', { headers: { TTL: 60 } }],
    ['a life with a unit', '.headers', { headers: { TTL: '60s' } }],
    ['a topic of no letter', '.headers', { headers: { Topic: '' } }],
    ['a topic with a dot', '.headers', { headers: { Topic: 'a.b' } }],
    ['data that are no texts', '.data', { data: { a: 1 } }],
    ['an address without TLS', '.fcm_options.link', { fcm_options: { link: 'http://x.example' } }],
    ['an invalid address', '.fcm_options.link', { fcm_options: { link: 1 } }],
    ['a payload that the worker cannot read', '.data', { data: { carillon: '{' } }],
    ['a payload of nothing', '.data', { data: { carillon: '{}' } }],
    ['a payload that no browser accepts', '.data', { data: { carillon: '{"title":1}' } }],
  ])('is rejected for %s', (_what, field, webpush) => expect(fieldOf({ webpush })).toBe(`message.webpush${field}`));

  test('has at most 4096 bytes of names and values', () => {
    const sized = (bytes: number) => ({ webpush: { data: { ü: 'é', b: 'x'.repeat(bytes - 5) } } });
    expect(fieldOf(sized(4_096))).toBeUndefined();
    expect(fieldOf(sized(4_097))).toBe('message.webpush.data');
  });

  test('is read like the worker reads it', () => {
    expect(readBrowserPayload({ data: { carillon: '{"title":"x"}' } })).toEqual({ title: 'x' });
    expect([readBrowserPayload({}), readBrowserPayload({ data: { carillon: '{' } })]).toEqual([{}, {}]);
  });
});

type Values = [taken: unknown[], refused: unknown[]];
const text: Values = [
  ['x', ''],
  [1, null, {}],
];
const flag: Values = [
  [true, false],
  ['true', 0],
];
const count: Values = [
  [0, 5],
  [-1, 0.5, '1'],
];
const address: Values = [
  ['https://x.example/a', 'http://x.example'],
  ['ftp://x.example', 'x', 'https://', 1],
];

describe('an iPhone', () => {
  const share: Values = [
    [0, 0.5, 1],
    [-0.1, 1.1, '1'],
  ];
  const texts: Values = [
    [[], ['x']],
    ['x', [1]],
  ];
  const one: Values = [[1], [0, true, '1']];
  const kinds: Record<string, Values> = {
    badge: count,
    sound: [
      ['default', { critical: 1, name: 'x', volume: 1 }],
      [1, { critical: 2 }, { volume: 2 }, { name: 1 }, { other: 'x' }],
    ],
    alert: [
      ['x', {}],
      [1, null, { other: 'x' }],
    ],
    'thread-id': text,
    category: text,
    'content-available': one,
    'mutable-content': one,
    'target-content-id': text,
    'interruption-level': [
      ['passive', 'active', 'time-sensitive', 'critical'],
      ['loud', 1],
    ],
    'relevance-score': share,
    'filter-criteria': text,
    unknown: [[], ['x']],
  };
  test.each(Object.entries(kinds))('checks the type of aps.%s', (name, [taken, refused]) => {
    for (const value of taken) expect([value, checkApnsContent({ [name]: value }, {})]).toEqual([value, undefined]);
    for (const value of refused)
      expect([value, checkApnsContent({ [name]: value }, {})]).toEqual([value, 'BadMessage']);
  });

  test('rejects the name of an inherited property as a member of aps', () => {
    expect(checkApnsContent({ toString: 'x' } as object, {})).toBe('BadMessage');
  });

  const alertKinds: Record<string, Values> = {
    ...Object.fromEntries(
      ['title', 'subtitle', 'body', 'launch-image', 'title-loc-key', 'subtitle-loc-key', 'loc-key'].map((name) => [
        name,
        text,
      ]),
    ),
    ...Object.fromEntries(['title-loc-args', 'subtitle-loc-args', 'loc-args'].map((name) => [name, texts])),
  };
  test.each(Object.entries(alertKinds))('checks the type of aps.alert.%s', (name, [taken, refused]) => {
    for (const value of taken)
      expect([value, checkApnsContent({ alert: { [name]: value } as object }, {})]).toEqual([value, undefined]);
    for (const value of refused)
      expect([value, checkApnsContent({ alert: { [name]: value } as object }, {})]).toEqual([value, 'BadMessage']);
  });

  // A background push shows nothing and goes at priority 5 (delivery 2).
  const started = { 'content-available': 1 };
  test.each<[string, [aps: ApnsPayload['aps'], type: string, priority?: string], string | undefined]>([
    ['an alert that is seen', [{ alert: 'x' }, 'alert'], undefined],
    ['an alert of a badge', [{ badge: 0 }, 'alert', '10'], undefined],
    ['an alert of a sound', [{ sound: 'x' }, 'alert'], undefined],
    ['an alert that is not shown', [started, 'alert'], 'InvalidPushType'],
    ['a background push', [started, 'background', '5'], undefined],
    ['one at the usual priority', [started, 'background', '10'], 'BadPriority'],
    ['one without a priority', [started, 'background'], 'BadPriority'],
    ['one that starts nothing', [{}, 'background', '5'], 'InvalidPushType'],
    ['one with an alert', [{ ...started, alert: 'x' }, 'background', '5'], 'InvalidPushType'],
    ['one with a badge', [{ ...started, badge: 1 }, 'background', '5'], 'InvalidPushType'],
    ['one with a sound', [{ ...started, sound: 'x' }, 'background', '5'], 'InvalidPushType'],
    ['another type, which may be anything', [{}, 'voip'], undefined],
  ])('checks content and headers together: %s', (_what, [aps, type, priority], reason) => {
    const headers = { 'apns-push-type': type, ...(priority === undefined ? {} : { 'apns-priority': priority }) };
    expect(checkApnsContent(aps, headers)).toBe(reason);
  });

  const media = [
    { type: 'video', value: 'https://x.example/v' },
    { type: 'gif', value: 'https://x.example/g' },
  ];
  const app = { report_token: 't', media, actions: [{ name: 'Buy' }, { name: 'Later' }] };
  test.each<[string, ApnsPayload, object]>([
    [
      'with an extension: picture, buttons, and the impression is reported',
      { aps: { alert: { title: 'T', body: 'B' }, 'mutable-content': 1, category: 'C' }, svc: app },
      {
        ...{ shownBy: 'extension', title: 'T', body: 'B', image: 'https://x.example/g' },
        ...{ buttons: ['C', 'Buy', 'Later'], reports: ['impression', 'click', 'close'] },
      },
    ],
    [
      'without one: the text and the category',
      { aps: { alert: { title: 'T', body: 'B' }, category: 'C' }, svc: app },
      { shownBy: 'system', title: 'T', body: 'B', buttons: ['C'], reports: ['click', 'close'] },
    ],
    [
      'of a text alone',
      { aps: { alert: 'B', 'mutable-content': 1 } },
      { shownBy: 'extension', title: '', body: 'B', buttons: [], reports: [] },
    ],
    ['of an empty alert', { aps: { alert: {} } }, { shownBy: 'system', title: '', body: '', buttons: [], reports: [] }],
    [
      'without an alert: not shown',
      { aps: { 'content-available': 1, 'mutable-content': 1 }, svc: app },
      { shownBy: 'nobody', title: '', body: '', buttons: [], reports: ['click', 'close'] },
    ],
    [
      'of a picture that is an image',
      { aps: { alert: 'B', 'mutable-content': 1 }, svc: { media: [{ type: 'image', value: 'i' }] } },
      { shownBy: 'extension', title: '', body: 'B', image: 'i', buttons: [], reports: [] },
    ],
  ])('shows a message %s', (_what, payload, screen) => expect(screenOfIphone(payload)).toEqual(screen));

  test('reads the app’s part from the object next to aps, whatever its name', () => {
    expect(appPartOf({ aps: {}, text: 'x', nothing: null, abc: { message_id: '1' } })).toEqual({ message_id: '1' });
    expect(appPartOf({ aps: { alert: {} } })).toBeUndefined();
  });
});

describe('an Android phone', () => {
  const data = { svc_report_token: 't', gcm_title: 'T', gcm_alert: 'A', svc_image: 'i' };
  const actions = JSON.stringify([
    { name: 'Buy', type: 'x' },
    { name: '', type: 'url' },
  ]);
  test.each<[string, Parameters<typeof screenOfAndroid>[0], object]>([
    [
      'a notification, by the system: a tap alone is reported',
      { data, notification: { title: 'N', body: 'B', image: 'j' } },
      { shownBy: 'system', title: 'N', body: 'B', image: 'j', buttons: [], reports: ['click'] },
    ],
    [
      'one without texts and token',
      { data: {}, notification: { title: 1, image: 2 } },
      { shownBy: 'system', title: '', body: '', buttons: [], reports: [] },
    ],
    [
      'data, by the app',
      { data: { ...data, gcm_actions: actions }, notification: undefined },
      {
        ...{ shownBy: 'app', title: 'T', body: 'A', image: 'i', buttons: ['Buy', 'url'] },
        reports: ['impression', 'click', 'close'],
      },
    ],
    [
      'data without a token, nor anything else',
      { data: { gcm_actions: 7 }, notification: undefined },
      { shownBy: 'app', title: '', body: '', buttons: [], reports: [] },
    ],
    [
      'silent data, not shown',
      { data: { ...data, svc_silent: '1' }, notification: undefined },
      { shownBy: 'nobody', title: '', body: '', buttons: [], reports: [] },
    ],
    [
      'data that are not silent',
      { data: { gcm_title: 'T', svc_silent: '0' }, notification: undefined },
      { shownBy: 'app', title: 'T', body: '', buttons: [], reports: [] },
    ],
    [
      'no image under a name of Google, of another sender, or with only a similar end',
      {
        data: { gcm_image: 'i', kv_image: 'i', a_b_image: 'i', '1a_image': 'i', A_image: 'i' },
        notification: undefined,
      },
      { shownBy: 'app', title: '', body: '', buttons: [], reports: [] },
    ],
  ])('shows %s', (_what, received, screen) => expect(screenOfAndroid(received)).toEqual(screen));
});

describe('a browser', () => {
  const counts: Values = [
    [[], [0, 200]],
    [[-1], 200],
  ];
  const declared = { web_push: 8030, notification: { title: 'T', navigate: 'https://x.example' } };
  const shared: Record<string, Values> = {
    ...{ title: text, tag: text, renotify: [[false], ['true']], silent: flag, requireInteraction: flag, lang: text },
    ...{ dir: [['auto', 'ltr', 'rtl'], ['up']], vibrate: counts, timestamp: count },
  };
  const actionOf = (name: string): Values => [
    [[], [{ action: 'a', title: 'b', [name]: 'https://x.example' }]],
    ['x', [{ other: 1 }], [{ [name]: 'x' }], [{ action: 1 }], [{ title: 1 }]],
  ];
  const workers: Record<string, Values> = {
    ...shared,
    ...{ message: text, redirectURL: address, iconURL: address, imageURL: address, badgeURL: address },
    ...{ autoDismiss: flag, actions: actionOf('url'), appBadge: count, app_id: text, campaign_id: text, run_id: text },
    ...{ message_id: text, inbox_expiry: count, report_token: text, click_proof: text, unknown: [[], [1]] },
  };
  test.each(Object.entries(workers))('checks the type of %s in a payload', (name, [taken, refused]) => {
    for (const value of taken) expect([value, findBrowserFault({ [name]: value })]).toEqual([value, undefined]);
    for (const value of refused)
      expect([value, findBrowserFault({ [name]: value })]).toEqual([value, `no browser takes ${name} as it is`]);
  });

  const inNotification: Record<string, Values> = {
    ...shared,
    ...{ body: text, icon: address, image: address, badge: address, mutable: flag, app_badge: count },
    ...{ navigate: address, actions: actionOf('navigate'), message: [[], ['x']] },
  };
  test.each(Object.entries(inNotification))('checks the type of %s in a declaration', (name, [taken, refused]) => {
    const faultOf = (value: unknown) =>
      findBrowserFault({ ...declared, notification: { ...declared.notification, [name]: value } });
    for (const value of taken) expect([value, faultOf(value)]).toEqual([value, undefined]);
    for (const value of refused)
      expect([value, faultOf(value)]).toEqual([value, `no browser takes notification.${name} as it is`]);
  });

  test('accepts the icon of an action', () => {
    expect(findBrowserFault({ actions: [{ iconURL: 'https://x.example' }] })).toBeUndefined();
    expect(findBrowserFault({ actions: [{ iconURL: 'x' }] })).toBeDefined();
    const notification = { ...declared.notification, actions: [{ icon: 'https://x.example' }] };
    expect(findBrowserFault({ ...declared, notification })).toBeUndefined();
  });

  const whole = 'web_push and notification need each other';
  const named = 'a declaration needs title and navigate';
  test.each<[string, Record<string, unknown>, string | undefined]>([
    ['a declaration', { ...declared, mutable: true, app_badge: 1 }, undefined],
    ['another number', { ...declared, web_push: 8031 }, 'no browser takes web_push as it is'],
    ['a notification that is a list', { ...declared, notification: [] }, 'no browser takes notification as it is'],
    ['renotify with a tag', { renotify: true, tag: 'a' }, undefined],
    ['renotify without one', { renotify: true }, 'renotify needs a tag'],
    ['renotify with an empty one', { renotify: true, tag: '' }, 'renotify needs a tag'],
    ['silent and vibrate', { silent: true, vibrate: [] }, 'silent excludes vibrate'],
    ['vibrate that is not silent', { silent: false, vibrate: [1] }, undefined],
    [
      'a clash within the declaration',
      { ...declared, notification: { ...declared.notification, renotify: true } },
      'renotify needs a tag',
    ],
    ['a number alone', { web_push: 8030 }, whole],
    ['a notification alone', { notification: declared.notification }, whole],
    ['mutable alone', { mutable: true }, whole],
    ['a badge alone', { app_badge: 1 }, whole],
    ['no title', { ...declared, notification: { navigate: 'https://x.example' } }, named],
    ['no address', { ...declared, notification: { title: 'x' } }, named],
    ['nothing', {}, undefined],
  ])('checks together: %s', (_what, payload, fault) => expect(findBrowserFault(payload)).toBe(fault));

  test('shows what the worker shows', () => {
    expect(
      screenOfBrowser({ title: 'T', message: 'M', imageURL: 'i', actions: [{ title: 'Buy' }, {}], report_token: 't' }),
    ).toEqual({
      ...{ shownBy: 'worker', title: 'T', body: 'M', image: 'i', buttons: ['Buy', ''] },
      reports: ['impression', 'click', 'close'],
    });
    expect(screenOfBrowser({ imageURL: 1 })).toEqual({
      shownBy: 'worker',
      title: '',
      body: '',
      buttons: [],
      reports: [],
    });
  });
});

describe('Huawei', () => {
  const notification = { title: 'T', body: 'B', default_sound: true, click_action: { type: 3 } };
  const codeOf = (message: object, bytes = 100) =>
    findHmsViolation({ token: ['t'], ...message } as HmsMessage, bytes)?.code;
  const ofNotification = (members: object) => codeOf({ android: { notification: { ...notification, ...members } } });
  const filled: Values = [['x'], ['', 1]];
  const object: Values = [[{}], [[], null, 'x']];
  const filledTexts: Values = [
    [[], ['x']],
    ['x', [''], [1]],
  ];
  const within = (least: number, most: number): Values => [
    [least, most],
    [least - 1, most + 1, least + 0.5, String(least)],
  ];
  const secure: Values = [['https://x.example/i'], ['http://x.example', 'https://', 1]];

  const ofAndroid: Record<string, Values> = {
    ...{ urgency: [['HIGH', 'NORMAL'], ['LOW']], bi_tag: filled, receipt_id: filled, fast_app_target: within(1, 2) },
    category: [
      [
        ...['IM', 'VOIP', 'SUBSCRIPTION', 'TRAVEL', 'HEALTH', 'WORK', 'ACCOUNT', 'EXPRESS', 'FINANCE'],
        ...['DEVICE_REMINDER', 'SYSTEM_REMINDER', 'MAIL', 'PLAY_VOICE', 'MARKETING'],
      ],
      ['NEWS', 'im'],
    ],
    ttl: [
      ['0s', '1296000s'],
      ['1296001s', '60', 's', 60, 'x1s', '1sx'],
    ],
  };
  test.each(Object.entries(ofAndroid))('checks the type of android.%s', (name, [taken, refused]) => {
    for (const value of taken)
      expect([value, codeOf({ data: 'x', android: { [name]: value } })]).toEqual([value, undefined]);
    for (const value of refused)
      expect([value, codeOf({ data: 'x', android: { [name]: value } })]).toEqual([value, '80100001']);
  });

  const ofNotices: Record<string, Values> = {
    ...{ title: filled, body: filled, image: secure, icon: filled, sound: filled, tag: filled, channel_id: filled },
    ...{ color: [['#0aF9bc'], ['0aF9bc', '#0aF9b', '#0aF9bcd', 1]], default_sound: [[true], ['true', 1]] },
    ...{ title_loc_key: filled, body_loc_key: filled, multi_lang_key: object, notify_summary: filled },
    ...{ style: within(0, 3), big_title: filled, big_body: filled, notify_id: within(0, 2_147_483_647), group: filled },
    ...{
      auto_clear: [
        [1, 2 ** 40],
        [0, 1.5],
      ],
      importance: [['LOW', 'NORMAL', 'HIGH'], ['MAX']],
    },
    ...{ visibility: [['VISIBILITY_UNSPECIFIED', 'PRIVATE', 'PUBLIC', 'SECRET'], ['x']], vibrate_config: filledTexts },
    ...{ use_default_vibrate: flag, light_settings: object, use_default_light: flag, foreground_show: flag },
    ...{ click_action: [[], object[1]] as Values, badge: [[], object[1]] as Values },
    ...{ title_loc_args: [[], filledTexts[1]] as Values, body_loc_args: [[], filledTexts[1]] as Values },
  };
  test.each(Object.entries(ofNotices))('checks the type of android.notification.%s', (name, [taken, refused]) => {
    for (const value of taken) expect([value, ofNotification({ [name]: value })]).toEqual([value, undefined]);
    for (const value of refused) expect([value, ofNotification({ [name]: value })]).toEqual([value, '80100001']);
  });

  test.each<[string, object, string | undefined]>([
    ['data', { data: 'x' }, undefined],
    ['a thousand tokens', { data: 'x', token: Array.from({ length: 1_000 }, () => 't') }, undefined],
    ['a notification', { android: { notification } }, undefined],
    ['one for all phones', { data: 'x', notification: {} }, undefined],
    ['one more token', { data: 'x', token: Array.from({ length: 1_001 }, () => 't') }, '80300010'],
    ['no token', { data: 'x', token: [] }, '80300010'],
    ['no tokens', { data: 'x', token: undefined }, '80100001'],
    ['an empty token', { data: 'x', token: [''] }, '80100001'],
    ['a token that is not a list', { data: 'x', token: 't' }, '80100001'],
    ['empty data', { data: '' }, '80100001'],
    ['neither', {}, '80100003'],
    ['an unknown member', { data: 'x', topic: 'x' }, '80100003'],
    ['an unknown one of Android', { data: 'x', android: { x: 1 } }, '80100003'],
    ['one that every object has', { data: 'x', android: { toString: 'x' } }, '80100003'],
    ['a collapse key of 100', { data: 'x', android: { collapse_key: 100 } }, undefined],
    ['one of -1', { data: 'x', android: { collapse_key: -1 } }, undefined],
    ['one of 101', { data: 'x', android: { collapse_key: 101 } }, '80100013'],
    ['one of -2', { data: 'x', android: { collapse_key: -2 } }, '80100013'],
  ])('checks a message of %s', (_what, message, code) => expect(codeOf(message)).toBe(code));

  test('requires a message of at most 4096 bytes', () => {
    for (const none of [undefined, 'x', []])
      expect(findHmsViolation(none as unknown as HmsMessage, 1)).toEqual({
        code: '80100003',
        msg: 'message is required',
      });
    expect([codeOf({ data: 'x' }, 4_096), codeOf({ data: 'x' }, 4_097)]).toEqual([undefined, '80300008']);
  });

  const url = 'https://x.example';
  test.each<[string, object, string | undefined]>([
    ['a sound of the app', { sound: 's', default_sound: undefined }, '80100001'],
    ['a sound', { sound: 's', default_sound: false }, undefined],
    ['no sound', { default_sound: false }, '80100003'],
    ['words for a title and their key', { title_loc_key: 'k', title_loc_args: ['a'] }, undefined],
    ['words for a title without it', { title_loc_args: ['a'] }, '80100003'],
    ['words for a body without it', { body_loc_args: ['a'] }, '80100003'],
    ['a tap with an intent', { click_action: { type: 1, intent: 'i' } }, undefined],
    ['a tap with an action', { click_action: { type: 1, action: 'a' } }, undefined],
    ['a tap with neither', { click_action: { type: 1 } }, '80100003'],
    ['a tap with a separate page', { click_action: { type: 1, url } }, '80100003'],
    ['a tap with a page', { click_action: { type: 2, url } }, undefined],
    ['a tap without its page', { click_action: { type: 2 } }, '80100003'],
    ['a tap with a page without TLS', { click_action: { type: 2, url: 'http://x.example' } }, '80100001'],
    ['a tap that opens the app, and a page', { click_action: { type: 3, url } }, '80100003'],
    ['a tap of another type', { click_action: { type: 4 } }, '80100001'],
    ['a badge that grows', { badge: { add_num: 1, class: 'c' } }, undefined],
    ['a badge that is set', { badge: { set_num: 0 } }, undefined],
    ['a badge of 99', { badge: { set_num: 99 } }, undefined],
    ['a badge of 100', { badge: { set_num: 100 } }, '80100001'],
    ['a badge that grows by 0', { badge: { add_num: 0 } }, '80100001'],
    ['a badge that grows by 100', { badge: { add_num: 100 } }, '80100001'],
    ['a badge of both', { badge: { add_num: 1, set_num: 1 } }, '80100003'],
    ['a badge of neither', { badge: { class: 'c' } }, '80100003'],
    ['a badge of something else', { badge: { num: 1 } }, '80100003'],
  ])('checks a notification with %s', (_what, members, code) => expect(ofNotification(members)).toBe(code));

  test.each(['title', 'body', 'click_action'])('requires %s in a notification', (name) => {
    const { [name as 'title']: _left, ...rest } = notification;
    expect(codeOf({ android: { notification: rest } })).toBe('80100003');
  });
});

import { describe, expect, test } from 'vitest';
import type { AndroidOptions } from '../../../../src/domain/content/content.ts';
import { makeAndroidPart } from '../../../../src/providers/payload/android.ts';
import type { AndroidMessage } from '../../../../src/providers/payload/android.ts';
import { makeMessage } from '../make-message.ts';

const plain = makeMessage('ANDROID', '0');
const id = plain.identity.id;
const { collapseId } = plain.identity;

function partIn(mode: AndroidMessage['payload']['mode'], content: object = {}, more: Partial<AndroidMessage> = {}) {
  return makeAndroidPart({
    ...plain,
    ...more,
    payload: { ...plain.payload, mode, ...more.payload },
    content: { ...plain.content, ...content },
  });
}

/** What the least message has. */
const keys = {
  push_from: 'carillon',
  gcm_title: 'Title',
  gcm_alert: 'Text',
  gcm_campaign_id: 'c'.repeat(24),
  gcm_notificationType: 'normal notification',
  svc_app_id: 'WORKSPACE',
  svc_push_service: 'fcm',
  svc_cid_attr: JSON.stringify({
    svc_campaign_id: 'c'.repeat(24),
    svc_campaign_channel: 'PUSH',
    svc_run_id: 'a'.repeat(24),
  }),
  svc_message_id: id,
};
const withoutReport = { report: undefined } as never as Partial<AndroidMessage>;

describe('the keys that the code of apps reads (fact 3.9)', () => {
  test('a message that says no more has these and no other', () => {
    expect(partIn('both', {}, withoutReport)).toStrictEqual({
      data: keys,
      android: {
        collapse_key: collapseId,
        priority: 'HIGH',
        ttl: '129600s',
        notification: { title: 'Title', body: 'Text', tag: collapseId },
      },
    });
    expect(partIn('data', {}, withoutReport)).toStrictEqual({
      data: { ...keys, svc_tag: collapseId },
      android: { priority: 'HIGH', ttl: '129600s' },
    });
  });

  test.each<[string, object, Partial<AndroidMessage>, object]>([
    ['a summary', { summary: 'Shop' }, {}, { gcm_subtext: 'Shop' }],
    ['a channel', { channelId: 'orders' }, {}, { svc_channel_id: 'orders' }],
    ['a group', { groupKey: 'orders' }, {}, { svc_group_key: 'orders' }],
    ['a coupon', { richContent: [{ type: 'coupon', value: 'SAVE5' }] }, {}, { coupon_code: 'SAVE5' }],
    [
      'buttons, as JSON',
      { additionalActions: [{ type: 'copy', name: 'Copy', value: '17' }] },
      {},
      { gcm_actions: '[{"type":"copy","name":"Copy","value":"17"}]' },
    ],
    [
      'what a tap does',
      { defaultAction: { type: 'navigation', value: 'Orders', keyValuePairs: {} } },
      {},
      { gcm_action_type: 'navigation', gcm_activityName: 'Orders' },
    ],
    ['the tag of its language', {}, { language: 'de' }, { svc_lang: 'de' }],
    [
      'the end of its time in the inbox, in whole seconds',
      {},
      { inboxExpiresAt: new Date(1_790_000_000_999) },
      { svc_inbox_expiry: '1790000000' },
    ],
    ['the pass to report', {}, { report: { token: 'T' } }, { svc_report_token: 'T' }],
    [
      'and to prove a click',
      {},
      { report: { token: 'T', clickProof: 'P' } },
      { svc_report_token: 'T', svc_click_proof: 'P' },
    ],
  ])('%s', (...[, content, more, added]) => {
    expect(partIn('both', content, { ...withoutReport, ...more }).data).toStrictEqual({ ...keys, ...added });
  });

  test('where the app reports, it is told in mode data if it may report and the address is known', () => {
    const reportUrl = 'https://push.example/v1/interactions';
    const urlIn = (report: AndroidMessage['report'], url: string | undefined, mode: 'data' | 'both' = 'data') =>
      partIn(mode, {}, {
        report,
        payload: { ...plain.payload, mode, ...(url === undefined ? {} : { reportUrl: url }) },
      } as never).data!.svc_report_url;
    expect(urlIn({ token: 'T' }, reportUrl)).toBe(reportUrl);
    expect(urlIn(undefined, reportUrl)).toBeUndefined();
    expect(partIn('data', {}, { report: { token: 'T' } }).data).not.toHaveProperty('svc_report_url');
    expect(urlIn({ token: 'T' }, reportUrl, 'both')).toBeUndefined();
  });

  test('image and sound are the app’s to show in mode data, and the system’s otherwise', () => {
    const richContent = [
      { type: 'coupon', value: 'SAVE5' },
      { type: 'image', value: 'https://shop.example/i.png' },
      { type: 'sound', value: 'bell' },
    ];
    const shownByApp = partIn('data', { richContent });
    expect(shownByApp.data).toMatchObject({ svc_image: 'https://shop.example/i.png', svc_sound: 'bell' });
    expect(shownByApp.android).not.toHaveProperty('notification');
    const shownBySystem = partIn('both', { richContent });
    expect(Object.keys(shownBySystem.data!)).not.toStrictEqual(expect.arrayContaining(['svc_image']));
    expect(shownBySystem.android.notification).toStrictEqual({
      title: 'Title',
      body: 'Text',
      tag: collapseId,
      image: 'https://shop.example/i.png',
      sound: 'bell',
    });
    const silentOnes = partIn('data', { richContent: [] }).data!;
    expect(Object.keys(silentOnes).filter((name) => /image|sound/.test(name))).toStrictEqual([]);
  });
});

test('in mode data a message is collapsible only where the caller asked to replace one; a channel is named where there is one', () => {
  expect(partIn('data', { collapseReplaceKey: 'order-17' }).android).toHaveProperty('collapse_key', collapseId);
  expect(partIn('data', { channelId: 'orders' }).android).not.toHaveProperty('collapse_key');
  expect(partIn('both', { channelId: 'orders' }).android.notification).toHaveProperty('channel_id', 'orders');
  expect(partIn('both').android.notification).not.toHaveProperty('channel_id');
});

test('in mode notification no data travel where the caller has no pairs', () => {
  expect(partIn('notification')).not.toHaveProperty('data');
  const defaultAction = { type: 'navigation', value: 'Orders', keyValuePairs: { order: '17' } };
  expect(partIn('notification', { defaultAction }).data).toStrictEqual({ order: '17' });
});

describe('the pairs of the caller', () => {
  const pairsIn = (mode: AndroidMessage['payload']['mode'], keyValuePairs: Record<string, string>, isSilent = false) =>
    partIn(mode, { defaultAction: { type: 'navigation', value: '', keyValuePairs } }, { isSilent }).data!;

  test.each(['from', 'message_type', 'google.x', 'gcm.x'])(
    '%s, which FCM refuses, has a prefix (delivery 1)',
    (name) => {
      for (const mode of ['data', 'notification', 'both'] as const) {
        const data = pairsIn(mode, { [name]: '1' });
        expect(data[`kv_${name}`]).toBe('1');
        expect(data).not.toHaveProperty([name]);
      }
    },
  );

  test.each(['from_shop', 'message_types', 'my.google.x', 'xgcm.x', 'google', 'gcm', 'gcmx'])(
    '%s is no such name and stands as it is',
    (name) => {
      for (const mode of ['data', 'notification', 'both'] as const)
        expect(pairsIn(mode, { [name]: '1' })[name]).toBe('1');
    },
  );

  test('none takes the place of a key of ours', () => {
    expect(pairsIn('both', { gcm_title: 'other', svc_app_id: 'other' })).toMatchObject({
      gcm_title: 'Title',
      svc_app_id: 'WORKSPACE',
      kv_gcm_title: 'other',
      kv_svc_app_id: 'other',
    });
  });

  test('an app that shows messages itself, or is run unseen, is told nothing under our names by a caller', () => {
    const given = { svc_later: '1', gcm_later: '2', svcx: '3', gcmx: '4' };
    const hidden = { kv_svc_later: '1', kv_gcm_later: '2', svcx: '3', gcmx: '4' };
    expect(pairsIn('data', given)).toMatchObject(hidden);
    expect(pairsIn('both', given, true)).toMatchObject(hidden);
    for (const data of [pairsIn('data', given), pairsIn('both', given, true)])
      expect(data).not.toHaveProperty('svc_later');
    expect(pairsIn('both', given)).toMatchObject(given);
    expect(pairsIn('notification', given)).toStrictEqual(given);
  });
});

test('a silent message is data alone without a text to show, whatever the mode', () => {
  const { gcm_title: _title, gcm_alert: _alert, ...rest } = keys;
  for (const mode of ['data', 'notification', 'both'] as const)
    expect(
      partIn(
        mode,
        { defaultAction: { type: 'navigation', value: 'Orders', keyValuePairs: { sync: 'orders' } } },
        { ...withoutReport, isSilent: true },
      ),
    ).toStrictEqual({
      data: { ...rest, svc_silent: '1', sync: 'orders' },
      android: { priority: 'HIGH', ttl: '129600s' },
    });
});

describe('each option stands in its place, and what is not said nowhere', () => {
  const optionIn = (mode: 'data' | 'notification', options: AndroidOptions) => {
    const empty = partIn(mode, {}, withoutReport);
    const { data, android } = partIn(mode, { options }, withoutReport);
    const added = <T extends object>(before: T | undefined, after: T | undefined): object =>
      Object.fromEntries(Object.entries(after ?? {}).filter(([name]) => !(name in (before ?? {}))));
    return {
      data: added(empty.data, data),
      android: added(empty.android, android),
      notification: added(empty.android.notification, android.notification),
    };
  };

  test.each<[AndroidOptions, object, object, object]>([
    [{}, {}, {}, {}],
    [{ icon: 'ic_order' }, { svc_icon: 'ic_order' }, { icon: 'ic_order' }, {}],
    [{ color: '#0a7d5a' }, { svc_color: '#0a7d5a' }, { color: '#0a7d5a' }, {}],
    [{ visibility: 'secret' }, { svc_visibility: 'secret' }, { visibility: 'SECRET' }, {}],
    [{ sticky: true }, { svc_ongoing: '1' }, { sticky: true }, {}],
    [{ sticky: false }, {}, { sticky: false }, {}],
    [{ timeoutSeconds: 60 }, { svc_timeout_s: '60' }, {}, {}],
    [{ badge: { operation: 'set', value: 3 } }, { svc_badge: '{"op":"set","value":3}' }, { notification_count: 3 }, {}],
    // FCM has no word for clearing one.
    [{ badge: { operation: 'clear' } }, { svc_badge: '{"op":"clear"}' }, {}, {}],
    [{ locKeys: { titleLocKey: 't' } }, { svc_loc: '{"titleLocKey":"t"}' }, { title_loc_key: 't' }, {}],
    [{ locKeys: { titleLocArgs: ['1'] } }, { svc_loc: '{"titleLocArgs":["1"]}' }, { title_loc_args: ['1'] }, {}],
    [{ locKeys: { bodyLocKey: 'b' } }, { svc_loc: '{"bodyLocKey":"b"}' }, { body_loc_key: 'b' }, {}],
    [{ locKeys: { bodyLocArgs: ['2'] } }, { svc_loc: '{"bodyLocArgs":["2"]}' }, { body_loc_args: ['2'] }, {}],
    [{ directBootOk: true }, {}, {}, { direct_boot_ok: true }],
    [{ bandwidthConstrainedOk: false }, {}, {}, { bandwidth_constrained_ok: false }],
    [{ restrictedSatelliteOk: true }, {}, {}, { restricted_satellite_ok: true }],
    [{ analyticsLabel: 'orders' }, {}, {}, { fcm_options: { analytics_label: 'orders' } }],
  ])('%j', (...[options, data, notification, android]) => {
    expect(optionIn('data', options)).toStrictEqual({ data, android, notification: {} });
    expect(optionIn('notification', options)).toStrictEqual({ data: {}, android, notification });
  });
});

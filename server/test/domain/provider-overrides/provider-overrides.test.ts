import { describe, expect, test } from 'vitest';
import type { CampaignContent } from '../../../src/domain/content/content.ts';
import {
  isOwnKey,
  readProviderOverrides,
  collectOverrides,
  spreadOverrides,
} from '../../../src/domain/content/overrides.ts';
import { makePushReader } from '../../../src/http/push/push-reader.ts';

const read = (providerOverrides: unknown) => {
  const payload = makePushReader({ providerOverrides }, { mode: 'AUTO', bodies: 'strict' });
  const { overrides, readsUser } = readProviderOverrides(payload, ['svc', 'old']);
  const faults = payload.faults.map(({ field, reason }) => `${field.replace('providerOverrides.', '')}: ${reason}`);
  return { overrides, readsUser: [...readsUser], faults };
};
const name = "{{ UserAttribute['a'] }}";
const nested = (depth: number): unknown => (depth === 1 ? {} : { a: nested(depth - 1) });

describe('overrides of a push', () => {
  test('are parsed as they were sent, including null', () => {
    const sent = {
      fcm: { android: { priority: 'high', ttl: null }, data: { order: name } },
      hms: { android: { urgency: 'HIGH' } },
      apns: { headers: { 'APNS-Priority': '5', 'apns-expiration': null }, payload: { aps: { sound: 'a' } } },
      webpush: { headers: { topic: 'a-b_c' }, payload: { title: name, notification: { title: 'T' } } },
    };
    expect(read(sent)).toStrictEqual({
      overrides: {
        ...sent,
        apns: { headers: { 'apns-priority': '5', 'apns-expiration': null }, payload: { aps: { sound: 'a' } } },
      },
      readsUser: ['fcm', 'webpush'],
      faults: [],
    });
  });

  test('are missing if absent or empty', () => {
    expect(read(undefined)).toStrictEqual({ overrides: {}, readsUser: [], faults: [] });
    expect(read({ fcm: {}, apns: {} })).toStrictEqual({ overrides: {}, readsUser: [], faults: [] });
    expect(read({ apns: { headers: {} } }).overrides).toStrictEqual({ apns: { headers: {} } });
  });

  test.each<[string, unknown, string[]]>([
    ['a text', 'fcm', ['providerOverrides: must be an object']],
    ['null for an object', { fcm: null }, ['fcm: must be an object']],
    ['a list', { hms: [] }, ['hms: must be an object']],
    ['too many bytes', { fcm: { a: 'ä'.repeat(2_048) } }, ['fcm: must have at most 4096 bytes as JSON']],
    ['nine objects', { fcm: nested(9) }, [`fcm.${Array(8).fill('a').join('.')}: must be within 8 objects and lists`]],
    ['NUL', { fcm: { a: ['\0'] } }, ['fcm.a[0]: must be well-formed Unicode without NUL, names of members too']],
    [
      'NUL in a name',
      { fcm: { a: { '\0': 1 } } },
      ['fcm.a: must be well-formed Unicode without NUL, names of members too'],
    ],
    ['no template', { fcm: { a: '{{ x' } }, ['fcm.a: is no template: "}}" is missing']],
    [
      'where a message goes by FCM',
      { fcm: { token: 'a', fid: 'a', topic: 'a', condition: 'a', name: 'a' } },
      ['token', 'fid', 'topic', 'condition', 'name'].map((member) => `fcm.${member}: cannot be set here`),
    ],
    [
      'where a message goes by HMS',
      { hms: { token: [], topic: 'a', condition: 'a', validate_only: true } },
      ['token', 'topic', 'condition', 'validate_only'].map((member) => `hms.${member}: cannot be set here`),
    ],
    ['another kind of message of Android', { fcm: { android_v2: {} } }, ['fcm.android_v2: cannot be set here']],
    ['data in the place of all data', { fcm: { android: { data: {} } } }, ['fcm.android.data: cannot be set here']],
    ['data that is no object', { fcm: { data: 'a' } }, ['fcm.data: must be an object']],
    [
      'keys of our own',
      { fcm: { data: { push_from: 'a', svc_id: 'a', old_id: 'a', svc: 'a' } } },
      ['push_from', 'svc_id', 'old_id'].map((key) => `fcm.data.${key}: cannot be set here`),
    ],
    ['another member for Apple', { apns: { body: {} } }, ['apns.body: cannot be set here']],
    ['headers that are no object', { apns: { headers: [] } }, ['apns.headers: must be an object']],
    ['a payload that is no object', { webpush: { payload: 'a' } }, ['webpush.payload: must be an object']],
    ['an unknown header', { apns: { headers: { 'apns-id': 'a' } } }, ['apns.headers.apns-id: cannot be set here']],
    [
      'a header of another provider',
      { apns: { headers: { urgency: 'low' } } },
      ['apns.headers.urgency: cannot be set here'],
    ],
    ['no topic', { apns: { headers: { 'apns-topic': null } } }, ['apns.headers.apns-topic: cannot be set here']],
    [
      'a personal topic',
      { apns: { headers: { 'apns-topic': name } } },
      [
        'apns.headers.apns-topic: must be one of .push-type.liveactivity, .voip, .location-query, .complication, .pushkit.fileprovider, .voip-ptt, .push-type.widgets, .push-type.controls',
      ],
    ],
    [
      'a header twice',
      { apns: { headers: { 'apns-priority': '5', 'APNS-PRIORITY': '5' } } },
      ['apns.headers.APNS-PRIORITY: is given twice'],
    ],
    [
      'a header that is a number',
      { apns: { headers: { 'apns-priority': 5 } } },
      ['apns.headers.apns-priority: must be a text'],
    ],
    [
      'another priority',
      { apns: { headers: { 'apns-priority': '7' } } },
      ['apns.headers.apns-priority: must be one of 1, 5, 10'],
    ],
    [
      'a priority that begins as one',
      { apns: { headers: { 'apns-priority': '10x' } } },
      ['apns.headers.apns-priority: must be one of 1, 5, 10'],
    ],
    [
      'a type in upper case',
      { apns: { headers: { 'apns-push-type': 'ALERT' } } },
      ['apns.headers.apns-push-type: must be a word in lower case'],
    ],
    [
      'no seconds',
      { apns: { headers: { 'apns-expiration': '1.5' } } },
      ['apns.headers.apns-expiration: must be a number of seconds'],
    ],
    [
      'a long id',
      { apns: { headers: { 'apns-collapse-id': 'a'.repeat(65) } } },
      ['apns.headers.apns-collapse-id: must have 1 to 64 ASCII characters'],
    ],
    [
      'another urgency (RFC 8030 §5.3)',
      { webpush: { headers: { urgency: 'now' } } },
      ['webpush.headers.urgency: must be one of very-low, low, normal, high'],
    ],
    [
      'a topic with a space',
      { webpush: { headers: { topic: 'a b' } } },
      ['webpush.headers.topic: must have 1 to 32 characters of base64url'],
    ],
    [
      'keys of our own to Apple',
      { apns: { payload: { svc: {}, old: {} } } },
      ['apns.payload.svc: cannot be set here', 'apns.payload.old: cannot be set here'],
    ],
    ['aps that is no object', { apns: { payload: { aps: null } } }, ['apns.payload.aps: must be an object']],
    [
      'what browsers report with',
      { webpush: { payload: { report_token: 'a', message_id: 'a', click_proof: 'a', web_push: 8030 } } },
      ['report_token', 'message_id', 'click_proof', 'web_push'].map(
        (key) => `webpush.payload.${key}: cannot be set here`,
      ),
    ],
    [
      'nothing to show in a browser',
      { webpush: { payload: { title: ' ', notification: { title: null } } } },
      ['title', 'notification.title'].map((key) => `webpush.payload.${key}: must be a text that is not empty`),
    ],
    [
      'a number to show',
      { webpush: { payload: { title: 5 } } },
      ['webpush.payload.title: must be a text that is not empty'],
    ],
  ])('may not be %s', (_name, sent, faults) => expect(read(sent).faults).toEqual(faults));

  test('are accepted at the limits', () => {
    expect(read({ fcm: { a: 'x'.repeat(4_088) } }).faults).toEqual([]);
    expect(read({ fcm: nested(8) }).faults).toEqual([]);
    expect(read({ fcm: { android_v2: {}, android: null } }).faults).toEqual([]);
    expect(read({ fcm: { data: { svc: 'a', other_id: 'b' } } }).faults).toEqual([]);
    expect(read({ apns: { headers: { 'apns-topic': '.voip', 'apns-priority': name } } }).faults).toEqual([]);
    expect(read({ webpush: { payload: { notification: 'a' } } }).faults).toEqual([]);
  });

  test('stop checking a text that cannot be checked further', () => {
    expect(read({ fcm: { token: '\0' } }).faults).toHaveLength(1);
    expect(read({ fcm: { token: '\0' } }).overrides).toEqual({});
  });

  test('reject keys with our own prefix and an underscore', () => {
    expect(['push_from', 'svc_a', 'svc', 'svca', 'old_', 'push'].map((key) => isOwnKey(key, ['svc', 'old']))).toEqual([
      true,
      true,
      false,
      false,
      true,
      false,
    ]);
  });
});

describe('overrides on the platforms', () => {
  const text = { title: 'T', message: 'M' };
  const android = { ...text, richContent: [], additionalActions: [] };
  const content = (): CampaignContent => ({
    ANDROID: { ...android, fallback: { ...android } },
    WEB: { ...text, redirectUrl: 'https://a.example/', iconUrl: 'https://a.example/', autoDismiss: false },
  });
  const overrides = { fcm: { a: 1 }, hms: { b: 2 }, apns: { payload: { c: 3 } }, webpush: { payload: { d: 4 } } };

  test('go to the providers of each platform; the fallback gets those that read nothing of the user', () => {
    const spread = content();
    spreadOverrides(spread, { overrides, readsUser: new Set(['fcm', 'webpush']) });
    expect(spread.ANDROID!.overrides).toEqual({ fcm: { a: 1 }, hms: { b: 2 } });
    expect(spread.ANDROID!.fallback!.overrides).toEqual({ hms: { b: 2 } });
    expect(spread.WEB!.overrides).toEqual({ webpush: { payload: { d: 4 } } });
    expect(collectOverrides(spread)).toEqual({ fcm: { a: 1 }, hms: { b: 2 }, webpush: { payload: { d: 4 } } });
  });

  test('leave a content unchanged if there are none', () => {
    const spread = content();
    spreadOverrides(spread, { overrides: {}, readsUser: new Set() });
    expect(spread).toStrictEqual(content());
    expect(collectOverrides(spread)).toBeUndefined();
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mergePatch } from '../../src/domain/content/overrides.ts';
import { presentPushContent } from '../../src/http/campaigns/push-content.ts';
import { goodBody, makePushBundle } from './push-bundle.ts';
import type { PushBundle } from './push-bundle.ts';

let bundle: PushBundle;
let names = 0;
beforeAll(async () => {
  bundle = await makePushBundle();
});
afterAll(() => bundle?.end());

const texts = { title: 'Order 17', message: 'Ready' };
const web = { ...texts, redirectURL: 'https://shop.example/17', iconURL: 'https://shop.example/i.png' };
const targetPlatform = ['ANDROID', 'IOS', 'WEB'];

function send(providerOverrides: unknown, { payload = {}, ...more }: Record<string, any> = {}) {
  const campaignName = `Overridden number ${(names += 1)}`;
  const contents = { ANDROID: texts, IOS: texts, WEB: web, ...payload };
  return bundle.send(goodBody({ campaignName, targetPlatform, payload: { ...contents, providerOverrides }, ...more }));
}

async function store(providerOverrides: unknown, more: Record<string, unknown> = {}): Promise<any> {
  const answer = await send(providerOverrides, more);
  expect(answer.json().Error_Message).toBeUndefined();
  const [row] = await bundle.database`select content from campaigns where id = ${answer.json().cid}`;
  return { ...row, warning: answer.headers['x-svc-warning'] };
}

test('gives each platform the override of its provider, including null, and reports no member as unknown', async () => {
  const fcm = { android: { notification: { ticker: 'x', tag: null } } };
  const payload = { aps: { 'thread-id': 'o', sound: null } };
  const { content, warning } = await store({
    fcm,
    hms: { android: { category: 'EXPRESS' } },
    apns: { headers: { 'apns-priority': '5' }, payload },
    webpush: { headers: { Urgency: 'high', TTL: null } },
  });
  expect(content.ANDROID.overrides).toEqual({ fcm, hms: { android: { category: 'EXPRESS' } } });
  expect(content.IOS.overrides).toEqual({ apns: { headers: { 'apns-priority': '5' }, payload } });
  expect(content.WEB.overrides).toEqual({ webpush: { headers: { urgency: 'high', ttl: null } } });
  expect(warning).toBeUndefined();
  expect(presentPushContent(content).push).toMatchObject({
    providerOverrides: { fcm, apns: { headers: { 'apns-priority': '5' }, payload } },
  });
});

test('applies the override to the fallback, unless it reads the user', async () => {
  const fallback = { title: 'F' };
  const { content } = await store(
    { fcm: { data: { shelf: '{{ UserAttribute["shelf"] }}' } }, apns: { payload: { shelf: 17 } } },
    { payload: { ANDROID: { ...texts, fallback }, IOS: { ...texts, fallback } } },
  );
  expect(content.ANDROID.overrides).toBeDefined();
  expect(content.ANDROID.fallback).not.toHaveProperty('overrides');
  expect(content.IOS.fallback.overrides).toEqual(content.IOS.overrides);
});

test('names an override for a provider that carries nothing of the push in a header', async () => {
  const { content, warning } = await store({ apns: { payload: { shelf: 17 } } }, { targetPlatform: ['ANDROID'] });
  expect(content.ANDROID).not.toHaveProperty('overrides');
  expect(warning).toBe('payload.providerOverrides.apns has no effect here');
});

const nested = (depth: number): object => (depth === 1 ? {} : { a: nested(depth - 1) });

describe('a rejected push, of which nothing is stored', () => {
  const denied = 'cannot be set here';
  test.each<[string, unknown, string]>([
    ...['token', 'fid', 'topic', 'condition', 'name'].map(
      (name) => [`fcm.${name}`, { fcm: { [name]: 'x' } }, denied] as [string, unknown, string],
    ),
    ['fcm.android_v2', { fcm: { android_v2: {} } }, denied],
    ['fcm.data.push_from', { fcm: { data: { push_from: 'x' } } }, denied],
    ['fcm.data.svc_report_token', { fcm: { data: { svc_report_token: null } } }, denied],
    ['fcm.android.data', { fcm: { android: { data: { a: 'b' } } } }, denied],
    ['fcm.data', { fcm: { data: null } }, 'must be an object'],
    ['fcm', { fcm: [] }, 'must be an object'],
    ['fcm', { fcm: null }, 'must be an object'],
    ['fcm', { fcm: { a: 'x'.repeat(4_096) } }, 'must have at most 4096 bytes as JSON'],
    ['fcm.a.a.a.a.a.a.a.a', { fcm: nested(9) }, 'must be within 8 objects and lists'],
    ['apns.payload.svc', { apns: { payload: { svc: {} } } }, denied],
    ['apns.payload.aps', { apns: { payload: { aps: null } } }, 'must be an object'],
    ['apns.aps', { apns: { aps: {} } }, denied],
    ['apns.headers.authorization', { apns: { headers: { authorization: 'x' } } }, denied],
    ['apns.headers.apns-id', { apns: { headers: { 'apns-id': 'x' } } }, denied],
    ['apns.headers.apns-priority', { apns: { headers: { 'apns-priority': 5 } } }, 'must be a text'],
    ['apns.headers.apns-priority', { apns: { headers: { 'apns-priority': '7' } } }, 'must be one of 1, 5, 10'],
    ['apns.headers.apns-topic', { apns: { headers: { 'apns-topic': null } } }, denied],
    ['webpush.payload.report_token', { webpush: { payload: { report_token: 'x' } } }, denied],
    ['webpush.payload.message_id', { webpush: { payload: { message_id: 'x' } } }, denied],
    ['webpush.payload.click_proof', { webpush: { payload: { click_proof: 'x' } } }, denied],
    ['webpush.payload.web_push', { webpush: { payload: { web_push: 1 } } }, denied],
    ['webpush.payload.title', { webpush: { payload: { title: null } } }, 'must be a text that is not empty'],
    ['webpush.headers.Content-Encoding', { webpush: { headers: { 'Content-Encoding': 'gzip' } } }, denied],
    ['webpush.headers.ttl', { webpush: { headers: { TTL: '5', ttl: '6' } } }, 'is given twice'],
    ...['token', 'topic', 'condition', 'validate_only'].map(
      (name) => [`hms.${name}`, { hms: { [name]: 'x' } }, denied] as [string, unknown, string],
    ),
  ])('has a wrong %s', async (field, providerOverrides, reason) => {
    const before = await bundle.countRows();
    const answer = await send(providerOverrides);
    expect(answer.json()).toMatchObject({
      status: 'Fail',
      Error_Message: `Error parsing parameters: payload.providerOverrides.${field}: ${reason}`,
    });
    expect(await bundle.countRows()).toEqual(before);
  });

  test('has an Apple topic that is not a suffix, or a text that is not a template', async () => {
    const whole = await send({ apns: { headers: { 'apns-topic': 'com.example.other' } } });
    expect(whole.json().Error_Message).toMatch(/apns\.headers\.apns-topic: must be one of \.push-type\.liveactivity, /);
    const broken = await send({ fcm: { data: { a: '{{ oops' } } });
    expect(broken.json().Error_Message).toMatch(/providerOverrides\.fcm\.data\.a: is no template/);
  });

  test('has keys with the prefix of the workspace', async () => {
    const own = await makePushBundle();
    await own.database`update workspaces set data_prefix = 'acme'`;
    const payload = { ANDROID: texts, providerOverrides: { fcm: { data: { acme_tag: 'x' } } } };
    const answer = await own.send(goodBody({ targetPlatform: ['ANDROID'], payload }));
    await own.end();
    expect(answer.json().Error_Message).toMatch(/fcm\.data\.acme_tag: cannot be set here$/);
  });
});

/** RFC 7386 Appendix A, as a table. */
test.each<[unknown, unknown, unknown]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('merges %j with %j into %j (RFC 7386 Appendix A)', (target, patch, result) => {
  expect(mergePatch(target, patch)).toEqual(result);
});

test('treats a member called __proto__ as a member', () => {
  const merged = mergePatch({}, JSON.parse('{"__proto__": {"a": 1}}')) as object;
  expect(JSON.stringify(merged)).toBe('{"__proto__":{"a":1}}');
  expect((merged as { a?: number }).a).toBeUndefined();
});

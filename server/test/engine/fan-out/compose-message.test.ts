import { expect, test } from 'vitest';
import type { AppSettings } from '../../../src/domain/apps.ts';
import { messageIdentity } from '../../../src/domain/content/message.ts';
import { makePersonaliser } from '../../../src/domain/template/personalise.ts';
import { composeMessage, makePartsOf } from '../../../src/engine/fan-out/compose-message.ts';

type Composed = Parameters<typeof composeMessage>[0];
type Run = Composed['run'];
type Device = Composed['device'];

const createdAt = new Date('2026-03-01T12:00:00Z');
const texts = { title: 'Hello', message: 'Ready', richContent: [], additionalActions: [] };
const web = { ...{ title: 'Hello', message: 'Ready', autoDismiss: false }, iconUrl: 'https://shop.example/icon.png' };
const content: Run['content'] = {
  ANDROID: texts,
  IOS: { ...texts, enableBadge: true },
  WEB: { ...web, redirectUrl: 'https://shop.example/?a=1&b=2' },
};
const run: Run = {
  ...{ id: 'run', workspaceId: 'WORKSPACE', campaignId: 'campaign', content, createdAt },
  settings: {
    ttlMinutes: { ANDROID: 3, IOS: 5, WEB: 7 },
    androidPriority: 'NORMAL',
    iosPriority: 5,
    webUrgency: 'low',
  },
  androidPayload: { mode: 'data', pushFrom: 'shop', dataPrefix: null },
};
const deviceOn = (platform: Device['platform'], more: Partial<Device> = {}): Device => ({
  ...{ id: 'device', bucket: 7, platform },
  ...more,
});
/** What a pass is issued for stands in it. */
const tokens: Composed['tokens'] = {
  issue: (subject, address) => ({
    token: JSON.stringify(subject),
    ...(address && { clickProof: `proof of ${address}` }),
  }),
  open: () => undefined,
  openClick: () => undefined,
};
const phoneDefaults = { dataPrefix: 'svc', publicUrl: 'https://push.example' };
const compose = (device: Device, more: Partial<Composed> = {}) =>
  composeMessage({ run, device, tokens, phoneDefaults, ...more });
const withContent = (own: object): Run => ({ ...run, content: own as Run['content'] });
const withSettings = (settings: object): Run => ({ ...run, settings: { ...run.settings, ...settings } });
const passOf = (platform: string) => ({
  workspaceId: 'WORKSPACE',
  runId: 'run',
  bucket: 7,
  deviceId: 'device',
  platform,
});
const ids = { workspaceId: 'WORKSPACE', campaignId: 'campaign', runId: 'run' };

test('a message to an Android phone has its lifetime in seconds, its priority and the payload of its workspace', () => {
  expect(compose(deviceOn('ANDROID'))).toEqual({
    ...{ ...ids, platform: 'ANDROID', content: texts, ttlSeconds: 180, priority: 'NORMAL', isSilent: false },
    identity: messageIdentity('run', 'device'),
    report: { token: JSON.stringify(passOf('ANDROID')) },
    payload: { mode: 'data', pushFrom: 'shop', dataPrefix: 'svc', reportUrl: 'https://push.example/v1/interactions' },
  });
});

test('a message to an iPhone has its own lifetime, its priority and the name beside `aps`', () => {
  expect(compose(deviceOn('IOS'))).toEqual({
    ...{ ...ids, platform: 'IOS', content: content.IOS, ttlSeconds: 300, priority: 5, isSilent: false },
    identity: messageIdentity('run', 'device'),
    report: { token: JSON.stringify(passOf('IOS')) },
    dataPrefix: 'svc',
  });
});

test('a message to a browser leads to its address by way of this service, which knows its own', () => {
  const token = JSON.stringify(passOf('WEB'));
  const message = {
    ...{ ...ids, platform: 'WEB', content: content.WEB, ttlSeconds: 420, urgency: 'low' },
    identity: messageIdentity('run', 'device'),
    report: { token, clickProof: 'proof of https://shop.example/?a=1&b=2' },
  };
  expect(compose(deviceOn('WEB'))).toEqual({
    ...message,
    link: `https://push.example/v1/click/${token}.proof of https://shop.example/?a=1&b=2?to=https%3A%2F%2Fshop.example%2F%3Fa%3D1%26b%3D2`,
  });
  expect(compose(deviceOn('WEB'), { phoneDefaults: { dataPrefix: 'svc', publicUrl: undefined } })).toEqual(message);
  const noProof = { ...tokens, issue: () => ({ token: 'token' }) };
  expect(compose(deviceOn('WEB'), { tokens: noProof })).not.toHaveProperty('link');
});

test('a run without content for the platform has no message', () => {
  for (const platform of ['ANDROID', 'IOS', 'WEB'] as const)
    expect(compose(deviceOn(platform), { run: withContent({}) })).toBeUndefined();
});

test('a message that leaves the inbox says when, counted from its acceptance', () => {
  expect(compose(deviceOn('IOS'), { run: withSettings({ inboxExpiryHours: 36 }) })).toMatchObject({
    inboxExpiresAt: new Date('2026-03-03T00:00:00Z'),
  });
  expect(compose(deviceOn('IOS'))).not.toHaveProperty('inboxExpiresAt');
});

test('what replaces what is the content’s own key, on each platform', () => {
  const keyed = withContent({
    ANDROID: { ...texts, collapseReplaceKey: 'offer' },
    IOS: { ...texts, collapseReplaceKey: 'offer' },
    WEB: { ...content.WEB, options: { tag: 'offer' } },
  });
  for (const platform of ['ANDROID', 'IOS', 'WEB'] as const)
    expect(compose(deviceOn(platform), { run: keyed })!.identity).toEqual(messageIdentity('run', 'device', 'offer'));
});

test('a click of a phone is proved for the address that its message leads to', () => {
  const defaultAction = { type: 'richlanding', value: 'https://shop.example/', keyValuePairs: {} };
  const linked = withContent({ ANDROID: { ...texts, defaultAction }, IOS: { ...texts, defaultAction } });
  for (const platform of ['ANDROID', 'IOS'] as const)
    expect(compose(deviceOn(platform), { run: linked })!.report).toEqual({
      token: JSON.stringify(passOf(platform)),
      clickProof: 'proof of https://shop.example/',
    });
});

test('a report of one of several contents says which', () => {
  const variant = { variation: 2, locale: 1 };
  expect(compose(deviceOn('IOS'), { run: { ...run, variant } })!.report!.token).toBe(
    JSON.stringify({ ...passOf('IOS'), variant }),
  );
});

test('a silent message has nothing to report, no look of its app, and its badge', () => {
  const silent = {
    ...withSettings({ isSilent: true }),
    content: { IOS: { ...texts, options: { badge: {} } } as never },
  };
  const app: AppSettings = { defaults: { sound: 'bell' } };
  const message = compose(deviceOn('IOS', { badge: { operation: 'set', value: 4 } }), { run: silent, app })!;
  expect(message).not.toHaveProperty('report');
  expect(message).toMatchObject({ isSilent: true, content: { richContent: [] } });
  expect(message.content.options).toEqual({ badge: { operation: 'set', value: 4 } });
});

test('an app has its own look, payload and names, and a content’s choice goes before its app’s', () => {
  const app: AppSettings = { mode: 'both', pushFrom: 'app', dataPrefix: 'own', defaults: { sound: 'bell' } };
  expect(compose(deviceOn('ANDROID'), { app })).toMatchObject({
    content: { richContent: [{ type: 'sound', value: 'bell' }] },
    payload: { mode: 'both', appMode: 'both', pushFrom: 'app', dataPrefix: 'own' },
  });
  expect(compose(deviceOn('IOS'), { app })).toMatchObject({
    content: { richContent: [{ type: 'sound', value: 'bell' }] },
    dataPrefix: 'own',
  });
  const chosen = withContent({ ANDROID: { ...texts, options: { deliveryMode: 'notification' } } });
  expect(compose(deviceOn('ANDROID'), { app, run: chosen })).toMatchObject({
    payload: { mode: 'notification', appMode: 'both' },
  });
  expect(compose(deviceOn('ANDROID'), { run: chosen })).toMatchObject({ payload: { mode: 'notification' } });
  const { payload } = compose(deviceOn('ANDROID'), { app: { pushFrom: 'app' } }) as never;
  expect(payload).not.toHaveProperty('appMode');
});

test('an iPhone’s critical sound is for apps to which Apple granted it; without settings no app has', () => {
  const loud = withContent({ IOS: { ...texts, options: { sound: { name: 'alarm', critical: true } } } });
  expect(compose(deviceOn('IOS'), { run: loud })!.content.options).toEqual({ sound: { name: 'alarm' } });
  expect(compose(deviceOn('IOS'), { run: loud, app: { criticalAlerts: true } })!.content.options).toEqual({
    sound: { name: 'alarm', critical: true },
  });
});

test('neither the fallback nor other languages travel with the content for everybody', () => {
  const own = { fallback: texts, locales: { de: { title: 'Hallo' } } };
  const run = withContent({
    ANDROID: { ...texts, ...own },
    IOS: { ...texts, ...own },
    WEB: { ...content.WEB, ...own },
  });
  expect(compose(deviceOn('ANDROID'), { run })!.content).toEqual(texts);
  expect(Object.keys(compose(deviceOn('IOS'), { run })!.content)).toEqual(Object.keys(texts));
  expect(compose(deviceOn('WEB'), { run })!.content).toEqual(content.WEB);
});

test('a message says in which language it is, but for a fallback, which is for everybody', () => {
  const localized = { language: 'de', content: { ...texts, title: 'Hallo' } };
  const german = compose(deviceOn('ANDROID', { localized }));
  expect(german).toMatchObject({ language: 'de', content: { title: 'Hallo' } });
  const personal = { content: { ...texts, title: 'Ada' } };
  expect(compose(deviceOn('ANDROID', { localized, personal }))).toMatchObject({
    language: 'de',
    content: { title: 'Ada' },
  });
  const instead = { ...{ field: 'title', cause: 'USER_ATTRIBUTE' }, detail: '' } as never;
  const fallback = compose(deviceOn('ANDROID', { localized, personal: { ...personal, instead } }));
  expect(fallback).not.toHaveProperty('language');
  expect(fallback!.content.title).toBe('Ada');
  expect(compose(deviceOn('ANDROID'))).not.toHaveProperty('language');
  // The fallback of a language's own content is in that language.
  const spoken = { ...run, language: 'fr' };
  expect(compose(deviceOn('ANDROID', { personal: { ...personal, instead } }), { run: spoken })!.language).toBe('fr');
  expect(compose(deviceOn('ANDROID', { localized }), { run: spoken })!.language).toBe('fr');
});

test('content that could not be made is no content, and the message shows what is for everybody', () => {
  const fault = { field: 'title', cause: 'USER_ATTRIBUTE', detail: '' } as never;
  expect(compose(deviceOn('ANDROID', { personal: { fault } }))!.content).toEqual(texts);
});

test('a count is put into the content that it is for', () => {
  const counted = withContent({
    IOS: { ...texts, options: { badge: { operation: 'increment', value: 1 }, targetContentId: 'a' } },
    WEB: { ...content.WEB, options: { appBadge: { operation: 'increment', value: 1 } } },
  });
  const badge = { operation: 'set', value: 9 } as const;
  expect(compose(deviceOn('IOS', { badge }), { run: counted })!.content.options).toEqual({
    badge,
    targetContentId: 'a',
  });
  expect(compose(deviceOn('WEB', { badge }), { run: counted })!.content.options).toEqual({ appBadge: badge });
});

test('of alike messages to phones each has its identity and its report; to browsers, and without content, there are none', () => {
  const device = deviceOn('ANDROID');
  const { identity, report } = compose(device)!;
  expect(makePartsOf({ run, platform: 'ANDROID', tokens })!(device)).toEqual({ identity, report });
  const silent = makePartsOf({ run: withSettings({ isSilent: true }), platform: 'IOS', tokens })!;
  expect(silent(deviceOn('IOS'))).toEqual({ identity });
  expect(makePartsOf({ run, platform: 'WEB', tokens })).toBeUndefined();
  expect(makePartsOf({ run: withContent({}), platform: 'IOS', tokens })).toBeUndefined();
});

const name = '{{ UserAttribute.name }}';
const user = { customerId: 'c', attributes: { name: 'Ada' } };

/** The parts of a message to a user named Ada, and the whole of it. */
function personalParts(own: object) {
  const run = withContent({ ANDROID: { ...texts, ...own } });
  const personaliser = makePersonaliser(run.content, 'AUTO')!;
  const personal = personaliser.render({ platform: 'ANDROID', user, event: {} });
  const device = deviceOn('ANDROID', { personal });
  return { parts: makePartsOf({ run, platform: 'ANDROID', tokens })!(device), message: compose(device, { run })! };
}

test('of messages with users’ own texts the parts have these, and the key and address that they make', () => {
  const plain = personalParts({ title: name });
  expect(plain.parts).toMatchObject({ identity: plain.message.identity, report: plain.message.report });
  expect(plain.parts!.own!.texts).toEqual(['Ada']);
  const defaultAction = { type: 'richlanding', value: `https://shop.example/${name}`, keyValuePairs: {} };
  const linked = personalParts({ defaultAction });
  expect(linked.parts!.report).toEqual(linked.message.report);
  expect(linked.parts!.report!.clickProof).toBe('proof of https://shop.example/Ada');
  const keyed = personalParts({ collapseReplaceKey: name });
  expect(keyed.parts!.identity).toEqual(messageIdentity('run', 'device', 'Ada'));
});

test('a message whose texts could not all be made, or that is a fallback, is composed by itself', () => {
  const partsOf = makePartsOf({ run, platform: 'ANDROID', tokens })!;
  expect(partsOf(deviceOn('ANDROID', { personal: { fault: {} as never } }))).toBeUndefined();
  expect(partsOf(deviceOn('ANDROID', { personal: { content: texts } }))).toBeUndefined();
});

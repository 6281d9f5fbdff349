import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { settlePayload } from '../../../src/domain/content/content.ts';
import type {
  CampaignContent,
  JsonObject,
  PayloadMode,
  Platform,
  ProviderOverrides,
} from '../../../src/domain/content/content.ts';
import { messageIdentity } from '../../../src/domain/content/message.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import { makeInteractionTokens } from '../../../src/domain/events/interactions.ts';
import type { AdmCredential } from '../../../src/domain/providers/adm.ts';
import type { HmsCredential } from '../../../src/domain/providers/hms.ts';
import { makePersonaliser } from '../../../src/domain/template/personalise.ts';
import { composeMessage, makePartsOf } from '../../../src/engine/fan-out/compose-message.ts';
import { planApnsRequest } from '../../../src/providers/apns/plan.ts';
import { makeApnsProvider } from '../../../src/providers/apns/provider.ts';
import { RequestForm, markMessage } from '../../../src/providers/batch.ts';
import type { DeliveryBatch } from '../../../src/providers/batch.ts';
import { measureMessage } from '../../../src/providers/deliver.ts';
import { planFcmRequest } from '../../../src/providers/fcm/plan.ts';
import { makeFcmProvider } from '../../../src/providers/fcm/provider.ts';
import { planAdmRequest } from '../../../src/providers/adm/plan.ts';
import { planHmsRequest } from '../../../src/providers/hms/plan.ts';
import { makeHmsProvider } from '../../../src/providers/hms/provider.ts';
import { findHmsViolation } from '../../../src/providers/hms/simulator-rules.ts';
import { RequestHead, RequestHeads } from '../../../src/providers/http2/requests.ts';
import type { OutgoingRequest } from '../../../src/providers/http2/requests.ts';
import { RequestWriter } from '../../../src/providers/lane-batch.ts';
import { makeAndroidPart } from '../../../src/providers/payload/android.ts';
import type { AndroidMessage } from '../../../src/providers/payload/android.ts';
import type { Outcome, Plan, PlanInput, RoutedProvider } from '../../../src/providers/provider.ts';
import { planWebPushRequest } from '../../../src/providers/webpush/plan.ts';
import { makeSimulatedSubscription } from '../../../src/providers/webpush/simulated-browser.ts';
import { startDeliveryBundle } from './delivery-bundle.ts';
import { makeMessage } from './make-message.ts';

const identity = messageIdentity('a'.repeat(24), '0');
const whole: AndroidMessage['content'] = {
  title: 'Order 17',
  message: 'Ready',
  summary: 'Shop',
  channelId: 'orders',
  groupKey: 'orders',
  richContent: [
    { type: 'image', value: 'https://shop.example/i.png' },
    { type: 'sound', value: 'bell' },
    { type: 'coupon', value: 'SAVE5' },
  ],
  defaultAction: {
    type: 'deeplinking',
    value: 'shop://order/17',
    keyValuePairs: { order: '17', from: 'shop', svc_silent: '1' },
  },
  additionalActions: [{ type: 'copy', name: 'Copy', value: '17' }],
};

const keys = {
  push_from: 'carillon',
  gcm_title: 'Order 17',
  gcm_alert: 'Ready',
  gcm_campaign_id: 'c'.repeat(24),
  gcm_notificationType: 'normal notification',
  svc_app_id: 'WORKSPACE',
  svc_push_service: 'fcm',
  svc_cid_attr: `{"svc_campaign_id":"${'c'.repeat(24)}","svc_campaign_channel":"PUSH","svc_run_id":"${'a'.repeat(24)}"}`,
  svc_message_id: identity.id,
  svc_report_token: 'token',
  svc_click_proof: 'proof',
  gcm_subtext: 'Shop',
  svc_channel_id: 'orders',
  svc_group_key: 'orders',
  coupon_code: 'SAVE5',
  gcm_actions: '[{"type":"copy","name":"Copy","value":"17"}]',
  gcm_action_type: 'deeplinking',
  gcm_activityName: 'shop://order/17',
};
const notification = {
  title: 'Order 17',
  body: 'Ready',
  tag: identity.collapseId,
  channel_id: 'orders',
  image: 'https://shop.example/i.png',
  sound: 'bell',
};
const carried = { priority: 'HIGH', ttl: '129600s' };

describe('the FCM message in each mode', () => {
  test('has a notification and data in mode both, byte for byte as before modes existed', () => {
    expect(JSON.stringify(makeAndroidPart(messageIn('both')))).toBe(
      JSON.stringify({
        data: { ...keys, order: '17', kv_from: 'shop', svc_silent: '1' },
        android: { collapse_key: identity.collapseId, ...carried, notification },
      }),
    );
  });

  test('has in mode notification the shown fields, and of the data the pairs of the caller only', () => {
    expect(makeAndroidPart(messageIn('notification'))).toEqual({
      data: { order: '17', kv_from: 'shop', svc_silent: '1' },
      android: { collapse_key: identity.collapseId, ...carried, notification },
    });
    const { defaultAction: _action, ...content } = whole;
    expect(makeAndroidPart(messageIn('notification', { content }))).not.toHaveProperty('data');
  });

  test('has in mode data every shown field, under names that no pair of the caller can use', () => {
    expect(makeAndroidPart(messageIn('data'))).toEqual({
      data: {
        ...keys,
        svc_tag: identity.collapseId,
        svc_image: 'https://shop.example/i.png',
        svc_sound: 'bell',
        order: '17',
        kv_from: 'shop',
        kv_svc_silent: '1',
      },
      android: carried,
    });
  });

  test('has in mode data a collapse key only if the caller requested a replacement', () => {
    const content = { ...whole, collapseReplaceKey: 'order-17' };
    const replacing = messageIdentity('a'.repeat(24), '0', 'order-17');
    const part = makeAndroidPart(messageIn('data', { content, identity: replacing }));
    expect(part.android.collapse_key).toBe(replacing.collapseId);
    expect(part.data).toMatchObject({ svc_tag: replacing.collapseId, svc_message_id: identity.id });
  });

  test('uses the prefix of the workspace or the default for reserved keys and the report address', () => {
    const defaults = { dataPrefix: 'acme', publicUrl: 'https://push.example' };
    const chosen = (dataPrefix: string | null) =>
      makeAndroidPart(
        messageIn('data', { payload: settlePayload({ mode: 'data', pushFrom: 'shop', dataPrefix }, defaults) }),
      ).data!;
    expect(chosen(null)).toMatchObject({
      push_from: 'shop',
      acme_message_id: identity.id,
      acme_cid_attr: expect.stringContaining('"acme_run_id"'),
      acme_report_url: `${defaults.publicUrl}/v1/interactions`,
      svc_silent: '1',
    });
    expect(Object.keys(chosen(null)).filter((name) => name.startsWith('svc_'))).toEqual(['svc_silent']);
    expect(chosen('own')).toHaveProperty('own_report_url', `${defaults.publicUrl}/v1/interactions`);
  });
});

describe('a simulated phone whose app is in the background', () => {
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  beforeAll(async () => {
    bundle = await startDeliveryBundle();
  });
  afterEach(() => {
    bundle.delivered.length = 0;
  });
  afterAll(() => bundle.stop());

  const screenIn = async (mode: PayloadMode) => {
    const { platform: _platform, ...message } = messageIn(mode);
    expect(await bundle.send('ANDROID', { message })).toMatchObject({ kind: 'accepted' });
    await bundle.simulators.settle();
    return bundle.delivered[0]!.screen;
  };

  test('starts the app in mode data, which shows buttons and can report everything', async () => {
    expect(await screenIn('data')).toEqual({
      shownBy: 'app',
      title: 'Order 17',
      body: 'Ready',
      image: 'https://shop.example/i.png',
      buttons: ['Copy'],
      reports: ['impression', 'click', 'close'],
    });
  });

  test.each([
    ['both', ['click']],
    ['notification', []],
  ] as const)(
    'shows a message in mode %s by the system, without buttons, and reports no impression',
    async (mode, reports) => {
      expect(await screenIn(mode)).toEqual({
        shownBy: 'system',
        title: 'Order 17',
        body: 'Ready',
        image: 'https://shop.example/i.png',
        buttons: [],
        reports,
      });
    },
  );

  test('runs the service extension of an iPhone for every message that can be reported', async () => {
    await bundle.send('IOS');
    await bundle.simulators.settle();
    expect(bundle.delivered[0]!.payload).toMatchObject({ aps: { 'mutable-content': 1 } });
    expect(bundle.delivered[0]!.screen).toMatchObject({
      shownBy: 'extension',
      reports: ['impression', 'click', 'close'],
    });
  });
});

describe('provider overrides', () => {
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  beforeAll(async () => {
    bundle = await startDeliveryBundle();
  });
  afterEach(() => {
    bundle.delivered.length = 0;
  });
  afterAll(() => bundle?.stop());

  describe('the override of a finished request', () => {
    test('merges members for FCM, and removes them with null', async () => {
      const { payload } = await arrive('ANDROID', {
        fcm: { android: { ttl: '60s', collapse_key: null }, data: { shelf: '17' } },
      });
      expect(payload.android.ttl).toBe('60s');
      expect(payload.android).not.toHaveProperty('collapse_key');
      expect(payload.data).toMatchObject({ shelf: '17', push_from: 'carillon' });
    });

    test('changes payload and headers for APNs', async () => {
      const { payload, transport } = await arrive('IOS', {
        apns: { headers: { 'apns-priority': '5', 'apns-collapse-id': null }, payload: { aps: { 'thread-id': 'o' } } },
      });
      expect(payload.aps).toMatchObject({ 'thread-id': 'o', alert: expect.any(Object) });
      expect(transport).toMatchObject({ 'apns-priority': '5' });
      expect(transport).not.toHaveProperty('apns-collapse-id');
    });

    test('appends the topic suffix of a kind of message to the app’s topic for APNs', () => {
      const message = overridden('IOS', { apns: { headers: { 'apns-topic': '.voip' } } });
      const device = { deviceId: '0', platform: 'IOS' as const, pushId: bundle.addresses.IOS };
      const credential = bundle.credentials.apns;
      const planned = planApnsRequest(
        { message, device, credential },
        { origin: 'https://apple.example', now: new Date(0) },
      );
      expect(planned).toMatchObject({ plan: { headers: { 'apns-topic': `${credential.topic}.voip` } } });
    });

    test('changes payload and headers for Web Push', async () => {
      const { payload, transport } = await arrive('WEB', {
        webpush: {
          headers: { urgency: 'very-low', ttl: '7' },
          payload: { requireInteraction: true, autoDismiss: null },
        },
      });
      expect(payload).toMatchObject({ requireInteraction: true, title: expect.any(String) });
      expect(payload).not.toHaveProperty('autoDismiss');
      expect(transport).toMatchObject({ Urgency: 'very-low', TTL: '7' });
    });
  });

  test.each<[Platform, ProviderOverrides, string]>([
    ['ANDROID', { fcm: { data: { shelf: 17 } } }, 'data.shelf must be a text'],
    ['ANDROID', { fcm: { android: { notification: 'x' } } }, 'android.notification must be an object'],
    ['ANDROID', { fcm: { data: { svc_tag: 'x' } } }, 'data.svc_tag cannot be set'],
    ['IOS', { apns: { headers: { 'apns-priority': '50' } } }, 'apns-priority must be one of 1, 5, 10'],
    ['WEB', { webpush: { payload: { title: ' ' } } }, 'the title must be a text'],
    ['WEB', { webpush: { headers: { topic: 'two words' } } }, 'topic must have 1 to 32 characters of base64url'],
  ])('is rejected with invalid content: %s: %j', async (platform, overrides, detail) => {
    const outcome = await bundle.send(platform, { message: overridden(platform, overrides) });
    expect(outcome).toEqual({ kind: 'rejected', code: 'OVERRIDE_INVALID', detail });
  });

  describe('Huawei Push Kit', () => {
    const plan = (hms: JsonObject) => {
      const message = overridden('ANDROID', { hms });
      const device = { deviceId: '0', platform: 'ANDROID' as const, pushId: 'token' };
      const credential = { owner: { kind: 'project', id: '1' } } as HmsCredential;
      return planHmsRequest({ message, device, credential } as PlanInput<HmsCredential>, 'https://huawei.example');
    };

    test('applies a separate override, which FCM does not get', () => {
      const planned = plan({ android: { category: 'EXPRESS', bi_tag: null } });
      const { message } = JSON.parse((planned as { plan: Plan }).plan.body.toString());
      expect(message.android).toMatchObject({ category: 'EXPRESS', urgency: 'HIGH' });
      expect(message.android).not.toHaveProperty('bi_tag');
      expect(message.token).toEqual(['token']);
      expect(findHmsViolation(message, 1_000)).toBeUndefined();
    });

    test.each<[JsonObject, string]>([
      [{ data: { a: 1 } }, 'data must be a text'],
      [{ android: 'x' }, 'android must be an object'],
      [{ android: { notification: [] } }, 'android.notification must be an object'],
    ])('rejects an override with invalid content: %j', (hms, detail) => {
      expect(plan(hms)).toEqual({ outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail } });
    });
  });

  describe('Amazon Device Messaging', () => {
    const plan = (adm: JsonObject) => {
      const message = overridden('ANDROID', { adm, fcm: { data: { shelf: 'of Google' } } });
      const device = { deviceId: '0', platform: 'ANDROID' as const, pushId: 'registration' };
      return planAdmRequest({ message, device } as PlanInput<AdmCredential>, 'https://amazon.example');
    };

    test('applies a separate override, which FCM does not get', () => {
      const planned = plan({ data: { shelf: '17' }, expiresAfter: 60, priority: null });
      const body = JSON.parse((planned as { plan: Plan }).plan.body.toString());
      expect(body).toMatchObject({ data: { shelf: '17' }, expiresAfter: 60 });
      expect(body).not.toHaveProperty('priority');
    });

    test.each<[JsonObject, string]>([
      [{ data: { a: 1 } }, 'data.a must be a text'],
      [{ data: 'x' }, 'data must be an object'],
      [{ data: { svc_tag: 'x' } }, 'data.svc_tag cannot be set'],
      [{ notification: [] }, 'notification must be an object'],
    ])('rejects an override with invalid content: %j', (adm, detail) => {
      expect(plan(adm)).toEqual({ outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail } });
    });
  });

  test.each(['ANDROID', 'IOS', 'WEB'] as const)('count towards the size on %s', (platform) => {
    const long = 'x'.repeat(1_000);
    const overrides = { fcm: { data: { long } }, apns: { payload: { long } }, webpush: { payload: { long } } };
    const bytes = (given: ProviderOverrides) => measureMessage(overridden(platform, given)).bytes;
    expect(bytes(overrides) - bytes({})).toBeGreaterThanOrEqual(1_004);
  });

  test('are personalised at every depth', () => {
    const content = {
      title: 'T',
      message: 'M',
      richContent: [],
      additionalActions: [],
      overrides: {
        fcm: {
          data: { shelf: '{{ UserAttribute["shelf"] }}' },
          android: { list: ['{{ UserAttribute["row"] }}', 1, null] },
        },
      },
    };
    const personaliser = makePersonaliser({ ANDROID: content }, 'AUTO')!;
    const user = { customerId: 'ada', attributes: { shelf: 'A', row: 2 } };
    const rendered = personaliser.render({ platform: 'ANDROID', user, event: {} });
    expect('content' in rendered && rendered.content).toEqual({
      ...content,
      overrides: { fcm: { data: { shelf: 'A' }, android: { list: ['2', 1, null] } } },
    });
    const stranger = personaliser.render({
      platform: 'ANDROID',
      user: { customerId: 'bob', attributes: {} },
      event: {},
    });
    expect(stranger).toMatchObject({ fault: { field: 'providerOverrides.fcm.data.shelf' } });
  });

  async function arrive(platform: Platform, overrides: ProviderOverrides): Promise<any> {
    const outcome = await bundle.send(platform, { message: overridden(platform, overrides) });
    expect(outcome).toMatchObject({ kind: 'accepted' });
    await bundle.simulators.settle();
    return bundle.delivered[0];
  }
});

type Mode = 'data' | 'notification' | 'both';

describe('personal forms', () => {
  const clock = { now: () => new Date('2026-03-01T09:00:00Z'), realNow: () => new Date('2026-03-01T09:00:00Z') };
  const given = {
    clock,
    transport: undefined,
    simulator: undefined,
    simulatorOrigin: undefined,
    shareToken: undefined,
  };
  const token = { messagesOrigin: 'https://push.example', tokenUrl: 'https://token.example/token' };
  const providers = {
    fcm: makeFcmProvider({ ...given, endpoints: token } as never) as RoutedProvider<unknown>,
    apns: makeApnsProvider({
      ...given,
      endpoints: { production: 'https://apns.example' },
    } as never) as RoutedProvider<unknown>,
    hms: makeHmsProvider({ ...given, endpoints: token } as never) as RoutedProvider<unknown>,
  };
  const credentials = {
    fcm: { projectId: 'shop', clientEmail: 'a@shop.test' },
    apns: { environment: 'production', topic: 'test.shop' },
    hms: { owner: { kind: 'project', id: '42' } },
  };
  const tokens = makeInteractionTokens(new Uint8Array(32).fill(7));

  /** What JSON, addresses, markup, and texts within texts write otherwise. */
  const names = [
    'Ada',
    'Zoë 😀',
    'quote " backslash \\ slash /',
    'line\nbreak\ttab\u0001\u2028',
    '<b>bold</b> &amp; %41 + ? #',
    ' spaces around ',
    'half a pair \ud83d',
    '{"json": ["text"]}',
    'é'.repeat(700),
  ];
  const longNames = 1;
  const tooLarge = 'x'.repeat(3_900);

  const hello = "Hello {{ UserAttribute['First Name'] }}";
  const nameAlone = "{{ UserAttribute['First Name'] }}";
  const order = '{{ UserAttribute.order }}';
  const shop = `https://shop.example/order/${order}`;
  const plain = { title: hello, message: 'Ready', richContent: [], additionalActions: [] };
  const android = {
    ...plain,
    message: `${order} for ${hello}`,
    summary: nameAlone,
    collapseReplaceKey: `key ${order}`,
    richContent: [
      { type: 'image', value: shop },
      { type: 'coupon', value: hello },
    ],
    defaultAction: { type: 'richlanding', value: shop, keyValuePairs: { said: hello, from: order, json: '{"a": 1}' } },
    additionalActions: [{ type: 'copy', name: hello, value: shop, iconUrl: shop }],
    options: { locKeys: { titleLocKey: 'hi', titleLocArgs: [hello, order] } },
  };
  const ios = {
    ...plain,
    subtitle: nameAlone,
    richContent: [{ type: 'image', value: shop }],
    additionalActions: [{ category: 'order' }],
    defaultAction: { type: 'deeplinking', value: `shop://${order}`, keyValuePairs: { said: hello } },
    options: { additionalActions: [{ action: 'see', title: hello, url: shop }] },
    overrides: { apns: { payload: { aps: { 'thread-id': hello }, more: [hello, { deep: `{"said":"${hello}"}` }] } } },
  };

  type Case = {
    provider: keyof typeof providers;
    platform: Platform;
    content: object;
    mode?: Mode;
    isSilent?: boolean;
  };
  const cases: [string, Case][] = [
    ...(['data', 'notification', 'both'] as const).flatMap((mode): [string, Case][] => [
      [`FCM, ${mode}`, { provider: 'fcm', platform: 'ANDROID', content: android, mode }],
      [`Huawei, ${mode}`, { provider: 'hms', platform: 'ANDROID', content: android, mode }],
    ]),
    ['FCM, silent', { provider: 'fcm', platform: 'ANDROID', content: android, isSilent: true }],
    [
      'FCM, with an override',
      {
        ...{ provider: 'fcm', platform: 'ANDROID' },
        content: {
          ...plain,
          overrides: { fcm: { data: { said: hello }, android: { notification: { ticker: hello } } } },
        },
      },
    ],
    ['APNs', { provider: 'apns', platform: 'IOS', content: ios }],
    ['APNs, silent', { provider: 'apns', platform: 'IOS', content: ios, isSilent: true }],
    ['Firebase for iPhones', { provider: 'fcm', platform: 'IOS', content: ios }],
  ];

  type TestBatch = ReturnType<typeof makeBatch>;

  describe.each(cases)('personal messages by %s', (_name, one) => {
    test('are identical to the byte whether they are written from one form or individually', () => {
      const batch = makeBatch(one, names);
      for (const place of names.keys()) expectAlike(batch, place);
      expect(batch.told.length).toBeLessThanOrEqual(longNames);
      // Huawei’s are made one by one; of the others one for the form, and those that might be too large.
      if (one.provider === 'hms') expect(batch.planned()).toBe(names.length);
      else expect(batch.planned()).toBeLessThanOrEqual(1 + longNames);
    });

    test('are reported or created individually if they are too large or lack a text', () => {
      const batch = makeBatch(one, ['Ada', tooLarge, ' ', 'Grace']);
      for (const place of [0, 1, 2, 3, 0]) expectAlike(batch, place);
      const largest = makeBatch(one, [tooLarge, 'Ada']);
      for (const place of [0, 1]) expectAlike(largest, place);
    });
  });

  test.each<[string, (text: string) => Partial<Plan>]>([
    ['percent-encoded in the body', (text) => ({ body: Buffer.from(`{"link":"?to=${encodeURIComponent(text)}"}`) })],
    ['without its spaces', (text) => ({ body: Buffer.from(JSON.stringify({ title: text.trim() })) })],
    ['without its tags', (text) => ({ body: Buffer.from(JSON.stringify({ title: text.replaceAll(/<[^>]*>/g, '') })) })],
    ['in a header', (text) => ({ headers: { 'x-title': encodeURIComponent(text) } })],
    ['in the path', (text) => ({ path: `/${encodeURIComponent(text)}` })],
  ])('have no form if a text appears differently from its JSON encoding: %s', (_name, change) => {
    const parts = { identity: { id: 'i'.repeat(36), collapseId: 'c'.repeat(32) }, own: { texts: ['Ada'] } } as never;
    let sample = '';
    const marked = markMessage(parts, ([text]) => {
      sample = text!;
      return {} as never;
    });
    const plain: Plan = {
      origin: 'https://push.example',
      path: '/',
      headers: {},
      body: Buffer.from(JSON.stringify({ title: sample })),
    };
    const formOf = (plan: Plan) => new RequestForm(plan, { marked, shape: undefined, authorization: 'x' });
    expect(formOf(plain)).toBeInstanceOf(RequestForm);
    expect(() => formOf({ ...plain, ...change(sample) })).toThrow('a text is not written as it is');
  });

  test('are created individually if a header contains a text', () => {
    const content = { ...ios, overrides: { apns: { headers: { 'apns-collapse-id': order } } } };
    const batch = makeBatch({ provider: 'apns', platform: 'IOS', content }, ['Ada', 'Grace']);
    for (const place of [0, 1]) expect(batch.write(place).request).toEqual(batch.whole(place));
    expect(batch.planned()).toBe(3);
  });

  function makeBatch(
    { provider, platform, content, mode = 'both', isSilent = false }: Case,
    firstNames: readonly string[],
  ) {
    const run = {
      ...{ id: 'a'.repeat(24), workspaceId: 'WORKSPACE', campaignId: 'c'.repeat(24), createdAt: clock.now() },
      ...{ content: { [platform]: content } as CampaignContent, settings: { isSilent, templates: 'AUTO' } },
      androidPayload: { mode, pushFrom: 'carillon', dataPrefix: null },
    } as never as Parameters<typeof composeMessage>[0]['run'];
    const personaliser = makePersonaliser(run.content, 'AUTO')!;
    const devices = firstNames.map((name, number) => {
      const id = String(number).padStart(24, '0');
      const user = { customerId: name, attributes: { u_fn: name, order: String(10_000 + number) } };
      const personal = personaliser.render({ platform, user, event: {} });
      return {
        id,
        bucket: 7,
        platform,
        personal,
        pushId: platform === 'IOS' ? `ab${id}`.padEnd(64, '0') : `token-${number}`,
      };
    });
    const phoneDefaults = { dataPrefix: 'svc', publicUrl: 'https://push.example' };
    const messageTo = (device: object) =>
      composeMessage({ run, device: device as never, tokens, phoneDefaults } as never)!;
    const partsOf = makePartsOf({ run, platform, tokens })!;
    const told: [number, Outcome][] = [];
    const batch: DeliveryBatch = {
      ...{
        credentials: {},
        devices: devices.map((device) => ({ ...device, provider: null })) as never,
        pace: 'in turn',
      },
      messageOf: (place) => messageTo(devices[place]!),
      partsOf: (place) => partsOf(devices[place]! as never),
      messageWith(place, texts) {
        const { own } = devices[place]!.personal as {
          own: { shape: { contentWith(texts: readonly string[]): object } };
        };
        return messageTo({ ...devices[place]!, personal: { content: own.shape.contentWith(texts) } });
      },
      onOutcome: (place, outcome) => told.push([place, outcome]),
      onFault: (_place, error) => {
        throw error as Error;
      },
    };
    let planned = 0;
    const counting: RoutedProvider<unknown> = {
      ...providers[provider],
      plan(input) {
        planned += 1;
        return providers[provider].plan(input);
      },
    };
    const credential = credentials[provider];
    const writer = new RequestWriter({ provider: counting, credential, batch, authorization: 'bearer x' });
    return {
      batch,
      told,
      planned: () => planned,
      write(place: number) {
        const request: OutgoingRequest = {
          ...{
            head: new RequestHead([]),
            path: '',
            values: [],
            body: Buffer.alloc(0),
            ticket: 0,
            listener: undefined as never,
          },
        };
        const written = writer.write(place, request);
        const { head, path, values, body } = request;
        const text = Buffer.from(body).toString('utf8');
        return { written, request: { head: [head.headers, head.names], path, values: [...values], body: text } };
      },
      whole(place: number) {
        const device = { ...batch.devices[place]!, deviceId: batch.devices[place]!.id };
        const input = { message: batch.messageOf(place), device, credential };
        const result = providers[provider].plan(input as never);
        if ('outcome' in result) return result;
        const values: string[] = [];
        const { plan } = result;
        const head = new RequestHeads().headOf({ ...plan.headers, authorization: 'bearer x' }, values);
        return { head: [head.headers, head.names], path: plan.path, values, body: plan.body.toString('utf8') };
      },
    };
  }

  /** What is written for a device is what is planned for it alone, the refusal included. */
  function expectAlike({ write, whole, told }: TestBatch, place: number): void {
    const { written, request } = write(place);
    const alone = whole(place);
    if ('outcome' in alone) expect([written, told.at(-1)]).toEqual(['reported', [place, alone.outcome]]);
    else expect([written, request]).toEqual(['written', alone]);
  }
});

describe('the report token', () => {
  const pushIds: Record<Platform, string> = {
    ANDROID: 'token',
    IOS: 'ab'.repeat(32),
    WEB: makeSimulatedSubscription({ secret: Buffer.alloc(32, 1), id: 'browser' }),
  };

  // Name and value, and in JSON quotes, colon and comma.
  test.each([
    // The text of an Android message travels twice, in the notification and in the data.
    ['ANDROID', (16 + 81) / 2],
    // With what makes an app's service extension run, which reports.
    ['IOS', 12 + 81 + 6 + 20],
    ['WEB', 12 + 81 + 6 + 11 + 22 + 6],
  ] as const)('%s: takes few of the 4 KB, and never makes a message too large unnoticed', (platform, bytes) => {
    const message = makeMessage(platform, '0');
    const { report, ...without } = message;
    // The workspace's id has 9 characters here.
    expect(report!.token).toHaveLength(70);
    expect(maxText(without as Message) - maxText(message)).toBeLessThanOrEqual(bytes);
    expect(maxText(message)).toBeGreaterThan(1500);
  });

  test('is located where the device reads it', () => {
    const [android, ios] = (['ANDROID', 'IOS'] as const).map((platform) => {
      const message = makeMessage(platform, '0');
      const planned = plan({ ...message, report: { ...message.report!, clickProof: 'proof' } });
      return { message, body: JSON.parse(('plan' in planned ? planned.plan.body : '').toString()) };
    });
    expect(android!.body.message.data).toMatchObject({
      svc_report_token: android!.message.report!.token,
      svc_click_proof: 'proof',
    });
    expect(ios!.body.svc).toMatchObject({ report_token: ios!.message.report!.token, click_proof: 'proof' });
    const bare = plan({ ...makeMessage('ANDROID', '0'), report: { token: 'only' } });
    expect('plan' in bare && bare.plan.body.toString()).not.toContain('click_proof');
  });

  function plan(message: Message): { plan: Plan } | { outcome: Outcome } {
    const { platform } = message;
    const input = { message, device: { deviceId: '0', platform, pushId: pushIds[platform] }, credential: {} as never };
    switch (platform) {
      case 'ANDROID':
        return planFcmRequest(input, { origin: 'https://fcm.test', now: new Date(0) });
      case 'IOS':
        return planApnsRequest(input, { origin: 'https://apns.test', now: new Date(0) });
      case 'WEB':
        return planWebPushRequest(input);
    }
  }

  /** Bytes of the longest text that still fits beside all the rest. */
  function maxText(message: Message): number {
    const fits = (length: number) =>
      'plan' in plan({ ...message, content: { ...message.content, message: 'x'.repeat(length) } } as Message);
    let [most, tooMany] = [0, 5000];
    while (tooMany - most > 1) {
      const middle = (most + tooMany) >> 1;
      if (fits(middle)) most = middle;
      else tooMany = middle;
    }
    return most;
  }
});

function messageIn(mode: PayloadMode, more: Partial<AndroidMessage> = {}): AndroidMessage {
  return {
    ...(makeMessage('ANDROID', '0') as AndroidMessage),
    report: { token: 'token', clickProof: 'proof' },
    content: whole,
    payload: { mode, pushFrom: 'carillon', dataPrefix: 'svc' },
    ...more,
  };
}

function overridden(platform: Platform, overrides: ProviderOverrides, more: object = {}): Message {
  const { content, ...message } = makeMessage(platform, '0');
  return { ...message, ...more, content: { ...content, overrides } } as Message;
}

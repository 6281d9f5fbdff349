import { describe, expect, test } from 'vitest';
import type { CampaignContent, Platform } from '../../../src/domain/content/content.ts';
import { makeInteractionTokens } from '../../../src/domain/events/interactions.ts';
import { makePersonaliser } from '../../../src/domain/template/personalise.ts';
import type { DeliveryBatch } from '../../../src/providers/batch.ts';
import { makeApnsProvider } from '../../../src/providers/apns/provider.ts';
import { makeFcmProvider } from '../../../src/providers/fcm/provider.ts';
import { makeHmsProvider } from '../../../src/providers/hms/provider.ts';
import type { OutgoingRequest } from '../../../src/providers/http2/requests.ts';
import { RequestHead, RequestHeads } from '../../../src/providers/http2/requests.ts';
import type { Outcome, Plan, RoutedProvider } from '../../../src/providers/provider.ts';
import { markMessage, RequestForm } from '../../../src/providers/batch.ts';
import { RequestWriter } from '../../../src/providers/lane-batch.ts';
import { composeMessage, makePartsOf } from '../../../src/engine/fan-out/compose-message.ts';

const clock = { now: () => new Date('2026-03-01T09:00:00Z'), realNow: () => new Date('2026-03-01T09:00:00Z') };
const given = { clock, transport: undefined, simulator: undefined, simulatorOrigin: undefined, shareToken: undefined };
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
type Mode = 'data' | 'notification' | 'both';

type Case = { provider: keyof typeof providers; platform: Platform; content: object; mode?: Mode; isSilent?: boolean };
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
    ...{ credentials: {}, devices: devices.map((device) => ({ ...device, provider: null })) as never, pace: 'in turn' },
    messageOf: (place) => messageTo(devices[place]!),
    partsOf: (place) => partsOf(devices[place]! as never),
    messageWith(place, texts) {
      const { own } = devices[place]!.personal as { own: { shape: { contentWith(texts: readonly string[]): object } } };
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

type TestBatch = ReturnType<typeof makeBatch>;

/** What is written for a device is what is planned for it alone, the refusal included. */
function expectAlike({ write, whole, told }: TestBatch, place: number): void {
  const { written, request } = write(place);
  const alone = whole(place);
  if ('outcome' in alone) expect([written, told.at(-1)]).toEqual(['told', [place, alone.outcome]]);
  else expect([written, request]).toEqual(['written', alone]);
}

describe.each(cases)('personal messages by %s', (_name, one) => {
  test('written from one form are those that are made by themselves, to the byte', () => {
    const batch = makeBatch(one, names);
    for (const place of names.keys()) expectAlike(batch, place);
    expect(batch.told.length).toBeLessThanOrEqual(longNames);
    // Huawei’s are made one by one; of the others one for the form, and those that might be too large.
    if (one.provider === 'hms') expect(batch.planned()).toBe(names.length);
    else expect(batch.planned()).toBeLessThanOrEqual(1 + longNames);
  });

  test('that are too large for the provider, or leave a text out, are told so or made by themselves', () => {
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
])('a request in which a text stands otherwise than as JSON writes it has no form: %s', (_name, change) => {
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

test('a text that a header carries has no form, and each message is made by itself', () => {
  const content = { ...ios, overrides: { apns: { headers: { 'apns-collapse-id': order } } } };
  const batch = makeBatch({ provider: 'apns', platform: 'IOS', content }, ['Ada', 'Grace']);
  for (const place of [0, 1]) expect(batch.write(place).request).toEqual(batch.whole(place));
  expect(batch.planned()).toBe(3);
});

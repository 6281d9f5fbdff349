import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Platform, JsonObject, ProviderOverrides } from '../../../src/domain/content/content.ts';
import { makePersonaliser } from '../../../src/domain/template/personalise.ts';
import type { HmsCredential } from '../../../src/domain/providers/hms.ts';
import { measureMessage } from '../../../src/providers/deliver.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import { planApnsRequest } from '../../../src/providers/apns/plan.ts';
import { planHmsRequest } from '../../../src/providers/hms/plan.ts';
import type { Plan, PlanInput } from '../../../src/providers/provider.ts';
import { findHmsViolation } from '../../../src/providers/hms/simulator-rules.ts';
import { makeMessage, startDeliveryBundle } from './delivery-bundle.ts';

let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
beforeAll(async () => {
  bundle = await startDeliveryBundle();
});
afterEach(() => {
  bundle.delivered.length = 0;
});
afterAll(() => bundle?.stop());

function overridden(platform: Platform, overrides: ProviderOverrides, more: object = {}): Message {
  const { content, ...message } = makeMessage(platform, '0');
  return { ...message, ...more, content: { ...content, overrides } } as Message;
}

async function arrive(platform: Platform, overrides: ProviderOverrides): Promise<any> {
  const outcome = await bundle.send(platform, { message: overridden(platform, overrides) });
  expect(outcome).toMatchObject({ kind: 'accepted' });
  await bundle.simulators.settle();
  return bundle.delivered[0];
}

describe('the finished request is changed', () => {
  test('FCM: members are merged, null takes one away', async () => {
    const { payload } = await arrive('ANDROID', {
      fcm: { android: { ttl: '60s', collapse_key: null }, data: { shelf: '17' } },
    });
    expect(payload.android.ttl).toBe('60s');
    expect(payload.android).not.toHaveProperty('collapse_key');
    expect(payload.data).toMatchObject({ shelf: '17', push_from: 'carillon' });
  });

  test('APNs: payload and headers', async () => {
    const { payload, transport } = await arrive('IOS', {
      apns: { headers: { 'apns-priority': '5', 'apns-collapse-id': null }, payload: { aps: { 'thread-id': 'o' } } },
    });
    expect(payload.aps).toMatchObject({ 'thread-id': 'o', alert: expect.any(Object) });
    expect(transport).toMatchObject({ 'apns-priority': '5' });
    expect(transport).not.toHaveProperty('apns-collapse-id');
  });

  test('APNs: behind the app’s own topic stands that of a kind of message', () => {
    const message = overridden('IOS', { apns: { headers: { 'apns-topic': '.voip' } } });
    const device = { deviceId: '0', platform: 'IOS' as const, pushId: bundle.addresses.IOS };
    const credential = bundle.credentials.apns;
    const planned = planApnsRequest(
      { message, device, credential },
      { origin: 'https://apple.example', now: new Date(0) },
    );
    expect(planned).toMatchObject({ plan: { headers: { 'apns-topic': `${credential.topic}.voip` } } });
  });

  test('Web Push: payload and headers', async () => {
    const { payload, transport } = await arrive('WEB', {
      webpush: { headers: { urgency: 'very-low', ttl: '7' }, payload: { requireInteraction: true, autoDismiss: null } },
    });
    expect(payload).toMatchObject({ requireInteraction: true, title: expect.any(String) });
    expect(payload).not.toHaveProperty('autoDismiss');
    expect(transport).toMatchObject({ Urgency: 'very-low', TTL: '7' });
  });
});

test.each<[Platform, ProviderOverrides, string]>([
  ['ANDROID', { fcm: { data: { shelf: 17 } } }, 'data.shelf is no text'],
  ['ANDROID', { fcm: { android: { notification: 'x' } } }, 'android.notification is no object'],
  ['ANDROID', { fcm: { data: { svc_tag: 'x' } } }, 'data.svc_tag cannot be set'],
  ['IOS', { apns: { headers: { 'apns-priority': '50' } } }, 'apns-priority must be one of 1, 5, 10'],
  ['WEB', { webpush: { payload: { title: ' ' } } }, 'the title is no text'],
  ['WEB', { webpush: { headers: { topic: 'two words' } } }, 'topic must have 1 to 32 characters of base64url'],
])('%s: what cannot be sent is no request: %j', async (platform, overrides, detail) => {
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

  test('has its own override, which FCM does not get', () => {
    const planned = plan({ android: { category: 'EXPRESS', bi_tag: null } });
    const { message } = JSON.parse((planned as { plan: Plan }).plan.body.toString());
    expect(message.android).toMatchObject({ category: 'EXPRESS', urgency: 'HIGH' });
    expect(message.android).not.toHaveProperty('bi_tag');
    expect(message.token).toEqual(['token']);
    expect(findHmsViolation(message, 1_000)).toBeUndefined();
  });

  test.each<[JsonObject, string]>([
    [{ data: { a: 1 } }, 'data is no text'],
    [{ android: 'x' }, 'android is no object'],
    [{ android: { notification: [] } }, 'android.notification is no object'],
  ])('what cannot be sent is no request: %j', (hms, detail) => {
    expect(plan(hms)).toEqual({ outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail } });
  });
});

test.each(['ANDROID', 'IOS', 'WEB'] as const)('%s: the override counts for the size', (platform) => {
  const long = 'x'.repeat(1_000);
  const overrides = { fcm: { data: { long } }, apns: { payload: { long } }, webpush: { payload: { long } } };
  const bytes = (given: ProviderOverrides) => measureMessage(overridden(platform, given)).bytes;
  expect(bytes(overrides) - bytes({})).toBeGreaterThanOrEqual(1_004);
});

test('its texts are each user’s own, at every depth', () => {
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
  const stranger = personaliser.render({ platform: 'ANDROID', user: { customerId: 'bob', attributes: {} }, event: {} });
  expect(stranger).toMatchObject({ fault: { field: 'providerOverrides.fcm.data.shelf' } });
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { settlePayload } from '../../../src/domain/content/content.ts';
import type { PayloadMode } from '../../../src/domain/content/content.ts';
import { messageIdentity } from '../../../src/domain/content/message.ts';
import { makeAndroidPart } from '../../../src/providers/payload/android.ts';
import type { AndroidMessage } from '../../../src/providers/payload/android.ts';
import { makeMessage, startDeliveryBundle } from './delivery-bundle.ts';

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

function messageIn(mode: PayloadMode, more: Partial<AndroidMessage> = {}): AndroidMessage {
  return {
    ...(makeMessage('ANDROID', '0') as AndroidMessage),
    report: { token: 'token', clickProof: 'proof' },
    content: whole,
    payload: { mode, pushFrom: 'carillon', dataPrefix: 'svc' },
    ...more,
  };
}

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

describe('what FCM is given in each mode', () => {
  test('both: a notification and data, byte for byte what workspaces sent before there were modes', () => {
    expect(JSON.stringify(makeAndroidPart(messageIn('both')))).toBe(
      JSON.stringify({
        data: { ...keys, order: '17', kv_from: 'shop', svc_silent: '1' },
        android: { collapse_key: identity.collapseId, ...carried, notification },
      }),
    );
  });

  test('notification: what the system shows, and of data the pairs of the caller alone', () => {
    expect(makeAndroidPart(messageIn('notification'))).toEqual({
      data: { order: '17', kv_from: 'shop', svc_silent: '1' },
      android: { collapse_key: identity.collapseId, ...carried, notification },
    });
    const { defaultAction: _action, ...content } = whole;
    expect(makeAndroidPart(messageIn('notification', { content }))).not.toHaveProperty('data');
  });

  test('data: all that the app shows, under names that no pair of the caller can take', () => {
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

  test('data: a collapse key travels only when the caller asked to replace', () => {
    const content = { ...whole, collapseReplaceKey: 'order-17' };
    const replacing = messageIdentity('a'.repeat(24), '0', 'order-17');
    const part = makeAndroidPart(messageIn('data', { content, identity: replacing }));
    expect(part.android.collapse_key).toBe(replacing.collapseId);
    expect(part.data).toMatchObject({ svc_tag: replacing.collapseId, svc_message_id: identity.id });
  });

  test('our keys have the prefix of the workspace, else that of the installation; so has the report address', () => {
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

describe('on a simulated phone whose app is in the background', () => {
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

  test('data: the app is started and shows buttons; it can report all', async () => {
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
    '%s: the system shows it alone, without buttons, and nobody reports that it was seen',
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

  test('an iPhone runs the service extension for every message that can be reported', async () => {
    await bundle.send('IOS');
    await bundle.simulators.settle();
    expect(bundle.delivered[0]!.payload).toMatchObject({ aps: { 'mutable-content': 1 } });
    expect(bundle.delivered[0]!.screen).toMatchObject({
      shownBy: 'extension',
      reports: ['impression', 'click', 'close'],
    });
  });
});

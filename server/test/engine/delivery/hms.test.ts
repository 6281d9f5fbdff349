import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Message } from '../../../src/domain/content/message.ts';
import type { AndroidMessage } from '../../../src/providers/payload/android.ts';
import { findHmsViolation } from '../../../src/providers/hms/simulator-rules.ts';
import { http2Clients, makeMessage, sendTogether, startDeliveryBundle } from './delivery-bundle.ts';

const hmsToken = `hms-${'b'.repeat(120)}`;

describe.each(http2Clients)('sent by the HTTP/2 of %s', (client) => {
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  beforeAll(async () => {
    bundle = await startDeliveryBundle(client);
  });
  afterAll(() => bundle.stop());
  const send = (pushId: string, more: object = {}) => bundle.send('ANDROID', { provider: 'hms', pushId, ...more });

  test.each([
    ['data', 'app'],
    ['both', 'system'],
    ['notification', 'system'],
  ])('a message in mode %s is shown by the %s', async (deliveryMode, shownBy) => {
    const made = makeMessage('ANDROID', '0') as AndroidMessage;
    const content = { ...made.content, options: { deliveryMode } };
    expect(await send(`${hmsToken}-${deliveryMode}`, { message: { content } })).toMatchObject({ kind: 'accepted' });
    await expect
      .poll(() => bundle.delivered.find(({ deviceToken }) => deviceToken === `${hmsToken}-${deliveryMode}`))
      .toMatchObject({ platform: 'ANDROID', title: made.content.title, screen: { shownBy } });
  });

  test.each([
    ['magic-gone', { kind: 'ambiguous', code: '80300007', ifDevice: 'drop', ifAccount: 'hold' }],
    ['magic-invalid', { kind: 'ambiguous', code: '80100000', ifDevice: 'drop', ifAccount: 'hold' }],
    ['magic-rejected', { kind: 'rejected', code: '80300008' }],
    ['magic-busy', { kind: 'wait', code: 'HMS_503', scope: 'credential', retryAfterSeconds: 1 }],
  ])('the address %s', async (pushId, outcome) => {
    expect(await send(`${pushId}-1`)).toMatchObject(outcome);
  });

  test('an expired access token is renewed once, and the message goes', async () => {
    const expired = JSON.stringify({ code: '80200003', msg: 'expired', requestId: '1' });
    await bundle.simulators.setFaults({ hms: { status: 200, body: expired, device: 'once', count: 1 } });
    expect(await send('once-1')).toMatchObject({ kind: 'accepted' });
    await bundle.simulators.setFaults({ hms: { status: 200, body: expired, device: 'always' } });
    expect(await send('always-1')).toMatchObject({ kind: 'stopped', code: '80200003' });
    await bundle.simulators.setFaults({});
  });

  test('a client that Huawei does not know stops the run', async () => {
    const hms = { ...bundle.credentials.hms, clientSecret: 'another-secret' };
    expect(await send(hmsToken, { credentials: { hms } })).toMatchObject({
      kind: 'stopped',
      code: 'HMS_TOKEN_REFUSED',
    });
    const other = { ...bundle.credentials.hms, owner: { kind: 'project', id: '999' } };
    expect(await send(hmsToken, { credentials: { hms: other } })).toMatchObject({ kind: 'stopped', code: '80300002' });
  });

  test('a workspace without a credential of Huawei is told so', async () => {
    expect(await send(hmsToken, { credentials: { fcm: bundle.credentials.fcm } })).toMatchObject({
      kind: 'stopped',
      code: 'NO_CREDENTIAL',
      detail: 'this workspace has no credential for ANDROID by hms',
    });
  });

  test('many devices get their own texts, by one form or each for itself', async () => {
    for (const form of ['shared', 'none'] as const) {
      const places = Array.from({ length: 40 }, (_, place) => place);
      const messages = places.map((place): Message => {
        const made = makeMessage('ANDROID', String(place)) as AndroidMessage;
        return { ...made, content: { ...made.content, options: { deliveryMode: 'data' } } };
      });
      const pushIds = places.map((place) => `batch-${client}-${form}-${place}-${'c'.repeat(60)}`);
      const credentials = { hms: bundle.credentials.hms };
      const outcomes = await sendTogether(bundle.delivery, { messages, pushIds, credentials, provider: 'hms', form });
      expect(outcomes.every(({ kind }) => kind === 'accepted')).toBe(true);
      await expect
        .poll(() => bundle.delivered.filter(({ deviceToken }) => pushIds.includes(deviceToken)).length)
        .toBe(40);
      for (const place of places)
        expect(bundle.delivered.find(({ deviceToken }) => deviceToken === pushIds[place])!.messageId).toBe(
          messages[place]!.identity.id,
        );
    }
  });
});

describe('the simulator refuses', () => {
  const notification = { title: 'T', body: 'B', default_sound: true, click_action: { type: 3 } };
  const violationOf = (android: Record<string, unknown>, more: object = {}, bytes = 100) =>
    findHmsViolation({ token: ['t'], android, ...more }, bytes)?.code;

  test('nothing of a whole message', () => {
    expect(violationOf({ collapse_key: -1, urgency: 'HIGH', ttl: '86400s', notification })).toBeUndefined();
    expect(violationOf({}, { data: '{}' })).toBeUndefined();
  });

  test.each<[string, Record<string, unknown>, object, string]>([
    ['no content', {}, {}, '80100003'],
    ['an unknown member of the message', { notification }, { topics: 'x' }, '80100003'],
    ['an unknown member of android', { notification, priority: 'HIGH' }, {}, '80100003'],
    ['an unknown member of the notification', { notification: { ...notification, sticky: true } }, {}, '80100003'],
    ['a collapse key of text', { notification, collapse_key: 'a' }, {}, '80100013'],
    ['a collapse key over 100', { notification, collapse_key: 101 }, {}, '80100013'],
    ['sixteen days', { notification, ttl: '1382400s' }, {}, '80100001'],
    ['an urgency of FCM', { notification, urgency: 'high' }, {}, '80100001'],
    ['a category that there is not', { notification, category: 'NEWS' }, {}, '80100001'],
    ['no click action', { notification: { title: 'T', body: 'B', default_sound: true } }, {}, '80100003'],
    [
      'a page without TLS',
      { notification: { ...notification, click_action: { type: 2, url: 'http://a.example' } } },
      {},
      '80100001',
    ],
    ['an intent without one', { notification: { ...notification, click_action: { type: 1 } } }, {}, '80100003'],
    ['a click of another kind', { notification: { ...notification, click_action: { type: 9 } } }, {}, '80100001'],
    ['no sound', { notification: { ...notification, default_sound: false } }, {}, '80100003'],
    [
      'a badge that adds and sets',
      { notification: { ...notification, badge: { add_num: 1, set_num: 1 } } },
      {},
      '80100003',
    ],
    ['arguments without their key', { notification: { ...notification, title_loc_args: ['a'] } }, {}, '80100003'],
    ['data that are no text', {}, { data: {} }, '80100001'],
    ['no token', { notification }, { token: [] }, '80300010'],
    ['a thousand and one tokens', { notification }, { token: Array.from({ length: 1001 }, () => 't') }, '80300010'],
  ])('%s', (...[, android, more, code]) => {
    expect(violationOf(android, more)).toBe(code);
  });

  test('more than 4096 bytes', () => {
    expect(violationOf({ notification }, {}, 4096)).toBeUndefined();
    expect(violationOf({ notification }, {}, 4097)).toBe('80300008');
  });
});

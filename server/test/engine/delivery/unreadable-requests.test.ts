import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeMessage, startDeliveryBundle } from './delivery-bundle.ts';

let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
beforeAll(async () => {
  bundle = await startDeliveryBundle();
});
afterAll(() => bundle.stop());

test('a subscription whose address is no text is refused by its simulator, which goes on, and so do the others', async () => {
  const subscription = JSON.parse(bundle.subscription('one')) as { endpoint: string };
  const pushId = JSON.stringify({ ...subscription, endpoint: subscription.endpoint.replace('one', '%E0%A4%A') });
  expect(await bundle.send('WEB', { pushId })).toMatchObject({ kind: 'ambiguous' });
  expect(await bundle.simulators.refusals()).toEqual([
    expect.objectContaining({
      provider: 'webpush',
      status: 400,
      rule: 'payload',
      reason: expect.stringContaining('URI'),
    }),
  ]);
  for (const platform of ['WEB', 'ANDROID', 'IOS'] as const)
    expect(await bundle.send(platform), platform).toMatchObject({ kind: 'accepted' });
});

test('an override that makes no buttons of what the app reads as its buttons is refused, and the next message arrives', async () => {
  const { content, ...message } = makeMessage('ANDROID', '0');
  const payload = { mode: 'data', pushFrom: 'carillon', dataPrefix: 'svc' };
  const overrides = { fcm: { data: { gcm_actions: 'no list' } } };
  const sent = await bundle.send('ANDROID', { message: { ...message, payload, content: { ...content, overrides } } });
  expect(sent).toMatchObject({ kind: 'rejected' });
  expect(await bundle.send('ANDROID')).toMatchObject({ kind: 'accepted' });
});

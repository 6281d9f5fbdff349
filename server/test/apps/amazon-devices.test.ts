import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { startAppsBundle } from './apps-bundle.ts';
import type { AppsBundle } from './apps-bundle.ts';

let bundle: AppsBundle;
beforeAll(async () => {
  bundle = await startAppsBundle();
});
afterAll(() => bundle.stop());

const id = (name: string) => `amzn1.adm-registration.v3.${name}${'Y29t'.repeat(40)}`;
const register = (customerId: string, pushId: string) =>
  bundle.register(customerId, { platform: 'ANDROID', push_id: pushId, push_provider: 'adm' });

const push = (campaignName: string) =>
  bundle.pushToEnd({
    ...{ campaignName, targetPlatform: ['ANDROID'], targetAudience: 'All Users' },
    payload: { ANDROID: { title: 'Hello', message: 'Fire' } },
    campaignDelivery: { type: 'soon' },
  });

const messageOf = (campaignId: string, deviceToken: string) =>
  until(async () =>
    (await bundle.inbox()).find((one) => one.campaignId === campaignId && one.deviceToken === deviceToken),
  );

const stateOf = async (pushId: string) => {
  const [device] = await bundle.database`select state, gone_reason from devices where push_id = ${pushId}`;
  return device;
};

test('reaches an Amazon device, with the options that Amazon gets', async () => {
  await register('tablet', id('tablet'));
  const { title, transport, headers, screen } = await messageOf(await push('To a tablet'), id('tablet'));
  expect({ title, shownBy: screen.shownBy }).toEqual({ title: 'Hello', shownBy: 'app' });
  expect(transport).toEqual({
    consolidationKey: expect.stringMatching(/^[\w-]{32}$/),
    expiresAfter: expect.stringMatching(/^\d+$/),
    priority: 'high',
  });
  expect(headers).toMatchObject({
    'x-amzn-type-version': 'com.amazon.device.messaging.ADMMessage@1.0',
    authorization: 'Bearer …',
  });
  expect((await bundle.call('GET', '/sandbox/counters')).json()).toMatchObject({ ADM: { accepted: 1, refused: 0 } });
  const [row] = await bundle.database`select provider, simulated from provider_credentials where provider = 'adm'`;
  expect(row).toEqual({ provider: 'adm', simulated: true });
});

test('sends to the id that Amazon named instead of the registered one', async () => {
  await register('moved', `replaced-${id('moved')}`);
  await messageOf(await push('Before'), `replaced-${id('moved')}`);
  await until(async () => (await stateOf(id('moved')))?.state === 'ACTIVE');
  await messageOf(await push('After'), id('moved'));
  const [found] = await bundle.database`select count(*)::int as n from identifiers where value = ${id('moved')}`;
  expect(found).toEqual({ n: 1 });
  const [left] = await bundle.database`select count(*)::int as n from identifiers where value like 'replaced-%'`;
  expect(left).toEqual({ n: 0 });
  // The address has one owner: the user who registers it last.
  await register('new owner', id('moved'));
  expect(await bundle.database`select 1 from devices where push_id = ${id('moved')}`).toHaveLength(1);
});

test('drops a device whose new id the app registered itself, so that no app gets a message twice', async () => {
  await register('old', `replaced-${id('twice')}`);
  await register('new', id('twice'));
  await push('Once more');
  await until(async () => (await stateOf(`replaced-${id('twice')}`))?.state === 'GONE');
  expect(await stateOf(`replaced-${id('twice')}`)).toEqual({ state: 'GONE', gone_reason: 'ADDRESS_REPLACED' });
  expect(await stateOf(id('twice'))).toEqual({ state: 'ACTIVE', gone_reason: null });
});

test('drops a device that Amazon no longer knows, and retries one that must wait', async () => {
  await register('gone', 'magic-gone-amazon');
  await register('tired', id('tired'));
  const faults = { adm: { status: 503, headers: { 'retry-after': '1' }, device: id('tired'), count: 1 } };
  expect((await bundle.call('POST', '/sandbox/faults', { body: faults })).status).toBe(204);
  await messageOf(await push('Again'), id('tired'));
  expect(await stateOf('magic-gone-amazon')).toEqual({ state: 'GONE', gone_reason: 'Unregistered' });
});

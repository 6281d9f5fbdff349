import { afterAll, beforeAll, expect, test } from 'vitest';
import { replaceAddresses } from '../../../src/engine/fan-out/replace-addresses.ts';
import { settleAs } from '../../../src/engine/fan-out/settle-outcome.ts';
import type { AudienceDevice } from '../../../src/storage/campaigns/audience.ts';
import { makeLog } from '../../../src/log.ts';
import { makeDataBundle } from '../../data/data-bundle.ts';
import type { DataBundle } from '../../data/data-bundle.ts';

let bundle: DataBundle;
beforeAll(async () => {
  bundle = await makeDataBundle();
});
afterAll(() => bundle.end());

async function register(customerId: string, pushId: string): Promise<AudienceDevice> {
  await bundle.addUser(customerId);
  expect((await bundle.addDevice(customerId, 'phone', { push_id: pushId })).statusCode).toBe(200);
  const [device] = await bundle.database<AudienceDevice[]>`
    select bucket, id, user_id as "userId", platform, push_provider as provider, push_id as "pushId",
      push_id_type as "pushIdType", app_id as "appId"
    from devices where push_id = ${pushId}`;
  return device!;
}

const replace = (device: AudienceDevice, to: string, from = device.pushId) =>
  replaceAddresses(
    { database: bundle.database, clock: bundle.clock, log: makeLog({ level: 'silent', pretty: false }) },
    {
      workspaceId: bundle.workspaceId,
      results: [
        settleAs({ device, attempt: 1 }, 'ACCEPTED', null),
        { ...settleAs({ device, attempt: 1 }, 'ACCEPTED', null), moved: { from, to } },
      ],
    },
  );

const found = async (device: AudienceDevice) => {
  const { database } = bundle;
  const [row] = await database`
    select push_id as "pushId", state, gone_reason as reason from devices where id = ${device.id}`;
  const identifiers = await database<{ value: string }[]>`
    select value from identifiers where user_id = ${device.userId} and attribute = 'device:push_id'`;
  const [owned] = await database`select count(*)::int as n from push_addresses where device_row_id = ${device.id}`;
  return { ...row, identifiers: identifiers.map(({ value }) => value), addresses: owned!.n };
};

test('gives a device the address that its provider named, and finds it by that address', async () => {
  const device = await register('ada', 'old-a');
  await replace(device, 'new-a');
  const moved = { pushId: 'new-a', state: 'ACTIVE', reason: null, identifiers: ['new-a'], addresses: 1 };
  expect(await found(device)).toEqual(moved);
  // The same outcome is stored again after a crash.
  await replace(device, 'new-a');
  expect(await found(device)).toEqual(moved);
});

test('keeps the address of an app that registered again in the meantime', async () => {
  const device = await register('bob', 'old-b');
  await register('bob', 'third-b');
  await replace(device, 'new-b');
  expect(await found(device)).toMatchObject({ pushId: 'third-b', identifiers: ['third-b'], addresses: 1 });
  // The address is free for the device that has it.
  expect(await found(await register('bert', 'new-b'))).toMatchObject({ addresses: 1 });
});

test('removes a device whose new address the app registered as another device', async () => {
  const device = await register('cleo', 'old-c');
  const other = await register('carl', 'new-c');
  await replace(device, 'new-c');
  expect(await found(device)).toMatchObject({ pushId: 'old-c', state: 'GONE', reason: 'ADDRESS_REPLACED' });
  expect(await found(other)).toMatchObject({ pushId: 'new-c', state: 'ACTIVE', addresses: 1 });
});

test('changes nothing for an erased user, or if the database rejects the address', async () => {
  const device = await register('dora', 'old-d');
  await replace({ ...device, userId: '0'.repeat(24) }, 'new-d');
  await replace(device, '\u0000');
  expect(await found(device)).toMatchObject({ pushId: 'old-d', identifiers: ['old-d'], addresses: 1 });
});

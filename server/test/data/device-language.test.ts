import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDataBundle } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';

let bundle: DataBundle;
beforeAll(async () => {
  bundle = await makeDataBundle();
  await bundle.addUser('ada');
});
afterAll(() => bundle.end());

const said = async (deviceId: string) => {
  const [row] = await bundle.database`
    select locale, badge_count as "badgeCount" from devices where device_id = ${deviceId}`;
  return row;
};

test('a device says its language and the number on its icon, and keeps what it leaves out', async () => {
  expect((await bundle.addDevice('ada', 'a', { locale: 'pt-br', badge_count: 3 })).statusCode).toBe(200);
  expect(await said('a')).toEqual({ locale: 'pt-BR', badgeCount: 3 });
  await bundle.addDevice('ada', 'a', { push_id: 'refreshed' });
  expect(await said('a')).toEqual({ locale: 'pt-BR', badgeCount: 3 });
  await bundle.addDevice('ada', 'a', { locale: 'de', badge_count: 0 });
  expect(await said('a')).toEqual({ locale: 'de', badgeCount: 0 });
  await bundle.addDevice('ada', 'b');
  expect(await said('b')).toEqual({ locale: null, badgeCount: null });
});

test.each([
  [{ locale: 'not a tag' }, `'attributes.locale' is no language tag`],
  [{ badge_count: -1 }, `'attributes.badge_count' must be a whole number from 0 to 99999`],
  [{ badge_count: 100_000 }, `'attributes.badge_count' must be a whole number from 0 to 99999`],
  [{ badge_count: 1.5 }, `'attributes.badge_count' must be a whole number from 0 to 99999`],
])('%j is refused', async (attributes, message) => {
  const refused = await bundle.addDevice('ada', 'c', attributes);
  expect([refused.statusCode, refused.json().error.message]).toEqual([400, message]);
});

test('a device that a merge moves keeps both', async () => {
  await bundle.addUser('merged');
  await bundle.addDevice('merged', 'm', { locale: 'de', badge_count: 7 });
  await bundle.addUser('kept');
  const merge_data = [{ merged_user: 'merged', retained_user: 'kept' }];
  expect((await bundle.call('/v1/customer/merge', { merge_data })).status).toBe(200);
  expect(await said('m')).toEqual({ locale: 'de', badgeCount: 7 });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

let bundle: FanOutBundle;
beforeAll(async () => {
  bundle = await makeFanOutBundle();
});
afterAll(() => bundle.drop());

test('an app without a credential stops no other: its devices are rejected, and a retry knows the app as well', async () => {
  await bundle.addDevices(30);
  await bundle.database`update devices set app_id = 'courier' where platform = 'ANDROID'`;
  bundle.credentials(({ appId }) => (appId === 'courier' ? bundle.simulatedCredentials : undefined));
  bundle.answer((_device, nth) =>
    nth <= 10 ? { kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: 30 } : { kind: 'accepted' },
  );
  const { campaignId, runId } = await bundle.accept({ platforms: ['ANDROID', 'IOS'] });
  await bundle.release();
  await bundle.work();
  expect(await bundle.ledger(runId)).toEqual([
    { outcome: 'REJECTED', devices: 10 },
    { outcome: 'WAITING', devices: 10 },
  ]);
  bundle.clock.advance(120_000);
  expect(await bundle.retry()).toBe(10);
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 10, REJECTED: 10 });
  const codes = await bundle.database`
    select distinct platform, code from readable_deliveries where run_id = ${runId} and outcome = 'REJECTED'`;
  expect([...codes]).toEqual([{ platform: 'IOS', code: 'NO_CREDENTIAL_FOR_APP' }]);
  expect(await bundle.end()).toBe(1);
  expect((await bundle.states(campaignId)).run).toBe('SENT');
  const [gone] = await bundle.database`select count(*) as devices from devices where state <> 'ACTIVE'`;
  expect(gone!.devices).toBe(0);
});

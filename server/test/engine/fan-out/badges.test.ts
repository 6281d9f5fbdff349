import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { badgeOf } from '../../../src/domain/content/message.ts';
import { countBadges } from '../../../src/storage/devices/device-badges.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

let bundle: FanOutBundle;
beforeAll(async () => {
  bundle = await makeFanOutBundle();
  await bundle.addDevices(30);
});
afterAll(() => bundle.drop());
beforeEach(async () => {
  bundle.answer(() => ({ kind: 'accepted' }));
  await bundle.database`update devices set badge_count = null, badge_runs = null, badge_values = null`;
});

async function push(badge: object): Promise<string> {
  const { runId } = await bundle.accept({ options: { badge } });
  await bundle.release();
  return runId;
}

/** What each device was told since, one text a message. */
function told(since: number): Map<string, string[]> {
  const numbers = new Map<string, string[]>();
  for (const [place, { deviceId }] of bundle.sent.entries()) {
    if (place < since) continue;
    const badge = badgeOf(bundle.messages[place]!.content)!;
    const text = badge.operation === 'clear' ? 'clear' : `${badge.operation} ${badge.value}`;
    numbers.set(deviceId, [...(numbers.get(deviceId) ?? []), text]);
  }
  return numbers;
}

const counts = async () => {
  const rows = await bundle.database<{ count: number }[]>`select distinct badge_count as count from devices order by 1`;
  return rows.map(({ count }) => count);
};

async function sendAll(badge: object): Promise<string[]> {
  const since = bundle.sent.length;
  await push(badge);
  await bundle.work();
  const all = told(since);
  expect(all.size).toBe(30);
  return [...new Set([...all.values()].flat())];
}

test('a count is raised, set and cleared for each device, and what is sent is the count', async () => {
  expect(await sendAll({ operation: 'increment', value: 2 })).toEqual(['set 2']);
  expect(await sendAll({ operation: 'increment', value: 1 })).toEqual(['set 3']);
  expect(await sendAll({ operation: 'set', value: 9 })).toEqual(['set 9']);
  expect(await sendAll({ operation: 'increment', value: 1 })).toEqual(['set 10']);
  expect(await sendAll({ operation: 'clear' })).toEqual(['clear']);
  expect(await counts()).toEqual([0]);
  await bundle.database`update devices set badge_count = 99990`;
  expect(await sendAll({ operation: 'increment', value: 99 })).toEqual(['set 99999']);
});

test('a window that a crash repeats says the same numbers, whatever was counted in between', async () => {
  const since = bundle.sent.length;
  await bundle.database`update devices set badge_count = 4`;
  const runId = await push({ operation: 'increment', value: 1 });
  const run = await bundle.run(runId);
  const chunk = (await bundle.claim('first'))!;
  // Its requests leave, then the worker dies: nothing of the window is stored.
  bundle.answer(() => new Promise(() => {}));
  void bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
  while (bundle.sent.length < since + 10) await new Promise((resolve) => setTimeout(resolve, 2));
  bundle.answer(() => ({ kind: 'accepted' }));
  const first = told(since);
  const other = { workspaceId: bundle.workspaceId, runNumber: 1_000_000 };
  const devices = await bundle.database<{ bucket: number; id: string }[]>`select bucket, id from devices`;
  const steps = devices.map(({ bucket, id: deviceId }) => ({ bucket, deviceId, adds: true, value: 10 }));
  await inTransaction(bundle.database, (tx) => countBadges(tx, { ...other, steps }));

  const again = bundle.sent.length;
  bundle.clock.advance(61_000);
  await bundle.work({ owner: 'second', windowDevices: 10 });
  const second = told(again);
  expect([first.size, second.size]).toEqual([10, 30]);
  for (const [deviceId, numbers] of first) {
    expect(numbers).toEqual(['set 5']);
    expect(second.get(deviceId)).toEqual(['set 5']);
  }
  // The others were not counted for before the crash.
  expect([...second].filter(([deviceId]) => !first.has(deviceId)).every(([, [text]]) => text === 'set 15')).toBe(true);
  expect(await counts()).toEqual([15]);
});

test('a retry of a delivery that waits says the number of its first attempt', async () => {
  const since = bundle.sent.length;
  bundle.answer((_device, nth) =>
    nth <= since + 30 ? { kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: 30 } : { kind: 'accepted' },
  );
  await push({ operation: 'increment', value: 1 });
  await bundle.work();
  await bundle.database`update devices set badge_count = 50`;
  bundle.clock.advance(120_000);
  expect(await bundle.retry()).toBe(30);
  for (const numbers of told(since).values()) expect(numbers).toEqual(['set 1', 'set 1']);
});

test('two workers that plan one window at the same time count once', async () => {
  const [device] = await bundle.database<{ bucket: number; id: string }[]>`select bucket, id from devices limit 1`;
  const steps = [{ bucket: device!.bucket, deviceId: device!.id, adds: true, value: 3 }];
  const asked = { workspaceId: bundle.workspaceId, runNumber: 2_000_000, steps };
  const numbers = await Promise.all(
    Array.from({ length: 8 }, () => inTransaction(bundle.database, (tx) => countBadges(tx, asked))),
  );
  expect(numbers.map((found) => found.get(device!.id))).toEqual(Array(8).fill(3));
});

test('of the runs that changed it a device remembers the newest sixteen', async () => {
  const [device] = await bundle.database<{ bucket: number; id: string }[]>`select bucket, id from devices limit 1`;
  const count = (runNumber: number) => {
    const steps = [{ bucket: device!.bucket, deviceId: device!.id, adds: true, value: 1 }];
    const { workspaceId } = bundle;
    return inTransaction(bundle.database, (tx) => countBadges(tx, { workspaceId, runNumber, steps }));
  };
  for (let run = 1; run <= 17; run += 1) expect((await count(run)).get(device!.id)).toBe(run);
  expect((await count(2)).get(device!.id)).toBe(2);
  const [row] = await bundle.database`select badge_runs, badge_count from devices where id = ${device!.id}`;
  expect([row!.badge_runs.map(Number), row!.badge_count]).toEqual([Array.from({ length: 16 }, (_, n) => 17 - n), 17]);
});

import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { startChunkWorkers } from '../../../src/engine/fan-out/work-chunks.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeLog } from '../../../src/log.ts';
import type { Database } from '../../../src/storage/database.ts';
import { start } from './fan-out-bundle.ts';

// No slot looks again by itself: the time between two looks never passes.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

function startWorkers(
  database: (strings: readonly string[], ...values: unknown[]) => Promise<object[]>,
  slots: { parallelChunks: number; transactionalChunks: number },
) {
  const log = makeLog({ level: 'silent', pretty: false });
  return startChunkWorkers({
    ...{ ...slots, database: database as unknown as Database, log, clock: makeManualClock(start), owner: 'worker' },
    sendWindow: () => Promise.reject(new Error('there is nothing to send')),
    outcomes: makeOutcomeBuffer({ log, pause: async () => {} }),
    onChunkEnded() {},
  });
}

test('a wake-up that comes while a slot reads makes it read again, once', async () => {
  let answer = Promise.withResolvers<never[]>();
  let claims = 0;
  const claim = (): Promise<never[]> => {
    claims += 1;
    return answer.promise;
  };
  const workers = startWorkers(claim, { parallelChunks: 1, transactionalChunks: 0 });
  const untilClaims = async (wanted: number): Promise<void> => {
    for (let turn = 0; claims < wanted && turn < 1_000; turn += 1) await setImmediate();
    expect(claims).toBe(wanted);
  };
  await untilClaims(1);
  // A chunk was made ready after the statement had begun, which finds nothing.
  workers.wake();
  answer.resolve([]);
  await untilClaims(2);

  answer = Promise.withResolvers();
  answer.resolve([]);
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect(claims).toBe(2);
  await workers.stop();
});

test('a wake-up makes one slot of each kind look, and the next one once that has found a chunk', async () => {
  const lanes: unknown[] = [];
  let found: object[] = [];
  const claim = async (strings: readonly string[], ...[lastLane]: unknown[]): Promise<object[]> => {
    if (!strings[0]!.includes('with due as')) return [];
    lanes.push(lastLane);
    return lastLane === 1 ? found.splice(0, 1) : [];
  };
  const workers = startWorkers(claim, { parallelChunks: 4, transactionalChunks: 2 });
  const settle = async (): Promise<unknown[]> => {
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    return lanes.splice(0);
  };
  expect(await settle()).toEqual([0, 0, 1, 1, 1, 1]);
  workers.wake();
  expect(await settle()).toEqual([0, 1]);
  found = [
    { runId: 'a', number: 1, crashes: 99 },
    { runId: 'a', number: 2, crashes: 99 },
  ].map((chunk) => ({
    ...{ ...chunk, workspaceId: 'w', bucketFrom: 0, bucketTo: 9, owner: 'worker', attempt: 1 },
    ...{ windowBucket: null, windowPosition: null, windowDevices: null, suspectDevices: null, setAside: 0 },
  }));
  workers.wake();
  const looks = await settle();
  expect(found).toEqual([]);
  expect(looks.filter((lane) => lane === 0)).toHaveLength(1);
  // Two found something and each woke the next, which found nothing in the end; both looked for more.
  expect(looks.filter((lane) => lane === 1).length).toBeGreaterThanOrEqual(3);
  expect(looks.filter((lane) => lane === 1).length).toBeLessThanOrEqual(5);
  await workers.stop();
});

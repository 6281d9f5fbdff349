import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { startChunkWorkers } from '../../../src/engine/fan-out/work-chunks.ts';
import { makeKeptOutcomes } from '../../../src/engine/keep-outcomes.ts';
import { makeLog } from '../../../src/log.ts';
import type { Database } from '../../../src/storage/database.ts';
import { start } from './fan-out-bundle.ts';

// No slot looks again by itself: the time between two looks never passes.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

test('a wake-up that comes while a slot reads makes it read again, once', async () => {
  let answer = Promise.withResolvers<never[]>();
  let claims = 0;
  const database = (() => {
    claims += 1;
    return answer.promise;
  }) as unknown as Database;
  const log = makeLog({ level: 'silent', pretty: false });
  const workers = startChunkWorkers({
    ...{ database, log, clock: makeManualClock(start), owner: 'worker', parallelChunks: 1, transactionalChunks: 0 },
    sendWindow: () => Promise.reject(new Error('there is nothing to send')),
    outcomes: makeKeptOutcomes({ log, pause: async () => {} }),
    onChunkEnded() {},
  });
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

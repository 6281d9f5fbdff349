import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pollMilliseconds, startSpareSlots } from '../../../src/engine/fan-out/work-chunks.ts';
import { makeLog } from '../../../src/log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A worker whose chunks end when the test says so. */
function makeSlots() {
  const state = { free: 0, isStopping: false };
  const open: { end: (result: 'worked' | Error) => void }[] = [];
  const worker = {
    countSpare: () => state.free,
    workNextChunk: (lastLane: 0 | 1, kind?: string) => {
      expect([lastLane, kind]).toEqual([1, 'spare']);
      const { promise, resolve, reject } = Promise.withResolvers<'worked'>();
      open.push({ end: (result) => (result instanceof Error ? reject(result) : resolve(result)) });
      return promise;
    },
  };
  const errors: unknown[] = [];
  const log = { ...makeLog({ level: 'silent', pretty: false }), error: (line: unknown) => void errors.push(line) };
  const slots = startSpareSlots(worker, { deps: { log: log as never }, isStopping: () => state.isStopping });
  return { state, open, errors, slots };
}

it('begins a chunk for each slot that is free, once a second, and none without one', async () => {
  const { state, open, slots } = makeSlots();
  await vi.advanceTimersByTimeAsync(3 * pollMilliseconds);
  expect(open).toHaveLength(0);
  state.free = 2;
  await vi.advanceTimersByTimeAsync(pollMilliseconds - 1);
  expect(open).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(open).toHaveLength(2);
  state.free = 0;
  await vi.advanceTimersByTimeAsync(pollMilliseconds);
  expect(open).toHaveLength(2);
  for (const one of open) one.end('worked');
  await slots.stop();
});

it('begins none while the node stops, and ends when the chunks that it began have ended', async () => {
  const { state, open, slots } = makeSlots();
  state.free = 1;
  await vi.advanceTimersByTimeAsync(pollMilliseconds);
  state.isStopping = true;
  await vi.advanceTimersByTimeAsync(5 * pollMilliseconds);
  expect(open).toHaveLength(1);
  let isStopped = false;
  const stopping = slots.stop().then(() => (isStopped = true));
  await vi.advanceTimersByTimeAsync(pollMilliseconds);
  expect(isStopped).toBe(false);
  open[0]!.end('worked');
  await stopping;
  await vi.advanceTimersByTimeAsync(2 * pollMilliseconds);
  expect(open).toHaveLength(1);
});

it('logs the error of a chunk and goes on with the next', async () => {
  const { state, open, errors, slots } = makeSlots();
  state.free = 1;
  await vi.advanceTimersByTimeAsync(pollMilliseconds);
  const error = new Error('a fault of the database');
  open[0]!.end(error);
  await vi.advanceTimersByTimeAsync(pollMilliseconds);
  expect(errors).toEqual([{ err: error }]);
  expect(open).toHaveLength(2);
  open[1]!.end('worked');
  state.free = 0;
  await slots.stop();
});

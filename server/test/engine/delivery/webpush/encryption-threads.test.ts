import { createECDH, randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeWebPushEncryption } from '../../../../src/providers/webpush/encryption-pool.ts';
import { makeLog } from '../../../../src/log.ts';

const keys = { p256dh: createECDH('prime256v1').generateKeys(), auth: randomBytes(16) };
const batchBytes = (count: number): number => count * (2 + 65 + 16 + 1);

/** A thread that takes its work and does none of it. */
const idle = new URL('data:text/javascript,setInterval(() => {}, 1e6)');
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** How many bytes each thread was handed, batch by batch. */
let handed: Map<Worker, number[]>;
let threads: Worker[];
const ends: (() => Promise<void>)[] = [];
const note = (worker: Worker): void => void threads.push(worker);
beforeEach(() => {
  handed = new Map();
  threads = [];
  process.on('worker', note);
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, packed: Uint8Array) {
    handed.set(this, [...(handed.get(this) ?? []), packed.length]);
  });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  process.off('worker', note);
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const end of ends.splice(0)) await end();
});

function start(count: number, script = idle) {
  const encryption = makeWebPushEncryption({
    ...{ log: makeLog({ level: 'silent', pretty: false }), threads: count, script },
  });
  ends.push(() => encryption.close());
  let [added, done] = [0, 0];
  /** Hands in messages of one byte, all at once. */
  const add = (messages: number): void => {
    for (let number = 0; number < messages; number += 1) {
      const plain = Buffer.from([number % 256]);
      added += 1;
      void encryption.encrypt({ plain, keys }).then((encrypted) => {
        // Header, delimiter and tag (RFC 8188 §2); that browsers read them is tried elsewhere.
        if (encrypted.length === plain.length + 103) done += 1;
      });
    }
  };
  /** Until each has its own: what is encrypted here takes some turns, and to learn that a thread has ended some time. */
  const allIn = async (milliseconds: number): Promise<void> => {
    const until = performance.now() + milliseconds;
    for (let turns = 0; done < added && (turns < 100 || performance.now() < until); turns += 1) await turn();
    expect(done).toBe(added);
  };
  return { encryption, add, done: () => done, allHere: () => allIn(0), all: () => allIn(5_000) };
}

const batches = () => threads.map((thread) => handed.get(thread) ?? []);

test('sixteen messages at once are worth a thread, and fifteen are encrypted here', async () => {
  const { add, allHere } = start(1);
  add(15);
  await allHere();
  expect(threads).toEqual([]);
  add(16);
  await turn();
  expect(batches()).toEqual([[batchBytes(16)]]);
});

test('a thread has 256 at most, in batches of 32, and of the others eight are encrypted here in each turn', async () => {
  const { add, done } = start(1);
  add(256 + 20);
  await turn();
  expect(batches()).toEqual([Array.from({ length: 8 }, () => batchBytes(32))]);
  expect(done()).toBe(8);
  await turn();
  expect(done()).toBe(16);
  await turn();
  await turn();
  expect(done()).toBe(20);
  expect(batches()[0]).toHaveLength(8);
});

test('the thread that has the least gets the next batch', async () => {
  const { add } = start(2);
  add(5 * 32);
  await turn();
  expect(batches().map(({ length }) => length)).toEqual([3, 2]);
  add(1);
  await turn();
  expect(batches()[1]).toEqual([batchBytes(32), batchBytes(32), batchBytes(1)]);
});

describe('threads end', () => {
  test('that have done nothing for thirty seconds, and their messages are encrypted here', async () => {
    const { add, all } = start(1);
    add(40);
    await turn();
    // What it was handed first may be on its way at the first look.
    vi.advanceTimersByTime(60_000);
    await all();
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1]);
  });

  test('all when it is closed, and no other is started', async () => {
    const { add, allHere, all, encryption } = start(2);
    add(64);
    await turn();
    expect(threads).toHaveLength(2);
    await encryption.close();
    await all();
    add(40);
    await allHere();
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  });
});

test('after a thread that ended by itself all is encrypted here, for a minute', async () => {
  const { add, allHere, all } = start(1, new URL(`data:text/javascript,${encodeURIComponent('process.exit(1)')}`));
  add(20);
  await turn();
  expect(threads).toHaveLength(1);
  await all();
  add(20);
  await allHere();
  vi.advanceTimersByTime(59_999);
  add(20);
  await allHere();
  expect(threads).toHaveLength(1);
  vi.advanceTimersByTime(1);
  add(20);
  await turn();
  expect(threads).toHaveLength(2);
  await all();
});

import { beforeEach, expect, test } from 'vitest';
import { makeFreshCache } from '../../src/app/fresh-cache.ts';
import { lookUpBatches } from '../../src/app/group-commit.ts';
import { makeManualClock } from '../../src/clock.ts';

type Read = { keys: string[]; answer(values: string[]): void; fail(): void };

let clock: ReturnType<typeof makeManualClock>;
/** The reads that have begun and have no answer yet. */
let reads: Read[];
let cache: ReturnType<typeof makeCache>;
beforeEach(() => {
  clock = makeManualClock(new Date(0));
  reads = [];
  cache = makeCache();
});

function makeCache(maxValues = 100) {
  const ofThisCache = reads;
  return makeFreshCache<string, string>({
    ...{ clock, maxValues, batches: { ...lookUpBatches, batchesAtOnce: 2, pause: { milliseconds: 0, items: 1 } } },
    read: (keys) =>
      new Promise((resolve, reject) => {
        ofThisCache.push({ keys, answer: resolve, fail: () => reject(new Error('the database is away')) });
      }),
  });
}

async function nextRead(): Promise<Read> {
  while (reads.length === 0) await new Promise(setImmediate);
  return reads.shift()!;
}

async function find(key: string, value: string): Promise<void> {
  const found = cache.find(key);
  (await nextRead()).answer([value]);
  expect(await found).toBe(value);
}

test('returns a value for less than a second without reading, and reads it then', async () => {
  await find('a', 'first');
  clock.advance(499);
  expect(await cache.find('a')).toBe('first');
  expect(reads).toEqual([]);
  clock.advance(501);
  await find('a', 'second');
});

test('reads keys that are asked for together in one batch', async () => {
  const found = [cache.find('a'), cache.find('b'), cache.find('a')];
  const read = await nextRead();
  expect(read.keys).toEqual(['a', 'b']);
  read.answer(['1', '2']);
  expect(await Promise.all(found)).toEqual(['1', '2', '1']);
});

test('renews a value in use after half a second, and nobody waits for it', async () => {
  await find('a', 'first');
  clock.advance(500);
  expect(await cache.find('a')).toBe('first');
  (await nextRead()).answer(['second']);
  while ((await cache.find('a')) !== 'second') await new Promise(setImmediate);
  // The age counts from when the renewal began.
  clock.advance(999);
  expect(await cache.find('a')).toBe('second');
});

test('refuses once a value is a second old and cannot be read', async () => {
  await find('a', 'first');
  clock.advance(500);
  expect(await cache.find('a')).toBe('first');
  (await nextRead()).fail();
  clock.advance(499);
  expect(await cache.find('a')).toBe('first');
  clock.advance(1);
  const refused = cache.find('a');
  (await nextRead()).fail();
  await expect(refused).rejects.toThrow('the database is away');
  // A failure is not remembered.
  await find('a', 'second');
});

test.each(['forget', 'forgetAll'] as const)('keeps no read that began before %s', async (how) => {
  const before = cache.find('a');
  const old = await nextRead();
  cache[how]('a');
  const after = cache.find('a');
  const young = await nextRead();
  young.answer(['new']);
  expect(await after).toBe('new');
  old.answer(['old']);
  expect(await before).toBe('old');
  expect(await cache.find('a')).toBe('new');
});

test('keeps no renewal, and no value that was read again, that began before it was forgotten', async () => {
  await find('a', 'first');
  clock.advance(500);
  await cache.find('a');
  const renewal = await nextRead();
  cache.forget('a');
  renewal.answer(['old']);
  await find('a', 'new');

  const again = cache.reread('b');
  const read = await nextRead();
  cache.forget('b');
  read.answer(['old']);
  await again;
  await find('b', 'new');
});

test('reads again at once what may have changed, while others have the value of before', async () => {
  await find('a', 'first');
  const again = cache.reread('a');
  const read = await nextRead();
  expect(await cache.find('a')).toBe('first');
  read.answer(['second']);
  expect(await again).toBe('second');
  expect(await cache.find('a')).toBe('second');
});

test('keeps no more values than it may, and drops the one that was read first', async () => {
  cache = makeCache(2);
  for (const key of ['a', 'b', 'c']) await find(key, key);
  expect(await cache.find('c')).toBe('c');
  await find('a', 'again');
});

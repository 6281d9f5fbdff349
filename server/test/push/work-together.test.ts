import { describe, expect, test, vi } from 'vitest';
import { makeGroupCommit } from '../../src/app/group-commit.ts';

/** One turn of the event loop, after which the items of it are on their way. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

function makeBarrier(batchesAtOnce: 1 | 2, pause?: { milliseconds: number; items: number }) {
  const batches: number[][] = [];
  const gates: (() => void)[] = [];
  const store = makeGroupCommit<number, string>(
    async (items) => {
      batches.push(items);
      await new Promise<void>((resolve) => gates.push(resolve));
      if (items.some((item) => item < 0)) throw new Error(`cannot store ${items.join()}`);
      return items.map((item) => `stored ${item}`);
    },
    { batchItems: 3, waitingItems: 4, batchesAtOnce, ...(pause && { pause }) },
  );
  const open = async () => {
    while (gates.length === 0) await turn();
    gates.shift()!();
    await turn();
  };
  return { batches, store, open };
}

test('processes items of one turn together, later ones in the next batch, and returns each its own result', async () => {
  const { batches, store, open } = makeBarrier(1);
  const results = [store(1), store(2)];
  await turn();
  expect(batches).toEqual([[1, 2]]);
  results.push(store(3), store(4), store(5));
  await turn();
  expect(batches).toEqual([[1, 2]]);
  await open();
  expect(batches).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  await open();
  expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5].map((item) => `stored ${item}`));
});

test('starts a second batch when as many items wait as the first has, and never a third', async () => {
  const { batches, store, open } = makeBarrier(2);
  const results = [store(1), store(2)];
  await turn();
  results.push(store(3));
  await turn();
  expect(batches).toEqual([[1, 2]]);
  results.push(store(4));
  await turn();
  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ]);
  results.push(store(5), store(6), store(7));
  await turn();
  expect(batches).toHaveLength(2);
  await open();
  expect(batches.slice(2)).toEqual([[5, 6, 7]]);
  for (let step = 0; step < 2; step += 1) await open();
  expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5, 6, 7].map((item) => `stored ${item}`));
});

test('makes a few items wait for others soon after a batch, up to the pause, but not if there are enough', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  try {
    const { batches, store, open } = makeBarrier(1, { milliseconds: 8, items: 3 });
    const results = [store(1)];
    await open();
    results.push(store(2));
    await turn();
    vi.advanceTimersByTime(7);
    results.push(store(3));
    await turn();
    expect(batches).toEqual([[1]]);
    vi.advanceTimersByTime(1);
    await open();
    expect(batches).toEqual([[1], [2, 3]]);
    results.push(store(4), store(5), store(6));
    await open();
    expect(batches).toEqual([[1], [2, 3], [4, 5, 6]]);
    await Promise.all(results);
  } finally {
    vi.useRealTimers();
  }
});

test('fails only the item that cannot be stored', async () => {
  const { store, open } = makeBarrier(1);
  const first = store(1);
  await turn();
  const rest = Promise.allSettled([store(2), store(-3), store(4)]);
  for (let step = 0; step < 5; step += 1) await open();
  await first;
  expect((await rest).map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('rejects an item beyond the maximum number waiting immediately, with the time to retry', async () => {
  const { store, open } = makeBarrier(1);
  const kept = [store(1)];
  await turn();
  kept.push(store(2), store(3), store(4), store(5));
  await expect(store(6)).rejects.toMatchObject({ code: 'OVERLOADED', context: { retryAfterSeconds: 1 } });
  for (let step = 0; step < 3; step += 1) await open();
  expect(await Promise.all(kept)).toHaveLength(5);
});

describe('a batch that lost its connection or was the victim of a deadlock', () => {
  /** Fails as told, try by try, and then stores. */
  function makeLossy(codes: string[]) {
    const tries: number[][] = [];
    const store = makeGroupCommit<number, string>(
      async (items) => {
        tries.push(items);
        await new Promise((resolve) => setImmediate(resolve));
        const code = codes.shift();
        if (code !== undefined) throw Object.assign(new Error('lost'), { code });
        return items.map((item) => `stored ${item}`);
      },
      { batchItems: 3, waitingItems: 4, batchesAtOnce: 1 },
    );
    return { tries, store };
  }

  test('is retried as a whole a few times if it was not stored', async () => {
    const { tries, store } = makeLossy(['CONNECTION_CLOSED', '40P01', '57P01']);
    expect(await Promise.all([store(1), store(2), store(3)])).toEqual(['stored 1', 'stored 2', 'stored 3']);
    expect(tries).toEqual(Array.from({ length: 4 }, () => [1, 2, 3]));
    const away = makeLossy(Array.from({ length: 100 }, () => 'ECONNREFUSED'));
    const all = await Promise.allSettled([away.store(1), away.store(2), away.store(3)]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(away.tries).toHaveLength(5);
  });

  test('is never retried if it may be stored', async () => {
    const { tries, store } = makeLossy(['COMMIT_OUTCOME_UNKNOWN']);
    const all = await Promise.allSettled([store(1), store(2), store(3)]);
    expect(all).toEqual(
      all.map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'COMMIT_OUTCOME_UNKNOWN' }) })),
    );
    expect(tries).toEqual([[1, 2, 3]]);
  });
});

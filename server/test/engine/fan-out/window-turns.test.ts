import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeWindowTurns } from '../../../src/engine/fan-out/work-chunks.ts';

/** Windows by name that last until they are ended; `open` are those at work. */
function makeWindows() {
  const turns = makeWindowTurns();
  const open: string[] = [];
  const ends = new Map<string, { resolve(): void; reject(error: Error): void }>();
  const taken = new Map<string, Promise<string>>();
  return {
    open,
    take(kind: 'usual' | 'alone', name: string): void {
      const work = async (): Promise<string> => {
        open.push(name);
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        ends.set(name, { resolve, reject });
        try {
          await promise;
        } finally {
          open.splice(open.indexOf(name), 1);
        }
        return `${name} is over`;
      };
      const result = turns.take(kind, work);
      result.catch(() => {});
      taken.set(name, result);
    },
    /** What its taker got. */
    async end(name: string): Promise<string> {
      ends.get(name)!.resolve();
      const result = await taken.get(name)!;
      await setImmediate();
      return result;
    },
    async fail(name: string): Promise<void> {
      ends.get(name)!.reject(new Error(`${name} failed`));
      await expect(taken.get(name)).rejects.toThrow(`${name} failed`);
      await setImmediate();
    },
  };
}

test('usual windows are open side by side, and each taker gets its own result', async () => {
  const { take, end, open } = makeWindows();
  take('usual', 'one');
  take('usual', 'other');
  await setImmediate();
  expect(open).toEqual(['one', 'other']);
  expect(await end('other')).toBe('other is over');
  expect(await end('one')).toBe('one is over');
});

test('a window that searches waits for all that are open, and those that come meanwhile wait for it', async () => {
  const { take, end, open } = makeWindows();
  take('usual', 'one');
  take('usual', 'other');
  take('alone', 'search');
  take('usual', 'late');
  await setImmediate();
  expect(open).toEqual(['one', 'other']);
  await end('one');
  expect(open).toEqual(['other']);
  await end('other');
  expect(open).toEqual(['search']);
  await end('search');
  expect(open).toEqual(['late']);
});

test('two that search are open one after the other, and what is usual after both', async () => {
  const { take, end, open } = makeWindows();
  take('alone', 'first');
  take('alone', 'second');
  take('usual', 'usual');
  await setImmediate();
  expect(open).toEqual(['first']);
  await end('first');
  expect(open).toEqual(['second']);
  await end('second');
  expect(open).toEqual(['usual']);
});

test('a window that fails gives its turn on as one that ends', async () => {
  const { take, end, fail, open } = makeWindows();
  take('usual', 'usual');
  take('alone', 'search');
  await setImmediate();
  await fail('usual');
  expect(open).toEqual(['search']);
  take('usual', 'next');
  await fail('search');
  expect(open).toEqual(['next']);
  expect(await end('next')).toBe('next is over');
});

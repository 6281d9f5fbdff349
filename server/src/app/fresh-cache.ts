import type { Clock } from '../clock.ts';
import { makeGroupCommit } from './group-commit.ts';
import type { GroupCommitOptions } from './group-commit.ts';

export type FreshCacheOptions<Key, Value> = {
  clock: Pick<Clock, 'elapsedMilliseconds'>;
  /** Reads several values from the database, in order. Keys that are asked for together are read together. */
  read: (keys: Key[]) => Promise<Value[]>;
  batches: GroupCommitOptions;
  /** The least recently read value is dropped beyond this number. */
  maxValues: number;
};

export type FreshCache<Key, Value> = {
  /** Returns a value that the database had within the last second. Rejects if it is older and cannot be read. */
  find(key: Key): Promise<Value>;
  /** Reads a value that may have changed since it was read. Others keep the one in the cache meanwhile. */
  reread(key: Key): Promise<Value>;
  /** Makes the next `find` read. A read that has begun before is not kept. */
  forget(key: Key): void;
  forgetAll(): void;
};

/** The promise about access (decision D13): a change is in force on every node after this time. */
export const maxAgeMilliseconds = 1_000;
/** A value that is in use is read again at this age, so that callers do not wait for it. */
const renewalMilliseconds = 500;

type Entry<Value> = { readAt: number; value: Promise<Value>; isRenewed: boolean };

/**
 * Makes a cache for what decides about access. The age of a value counts from before it was read, on a timer that no clock
 * correction moves. A node that is cut off from the database therefore refuses after a second: every call reads, and fails.
 */
export function makeFreshCache<Key, Value>({
  clock,
  read,
  batches,
  maxValues,
}: FreshCacheOptions<Key, Value>): FreshCache<Key, Value> {
  const entries = new Map<Key, Entry<Value>>();
  const readSoon = makeGroupCommit(read, batches);
  let forgotten = 0;

  function keep(key: Key, entry: Entry<Value>): void {
    // The map is in order of reading.
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > maxValues) entries.delete(entries.keys().next().value!);
  }

  function start(key: Key, readAt: number): Promise<Value> {
    const entry = { readAt, value: readSoon(key), isRenewed: false };
    keep(key, entry);
    entry.value.catch(() => {
      if (entries.get(key) === entry) entries.delete(key);
    });
    return entry.value;
  }

  /** Replaces an entry when its successor was read, unless a value was forgotten meanwhile: it may be the one that was read. */
  async function renew(key: Key, entry: Entry<Value> | undefined): Promise<Value> {
    const readAt = clock.elapsedMilliseconds();
    const before = forgotten;
    const value = readSoon(key);
    const read = await value;
    if (forgotten === before && entries.get(key) === entry) keep(key, { readAt, value, isRenewed: false });
    return read;
  }

  return {
    find(key) {
      const now = clock.elapsedMilliseconds();
      const entry = entries.get(key);
      if (!entry || now - entry.readAt >= maxAgeMilliseconds) return start(key, now);
      if (now - entry.readAt >= renewalMilliseconds && !entry.isRenewed) {
        entry.isRenewed = true;
        // A failed renewal is repeated by the caller who finds the value too old.
        renew(key, entry).catch(() => {});
      }
      return entry.value;
    },
    reread: (key) => renew(key, entries.get(key)),
    forget(key) {
      forgotten += 1;
      entries.delete(key);
    },
    forgetAll() {
      forgotten += 1;
      entries.clear();
    },
  };
}

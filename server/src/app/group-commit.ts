import { isDeadlock, isOutage } from '../domain/database-faults.ts';
import { ServiceError } from '../domain/errors.ts';

export type GroupCommitOptions = {
  /** Most items in one batch. */
  batchItems: number;
  /** Most items that wait; beyond them an item is refused, so that memory stays bounded. */
  waitingItems: number;
  /** Most batches on their way at once: one where a second would only wait for the locks of the first. */
  batchesAtOnce: 1 | 2;
  /** A batch of fewer items starts no sooner than so long after the one before. */
  pause?: { milliseconds: number; items: number };
};

/**
 * A batch takes node and database a few milliseconds of CPU whatever its size. At some hundred requests a second, batches of one
 * or two would take both as long as thousands in large ones, and who waits would wait for them. A request that comes alone
 * does not wait.
 */
export const batchPause = { milliseconds: 8, items: 16 };

/** For what each push request stores. */
export const requestBatches: GroupCommitOptions = {
  ...{ batchItems: 500, waitingItems: 10_000, batchesAtOnce: 2 },
  pause: batchPause,
};
/** For what it asks while it is counted, which takes longer: one after the other they are fewer. */
export const lookUpBatches: GroupCommitOptions = { ...requestBatches, batchesAtOnce: 1 };

type Waiting<Item, Result> = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };

// A fail-over cuts every connection once. A database that is away ends the tries at once, and callers are told to wait.
const maxTries = 5;

/**
 * Group commit, and the same for look-ups: the items of one turn of the event loop are worked together, and those that come
 * while a batch is on its way are worked together next. Under load batches grow by themselves, and one round trip and one
 * flush to disk serve hundreds of responses. Each response waits for its own batch; which of two batches is done first is not
 * promised.
 *
 * While one batch is on its way a second starts when as many items wait as the first has: so the process and the database
 * work at the same time, and no batch of a few is sent where soon there would be many.
 *
 * If a batch fails as a whole, its items are tried one by one, so that only the item that cannot be stored fails. If its
 * connection was lost, or the database ended it to break a circle of locks, no item is at fault: the batch is tried again,
 * unless it may be stored already.
 *
 * @param work stores all items in one transaction, or looks for all, and gives their results in order. Unless it throws
 *   COMMIT_OUTCOME_UNKNOWN, what it threw for is not stored.
 * @returns a function that works one item. It throws ServiceError OVERLOADED when too many wait.
 */
export function makeGroupCommit<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { batchItems, waitingItems, batchesAtOnce, pause = { milliseconds: 0, items: 1 } }: GroupCommitOptions,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  /** How many items each batch has that is on its way. */
  const underWay = new Set<{ items: number }>();
  let isDue = false;
  let lastStartedAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  function startBatches(): void {
    isDue = false;
    while (isWorthABatch()) void startBatch(waiting.splice(0, batchItems));
  }

  function isWorthABatch(): boolean {
    if (waiting.length === 0 || underWay.size >= batchesAtOnce) return false;
    return [...underWay].every(({ items }) => waiting.length >= items) && !isPausing();
  }

  function isPausing(): boolean {
    if (waiting.length >= pause.items) return false;
    const left = lastStartedAt + pause.milliseconds - performance.now();
    if (left <= 0) return false;
    timer ??= setTimeout(() => {
      timer = undefined;
      startBatches();
    }, left);
    return true;
  }

  async function startBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    const size = { items: batch.length };
    underWay.add(size);
    lastStartedAt = performance.now();
    await workBatch(batch);
    underWay.delete(size);
    startBatches();
  }

  async function workBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await workThroughLoss(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      if (batch.length > 1 && !isLoss(error)) for (const single of batch) await workBatch([single]);
      else for (const { reject } of batch) reject(error);
    }
  }

  async function workThroughLoss(items: Item[]): Promise<Result[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work(items);
      } catch (error) {
        if (!isLoss(error) || isPerhapsStored(error) || tries >= maxTries) throw error;
      }
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= waitingItems) {
        reject(
          new ServiceError('OVERLOADED', {
            retryAfterSeconds: 1,
            detail: `${waiting.length} requests wait for the database`,
          }),
        );
        return;
      }
      waiting.push({ item, resolve, reject });
      if (isDue) return;
      isDue = true;
      // After the requests that this turn of the event loop has read.
      setImmediate(startBatches);
    });
}

function isLoss(error: unknown): boolean {
  return isOutage(error) || isDeadlock(error);
}

function isPerhapsStored(error: unknown): boolean {
  return (error as { code?: string }).code === 'COMMIT_OUTCOME_UNKNOWN';
}

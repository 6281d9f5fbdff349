import { isDeadlock, isOutage, isPerhapsStored } from '../domain/database-faults.ts';
import { ServiceError } from '../domain/errors.ts';

export type GroupCommitOptions = {
  /** Maximum number of items in one batch. */
  batchItems: number;
  /** Maximum number of waiting items; further items are rejected, so that memory stays bounded. */
  waitingItems: number;
  /** Maximum number of batches at once. Use one if a second would only wait for the locks of the first. */
  batchesAtOnce: 1 | 2;
  /** A batch of fewer items starts at least this long after the previous one. */
  pause?: { milliseconds: number; items: number };
};

/**
 * A batch costs node and database a few milliseconds of CPU whatever its size. At some hundred requests a second, batches of
 * one or two would cost both as much as thousands in large ones, and other requests would wait for them. A single request does
 * not wait.
 */
export const batchPause = { milliseconds: 8, items: 16 };

/** For the data that each push request stores. */
export const requestBatches: GroupCommitOptions = {
  ...{ batchItems: 500, waitingItems: 10_000, batchesAtOnce: 2 },
  pause: batchPause,
};
/** For look-ups while a push request is counted, which takes longer: run one at a time, the batches are fewer. */
export const lookUpBatches: GroupCommitOptions = { ...requestBatches, batchesAtOnce: 1 };

type Waiting<Item, Result> = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };

// A fail-over cuts every connection once. If the database is down, the attempts end immediately and callers must retry later.
const maxTries = 5;

/**
 * Group commit, also for look-ups: the items of one turn of the event loop are processed together, and items that arrive while
 * a batch is running are processed together next. Under load batches grow automatically, and one round trip and one flush to
 * disk serve hundreds of responses. Each response waits for its own batch; batches may finish in any order.
 *
 * While one batch is running, a second starts when as many items wait as the first has. So the process and the database work at
 * the same time, and no small batch is sent just before many items arrive.
 *
 * If a batch fails as a whole, its items are retried one by one, so that only the item that cannot be stored fails. If its
 * connection was lost, or the database aborted it because of a deadlock, no item is at fault: the batch is retried, unless it
 * may be stored already.
 *
 * @param work stores all items in one transaction, or looks up all, and returns their results in order. Unless it throws
 * COMMIT_OUTCOME_UNKNOWN, an error means that nothing is stored.
 * @returns a function that processes one item. It throws ServiceError OVERLOADED when too many wait.
 */
export function makeGroupCommit<Item, Result>(
  work: Work<Item, Result>,
  { batchItems, waitingItems, batchesAtOnce, pause = { milliseconds: 0, items: 1 } }: GroupCommitOptions,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  /** The size of each running batch. */
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
    await workBatch(work, batch);
    underWay.delete(size);
    startBatches();
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
      // Starts after the requests that this turn of the event loop has read.
      setImmediate(startBatches);
    });
}

type Work<Item, Result> = (items: Item[]) => Promise<Result[]>;

/** Works a batch and settles its items. If it fails as a whole, each item is worked alone. */
async function workBatch<Item, Result>(work: Work<Item, Result>, batch: Waiting<Item, Result>[]): Promise<void> {
  try {
    const results = await workThroughLoss(
      work,
      batch.map(({ item }) => item),
    );
    batch.forEach(({ resolve }, index) => resolve(results[index]!));
  } catch (error) {
    if (batch.length > 1 && !isLoss(error)) for (const single of batch) await workBatch(work, [single]);
    else for (const { reject } of batch) reject(error);
  }
}

/** Repeats the work if no item is at fault and nothing can be stored yet. */
async function workThroughLoss<Item, Result>(work: Work<Item, Result>, items: Item[]): Promise<Result[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work(items);
    } catch (error) {
      if (!isLoss(error) || isPerhapsStored(error) || tries >= maxTries) throw error;
    }
  }
}

function isLoss(error: unknown): boolean {
  return isOutage(error) || isDeadlock(error);
}

import { ServiceError } from '../../domain/errors.ts';
import { isOutage } from '../../domain/outage.ts';

export type WorkTogetherOptions = {
  /** Most items in one batch. */
  batchItems: number;
  /** Most items that wait; beyond them an item is refused, so that memory stays bounded. */
  waitingItems: number;
  /** Most batches on their way at once: one where a second would only wait for the locks of the first. */
  batchesAtOnce: 1 | 2;
};

/** For what each push request stores. */
export const requestBatches: WorkTogetherOptions = { batchItems: 500, waitingItems: 10_000, batchesAtOnce: 2 };
/** For what it asks while it is counted, which takes longer: one after the other they are fewer. */
export const lookUpBatches: WorkTogetherOptions = { ...requestBatches, batchesAtOnce: 1 };

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
 * connection was lost, no item is at fault: the batch is tried again on another, unless it may be stored already.
 *
 * @param work stores all items in one transaction, or looks for all, and gives their results in order. Unless it throws
 *   COMMIT_OUTCOME_UNKNOWN, what it threw for is not stored.
 * @returns a function that works one item. It throws ServiceError OVERLOADED when too many wait.
 */
export function makeWorkTogether<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { batchItems, waitingItems, batchesAtOnce }: WorkTogetherOptions,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  /** How many items each batch has that is on its way. */
  const underWay = new Set<{ items: number }>();
  let isDue = false;

  function startBatches(): void {
    isDue = false;
    while (isWorthABatch()) void startBatch(waiting.splice(0, batchItems));
  }

  function isWorthABatch(): boolean {
    if (waiting.length === 0 || underWay.size >= batchesAtOnce) return false;
    return [...underWay].every(({ items }) => waiting.length >= items);
  }

  async function startBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    const size = { items: batch.length };
    underWay.add(size);
    await workBatch(batch);
    underWay.delete(size);
    startBatches();
  }

  async function workBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await workThroughLoss(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      if (batch.length > 1 && !isOutage(error)) for (const single of batch) await workBatch([single]);
      else for (const { reject } of batch) reject(error);
    }
  }

  async function workThroughLoss(items: Item[]): Promise<Result[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work(items);
      } catch (error) {
        if (!isOutage(error) || isPerhapsStored(error) || tries >= maxTries) throw error;
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

function isPerhapsStored(error: unknown): boolean {
  return (error as { code?: string }).code === 'COMMIT_OUTCOME_UNKNOWN';
}

import { ServiceError } from '../../domain/errors.ts';
import { isOutage } from '../../domain/outage.ts';

export type WorkTogetherOptions = {
  /** Most items in one batch. */
  batchItems: number;
  /** Most items that wait; beyond them an item is refused, so that memory stays bounded. */
  waitingItems: number;
};

/** For what each push request asks of the database. */
export const requestBatches: WorkTogetherOptions = { batchItems: 500, waitingItems: 10_000 };

type Waiting<Item, Result> = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };

// A fail-over cuts every connection once. A database that is away ends the tries at once, and callers are told to wait.
const maxTries = 5;

/**
 * Group commit, and the same for look-ups: items that come while a batch is on its way are worked together next. A single item
 * starts immediately; under load batches grow by themselves, and one round trip and one flush to disk serve hundreds of
 * responses. Each response waits for its own batch.
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
  { batchItems, waitingItems }: WorkTogetherOptions,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let isWorking = false;

  async function drain(): Promise<void> {
    isWorking = true;
    while (waiting.length > 0) await workBatch(waiting.splice(0, batchItems));
    isWorking = false;
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
      if (!isWorking) void drain();
    });
}

function isPerhapsStored(error: unknown): boolean {
  return (error as { code?: string }).code === 'COMMIT_OUTCOME_UNKNOWN';
}

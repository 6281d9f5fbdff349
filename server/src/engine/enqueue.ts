import type { Queryable } from '../storage/database.ts';
import { addJob } from '../storage/installation/queues.ts';

/** The task names of the queue; engine/queue.ts holds the function of each. */
export const taskNames = { wakeFanOut: 'wake-fan-out', wakeSegments: 'wake-segments' } as const;

/**
 * Tells the workers, when this transaction commits, that runs or chunks are waiting. Losing it costs a second, no run:
 * every worker also looks for itself.
 */
export async function enqueueFanOut(tx: Queryable): Promise<void> {
  await addJob(tx, { task: taskNames.wakeFanOut, key: taskNames.wakeFanOut, payload: {} });
}

/** Tells the workers, when this transaction commits, that a file is to be read. */
export async function enqueueSegmentFill(tx: Queryable): Promise<void> {
  await addJob(tx, { task: taskNames.wakeSegments, key: taskNames.wakeSegments, payload: {} });
}

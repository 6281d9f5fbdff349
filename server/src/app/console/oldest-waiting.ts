import type { QueueName, QueueState } from '../../storage/installation/queues.ts';

/** What becomes messages: runs to be started, their parts, and messages for another attempt. */
const sendQueues: readonly QueueName[] = ['runs', 'chunks', 'retries'];

/** Since when the oldest of those that a node could send now waits. */
export function findOldestWaiting(queues: readonly QueueState[]): Date | null {
  const waiting = queues.flatMap(({ name, oldestAt }) =>
    sendQueues.includes(name) && oldestAt !== null ? [oldestAt.getTime()] : [],
  );
  return waiting.length === 0 ? null : new Date(Math.min(...waiting));
}

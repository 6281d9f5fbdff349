import type { NodeReport } from '../../storage/installation/nodes.ts';

// A node reports itself every five seconds.
const silentMilliseconds = 30_000;

/** Whether a node was heard of lately. One from the future reported before the sandbox moved its clock back. */
export function isAlive({ seenAt }: Pick<NodeReport, 'seenAt'>, at: Date): boolean {
  return Math.abs(at.getTime() - seenAt.getTime()) <= silentMilliseconds;
}

export function sends({ role }: NodeReport): boolean {
  return role !== 'api';
}

/** Duties whose last round was a fault, each once. */
export function failingJobs(nodes: NodeReport[]): { name: string; fault: string }[] {
  const failing = nodes
    .flatMap(({ jobs }) => jobs)
    .filter(({ doneAt, failedAt }) => failedAt !== null && (doneAt === null || failedAt > doneAt));
  return [...new Map(failing.map(({ name, fault }) => [name, { name, fault: fault ?? 'Error' }])).values()];
}

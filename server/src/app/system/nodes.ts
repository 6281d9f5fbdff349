import { shownAt } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import { judgeConnectionBudget } from '../../domain/operations/overview.ts';
import type { ConnectionBudget } from '../../domain/operations/overview.ts';
import type { UpkeepFacts } from '../../domain/operations/upkeep.ts';
import { findNewestBackup } from '../../storage/backup.ts';
import type { Database } from '../../storage/database.ts';
import { readConnectionLimit } from '../../storage/installation/installation.ts';
import type { NodeReport } from '../../storage/installation/nodes.ts';
import type { QueueName, QueueState } from '../../storage/installation/queues.ts';

// A node reports itself every five seconds.
const silentMilliseconds = 30_000;

/** Whether a node was heard of lately. By real time, in which nodes report themselves. */
export function isAlive({ seenAt }: Pick<NodeReport, 'seenAt'>, clock: Clock): boolean {
  return clock.realNow().getTime() - seenAt.getTime() <= silentMilliseconds;
}

/** A report with its times as the service's clock shows them, beside which they are read. */
export function showReport<Report extends Pick<NodeReport, 'startedAt' | 'seenAt' | 'jobs'>>(
  report: Report,
  clock: Clock,
): Report {
  const shown = (at: Date): Date => shownAt(clock, at);
  const shownText = (at: string | null): string | null => at && shown(new Date(at)).toISOString();
  return {
    ...report,
    startedAt: shown(report.startedAt),
    seenAt: shown(report.seenAt),
    jobs: report.jobs.map((job) => ({ ...job, doneAt: shownText(job.doneAt), failedAt: shownText(job.failedAt) })),
  };
}

export function sends({ role }: NodeReport): boolean {
  return role !== 'api';
}

/** Jobs whose last run was a fault, each once. */
export function failingJobs(nodes: NodeReport[]): { name: string; fault: string }[] {
  const failing = nodes
    .flatMap(({ jobs }) => jobs)
    .filter(({ doneAt, failedAt }) => failedAt !== null && (doneAt === null || failedAt > doneAt));
  return [...new Map(failing.map(({ name, fault }) => [name, { name, fault: fault ?? 'Error' }])).values()];
}

/** What somebody has to look after in time: backups, and the certificates of nodes that were heard of lately. */
export async function readUpkeep(
  { database, clock }: { database: Database; clock: Clock },
  nodes: readonly NodeReport[],
): Promise<UpkeepFacts> {
  const certificates = nodes
    .filter((node) => isAlive(node, clock))
    .flatMap(({ host, certificateEndsAt: endsAt }) => (endsAt === null ? [] : [{ host, endsAt }]));
  return { realAt: clock.realNow(), backup: await findNewestBackup(database), certificates };
}

/** What the nodes that were heard of lately may open, beside what the database has for them. */
export async function readConnectionBudget(
  { database, clock }: { database: Database; clock: Clock },
  nodes: readonly NodeReport[],
): Promise<ConnectionBudget> {
  const limit = await readConnectionLimit(database);
  return judgeConnectionBudget({ nodes: nodes.filter((node) => isAlive(node, clock)), limit });
}

/** What becomes messages: runs to be started, their parts, and messages for another attempt. */
const sendQueues: readonly QueueName[] = ['runs', 'chunks', 'retries'];

/** Since when the oldest of those that a node could send now waits. */
export function findOldestWaiting(queues: readonly QueueState[]): Date | null {
  const waiting = queues.flatMap(({ name, oldestAt }) =>
    sendQueues.includes(name) && oldestAt !== null ? [oldestAt.getTime()] : [],
  );
  return waiting.length === 0 ? null : new Date(Math.min(...waiting));
}

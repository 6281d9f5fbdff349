import { shownAt } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import { aliveSeconds } from '../../domain/operations/conditions.ts';
import type { InstallationFacts } from '../../domain/operations/conditions.ts';
import { judgeConnectionBudget } from '../../domain/operations/connection-budget.ts';
import type { ConnectionBudget } from '../../domain/operations/connection-budget.ts';
import type { UpkeepFacts } from '../../domain/operations/upkeep.ts';
import { findNewestBackup } from '../../storage/backup.ts';
import type { Database } from '../../storage/database.ts';
import { readConnectionLimit } from '../../storage/installation/installation.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import type { NodeReport } from '../../storage/installation/nodes.ts';
import { readQueues } from '../../storage/installation/queues.ts';
import type { QueueName, QueueState } from '../../storage/installation/queues.ts';

/** Reads the facts that conditions of the whole installation are measured by, and the reports that they come from. */
export async function readInstallationFacts({ database, clock }: { database: Database; clock: Clock }, at: Date) {
  const [nodes, queues] = await Promise.all([listNodes(database), readQueues(database, at)]);
  const upkeep = await readUpkeep({ database, clock }, nodes);
  return { nodes, queues, facts: installationFactsOf({ nodes, queues, upkeep }, clock) };
}

type InstallationReports = { nodes: readonly NodeReport[]; queues: readonly QueueState[]; upkeep: UpkeepFacts };

export function installationFactsOf({ nodes, queues, upkeep }: InstallationReports, clock: Clock): InstallationFacts {
  const alive = nodes.filter((node) => isAlive(node, clock));
  return {
    sendingNodes: alive.filter(sends).length,
    oldestWaitingAt: findOldestWaiting(queues),
    failingJobs: failingJobs(alive),
    upkeep,
  };
}

/** True if a node reported recently. Uses real time, in which nodes report themselves. */
export function isAlive({ seenAt }: Pick<NodeReport, 'seenAt'>, clock: Clock): boolean {
  return clock.realNow().getTime() - seenAt.getTime() <= aliveSeconds * 1000;
}

/** Returns a report with its times converted to the service's clock, next to which they are shown. */
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

function sends({ role }: NodeReport): boolean {
  return role !== 'api';
}

/** Returns the jobs that failed in their last run, without duplicates. */
function failingJobs(nodes: NodeReport[]): { name: string; fault: string }[] {
  const failing = nodes
    .flatMap(({ jobs }) => jobs)
    .filter(({ doneAt, failedAt }) => failedAt !== null && (doneAt === null || failedAt > doneAt));
  return [...new Map(failing.map(({ name, fault }) => [name, { name, fault: fault ?? 'Error' }])).values()];
}

/** Returns what an operator must renew in time: backups, and the certificates of nodes that reported recently. */
export async function readUpkeep(
  { database, clock }: { database: Database; clock: Clock },
  nodes: readonly NodeReport[],
): Promise<UpkeepFacts> {
  const certificates = nodes
    .filter((node) => isAlive(node, clock))
    .flatMap(({ host, certificateEndsAt: endsAt }) => (endsAt === null ? [] : [{ host, endsAt }]));
  return { realAt: clock.realNow(), backup: await findNewestBackup(database), certificates };
}

/** Compares the connections that recently seen nodes may open with those that the database has for them. */
export async function readConnectionBudget(
  { database, clock }: { database: Database; clock: Clock },
  nodes: readonly NodeReport[],
): Promise<ConnectionBudget> {
  const limit = await readConnectionLimit(database);
  return judgeConnectionBudget({ nodes: nodes.filter((node) => isAlive(node, clock)), limit });
}

/** Queues of messages to send: runs to be started, their parts, and messages for another attempt. */
const sendQueues: readonly QueueName[] = ['runs', 'chunks', 'retries'];

/** Returns since when the oldest entry that a node could send now has been waiting. */
export function findOldestWaiting(queues: readonly QueueState[]): Date | null {
  const waiting = queues.flatMap(({ name, oldestAt }) =>
    sendQueues.includes(name) && oldestAt !== null ? [oldestAt.getTime()] : [],
  );
  return waiting.length === 0 ? null : new Date(Math.min(...waiting));
}

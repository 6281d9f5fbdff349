import { shownAt } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import type { NodeReport } from '../../storage/installation/nodes.ts';

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

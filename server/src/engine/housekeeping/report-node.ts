import { hostname } from 'node:os';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { deleteNode, deleteSilentNodes, upsertNode } from '../../storage/installation/nodes.ts';
import type { NodeRole, SimulatorOrigins } from '../../storage/installation/nodes.ts';
import type { JobBook } from '../job-book.ts';
import type { Job } from '../job.ts';

export type ReportNodeDependencies = {
  database: Database;
  clock: Clock;
  node: { id: string; role: NodeRole; version: string; simulators: SimulatorOrigins | null };
  book: JobBook;
};

const dayMilliseconds = 24 * 3_600_000;

/** The job that reports that this node is alive, what it is, and the last result of each of its jobs. */
export function makeReportNode({
  database,
  clock,
  node,
  book,
}: ReportNodeDependencies): Job & { leave(): Promise<void> } {
  return {
    name: 'report-node',
    intervalMilliseconds: 5_000,
    async runOnce(now) {
      await upsertNode(database, {
        ...node,
        host: hostname(),
        processId: process.pid,
        // By the clock of now: after the sandbox moved it, the process has still run as long as it has.
        startedAt: new Date(clock.now().getTime() - process.uptime() * 1000),
        seenAt: now,
        memoryBytes: process.memoryUsage.rss(),
        jobs: book.read(),
      });
      await deleteSilentNodes(database, new Date(now.getTime() - dayMilliseconds));
      return 0;
    },
    /** The last word of a node that stops as asked. */
    leave: () => deleteNode(database, node.id),
  };
}

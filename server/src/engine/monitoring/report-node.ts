import { hostname } from 'node:os';
import type { Clock } from '../../clock.ts';
import type { Keyring } from '../../domain/crypto/encryption.ts';
import type { Database } from '../../storage/database.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { deleteNode, deleteSilentNodes, upsertNode } from '../../storage/installation/nodes.ts';
import type { NodeReport } from '../../storage/installation/nodes.ts';
import type { JobBook, Job } from '../jobs/job.ts';

export type ReportNodeDependencies = {
  database: Database;
  clock: Clock;
  encryption: Keyring;
  node: Pick<NodeReport, 'id' | 'role' | 'version' | 'simulators' | 'connections'>;
  book: JobBook;
  /** The URL at which the node accepts calls, once it does. */
  findUrl: () => string | undefined;
  /** The expiry of the certificate that the node currently serves. */
  findCertificateEnd: () => Date | undefined;
};

const dayMilliseconds = 24 * 3_600_000;

/**
 * The job that reports that this node is alive, what it is, and the last result of each of its jobs. It also follows a rotation
 * of the master key: the first key id that it reports is the key that it now encrypts with.
 */
export function makeReportNode({
  database,
  clock,
  encryption,
  node,
  book,
  findUrl,
  findCertificateEnd,
}: ReportNodeDependencies): Job & { leave(): Promise<void> } {
  return {
    name: 'report-node',
    intervalMilliseconds: 5_000,
    async runOnce() {
      const now = clock.realNow();
      const masterKeyId = (await findInstallation(database))!.masterKeyId;
      const isKnown = encryption.encryptUnder(masterKeyId);
      await upsertNode(database, {
        ...node,
        host: hostname(),
        processId: process.pid,
        startedAt: new Date(now.getTime() - process.uptime() * 1000),
        seenAt: now,
        memoryBytes: process.memoryUsage.rss(),
        jobs: book.read(),
        masterKeyIds: encryption.masterKeyIds(),
        url: findUrl() ?? null,
        certificateEndsAt: findCertificateEnd() ?? null,
      });
      await deleteSilentNodes(database, new Date(now.getTime() - dayMilliseconds));
      if (!isKnown)
        throw new Error(
          `The master key ${masterKeyId}, under which everything is encrypted, was not given to this node.`,
        );
      return 0;
    },
    /** Removes the node's report. Call when the node stops as requested. */
    leave: () => deleteNode(database, node.id),
  };
}

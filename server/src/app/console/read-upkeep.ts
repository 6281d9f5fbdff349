import type { Clock } from '../../clock.ts';
import type { UpkeepFacts } from '../../domain/overview/judge-upkeep.ts';
import { findNewestBackup } from '../../storage/backup/newest-backup.ts';
import type { Database } from '../../storage/database.ts';
import type { NodeReport } from '../../storage/installation/nodes.ts';
import { isAlive } from './node-health.ts';

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

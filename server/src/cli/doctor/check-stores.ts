import type { Clock } from '../../clock.ts';
import { isBackupLate } from '../../domain/backup/late-backup.ts';
import type { Database } from '../../storage/database.ts';
import { readUsefulExtensions } from '../../storage/installation/extensions.ts';
import { readMetricFigures } from '../../storage/installation/metric-figures.ts';
import type { Config } from '../../start/config.ts';
import { backupIntervalOf } from '../../start/scheduled-backups.ts';
import { findNewestBackup } from '../../storage/backup/newest-backup.ts';
import { dayTables } from '../../storage/retention/day-partitions.ts';
import { diagnosing } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const extensions = diagnosing('extensions');
const partitions = diagnosing('partitions');
const backups = diagnosing('backups');

type Asked = { database: Database; clock: Clock; config: Config };

/** What the database should have beside the tables: extensions, the days ahead, and a backup. */
export async function checkStores(asked: Asked): Promise<Diagnosis[]> {
  return [await checkExtensions(asked), await checkPartitions(asked), await checkBackups(asked)];
}

async function checkExtensions({ database }: Asked): Promise<Diagnosis> {
  const found = await readUsefulExtensions(database);
  const missing = found.filter(({ isInstalled }) => !isInstalled);
  const names = (some: typeof found): string => some.map(({ name }) => name).join(' and ');
  if (missing.length === 0) return extensions.good(`${names(found)} are there.`);
  const available = missing.filter(({ isAvailable }) => isAvailable);
  const what = `Without ${names(missing)} searches for names and tags of campaigns read all of them.`;
  // The migration that would have used it has run: its index is made by hand as well.
  return extensions.attention(
    what,
    available.length < missing.length
      ? 'Install the contrib package of this PostgreSQL, then create them as docs/operations.md says.'
      : 'Create them and their indexes as docs/operations.md says.',
  );
}

/** A send that meets a missing day makes it, at the cost of a wait; that nobody made tomorrow's says that a job does not run. */
async function checkPartitions({ database, clock }: Asked): Promise<Diagnosis> {
  const figures = await readMetricFigures(database, {
    at: clock.now(),
    realAt: clock.realNow(),
    aliveSince: clock.realNow(),
  });
  const of = (name: 'partitions' | 'partitions-ahead-days', table: string): number | undefined =>
    figures.find((figure) => figure.name === name && figure.of === table)?.value;
  const late = dayTables.filter((table) => (of('partitions-ahead-days', table) ?? -1) < 1);
  const days = dayTables.map((table) => `${of('partitions', table) ?? 0} days of ${table}`).join(', ');
  if (late.length === 0) return partitions.good(`${days}, tomorrow's among them.`);
  return partitions.attention(
    `${late.join(' and ')} have no partition for tomorrow.`,
    'A node that sends makes them every ten minutes; see the job prepare-days in its log (docs/runbooks/CarillonPartitionMissing.md).',
  );
}

/** Who has backups of PostgreSQL's own is told of none, and needs none. */
async function checkBackups({ database, clock, config }: Asked): Promise<Diagnosis> {
  const { madeAt } = await findNewestBackup(database);
  const intervalSeconds = backupIntervalOf(config);
  const everyHours = intervalSeconds === undefined ? undefined : intervalSeconds / 3600;
  const isLate =
    everyHours !== undefined && (madeAt === null || isBackupLate({ since: madeAt, everyHours, now: clock.realNow() }));
  const found = madeAt === null ? 'None is known.' : `The newest is of ${madeAt.toISOString().slice(0, 16)}Z.`;
  if (isLate)
    return backups.attention(
      `${found} One is due every ${everyHours} hours.`,
      'See the job make-backups in the log of the nodes that send (docs/runbooks/CarillonBackupLate.md).',
    );
  if (madeAt === null && config.mode === 'production' && config.databaseUrl === undefined)
    return backups.attention(found, 'Set CARILLON_BACKUP_DIR, or call carillon backup by a timer (docs/backup.md).');
  return backups.good(found);
}

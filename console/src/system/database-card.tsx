import type { SystemState } from '../api/generated/system.ts';
import { formatBytes } from '../parts/format-bytes.ts';
import { formatAge, spanText } from '../parts/format-duration.ts';
import { ToneBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/ago.tsx';
import { FactCard } from './fact-card.tsx';

export function DatabaseCard({ state: { database, now } }: { state: SystemState }) {
  const { migrations, replicas } = database;
  return (
    <FactCard
      title="Database"
      facts={[
        ['PostgreSQL', `${database.version}, ${database.isEmbedded ? 'embedded' : 'external'}`],
        ['Size', formatBytes(database.sizeBytes)],
        ['Connections', `${database.connections} of ${database.maxConnections}`],
        ['Connections of nodes', `up to ${database.nodesMayOpen} of ${database.openToNodes}`],
        ['Running since', <Ago key="since" at={database.startedAt} />],
        ['Migrations', migrations.newest ? `${migrations.count}, up to ${migrations.newest.name}` : 'None'],
        ['Newest backup', <Backup key="backup" database={database} now={now} />],
        [
          'Replicas',
          replicas.length === 0
            ? 'None'
            : replicas
                .map(({ state, lagBytes }) =>
                  lagBytes === null ? state : `${state}, ${formatBytes(Math.max(0, lagBytes))} behind`,
                )
                .join('; '),
        ],
      ]}
    />
  );
}

/** How old the newest is, and how old it may become where nodes make them by themselves. */
function Backup({ database, now }: { database: SystemState['database']; now: string }) {
  const { backupMadeAt, backupHours, isBackupLate } = database;
  const made = backupMadeAt === null ? 'None made by Carillon' : `${formatAge(backupMadeAt, now)} ago`;
  return (
    <>
      {isBackupLate && <ToneBadge tone="failed">Late</ToneBadge>} {made}
      {backupHours !== null && `, every ${spanText(backupHours * 3600)}`}
    </>
  );
}

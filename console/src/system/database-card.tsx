import type { SystemState } from '../api/generated/system.ts';
import { formatBytes } from '../parts/format-bytes.ts';
import { formatAge } from '../parts/format-duration.ts';
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
        [
          'Newest backup',
          database.backupMadeAt === null ? 'None made by Carillon' : `${formatAge(database.backupMadeAt, now)} ago`,
        ],
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

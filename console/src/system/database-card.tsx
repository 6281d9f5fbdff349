import type { SystemState } from '../api/generated/system.ts';
import { formatBytes } from '../parts/format-bytes.ts';
import { formatAge } from '../parts/format-duration.ts';
import { Time } from '../parts/time.tsx';
import { FactCard } from './fact-card.tsx';

export function DatabaseCard({ state: { database, now } }: { state: SystemState }) {
  const { migrations, replicas } = database;
  return (
    <FactCard
      title="Database"
      facts={[
        ['PostgreSQL', `${database.version}, ${database.isEmbedded ? 'embedded' : 'your own'}`],
        ['Size', formatBytes(database.sizeBytes)],
        ['Connections', `${database.connections} of at most ${database.maxConnections}`],
        ['Nodes may open', `${database.nodesMayOpen} of the ${database.openToNodes} there are for them`],
        ['Running since', <Time key="since" at={database.startedAt} />],
        ['Migrations', migrations.newest ? `${migrations.count}, the newest ${migrations.newest.name}` : 'none'],
        [
          'Newest backup',
          database.backupMadeAt === null ? 'none of Carillon’s own' : `${formatAge(database.backupMadeAt, now)} ago`,
        ],
        [
          'Replicas',
          replicas.length === 0
            ? 'none seen'
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

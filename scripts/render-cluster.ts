import { cutTable, distributedTables } from '../server/src/domain/operations/cluster.ts';
import { dayTables } from '../server/src/storage/day-partitions.ts';
import { readReport } from '../server/test/citus/report.ts';
import type { ClusterRun } from '../server/test/citus/report.ts';

type Table = (head: string[], rows: string[][]) => string;

/** The sections of docs/cluster.md: the placement of every table, and the last run of the suite on a cluster. */
export async function renderCluster(table: Table): Promise<Record<string, string>> {
  return { 'distributed-tables': renderDistributedTables(table), 'cluster-run': renderClusterRun(await readReport()) };
}

function renderDistributedTables(table: Table): string {
  const partitions = dayTables.map((name) => `\`${name}\``).join(' and ');
  const namesBy = (column: string): string =>
    distributedTables
      .filter((distributed) => distributed.column === column && distributed.name !== cutTable)
      .map(({ name }) => `\`${name}\``)
      .join(', ');
  return table(
    ['Where', 'Tables'],
    [
      [`On the workers, by bucket, co-located with \`${cutTable}\`; ${partitions} also by day`, namesBy('bucket')],
      ['On the workers, by the hash of the address', namesBy('address_hash')],
      ['On the coordinator', 'all others'],
    ],
  );
}

function renderClusterRun({ date, commit, command, totals, refused }: ClusterRun): string {
  return (
    `The last recorded run was on ${date} at commit \`${commit}\` (\`${command}\`): ${totals}; ` +
    `${refused} statements refused ([the report](reports/cluster-suite.txt)).\n`
  );
}

import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { measureImbalance } from '../../domain/operations/cluster.ts';
import { distributeDatabase, readClusterStatus } from '../../start/database/distribute-database.ts';
import type { DistributionProgress, ClusterStatus } from '../../start/database/distribute-database.ts';
import { StartError } from '../../start/start-errors.ts';
import { readSettings } from '../command-context.ts';
import { jsonLineOption } from '../command-options.ts';
import { printJsonLine, printTable } from '../print-table.ts';

/** `carillon database`: distributes the tables of DATABASE_URL over a cluster of PostgreSQL with Citus. */
export function registerDatabase(program: Command): void {
  const database = program.command('database').description('The database on a PostgreSQL cluster with Citus');
  database
    .command('distribute')
    .description('Distribute the large tables over the workers of the cluster; run it again if it was interrupted')
    .option('--shards <number>', 'shards of each table: 1, 2, 4 … 256', parseShards, defaultShards)
    .action((options: { shards: number }) => distribute(program, options));
  database
    .command('status')
    .description('Show which tables are distributed, their sizes, and how evenly the data is spread')
    .option(...jsonLineOption)
    .action((options: { json?: true }) => printStatus(program, options));
}

const defaultShards = 32;

/** A power of two, so that each shard has equally many of the 256 buckets. */
function parseShards(text: string): number {
  const shards = Number(text);
  if (/^\d{1,3}$/.test(text) && [1, 2, 4, 8, 16, 32, 64, 128, 256].includes(shards)) return shards;
  throw new InvalidArgumentError('a power of two from 1 to 256');
}

async function distribute(program: Command, { shards }: { shards: number }): Promise<void> {
  const { steps, workers } = await distributeDatabase(readOwnerUrl(program), { shards, onStep: printStep });
  process.stdout.write(
    steps === 0
      ? `Everything is distributed already, over ${workers} workers.\n`
      : `The database is distributed over ${workers} workers.\n`,
  );
}

function printStep({ kind, table, bytes, number, of }: DistributionProgress): void {
  const words = { distribute: 'distribute', cut: 'cut the shards of', free: 'free local rows of' };
  process.stdout.write(`${String(number).padStart(3)}/${of}  ${words[kind]} ${table.name} (${showBytes(bytes)})\n`);
}

async function printStatus(program: Command, { json }: { json?: true }): Promise<void> {
  const status = await readClusterStatus(readOwnerUrl(program));
  if (json)
    return printJsonLine(status === 'not distributed' ? { isDistributed: false } : { isDistributed: true, ...status });
  if (status === 'not distributed') {
    process.stdout.write('Not distributed: every table is in this database alone.\n');
    return;
  }
  printTables(status);
  process.stdout.write('\n');
  printWorkers(status);
}

function printTables({ tables, shards }: ClusterStatus): void {
  printTable(
    ['TABLE', 'SHARDS', 'SIZE', 'CO-LOCATED WITH'],
    tables.map(({ name, layout }) =>
      layout === undefined
        ? [name, '', '', 'on the coordinator; run `carillon database distribute`']
        : [name, String(layout.shards), showBytes(layout.bytes), layout.besides],
    ),
  );
  process.stdout.write('\n');
  printTable(
    ['SHARDS OF', 'NUMBER', 'LARGEST', 'AVERAGE', 'LARGEST/AVERAGE'],
    [...Map.groupBy(shards, ({ besides }) => besides)].map(([besides, group]) => [
      besides,
      String(group.length),
      ...spreadOf(group.map(({ bytes }) => bytes)),
    ]),
  );
}

function printWorkers({ workers }: ClusterStatus): void {
  printTable(
    ['NODE', 'SHARDS', 'SIZE'],
    workers.map(({ host, port, shards, bytes }) => [`${host}:${port}`, String(shards), showBytes(bytes)]),
  );
  const sizes = workers.filter(({ holdsShards }) => holdsShards).map(({ bytes }) => bytes);
  process.stdout.write(`\nLargest node/average: ${measureImbalance(sizes).toFixed(2)}\n`);
}

function spreadOf(sizes: number[]): string[] {
  const average = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  return [showBytes(Math.max(...sizes)), showBytes(average), measureImbalance(sizes).toFixed(2)];
}

function readOwnerUrl(program: Command): string {
  const { databaseUrl, databaseOwnerUrl, databaseDirectUrl } = readSettings(program);
  const url = databaseOwnerUrl ?? databaseDirectUrl ?? databaseUrl;
  if (url !== undefined) return url;
  throw new StartError(
    'SETTING_INVALID',
    'DATABASE_URL is not set; the embedded database is one server and cannot be distributed.',
  );
}

function showBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let [value, unit] = [bytes, 0];
  for (; value >= 1_000 && unit < units.length - 1; unit += 1) value /= 1_000;
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

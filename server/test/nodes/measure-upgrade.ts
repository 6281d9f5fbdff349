import { prepareDatabase } from '../../src/start/prepare-database.ts';
import { inTransaction, openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { migrateUntil } from '../migrate-until.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { readServerSeconds } from './processor-time.ts';
import { startFleetDatabase } from './start-fleet-database.ts';

export type Upgrade = {
  rows: number;
  seconds: number;
  cpuSeconds: number;
  /** Of the ledger, indexes and all. */
  megabytes: { before: number; after: number };
};

/** The last state with a ledger of texts. */
const before = '000040_push_bodies.sql';
const day = '2026-03-01';
const at = new Date(`${day}T09:00:00Z`);

/** Fills a day of the ledger as it was before it got slim, and migrates that database to the present state. */
export async function measureUpgrade({ rows }: { rows: number }): Promise<Upgrade> {
  const server = await startFleetDatabase('empty', []);
  try {
    const { ownerUrl, observer } = server;
    await inDatabase(ownerUrl, (database) => migrateUntil(database, { last: before, at }));
    await fill(observer, rows);
    const megabytes = await readMegabytes(observer);
    const cpuSeconds = await readServerSeconds(observer);
    const begin = performance.now();
    await prepareDatabase(ownerUrl, { application: new URL(server.url).username });
    const seconds = (performance.now() - begin) / 1000;
    const after = await readServerSeconds(observer);
    const [kept] = await observer<{ rows: number }[]>`select count(*) as rows from deliveries`;
    if (kept!.rows !== rows) throw new Error(`${rows} rows before, ${kept!.rows} after`);
    return {
      ...{ rows, seconds },
      cpuSeconds: after - cpuSeconds,
      megabytes: { before: megabytes, after: await readMegabytes(observer) },
    };
  } finally {
    await server.stop();
  }
}

async function fill(database: Database, rows: number): Promise<void> {
  const workspaceId = await insertTestWorkspace(database, at);
  const runId = 'f'.repeat(24);
  await insertSentRun(database, { workspaceId, id: runId, at });
  await database`select make_day_partition('deliveries', ${day}::date)`;
  await inTransaction(database, async (tx) => {
    // As if the disk had all day, which it had.
    await tx`set local synchronous_commit = off`;
    await tx`
      insert into deliveries (
        day, workspace_id, bucket, run_id, device_id, user_id, platform, outcome, provider_message_id, attempts, sent_at
      )
      select ${day}::date, ${workspaceId}, number % 256, ${runId}, left(md5('d' || number), 24),
        left(md5('u' || number), 24), 'ANDROID', 'ACCEPTED', 'projects/shop/messages/0:1700000000' || number || '%2fd9afcdf9fd7ecd',
        1, ${at}::timestamptz + number / 250 * interval '10 milliseconds'
      from generate_series(1, ${rows}::int) as number`;
  });
  await database`vacuum analyze deliveries`;
}

async function readMegabytes(database: Database): Promise<number> {
  const [row] = await database<{ bytes: number }[]>`
    select sum(pg_total_relation_size(inhrelid))::bigint as bytes from pg_inherits where inhparent = 'deliveries'::regclass`;
  return row!.bytes / 1e6;
}

async function inDatabase(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase({ url, connections: 2, name: 'upgrade' });
  try {
    await work(database);
  } finally {
    await database.end({ timeoutSeconds: 5 });
  }
}

/**
 * Measures the search for deliveries that are due again (goal: below 5 ms with 400 days of the ledger kept): the buckets and
 * the claim, as a worker queries them each second, with nothing due, one delivery and a full batch, while the ledger has 3 days
 * and then 400. Each search is a transaction that is rolled back, so that all see the same rows. Median and slowest of each,
 * measured over the connection.
 *
 * Usage: npm run bench -- retry-claim [--days 400] [--rows 1000] [--waiting 20000] [--times 50]
 * `--rows` is the number of rows in each earlier day, `--waiting` of those that wait for later today.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../server/src/start/embedded-postgres/embedded-postgres.ts';
import { prepareDatabase } from '../../server/src/start/database/prepare-database.ts';
import { inTransaction, openDatabase } from '../../server/src/storage/database.ts';
import { claimDueDeliveries, listDueBuckets } from '../../server/src/storage/ledger/due-deliveries.ts';
import { makeDay } from '../../server/src/storage/day-partitions.ts';
import { insertSentRun } from '../../server/test/insert-sent-run.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'retry-claim'),
  options: {
    days: { type: 'string', default: '400' },
    rows: { type: 'string', default: '1000' },
    waiting: { type: 'string', default: '20000' },
    times: { type: 'string', default: '50' },
  },
});
const [days, rowsPerDay, waiting, times] = [values.days, values.rows, values.waiting, values.times].map(Number) as [
  ...[number, number, number, number],
];
const goalMilliseconds = 5;
const batch = 500;
const rolledBack = new Error('rolled back');
const workspaceId = 'W0';
const today = new Date('2026-11-01T12:00:00Z');
const dayBefore = (count: number): string => new Date(today.getTime() - count * 86_400_000).toISOString().slice(0, 10);

const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
const embedded = await startEmbeddedPostgres({ folder });
const owner = openDatabase({ url: embedded.ownerUrl, connections: 1, name: 'bench' });
const opened = openDatabase({
  ...{ url: embedded.url, acrossRole: 'carillon_app_across' },
  ...{ connections: 2, name: 'bench' },
});
const database = opened.acrossWorkspaces();
process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
try {
  await prepareDatabase(embedded.ownerUrl, { application: 'carillon_app' });
  await owner`insert into workspaces (id, db_name, name, created_at) values (${workspaceId}, 'db', 'W', ${today})`;
  const run = 'a'.repeat(24);
  await insertSentRun(owner, { workspaceId, id: run, at: today });
  await owner`update runs set status = 'SENDING', ended_at = null where id = ${run}`;
  let kept = 0;
  for (const count of [Math.min(3, days), days]) {
    for (; kept < count; kept += 1) await fillDay(kept);
    await owner`vacuum analyze deliveries`;
    process.stdout.write(
      `\n${kept} days, ${rowsPerDay} rows in each earlier one, ${waiting} that wait for later today\n`,
    );
    for (const due of [0, 1, batch]) await measure(due);
  }
} finally {
  await Promise.all([opened.end(), owner.end()]);
  await embedded.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Fills the newest day with waiting deliveries and earlier days with accepted ones. */
async function fillDay(count: number): Promise<void> {
  const day = dayBefore(count);
  await makeDay(database, { table: 'deliveries', day });
  const isToday = count === 0;
  await owner`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, code, attempts,
      sent_at, retry_at)
    select ${day}::date, workspaces.number, place % 256, runs.number, decode(lpad(to_hex(place), 24, '0'), 'hex'),
      decode(lpad(to_hex(place), 24, 'f'), 'hex'), 'A', ${isToday ? 'W' : 'A'}::"char",
      ${isToday ? 'UNAVAILABLE' : null}::text, 1, ${today},
      ${isToday ? new Date(today.getTime() + 3_600_000) : null}::timestamptz + place * interval '1 second'
    from generate_series(1, ${isToday ? waiting : rowsPerDay}) as place, workspaces, runs`;
}

/** Measures with this many of the waiting deliveries due. */
async function measure(due: number): Promise<void> {
  const at = new Date(today.getTime() + 3_600_000 + due * 1000);
  const claim = { days: [dayBefore(0)], at, limit: batch, kind: 'fresh' } as const;
  const lease = { leasedAt: at, leaseUntil: new Date(at.getTime() + 55_000) };
  const taken: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const attempt = inTransaction(database, async (tx) => {
      const begun = performance.now();
      const found = await listDueBuckets(tx, { ...claim, ...lease });
      const [buckets, runNumbers] = [found.map(({ bucket }) => bucket), found[0]?.runNumbers ?? []];
      const rows = found.length === 0 ? [] : await claimDueDeliveries(tx, { ...claim, ...lease, buckets, runNumbers });
      taken.push(performance.now() - begun);
      if (rows.length !== due) throw new Error(`${rows.length} deliveries were claimed, not ${due}`);
      throw rolledBack;
    });
    await attempt.catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
  }
  taken.sort((a, b) => a - b);
  const [median, slowest] = [taken[Math.floor(times / 2)]!, taken.at(-1)!];
  const verdict = median < goalMilliseconds ? `below ${goalMilliseconds} ms` : `above ${goalMilliseconds} ms`;
  process.stdout.write(
    `  ${String(due).padStart(3)} due: median ${median.toFixed(2)} ms, slowest ${slowest.toFixed(2)} ms, ${verdict}\n`,
  );
}

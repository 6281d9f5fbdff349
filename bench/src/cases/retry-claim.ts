import { makeDay } from '../../../server/src/storage/day-partitions.ts';
import { inTransaction } from '../../../server/src/storage/database.ts';
import { claimDueDeliveries, listDueBuckets } from '../../../server/src/storage/ledger/due-deliveries.ts';
import { insertSentRun } from '../../../server/test/insert-sent-run.ts';
import { median } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { startDatabase } from '../kit/embedded-database.ts';
import type { BenchDatabase } from '../kit/embedded-database.ts';

const goalMilliseconds = 5;
const batch = 500;
const rolledBack = new Error('rolled back');
const workspaceId = 'W0';
const today = new Date('2026-11-01T12:00:00Z');
const dayBefore = (count: number): string => new Date(today.getTime() - count * 86_400_000).toISOString().slice(0, 10);

/** As a worker queries each second, with nothing due, one delivery, and a full batch. */
export const retryClaimCase: Case<'retry-claim', BenchDatabase> = {
  async prepare(bench) {
    const database = await startDatabase(bench);
    const { owner } = database;
    await owner`insert into workspaces (id, db_name, name, created_at) values (${workspaceId}, 'db', 'W', ${today})`;
    const run = 'a'.repeat(24);
    await insertSentRun(owner, { workspaceId, id: run, at: today });
    await owner`update runs set status = 'SENDING', ended_at = null where id = ${run}`;
    return database;
  },

  async run(bench, database) {
    const { days, rows, waiting } = bench.options;
    let kept = 0;
    for (const count of [Math.min(3, days), days]) {
      for (; kept < count; kept += 1) await fillDay(bench, { ...database, ago: kept });
      await database.owner`vacuum analyze deliveries`;
      bench.say(`\n${kept} days, ${rows} rows in each earlier one, ${waiting} that wait for later today`);
      for (const due of [0, 1, batch]) await measure(bench, { ...database, due });
    }
  },
};

/** Fills the newest day with waiting deliveries and earlier days with accepted ones. */
async function fillDay(
  bench: Bench<'retry-claim'>,
  { owner, across, ago }: BenchDatabase & { ago: number },
): Promise<void> {
  const day = dayBefore(ago);
  await makeDay(across, { table: 'deliveries', day });
  const isToday = ago === 0;
  await owner`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, code, attempts,
      sent_at, retry_at)
    select ${day}::date, workspaces.number, place % 256, runs.number, decode(lpad(to_hex(place), 24, '0'), 'hex'),
      decode(lpad(to_hex(place), 24, 'f'), 'hex'), 'A', ${isToday ? 'W' : 'A'}::"char",
      ${isToday ? 'UNAVAILABLE' : null}::text, 1, ${today},
      ${isToday ? new Date(today.getTime() + 3_600_000) : null}::timestamptz + place * interval '1 second'
    from generate_series(1, ${isToday ? bench.options.waiting : bench.options.rows}) as place, workspaces, runs`;
}

/**
 * Measures with this many of the waiting deliveries due. Each search is a transaction that is rolled back, so that all see the
 * same rows.
 */
async function measure(bench: Bench<'retry-claim'>, { across, due }: BenchDatabase & { due: number }): Promise<void> {
  const { times } = bench.options;
  const at = new Date(today.getTime() + 3_600_000 + due * 1000);
  const claim = { days: [dayBefore(0)], at, limit: batch, kind: 'fresh' } as const;
  const lease = { leasedAt: at, leaseUntil: new Date(at.getTime() + 55_000) };
  const taken: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const attempt = inTransaction(across, async (tx) => {
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
  const middle = median(taken);
  const verdict = `${middle < goalMilliseconds ? 'below' : 'above'} ${goalMilliseconds} ms`;
  const slowest = Math.max(...taken).toFixed(2);
  bench.say(`  ${String(due).padStart(3)} due: median ${middle.toFixed(2)} ms, slowest ${slowest} ms, ${verdict}`);
}

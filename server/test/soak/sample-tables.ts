import type { Database } from '../../src/storage/database.ts';

export type TableSample = {
  rows: number;
  /** Rows that their clean-up should have taken, by the installation's time. */
  overdue: number;
};

/**
 * What is stored for a time only, and what must not be among it: a day later than its end it is gone. Ledger, campaigns,
 * segments and the log of changes are kept for good; what waits in queues is judged when the load has ended.
 */
const retained: Record<string, string> = {
  access_tokens: `expires_at < now.at - interval '2 days'`,
  refresh_tokens: `expires_at < now.at - interval '2 days'`,
  console_sessions: `expires_at < now.at - interval '1 day'`,
  idempotency_keys: `created_at < now.at - interval '2 days'`,
  api_log: `received_at < now.at - interval '8 days'`,
  limit_windows: `last_event_at < now.at - interval '2 days'`,
  unattributed_events: `received_at < now.at - interval '1 day'`,
};

/** Rows that wait for somebody. */
const queues: Record<string, string> = {
  'runs open': `runs where status in ('QUEUED', 'SENDING')`,
  'chunks open': `chunks where state in ('READY', 'CLAIMED')`,
  'deliveries waiting': `deliveries where outcome = 'WAITING'`,
  'segment operations open': `segment_operations where state in ('QUEUED', 'FILLING', 'WAITING')`,
  'segment file pieces': `segment_file_pieces`,
  'callbacks pending': `callbacks where state = 'PENDING'`,
  'erasures open': `erasures where state <> 'DONE'`,
};

export async function sampleTables(database: Database, at: Date): Promise<Record<string, TableSample>> {
  const parts = Object.entries(retained).map(
    ([table, overdue]) =>
      `select '${table}' as name, count(*) as rows, count(*) filter (where ${overdue}) as overdue from ${table}, now`,
  );
  const text = `with now as (select timestamptz '${at.toISOString()}' as at) ${parts.join(' union all ')}`;
  const rows = (await database.unsafe(text)) as unknown as ({ name: string } & TableSample)[];
  return Object.fromEntries(rows.map(({ name, ...sample }) => [name, sample]));
}

export async function sampleQueues(database: Database): Promise<Record<string, number>> {
  const parts = Object.entries(queues).map(([name, from]) => `select '${name}' as name, count(*) as rows from ${from}`);
  const rows = (await database.unsafe(parts.join(' union all '))) as unknown as { name: string; rows: number }[];
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
}

/** The node's connections as the database counts them, and how long its longest transaction has been open. */
export async function sampleSessions(database: Database): Promise<{ sessions: number; maxTransactionSeconds: number }> {
  const [row] = await database<{ sessions: number; maxTransactionSeconds: number }[]>`
    select count(*) as sessions,
      coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float as "maxTransactionSeconds"
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and application_name is distinct from 'soak'`;
  return row!;
}

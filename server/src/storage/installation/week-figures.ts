import type { Queryable } from '../database.ts';
import type { DeliveryOutcome } from '../ledger/deliveries.ts';

export type AskedSpans = {
  workspaceId: string;
  /** Starts of consecutive spans, in order. The last one has no end. */
  starts: readonly Date[];
  /** Only the newest runs are read. */
  maxRuns: number;
};

/** Messages of the runs that began in a span. `span` is its index. */
export type SpanOutcome = { span: number; outcome: DeliveryOutcome; devices: number };

/** Reads the newest runs separately, to be joined with sharded tables, as `campaign-stats` does. Index: runs_started. */
const runsOf = (tx: Queryable, { workspaceId, starts, maxRuns }: AskedSpans) => tx`
  select runs.id, width_bucket(runs.started_at, ${starts.map((start) => start.toISOString())}::timestamptz[]) - 1 as span from runs
  where runs.workspace_id = ${workspaceId} and runs.started_at >= ${starts[0]!} and not runs.is_test
  order by runs.started_at desc limit ${maxRuns}`;

/** Counts the runs that began in any of the spans, at most `maxRuns`. Index: runs_started. */
export async function countRunsOf(tx: Queryable, asked: AskedSpans): Promise<number> {
  const [row] = await tx<{ runs: number }[]>`select count(*) as runs from (${runsOf(tx, asked)}) as newest`;
  return row!.runs;
}

/** Sums the outcomes of messages by span. Indexes: runs_started, run_counts primary key. */
export async function sumSpanOutcomes(tx: Queryable, asked: AskedSpans): Promise<SpanOutcome[]> {
  return tx<SpanOutcome[]>`
    with asked as materialized (${runsOf(tx, asked)})
    select asked.span, run_counts.outcome, sum(run_counts.devices)::bigint as devices
    from asked join run_counts on run_counts.run_id = asked.id
    group by asked.span, run_counts.outcome`;
}

/** Sums clicked messages by span, each message once. Indexes: runs_started, run_interactions primary key. */
export async function sumSpanClicks(tx: Queryable, asked: AskedSpans): Promise<{ span: number; messages: number }[]> {
  return tx<{ span: number; messages: number }[]>`
    with asked as materialized (${runsOf(tx, asked)})
    select asked.span, sum(run_interactions.messages)::bigint as messages
    from asked join run_interactions on run_interactions.run_id = asked.id
    where run_interactions.kind = 'CLICK'
    group by asked.span`;
}

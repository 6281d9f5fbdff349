import type { Queryable, Transaction } from '../database.ts';

export type LimitCount = {
  operation: string;
  workspaceId: string;
  /** Events that ask to be counted together. */
  wanted: number;
  /** Most events in any window. */
  limit: number;
  windowSeconds: number;
  at: Date;
};

export type LimitGrant = {
  /** How many of the wanted events are within the limit; they are counted, the others are not. */
  granted: number;
  /** How many more would pass now. */
  remaining: number;
  /** Whole seconds until one more would pass; 0 when one passes now. */
  retryAfterSeconds: number;
};

/** Counts events of one workspace; see `countEachWithinLimit`. */
export async function countWithinLimit(tx: Transaction, count: LimitCount): Promise<LimitGrant> {
  const [grant] = await countEachWithinLimit(tx, [count]);
  return grant!;
}

// More than a batch adds.
const oldMarksDeleted = 100;

/**
 * Counts events in exact sliding windows, each of another workspace or operation, a batch at the cost of one row each. Event
 * number k passes when event number k − limit is at least one window old, and a mark says how many events had been counted
 * at an instant; so the mark at the window's edge says how far the count may go. The first batch of an instant and its
 * followers keep marks of their own, which `counted` tells apart. The newest old mark stays: it is the base of the count.
 *
 * The counters are locked first, in a statement of its own: the one after it sees what a waiting transaction before us has
 * counted. Order of locks: by operation and workspace. Indexes: limit_counters key, limit_marks_time, limit_marks key. Old
 * marks are deleted by their places, which nobody moves under the lock: joined by key they were looked for once for each mark of
 * the window.
 *
 * @returns the grants, in the order asked
 */
export async function countEachWithinLimit(tx: Transaction, counts: readonly LimitCount[]): Promise<LimitGrant[]> {
  await lockCounters(tx, counts);
  const rows = await tx<{ place: number; granted: number; remaining: number; nextMarkAt: Date | null }[]>`
    with asked as materialized (
      select asked.*, limit_counters.counted, base.counted as base
      from unnest(
        ${counts.map(({ operation }) => operation)}::text[], ${counts.map(({ workspaceId }) => workspaceId)}::text[],
        ${counts.map(({ wanted }) => wanted)}::int[], ${counts.map(({ limit }) => limit)}::int[],
        ${counts.map(({ at, windowSeconds }) => new Date(at.getTime() - windowSeconds * 1000).toISOString())}::timestamptz[],
        ${counts.map(({ at }) => at.toISOString())}::timestamptz[]
      ) with ordinality as asked (operation, workspace_id, wanted, most, edge, at, place)
      join limit_counters on limit_counters.operation = asked.operation
        and limit_counters.workspace_id = asked.workspace_id collate "C"
      left join lateral (
        select limit_marks.counted from limit_marks
        where limit_marks.operation = asked.operation and limit_marks.workspace_id = asked.workspace_id collate "C"
          and limit_marks.at <= asked.edge
        order by limit_marks.at desc, limit_marks.counted desc limit 1
      ) as base on true
    ), decided as materialized (
      select *, greatest(0, least(wanted, coalesce(base, 0) + most - counted)) as granted from asked
    ), added as (
      update limit_counters set counted = decided.counted + decided.granted
      from decided
      where limit_counters.operation = decided.operation
        and limit_counters.workspace_id = decided.workspace_id collate "C" and decided.granted > 0
    ), marked as (
      insert into limit_marks (operation, workspace_id, counted, at)
      select operation, workspace_id, counted + granted, at from decided where granted > 0
    ), forgotten as (
      delete from limit_marks
      where ctid = any(array(
        select old.ctid
        from decided cross join lateral (
          select limit_marks.ctid from limit_marks
          where limit_marks.operation = decided.operation and limit_marks.workspace_id = decided.workspace_id collate "C"
            and limit_marks.counted < decided.base
          order by limit_marks.counted limit ${oldMarksDeleted}
        ) as old
        where decided.granted > 0
      ))
    )
    select place::int, granted::int, (coalesce(base, 0) + most - counted - granted)::int as remaining,
      coalesce(next.at, case when granted > 0 then decided.at end) as "nextMarkAt"
    from decided
    -- Of the next event, which passes when the mark that covers number counted + granted + 1 - most is a window old. No mark
    -- from before covers it where what is counted now does.
    left join lateral (
      select limit_marks.at from limit_marks
      where limit_marks.operation = decided.operation and limit_marks.workspace_id = decided.workspace_id collate "C"
        and limit_marks.counted >= decided.counted + decided.granted + 1 - decided.most
      order by limit_marks.counted limit 1
    ) as next on coalesce(base, 0) + most - counted - granted <= 0
    order by place`;
  return rows.map(({ place, granted, nextMarkAt, ...row }) => {
    const remaining = Math.max(0, row.remaining);
    return { granted, remaining, retryAfterSeconds: remaining > 0 ? 0 : secondsUntil(nextMarkAt, counts[place - 1]!) };
  });
}

/** Those that are not there yet are made. */
async function lockCounters(tx: Transaction, counts: readonly LimitCount[]): Promise<void> {
  const asked = tx`
    unnest(${counts.map(({ operation }) => operation)}::text[], ${counts.map(({ workspaceId }) => workspaceId)}::text[])
      as asked (operation, workspace_id)`;
  const lock = () => tx`
    select 1 from limit_counters join ${asked} on limit_counters.operation = asked.operation
      and limit_counters.workspace_id = asked.workspace_id collate "C"
    order by limit_counters.operation, limit_counters.workspace_id
    for update of limit_counters`;
  if ((await lock()).length === counts.length) return;
  await tx`
    insert into limit_counters (operation, workspace_id, counted)
    select asked.operation, asked.workspace_id, 0 from ${asked} order by 1, 2
    on conflict (operation, workspace_id) do nothing`;
  await lock();
}

/** From an event that is counted now until the mark is a window old. */
function secondsUntil(markAt: Date | null, { at, windowSeconds }: LimitCount): number {
  if (markAt === null) return 0;
  return Math.max(1, Math.ceil((markAt.getTime() + windowSeconds * 1000 - at.getTime()) / 1000));
}

/** How many events the window that ends at `at` holds; counts none. Indexes: limit_counters key, limit_marks_time. */
export async function readCounted(
  tx: Queryable,
  { operation, workspaceId, windowSeconds, at }: Pick<LimitCount, 'operation' | 'workspaceId' | 'windowSeconds' | 'at'>,
): Promise<number> {
  const edge = new Date(at.getTime() - windowSeconds * 1000);
  const [row] = await tx<{ counted: number }[]>`
    select limit_counters.counted - coalesce((
      select limit_marks.counted from limit_marks
      where limit_marks.operation = ${operation} and limit_marks.workspace_id = ${workspaceId} and at <= ${edge}
      order by at desc, limit_marks.counted desc limit 1
    ), 0) as counted
    from limit_counters where operation = ${operation} and workspace_id = ${workspaceId}`;
  return row?.counted ?? 0;
}

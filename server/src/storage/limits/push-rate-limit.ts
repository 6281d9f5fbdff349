import type { Database, Queryable, Transaction } from '../database.ts';

export type LimitCount = {
  operation: string;
  workspaceId: string;
  /** Number of events to count together. */
  wanted: number;
  /** Maximum number of events in any window. */
  limit: number;
  windowSeconds: number;
  at: Date;
};

export type LimitGrant = {
  /** How many of the wanted events are within the limit. They are counted; the others are not. */
  granted: number;
  /** How many more events would pass now. */
  remaining: number;
  /** Whole seconds until one more event would pass; 0 if one passes now. */
  retryAfterSeconds: number;
};

/** Counts events of one workspace; see `countEachWithinLimit`. */
export async function countWithinLimit(tx: Transaction, count: LimitCount): Promise<LimitGrant> {
  const [grant] = await countEachWithinLimit(tx, [count]);
  return grant!;
}

/** Counts events in the transaction that stores what they are for; see `countTogether`. */
export function countEachWithinLimit(tx: Transaction, counts: readonly LimitCount[]): Promise<LimitGrant[]> {
  return countTogether(tx, { counts, isFlushed: true });
}

/**
 * Counts events before the work they belong to is stored, in one message and without waiting for the disk. The
 * database's log has one order, so when the work is durable, its count is too. A crash loses the counts of the last
 * half second that no stored work followed, which are those of rejected requests. If the connection is lost meanwhile,
 * the caller cannot know whether the events were counted: a retry may count them twice, but never too few.
 */
export function countBeforehand(database: Database, counts: readonly LimitCount[]): Promise<LimitGrant[]> {
  return countTogether(database, { counts, isFlushed: false });
}

// A batch adds one mark per workspace and operation, so each batch removes a part of an accumulated backlog.
const oldMarksDeleted = 20;

/**
 * Counts events in exact sliding windows, each for a different workspace or operation. A batch of events costs one row.
 * Event number k passes when event number k − limit is at least one window old. A mark stores how many events had been
 * counted at an instant, so the mark at the window's edge says how far the count may go. The first batch of an instant
 * and later ones have separate marks, which differ in `counted`. The newest old mark stays: it is the base of the
 * count.
 *
 * The statement locks the counters first; what it reads under the lock includes every earlier transaction's count. A
 * statement that waited for the lock does not see the marks of the transaction it waited for. Those are as young as
 * this count, so none of them can be the base. Order of locks: by operation and workspace. Indexes: limit_counters key,
 * limit_marks_time, limit_marks key. Old marks are deleted by their ctid, which cannot change under the lock; a join by
 * key would look them up once for each mark of the window. They are joined row by row and not as an array, because a
 * plan made while the table was small compares an array with every row: 50 to 90 ms.
 *
 * @returns the grants, in the order of `counts`
 */
async function countTogether(
  tx: Queryable,
  { counts, isFlushed }: { counts: readonly LimitCount[]; isFlushed: boolean },
): Promise<LimitGrant[]> {
  const grants = await countThose(tx, { counts, isFlushed });
  const missing = counts.filter((count) => !grants.has(count));
  if (missing.length > 0) {
    await makeCounters(tx, missing);
    for (const [count, grant] of await countThose(tx, { counts: missing, isFlushed })) grants.set(count, grant);
  }
  return counts.map((count) => grants.get(count)!);
}

/** Counts the events that already have a counter. */
async function countThose(
  tx: Queryable,
  { counts, isFlushed }: { counts: readonly LimitCount[]; isFlushed: boolean },
): Promise<Map<LimitCount, LimitGrant>> {
  const rows = await tx<{ place: number; granted: number; remaining: number; nextMarkAt: Date | null }[]>`
    with locked as materialized (
      select asked.*, limit_counters.counted
      from unnest(
        ${counts.map(({ operation }) => operation)}::text[], ${counts.map(({ workspaceId }) => workspaceId)}::text[],
        ${counts.map(({ wanted }) => wanted)}::int[], ${counts.map(({ limit }) => limit)}::int[],
        ${counts.map(({ at, windowSeconds }) => new Date(at.getTime() - windowSeconds * 1000).toISOString())}::timestamptz[],
        ${counts.map(({ at }) => at.toISOString())}::timestamptz[]
      ) with ordinality as asked (operation, workspace_id, wanted, most, edge, at, place)
      join limit_counters on limit_counters.operation = asked.operation
        and limit_counters.workspace_id = asked.workspace_id collate "C"
      order by limit_counters.operation, limit_counters.workspace_id
      for update of limit_counters
    ), asked as materialized (
      select locked.*, base.counted as base
      from locked
      left join lateral (
        select limit_marks.counted from limit_marks
        where limit_marks.operation = locked.operation and limit_marks.workspace_id = locked.workspace_id collate "C"
          and limit_marks.at <= locked.edge
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
    ), old as (
      select oldest.mark
      from decided cross join lateral (
        select limit_marks.ctid as mark from limit_marks
        where limit_marks.operation = decided.operation and limit_marks.workspace_id = decided.workspace_id collate "C"
          and limit_marks.counted < decided.base
        order by limit_marks.counted limit ${oldMarksDeleted}
      ) as oldest
      where decided.granted > 0
    ), forgotten as (
      delete from limit_marks using old where limit_marks.ctid = old.mark
    )
    select place::int, granted::int, (coalesce(base, 0) + most - counted - granted)::int as remaining,
      coalesce(next.at, case when most > 0 then decided.at end) as "nextMarkAt",
      case when not ${isFlushed} then set_config('synchronous_commit', 'off', true) end
    from decided
    -- The time of the next event: it passes when the mark that covers number counted + granted + 1 - most is one window old.
    -- If the events of this statement cover that number, there is no such mark.
    left join lateral (
      select limit_marks.at from limit_marks
      where limit_marks.operation = decided.operation and limit_marks.workspace_id = decided.workspace_id collate "C"
        and limit_marks.counted >= decided.counted + decided.granted + 1 - decided.most
      order by limit_marks.counted limit 1
    ) as next on coalesce(base, 0) + most - counted - granted <= 0
    order by place`;
  return new Map(
    rows.map(({ place, granted, nextMarkAt, ...row }) => {
      const count = counts[place - 1]!;
      const remaining = Math.max(0, row.remaining);
      return [count, { granted, remaining, retryAfterSeconds: remaining > 0 ? 0 : secondsUntil(nextMarkAt, count) }];
    }),
  );
}

/** Index: limit_counters key. */
async function makeCounters(tx: Queryable, counts: readonly LimitCount[]): Promise<void> {
  await tx`
    insert into limit_counters (operation, workspace_id, counted)
    select operation, workspace_id, 0
    from unnest(${counts.map(({ operation }) => operation)}::text[], ${counts.map(({ workspaceId }) => workspaceId)}::text[])
      as asked (operation, workspace_id)
    order by 1, 2
    on conflict (operation, workspace_id) do nothing`;
}

/** Returns the seconds from an event counted now until the mark is a window old. */
function secondsUntil(markAt: Date | null, { at, windowSeconds }: LimitCount): number {
  if (markAt === null) return 0;
  return Math.max(1, Math.ceil((markAt.getTime() + windowSeconds * 1000 - at.getTime()) / 1000));
}

/**
 * Returns how many events the window that ends at `at` holds, without counting any. Indexes: limit_counters key,
 * limit_marks_time.
 */
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

import type { Queryable, Transaction } from '../pool.ts';

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

const oldMarksDeleted = 1_000;

/**
 * Counts events in an exact sliding window, a batch at the cost of one row. Event number k passes when event number
 * k − limit is at least one window old, and a mark says how many events had been counted at an instant; so the mark at
 * the window's edge says how far the count may go.
 *
 * Locks the workspace's counter first, in a statement of its own: the reads after it see what a waiting transaction
 * before us has counted. Indexes: limit_counters key, limit_marks_time, limit_marks key.
 */
export async function countWithinLimit(tx: Transaction, count: LimitCount): Promise<LimitGrant> {
  const { operation, workspaceId, wanted, limit, at } = count;
  const edge = new Date(at.getTime() - count.windowSeconds * 1000);
  await tx`
    insert into limit_counters (operation, workspace_id, counted) values (${operation}, ${workspaceId}, 0)
    on conflict (operation, workspace_id) do nothing`;
  const [counter] = await tx<{ counted: number }[]>`
    select counted from limit_counters where operation = ${operation} and workspace_id = ${workspaceId} for update`;
  const counted = counter!.counted;
  const [old] = await tx<{ counted: number }[]>`
    select counted from limit_marks
    where operation = ${operation} and workspace_id = ${workspaceId} and at <= ${edge}
    order by at desc, counted desc limit 1`;
  const highest = (old?.counted ?? 0) + limit;
  const granted = Math.max(0, Math.min(wanted, highest - counted));
  if (granted > 0) await insertMark(tx, { ...count, counted: counted + granted, base: old?.counted });
  const remaining = Math.max(0, highest - counted - granted);
  return {
    granted,
    remaining,
    retryAfterSeconds: remaining > 0 ? 0 : await secondsUntilNext(tx, count, counted + granted),
  };
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

async function insertMark(
  tx: Transaction,
  mark: LimitCount & { counted: number; base: number | undefined },
): Promise<void> {
  const { operation, workspaceId, counted, at } = mark;
  await tx`update limit_counters set counted = ${counted} where operation = ${operation} and workspace_id = ${workspaceId}`;
  // The first batch of an instant and its followers keep marks of their own; `counted` tells them apart.
  await tx`
    insert into limit_marks (operation, workspace_id, counted, at) values (${operation}, ${workspaceId}, ${counted}, ${at})`;
  if (mark.base !== undefined) {
    // The newest old mark stays: it is the base of the count. A batch deletes a bounded number, more than it adds.
    await tx`
      delete from limit_marks
      where operation = ${operation} and workspace_id = ${workspaceId} and counted in (
        select counted from limit_marks
        where operation = ${operation} and workspace_id = ${workspaceId} and counted < ${mark.base}
        order by counted limit ${oldMarksDeleted}
      )`;
  }
}

/** The next event passes when the mark that covers event number `counted + 1 - limit` is a window old. */
async function secondsUntilNext(tx: Transaction, count: LimitCount, counted: number): Promise<number> {
  const [mark] = await tx<{ at: Date }[]>`
    select at from limit_marks
    where operation = ${count.operation} and workspace_id = ${count.workspaceId}
      and counted >= ${counted + 1 - count.limit}
    order by counted limit 1`;
  if (!mark) return 0;
  return Math.max(1, Math.ceil((mark.at.getTime() + count.windowSeconds * 1000 - count.at.getTime()) / 1000));
}

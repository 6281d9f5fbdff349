import type { Queryable } from '../database.ts';

/** Seats of a limit that are taken, and those whose user's message was accepted. */
export type LimitCount = { taken: number; sent: number };

/** What is known without waiting for anybody; a limit that nobody has met has no row. Index: primary key. */
export async function findLimit(tx: Queryable, id: string): Promise<LimitCount> {
  const [count] = await tx<LimitCount[]>`select taken, sent from audience_limits where id = ${id}`;
  return count ?? { taken: 0, sent: 0 };
}

/**
 * Locks a limit until the end of the transaction; its row is made when there is none. Before the seats, and before what is
 * written about users, so that two transactions never wait in a circle. Index: primary key.
 */
export async function lockLimit(
  tx: Queryable,
  { id, workspaceId }: { id: string; workspaceId: string },
): Promise<LimitCount> {
  const [count] = await tx<LimitCount[]>`
    insert into audience_limits (id, workspace_id, taken, sent) values (${id}, ${workspaceId}, 0, 0)
    on conflict (id) do update set taken = audience_limits.taken
    returning taken, sent`;
  return count!;
}

/** Adds to the count of a limit; either may be negative or zero. Index: primary key. */
export async function countSeats(tx: Queryable, { id, taken, sent }: LimitCount & { id: string }): Promise<void> {
  if (taken === 0 && sent === 0) return;
  await tx`
    update audience_limits set taken = taken + ${taken}::bigint, sent = sent + ${sent}::bigint where id = ${id}`;
}

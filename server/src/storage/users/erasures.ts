import type { Queryable } from '../database.ts';
import type { UserKey } from '../../domain/users/users.ts';

export type Erasure = {
  id: string;
  workspaceId: string;
  state: 'PENDING' | 'REMOVED';
  /** The user first, then the rows that were merged into it. */
  users: UserKey[];
  /** Removed rows by table, so far. */
  counts: Record<string, number>;
};

type StoredUsers = [bucket: number, userId: string][];

/** Stores a deletion; one that is already pending keeps its date. Index: erasures_pending. */
export async function insertErasure(
  tx: Queryable,
  erasure: UserKey & { id: string; workspaceId: string; customerDigest: Buffer; at: Date; dueAt: Date },
): Promise<void> {
  const users: StoredUsers = [[erasure.bucket, erasure.userId]];
  await tx`
    insert into erasures (id, workspace_id, customer_digest, state, bucket, user_ids, requested_at, due_at)
    values (${erasure.id}, ${erasure.workspaceId}, ${erasure.customerDigest}, 'PENDING', ${erasure.bucket},
      ${JSON.stringify(users)}::text::jsonb, ${erasure.at}, ${erasure.dueAt})
    on conflict (workspace_id, user_ids) where state = 'PENDING' do nothing`;
}

/** True if a user is to be erased; the caller holds the user's lock. Index: erasures_pending. */
export async function isErasurePending(tx: Queryable, user: UserKey & { workspaceId: string }): Promise<boolean> {
  const users: StoredUsers = [[user.bucket, user.userId]];
  const [row] = await tx`
    select 1 from erasures
    where workspace_id = ${user.workspaceId} and user_ids = ${JSON.stringify(users)}::text::jsonb and state = 'PENDING'`;
  return row !== undefined;
}

/**
 * Cancels a deletion that has not begun. One that is under way holds the row: this waits for it, and then it is no
 * longer pending. Index: erasures_pending.
 *
 * @returns its id; undefined when none is pending
 */
export async function cancelErasure(
  tx: Queryable,
  user: UserKey & { workspaceId: string },
): Promise<string | undefined> {
  const users: StoredUsers = [[user.bucket, user.userId]];
  const [row] = await tx<{ id: string }[]>`
    delete from erasures
    where workspace_id = ${user.workspaceId} and user_ids = ${JSON.stringify(users)}::text::jsonb and state = 'PENDING'
    returning id`;
  return row?.id;
}

/** Claims the erasure whose next step is longest overdue, skipping one that another node has claimed. Index: erasures_due. */
export async function takeDueErasure(tx: Queryable, at: Date): Promise<Erasure | undefined> {
  const [row] = await tx<(Omit<Erasure, 'users'> & { users: StoredUsers })[]>`
    select id, workspace_id as "workspaceId", state, user_ids as users, counts
    from erasures
    where due_at <= ${at} and state <> 'DONE'
    order by due_at
    limit 1
    for update skip locked`;
  return row && { ...row, users: row.users.map(([bucket, userId]) => ({ bucket, userId })) };
}

/** Stores a step; the caller holds the lock of takeDueErasure. The last step deletes which users they were. */
export async function noteErasureStep(
  tx: Queryable,
  step: { id: string; counts: Record<string, number>; at: Date } & (
    { state: 'REMOVED'; users: UserKey[]; dueAt: Date } | { state: 'DONE' }
  ),
): Promise<void> {
  const counts = JSON.stringify(step.counts);
  if (step.state === 'DONE') {
    await tx`
      update erasures set state = 'DONE', user_ids = null, due_at = ${step.at}, counts = ${counts}::text::jsonb
      where id = ${step.id}`;
    return;
  }
  const users: StoredUsers = step.users.map(({ bucket, userId }) => [bucket, userId]);
  await tx`
    update erasures
    set state = 'REMOVED', user_ids = ${JSON.stringify(users)}::text::jsonb, due_at = ${step.dueAt},
      removed_at = ${step.at}, counts = ${counts}::text::jsonb
    where id = ${step.id}`;
}

export type ErasureRecord = {
  id: string;
  state: Erasure['state'] | 'DONE';
  requestedAt: Date;
  dueAt: Date;
  removedAt: Date | null;
  counts: Record<string, number>;
};

/**
 * Lists deletions of a workspace, newest first; with a digest, those of one user. Indexes: erasures_newest,
 * erasures_customer.
 */
export async function listErasures(
  tx: Queryable,
  { workspaceId, customerDigest, limit }: { workspaceId: string; customerDigest: Buffer | null; limit: number },
): Promise<ErasureRecord[]> {
  return tx<ErasureRecord[]>`
    select id, state, requested_at as "requestedAt", due_at as "dueAt", removed_at as "removedAt", counts
    from erasures
    where workspace_id = ${workspaceId} and (${customerDigest}::bytea is null or customer_digest = ${customerDigest})
    order by requested_at desc, id desc
    limit ${limit}`;
}

/** Returns which of these devices were erased. Index: erased_devices primary key. */
export async function findErasedDevices(
  tx: Queryable,
  devices: readonly { workspaceId: string; deviceId: string }[],
): Promise<Set<string>> {
  const rows = await tx<{ deviceId: string }[]>`
    select given.device_id as "deviceId"
    from unnest(
      ${devices.map(({ workspaceId }) => workspaceId)}::text[], ${devices.map(({ deviceId }) => deviceId)}::text[]
    ) as given (workspace_id, device_id)
    join erased_devices on erased_devices.workspace_id = given.workspace_id collate "C"
      and erased_devices.device_digest = sha256(convert_to(given.device_id, 'UTF8'))`;
  return new Set(rows.map(({ deviceId }) => deviceId));
}

import type { Platform } from '../../domain/content/content.ts';
import type { AudienceDevice } from '../campaigns/audience.ts';
import { defaultAppId } from '../../domain/apps.ts';
import type { Database, Fragment, Lease, Queryable } from '../database.ts';
import { claimedColumns } from './chunks.ts';
import type { ChunkHold, ClaimedChunk, Cursor, Window } from './chunks.ts';
import type { WinnerStep } from '../../domain/experiments/learning.ts';

/** True for chunks of runs to named users that no worker has claimed yet. The condition of the index chunks_named. */
function isFresh(tx: Queryable): Fragment {
  return tx`chunks.lane = 0 and chunks.state = 'READY' and chunks.attempt = 0`;
}

/** A chunk of a run to named users. */
export type NamedChunk = ClaimedChunk & {
  /** The users of its run; null if they are more than `maxNamedUsers`. */
  targetUsers: readonly [bucket: number, userId: string][] | null;
  /** When the claim ended or will end, if it is not renewed. */
  leaseUntil: Date;
};

/** The runs of pushes that this node accepts: it stores them with its own claim and sends them after the commit. */
export type OwnRuns = {
  /** Returns the claim to store with a run, or undefined if the run is left to a worker that claims it. */
  reserve(run: {
    runId: string;
    workspaceId: string;
    targetUsers: NonNullable<NamedChunk['targetUsers']>;
  }): NamedChunk | undefined;
  /** Sends those of the runs that are stored, and forgets the others. */
  begin(chunks: readonly NamedChunk[]): void;
  /** Forgets runs that are not stored. */
  drop(chunks: readonly NamedChunk[]): void;
};

/** Runs to more users than this are left to the workers of chunks, which send window by window. */
export const maxNamedUsers = 50;

type NamedClaim = { owner: string; limit: number; except: readonly string[]; at: Date } & Lease;

/**
 * Claims up to `limit` chunks of runs to named users that no worker has claimed yet. If they are fewer, it claims all of them.
 * Otherwise each workspace with such chunks gets an equal share, so that a workspace with many does not delay the others. Skips
 * rows that another claim has locked.
 */
export async function claimNamedChunks(database: Database, claim: NamedClaim): Promise<NamedClaimed> {
  const all = await claimAllNamed(database, claim);
  return all ? { chunks: all, others: 'none' } : { chunks: await claimNamedShares(database, claim), others: 'some' };
}

/** `others`: whether there are more chunks that no worker has claimed. */
export type NamedClaimed = { chunks: NamedChunk[]; others: 'none' | 'some' };

/**
 * Claims all such chunks, in the order of the index. Its cost grows with the chunks and not with the workspaces. It locks rows only
 * when it knows that it claims them: a lock is a write, and other workers would skip the locked rows. Index: chunks_named, runs and
 * chunks primary key.
 *
 * @returns undefined, and claims none, when there are `limit` or more
 */
async function claimAllNamed(database: Database, claim: NamedClaim): Promise<NamedChunk[] | undefined> {
  const rows = await database<(NamedChunk & { found: number })[]>`
    with fresh as materialized (
      select chunks.run_id, chunks.number, ${targetUsersOf(database)} as target_users
      from chunks
      join runs on runs.id = chunks.run_id and runs.status = 'SENDING'
      where ${isFresh(database)} and chunks.not_before <= ${claim.at}
        and chunks.workspace_id <> all (${[...claim.except]}::text[])
      order by chunks.workspace_id, chunks.not_before
      limit ${claim.limit}
    ), found as materialized (
      select count(*)::int as chunks from fresh
    ), due as materialized (
      select chunks.run_id, chunks.number, fresh.target_users
      from fresh
      join chunks on chunks.run_id = fresh.run_id and chunks.number = fresh.number
      where (select found.chunks from found) < ${claim.limit} and ${isFresh(database)}
      for update of chunks skip locked
    ), claimed as (
      update chunks
      set state = 'CLAIMED', owner = ${claim.owner}, attempt = 1, lease_until = ${claim.leaseUntil}
      from due
      where chunks.run_id = due.run_id and chunks.number = due.number
      returning ${claimedColumns(database)}, due.target_users as "targetUsers", chunks.lease_until as "leaseUntil"
    )
    select claimed.*, found.chunks as found from found left join claimed on true`;
  if (rows[0]!.found >= claim.limit) return undefined;
  return rows.filter(({ runId }) => runId !== null).map(({ found: _, ...chunk }) => chunk);
}

/** Claims the oldest of each workspace. Each workspace costs one look-up in the index. Index: chunks_named, runs primary key. */
async function claimNamedShares(database: Database, claim: NamedClaim): Promise<NamedChunk[]> {
  const next = (after: Fragment) => database`(
    select workspace_id from chunks where ${isFresh(database)} and ${after} order by workspace_id limit 1
  )`;
  return database<NamedChunk[]>`
    with recursive named (workspace_id) as (
      ${next(database`true`)}
      union all
      select ${next(database`chunks.workspace_id > named.workspace_id`)} from named where named.workspace_id is not null
    ), asked as materialized (
      select workspace_id from named
      where workspace_id is not null and workspace_id <> all (${[...claim.except]}::text[])
    ), due as materialized (
      select chunk.run_id, chunk.number, chunk.target_users
      from asked
      cross join lateral (
        select chunks.run_id, chunks.number, ${targetUsersOf(database)} as target_users
        from chunks
        join runs on runs.id = chunks.run_id and runs.status = 'SENDING'
        where chunks.workspace_id = asked.workspace_id and ${isFresh(database)} and chunks.not_before <= ${claim.at}
        order by chunks.not_before
        limit greatest(1, ${claim.limit} / greatest(1, (select count(*) from asked)))
        for update of chunks skip locked
      ) as chunk
      limit ${claim.limit}
    )
    update chunks
    set state = 'CLAIMED', owner = ${claim.owner}, attempt = 1, lease_until = ${claim.leaseUntil}
    from due
    where chunks.run_id = due.run_id and chunks.number = due.number
    returning ${claimedColumns(database)}, due.target_users as "targetUsers", chunks.lease_until as "leaseUntil"`;
}

const targetUsersOf = (tx: Queryable): Fragment =>
  tx`case when runs.audience_users <= ${maxNamedUsers} then runs.target_users end`;

/** An active device of a named user. */
export type NamedDevice = AudienceDevice & { isProvisional: boolean };

/**
 * Returns the active devices of the users of several chunks, by run, in the order of a fan-out. Index: devices unique key on
 * (workspace_id, bucket, user_id, device_id).
 */
export async function findNamedDevices(
  database: Database,
  chunks: readonly Pick<NamedChunk, 'runId' | 'workspaceId' | 'targetUsers'>[],
): Promise<Map<string, NamedDevice[]>> {
  const found = new Map<string, NamedDevice[]>(chunks.map(({ runId }) => [runId, []]));
  const targets = chunks.flatMap(({ workspaceId, targetUsers }, index) =>
    (targetUsers ?? []).map(([bucket, userId]) => ({ index, bucket, userId, workspaceId })),
  );
  if (targets.length === 0) return found;
  const rows = await database<(NamedDevice & { index: number })[]>`
    select target.index, devices.bucket, devices.id, devices.user_id as "userId", devices.platform,
      devices.push_id as "pushId", devices.push_id_type as "pushIdType", devices.push_provider as provider,
      devices.app_id as "appId", devices.provisional as "isProvisional"
    from unnest(
      ${targets.map(({ index }) => index)}::integer[], ${targets.map(({ workspaceId }) => workspaceId)}::text[],
      ${targets.map(({ bucket }) => bucket)}::smallint[], ${targets.map(({ userId }) => userId)}::text[]
    ) as target (index, workspace_id, bucket, user_id)
    join devices on devices.workspace_id = target.workspace_id collate "C" and devices.bucket = target.bucket
      and devices.user_id = target.user_id collate "C"
    where devices.state = 'ACTIVE'
    order by target.index, devices.bucket, devices.id`;
  for (const { index, ...device } of rows) found.get(chunks[index]!.runId)!.push(device);
  return found;
}

/** What a run says about the devices that it is sent to. */
export type NamedAudience = {
  platforms: readonly Platform[];
  iosProvisional: boolean | null;
  appIds: readonly string[] | undefined;
  /** The greatest id: devices that registered later are not part of the run. */
  bound: string;
};

/** Returns the devices of a run among those of its users, as findTargetUsersPage does in the database. */
export function chooseDevices(audience: NamedAudience, devices: readonly NamedDevice[]): AudienceDevice[] {
  return devices.filter((device) => isMeant(audience, device)).map(({ isProvisional: _, ...device }) => device);
}

function isMeant({ platforms, iosProvisional, appIds, bound }: NamedAudience, device: NamedDevice): boolean {
  if (device.id > bound || !platforms.includes(device.platform)) return false;
  if (device.platform === 'IOS' && iosProvisional !== null && device.isProvisional !== iosProvisional) return false;
  return appIds === undefined || appIds.includes(device.appId ?? defaultAppId);
}

export type NamedWindow = ChunkHold & Window;

/**
 * Records the windows of runs with variations before their first request, so that a winner named meanwhile is for later runs.
 * Index: primary key.
 *
 * @returns the winners of each chunk, by its run; without the runs that are not sending any more, or are no longer ours
 */
export async function openNamedWindows(
  database: Database,
  { windows, at, leaseUntil }: { windows: readonly NamedWindow[]; at: Date; leaseUntil: Date },
): Promise<Map<string, WinnerStep[] | null>> {
  if (windows.length === 0) return new Map();
  const rows = await database<{ runId: string; winners: WinnerStep[] | null }[]>`
    update chunks
    set window_opened_at = ${at}, window_bucket = opened.bucket, window_position = opened.position,
      window_devices = opened.devices, lease_until = ${leaseUntil}
    from ${holdsOf(database, windows)}
      join unnest(
        ${windows.map(({ runId }) => runId)}::text[], ${windows.map(({ bucket }) => bucket)}::smallint[],
        ${windows.map(({ position }) => position)}::text[], ${windows.map(({ devices }) => devices)}::integer[]
      ) as opened (run_id, bucket, position, devices) on opened.run_id = held.run_id
      join runs on runs.id = held.run_id collate "C" and runs.status = 'SENDING'
    where ${isHeld(database)}
    returning chunks.run_id as "runId", chunks.winners`;
  return new Map(rows.map(({ runId, winners }) => [runId, winners]));
}

/**
 * Ends chunks whose whole audience was sent to, with their windows. It must be the transaction's first statement: the locks
 * of the rows keep the claims until the end. Index: primary key.
 *
 * @returns the runs whose chunk was still ours
 */
export async function endNamedChunks(
  tx: Queryable,
  { holds, at }: { holds: readonly ChunkHold[]; at: Date },
): Promise<Map<string, { isStreamed: boolean }>> {
  const rows = await tx<{ runId: string; isStreamed: boolean }[]>`
    update chunks
    set state = 'DONE', owner = null, lease_until = null, ended_at = ${at}, crashes = 0, window_opened_at = null,
      window_bucket = null, window_position = null, window_devices = null
    from ${holdsOf(tx, holds)}
    where ${isHeld(tx)}
    returning chunks.run_id as "runId",
      exists (select 1 from event_streams where workspace_id = chunks.workspace_id) as "isStreamed"`;
  return new Map(rows.map(({ runId, isStreamed }) => [runId, { isStreamed }]));
}

/** Moves the cursors of several runs past their windows, next to the outcomes (see moveCursor). Index: primary key. */
export async function moveCursors(
  tx: Queryable,
  moved: readonly (Cursor & { runId: string; workspaceId: string })[],
): Promise<void> {
  if (moved.length === 0) return;
  await tx`
    insert into run_cursors (run_id, workspace_id, bucket, position)
    select run_id, workspace_id, bucket, position
    from unnest(
      ${moved.map(({ runId }) => runId)}::text[], ${moved.map(({ workspaceId }) => workspaceId)}::text[],
      ${moved.map(({ bucket }) => bucket)}::smallint[], ${moved.map(({ position }) => position)}::text[]
    ) as moved (run_id, workspace_id, bucket, position)
    on conflict (run_id, bucket) do update set position = excluded.position`;
}

function holdsOf(tx: Queryable, holds: readonly ChunkHold[]): Fragment {
  return tx`unnest(
    ${holds.map(({ runId }) => runId)}::text[], ${holds.map(({ number }) => number)}::integer[],
    ${holds.map(({ owner }) => owner)}::text[], ${holds.map(({ attempt }) => attempt)}::integer[]
  ) as held (run_id, number, owner, attempt)`;
}

function isHeld(tx: Queryable): Fragment {
  return tx`chunks.run_id = held.run_id collate "C" and chunks.number = held.number and chunks.state = 'CLAIMED'
    and chunks.owner = held.owner and chunks.attempt = held.attempt`;
}

import type { Platform } from '../../domain/content/content.ts';
import type { AudienceDevice } from '../campaigns/audience.ts';
import { defaultAppId } from '../../domain/apps.ts';
import type { Database, Fragment, Lease, Queryable } from '../database.ts';
import type { ChunkHold, ClaimedChunk, Cursor } from './chunks.ts';
import { refusalsOfRun } from './run-refusals.ts';
import type { ToldRefusal } from '../../domain/delivery/evidence.ts';

/** True for chunks of runs to named users that no worker has claimed yet. The condition of the index chunks_named. */
function isFresh(tx: Queryable): Fragment {
  return tx`chunks.lane = 0 and chunks.state = 'READY' and chunks.attempt = 0`;
}

/**
 * Claims up to `limit` chunks of runs to named users that no worker has claimed yet. Each workspace with such chunks gets an
 * equal share, oldest first, so that a workspace with many does not delay the others. Skips rows that another claim has locked.
 * Each workspace costs one look-up in the index. Index: chunks_named, runs primary key.
 */
export async function claimNamedChunks(
  database: Database,
  claim: { owner: string; limit: number; except: readonly string[]; at: Date } & Lease,
): Promise<ClaimedChunk[]> {
  const next = (after: Fragment) => database`(
    select workspace_id from chunks where ${isFresh(database)} and ${after} order by workspace_id limit 1
  )`;
  return database<ClaimedChunk[]>`
    with recursive named (workspace_id) as (
      ${next(database`true`)}
      union all
      select ${next(database`chunks.workspace_id > named.workspace_id`)} from named where named.workspace_id is not null
    ), asked as materialized (
      select workspace_id from named
      where workspace_id is not null and workspace_id <> all (${[...claim.except]}::text[])
    ), due as materialized (
      select chunk.run_id, chunk.number
      from asked
      cross join lateral (
        select chunks.run_id, chunks.number
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
    returning chunks.run_id as "runId", chunks.number, chunks.workspace_id as "workspaceId",
      chunks.bucket_from as "bucketFrom", chunks.bucket_to as "bucketTo", chunks.owner, chunks.attempt, chunks.crashes,
      chunks.window_bucket as "windowBucket", chunks.window_position as "windowPosition",
      chunks.window_devices as "windowDevices", chunks.suspect_devices as "suspectDevices", chunks.set_aside as "setAside"`;
}

/** A run whose devices are read with those of others. */
export type NamedRun = {
  id: string;
  workspaceId: string;
  platforms: readonly Platform[];
  iosProvisional: boolean | null;
  appIds: readonly string[] | undefined;
  targetUsers: readonly [bucket: number, userId: string][];
  bound: string;
};

/**
 * Returns the devices of the named users of several runs, by run, in the order of a fan-out: the devices that
 * findTargetUsersPage returns for each run. Index: devices unique key on (workspace_id, bucket, user_id, device_id).
 */
export async function findDevicesOfRuns(
  database: Database,
  runs: readonly NamedRun[],
): Promise<Map<string, AudienceDevice[]>> {
  const targets = runs.flatMap((run, index) =>
    run.targetUsers.map(([bucket, userId]) => ({ index, bucket, userId, workspaceId: run.workspaceId })),
  );
  const rows = await database<(AudienceDevice & { index: number; isProvisional: boolean })[]>`
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
  const found = new Map<string, AudienceDevice[]>(runs.map(({ id }) => [id, []]));
  for (const { index, isProvisional, ...device } of rows) {
    const run = runs[index]!;
    if (isMeant(run, { device, isProvisional })) found.get(run.id)!.push(device);
  }
  return found;
}

/** As `isMeant` of audiences decides in the database. */
function isMeant(
  { platforms, iosProvisional, appIds, bound }: NamedRun,
  { device, isProvisional }: { device: AudienceDevice; isProvisional: boolean },
): boolean {
  if (device.id > bound || !platforms.includes(device.platform)) return false;
  if (device.platform === 'IOS' && iosProvisional !== null && isProvisional !== iosProvisional) return false;
  return appIds === undefined || appIds.includes(device.appId ?? defaultAppId);
}

export type NamedWindow = ChunkHold & Cursor & { devices: number };

/**
 * Records the windows that are about to be sent, before their first request. Index: primary key.
 *
 * @returns the refusals of each run, by its id; without the runs that are not sending any more, or are no longer ours
 */
export async function openNamedWindows(
  database: Database,
  { windows, at, leaseUntil }: { windows: readonly NamedWindow[]; at: Date; leaseUntil: Date },
): Promise<Map<string, ToldRefusal[]>> {
  const rows = await database<{ runId: string; refusals: ToldRefusal[] }[]>`
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
    returning chunks.run_id as "runId", ${refusalsOfRun(database)} as refusals`;
  return new Map(rows.map(({ runId, refusals }) => [runId, refusals]));
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

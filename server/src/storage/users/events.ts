import type { Database, Queryable, Session } from '../database.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { makeDay } from '../day-partitions.ts';
import { utcDay } from '../runs/runs.ts';
import { isGivenBucket } from './buckets.ts';

export type EventPlatform = 'ANDROID' | 'IOS' | 'WEB' | 'TV' | 'UNKNOWN';

export type NewEvent = {
  id: string;
  name: string;
  attributes: Record<string, unknown>;
  occurredAt: Date;
  platform: EventPlatform | null;
  appVersion: string | null;
  utcOffsetSeconds: number | null;
};

/** Events of one user that arrived together. */
export type EventsOfUser = UserKey & {
  /** The device id that the caller uses. */
  deviceId: string | null;
  events: NewEvent[];
};

/** The events of one request, of any number of users. `day` (YYYY-MM-DD, UTC) is the day it was received. */
export type ReceivedEvents = { workspaceId: string; day: string; receivedAt: Date; users: readonly EventsOfUser[] };

/**
 * Creates the partition of a day if `prepare-days` has not. Only other changes of the partitions wait for it. A node
 * calls it once a day, outside any transaction; it checks first.
 */
export async function ensureEventsPartition(database: Database, day: string): Promise<void> {
  await makeDay(database, { table: 'events', day });
}

/**
 * Inserts events in one statement; another one looks up devices if any is named. Nothing conflicts, but without the
 * clause a cluster would insert the rows by COPY, which the policies refuse.
 */
export async function insertEvents(tx: Queryable, received: ReceivedEvents): Promise<void> {
  const deviceRowIdOf = await findDeviceRows(tx, received);
  const rows = received.users.flatMap((user) => {
    const deviceRowId = deviceRowIdOf(user);
    return user.events.map((event) => ({ ...event, ...user, deviceRowId }));
  });
  await tx`
    insert into events (
      day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at, platform, app_version,
      utc_offset_seconds, device_row_id
    )
    select ${received.day}::date, ${received.workspaceId}, event.bucket, event.id, event.user_id, event.name,
      event.attributes::jsonb, event.occurred_at, ${received.receivedAt}, event.platform, event.app_version,
      event.utc_offset_seconds, event.device_row_id
    from unnest(
      ${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => row.userId)}::text[], ${rows.map((row) => row.name)}::text[],
      ${rows.map((row) => JSON.stringify(row.attributes))}::text[],
      ${rows.map((row) => row.occurredAt.toISOString())}::timestamptz[], ${rows.map((row) => row.platform)}::text[],
      ${rows.map((row) => row.appVersion)}::text[], ${rows.map((row) => row.utcOffsetSeconds)}::int[],
      ${rows.map((row) => row.deviceRowId)}::text[]
    ) as event (
      bucket, id, user_id, name, attributes, occurred_at, platform, app_version, utc_offset_seconds, device_row_id
    )
    on conflict (day, workspace_id, bucket, id) do nothing`;
}

/** Looks up the rows of the devices that events name. Index: devices (workspace_id, bucket, user_id, device_id). */
async function findDeviceRows(
  tx: Queryable,
  { workspaceId, users }: ReceivedEvents,
): Promise<(user: EventsOfUser) => string | null> {
  const named = users.filter(({ deviceId }) => deviceId !== null);
  if (named.length === 0) return () => null;
  const inBucket = isGivenBucket(tx, { column: tx`devices.bucket`, given: tx`named.bucket`, rows: named });
  const rows = await tx<{ userId: string; deviceId: string; id: string }[]>`
    select devices.user_id as "userId", devices.device_id as "deviceId", devices.id
    from unnest(
      ${named.map(({ bucket }) => bucket)}::smallint[], ${named.map(({ userId }) => userId)}::text[],
      ${named.map(({ deviceId }) => deviceId)}::text[]
    ) as named (bucket, user_id, device_id)
    join devices on devices.workspace_id = ${workspaceId} and ${inBucket}
      and devices.user_id = named.user_id collate "C" and devices.device_id = named.device_id collate "C"`;
  const found = new Map(rows.map(({ userId, deviceId, id }) => [`${userId}/${deviceId}`, id]));
  return ({ userId, deviceId }) => found.get(`${userId}/${deviceId}`) ?? null;
}

/**
 * Queues events to be checked for goals, unless no campaign of the workspace has any. A campaign that could claim them
 * was stored, and had sent, before they occurred, so this check is never too early. Index: campaigns_with_goals.
 */
export async function insertUnattributedEvents(
  tx: Queryable,
  { workspaceId, day, receivedAt, users }: ReceivedEvents,
): Promise<void> {
  const rows = users.flatMap(({ bucket, events }) => events.map(({ id }) => ({ bucket, id })));
  await tx`
    insert into unattributed_events (workspace_id, bucket, event_id, day, received_at)
    select ${workspaceId}, event.bucket, event.id, ${day}::date, ${receivedAt}
    from unnest(${rows.map(({ bucket }) => bucket)}::smallint[], ${rows.map(({ id }) => id)}::text[])
      as event (bucket, id)
    where exists (
      select 1 from campaigns where campaigns.workspace_id = ${workspaceId} and campaigns.conversion_goals <> '[]'
    )
    on conflict (workspace_id, bucket, event_id) do nothing`;
}

export type TakenEvent = { day: string; workspaceId: string; bucket: number; eventId: string };

/**
 * Removes and returns events that were received by `until`, starting with the buckets that have waited longest. If the
 * caller's transaction rolls back, their rows are restored. Rows that another node has locked are skipped.
 */
export async function takeUnattributedEvents(
  tx: Queryable,
  { until, limit }: { until: Date; limit: number },
): Promise<TakenEvent[]> {
  const taken: TakenEvent[] = [];
  for (const bucket of await listWaitingBuckets(tx, { until, limit })) {
    if (taken.length >= limit) break;
    taken.push(...(await takeEventsOfBucket(tx, { bucket, until, limit: limit - taken.length })));
  }
  return taken;
}

/** Lists the buckets of the oldest events, the one that has waited longest first. Index: unattributed_events_received. */
async function listWaitingBuckets(tx: Queryable, { until, limit }: { until: Date; limit: number }): Promise<number[]> {
  const rows = await tx<{ bucket: number }[]>`
    select oldest.bucket
    from (
      select bucket, received_at from unattributed_events
      where received_at <= ${until} order by received_at limit ${limit}
    ) as oldest
    group by oldest.bucket
    order by min(oldest.received_at), oldest.bucket`;
  return rows.map(({ bucket }) => bucket);
}

/** Oldest first. Index: unattributed_events_bucket. */
async function takeEventsOfBucket(
  tx: Queryable,
  { bucket, until, limit }: { bucket: number; until: Date; limit: number },
): Promise<TakenEvent[]> {
  const rows = await tx<(Omit<TakenEvent, 'day'> & { day: Date })[]>`
    delete from unattributed_events
    where bucket = ${bucket} and (workspace_id, event_id) in (
      select workspace_id, event_id from unattributed_events
      where bucket = ${bucket} and received_at <= ${until}
      order by received_at
      limit ${limit}
      for update skip locked
    )
    returning day, workspace_id as "workspaceId", bucket, event_id as "eventId"`;
  // A shard does not convert dates to text: the format is a setting.
  return rows.map((row) => ({ ...row, day: utcDay(row.day) }));
}

/** Creates the staging table of events in this session. */
export async function makeEventStaging(session: Session): Promise<void> {
  await session`
    create temporary table if not exists import_events (
      customer_id text collate "C", bucket smallint, user_id text collate "C", id text collate "C", name text,
      attributes jsonb, occurred_at timestamptz, platform text, app_version text, utc_offset_seconds int, device_id text
    )`;
  await session`truncate import_events`;
}

/**
 * Stores one staged batch of events. Unknown users are inserted (fact 5), under the id that their first event contains.
 * Set-based. The caller has an open transaction, holds lockImportsOf, and has created the partition of `day`. Indexes:
 * users (workspace_id, bucket, customer_id), devices (workspace_id, bucket, user_id, device_id).
 */
export async function storeStagedEvents(
  session: Queryable,
  { workspaceId, day, at }: { workspaceId: string; day: string; at: Date },
): Promise<void> {
  await session`analyze import_events`;
  await session`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    select distinct on (bucket, customer_id) ${workspaceId}, bucket, user_id, customer_id, ${at}::timestamptz,
      ${at}::timestamptz
    from import_events
    order by bucket, customer_id, user_id
    on conflict (workspace_id, bucket, customer_id) do nothing`;
  // The keys to look up are selected first: a cluster then sends them to the shards, instead of fetching the tables.
  await session`
    with named as materialized (select distinct bucket, customer_id from import_events), found as materialized (
      select users.bucket, users.customer_id, users.id
      from named
      join users on users.workspace_id = ${workspaceId} and users.bucket = named.bucket
        and users.customer_id = named.customer_id
    )
    update import_events staged set user_id = found.id
    from found
    where found.bucket = staged.bucket and found.customer_id = staged.customer_id`;
  await session`
    with named as materialized (
      select distinct bucket, user_id, device_id from import_events where device_id is not null
    ), found as materialized (
      select devices.bucket, devices.user_id, devices.device_id, devices.id
      from named
      join devices on devices.workspace_id = ${workspaceId} and devices.bucket = named.bucket
        and devices.user_id = named.user_id and devices.device_id = named.device_id collate "C"
    )
    insert into events (
      day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at, platform, app_version,
      utc_offset_seconds, device_row_id
    )
    select ${day}::date, ${workspaceId}, staged.bucket, staged.id, staged.user_id, staged.name, staged.attributes,
      staged.occurred_at, ${at}, staged.platform, staged.app_version, staged.utc_offset_seconds, found.id
    from import_events staged
    left join found on found.bucket = staged.bucket and found.user_id = staged.user_id
      and found.device_id = staged.device_id
    order by staged.bucket, staged.id`;
  await session`
    insert into unattributed_events (workspace_id, bucket, event_id, day, received_at)
    select ${workspaceId}, bucket, id, ${day}::date, ${at}
    from import_events
    where exists (
      select 1 from campaigns where campaigns.workspace_id = ${workspaceId} and campaigns.conversion_goals <> '[]'
    )`;
  await session`truncate import_events`;
}

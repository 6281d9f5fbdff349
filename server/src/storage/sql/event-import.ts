import type { ImportSession } from './user-import.ts';

/** Makes the staging table of events in this session. */
export async function makeEventStaging(session: ImportSession): Promise<void> {
  await session`
    create temporary table if not exists import_events (
      customer_id text collate "C", bucket smallint, user_id text collate "C", id text collate "C", name text,
      attributes jsonb, occurred_at timestamptz, platform text, app_version text, utc_offset_seconds int, device_id text
    )`;
  await session`truncate import_events`;
}

/**
 * Stores one staged batch of events; unknown customers are made (facts 5), under the id that their first event carries.
 * Set-based; the caller holds a transaction open, with lockImportsOf, and the partition of `day` is there. Indexes: users
 * (workspace_id, bucket, customer_id), devices (workspace_id, bucket, user_id, device_id).
 */
export async function storeStagedEvents(
  session: ImportSession,
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
  await session`
    update import_events staged set user_id = users.id
    from users
    where users.workspace_id = ${workspaceId} and users.bucket = staged.bucket and users.customer_id = staged.customer_id`;
  await session`
    insert into events (
      day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at, platform, app_version,
      utc_offset_seconds, device_row_id
    )
    select ${day}::date, ${workspaceId}, staged.bucket, staged.id, staged.user_id, staged.name, staged.attributes,
      staged.occurred_at, ${at}, staged.platform, staged.app_version, staged.utc_offset_seconds, devices.id
    from import_events staged
    left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = staged.bucket
      and devices.user_id = staged.user_id and devices.device_id = staged.device_id
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

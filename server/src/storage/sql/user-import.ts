import type postgres from 'postgres';

/** One connection, because staging tables live as long as their session. */
export type ImportSession = postgres.ReservedSql<Record<string, never>>;

export type StagedTable = 'import_users' | 'import_identifiers' | 'import_devices';

/** Makes the staging tables of this session: no index, no crash safety, gone with the session. */
export async function makeStaging(session: ImportSession): Promise<void> {
  await session`
    create temporary table if not exists import_users (
      bucket smallint, id text collate "C", customer_id text collate "C", attributes jsonb, removed text[],
      is_existing boolean
    )`;
  await session`
    create temporary table if not exists import_identifiers (
      customer_id text collate "C", attribute text collate "C", type text, value text collate "C"
    )`;
  await session`
    create temporary table if not exists import_devices (
      customer_id text collate "C", bucket smallint, user_id text collate "C", id text collate "C",
      device_id text collate "C", platform text, push_id text, address_hash bytea, identifier text collate "C",
      state text, provisional boolean, model text, app_version text, os_version text, gaid text, idfv text,
      previous_push_id text, is_existing boolean
    )`;
}

/** Streams for `COPY`, one staging table each; the lines are in PostgreSQL's text format. */
export const copyInto: Record<StagedTable, (session: ImportSession) => Promise<NodeJS.WritableStream>> = {
  import_users: (session) =>
    session`copy import_users (bucket, id, customer_id, attributes, removed) from stdin`.writable(),
  import_identifiers: (session) => session`copy import_identifiers from stdin`.writable(),
  import_devices: (session) =>
    session`
      copy import_devices (
        customer_id, bucket, id, device_id, platform, push_id, address_hash, identifier, state, provisional, model,
        app_version, os_version, gaid, idfv
      ) from stdin`.writable(),
};

/**
 * Stores one staged batch: users, their identifiers, their devices, the owners of push addresses. Set-based; the caller
 * holds a transaction open. Imports of one workspace follow each other, because sets lock rows in no given order.
 */
export async function storeStagedBatch(
  session: ImportSession,
  { workspaceId, at }: { workspaceId: string; at: Date },
): Promise<void> {
  await session`select pg_advisory_xact_lock(hashtextextended(${`import:${workspaceId}`}, 0))`;
  // Temporary tables have no statistics of their own; without them the joins below are nested loops.
  await session`analyze import_users, import_identifiers, import_devices`;
  await storeUsers(session, { workspaceId, at });
  await storeIdentifiers(session, workspaceId);
  await storeDevices(session, { workspaceId, at });
  await session`truncate import_users, import_identifiers, import_devices`;
}

async function storeUsers(
  session: ImportSession,
  { workspaceId, at }: { workspaceId: string; at: Date },
): Promise<void> {
  await session`
    update import_users staged set id = users.id, is_existing = true
    from users
    where users.workspace_id = ${workspaceId} and users.bucket = staged.bucket and users.customer_id = staged.customer_id`;
  await session`
    update users
    set attributes = (users.attributes - staged.removed) || staged.attributes, updated_at = ${at}
    from import_users staged
    where staged.is_existing and users.workspace_id = ${workspaceId} and users.bucket = staged.bucket and users.id = staged.id`;
  await session`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select ${workspaceId}, bucket, id, customer_id, attributes, ${at}, ${at}
    from import_users where is_existing is null order by bucket, customer_id
    -- The API may make the same user between the look above and here.
    on conflict (workspace_id, bucket, customer_id) do update
    set attributes = users.attributes || excluded.attributes, updated_at = excluded.updated_at`;
  await session`
    update import_users staged set id = users.id
    from users
    where staged.is_existing is null and users.workspace_id = ${workspaceId} and users.bucket = staged.bucket
      and users.customer_id = staged.customer_id and users.id <> staged.id`;
}

async function storeIdentifiers(session: ImportSession, workspaceId: string): Promise<void> {
  await session`
    delete from identifiers
    using import_users staged
    where staged.is_existing and identifiers.workspace_id = ${workspaceId} and identifiers.bucket = staged.bucket
      and identifiers.user_id = staged.id
      and (staged.attributes ? identifiers.attribute or identifiers.attribute = any(staged.removed))`;
  await session`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select ${workspaceId}, users.bucket, users.id, staged.attribute, staged.type, staged.value
    from import_identifiers staged
    join import_users users on users.customer_id = staged.customer_id
    on conflict (workspace_id, bucket, user_id, attribute, type, value) do nothing`;
}

async function storeDevices(
  session: ImportSession,
  { workspaceId, at }: { workspaceId: string; at: Date },
): Promise<void> {
  await session`
    update import_devices staged set user_id = users.id from import_users users where users.customer_id = staged.customer_id`;
  await session`
    update import_devices staged set id = devices.id, previous_push_id = devices.push_id, is_existing = true
    from devices
    where devices.workspace_id = ${workspaceId} and devices.bucket = staged.bucket and devices.user_id = staged.user_id
      and devices.device_id = staged.device_id`;
  // Addresses that were another device's: that device goes, with its identifiers.
  await session`
    with moved as (
      select owners.bucket, owners.device_row_id
      from import_devices staged
      join push_addresses owners on owners.workspace_id = ${workspaceId} and owners.address_hash = staged.address_hash
      where owners.device_row_id <> staged.id
    ), removed as (
      delete from devices using moved
      where devices.workspace_id = ${workspaceId} and devices.bucket = moved.bucket and devices.id = moved.device_row_id
      returning devices.bucket, devices.user_id, devices.push_id, devices.gaid, devices.idfv
    )
    delete from identifiers using removed
    where identifiers.workspace_id = ${workspaceId} and identifiers.bucket = removed.bucket
      and identifiers.user_id = removed.user_id
      and (identifiers.attribute, identifiers.value) in (
        ('device:push_id', case when octet_length(removed.push_id) <= 512 then removed.push_id
          else encode(sha256(convert_to(removed.push_id, 'UTF8')), 'hex') end),
        ('device:gaid', removed.gaid), ('device:idfv', removed.idfv)
      )`;
  await session`
    delete from push_addresses using import_devices staged
    where staged.is_existing and staged.previous_push_id <> staged.push_id and push_addresses.workspace_id = ${workspaceId}
      and push_addresses.address_hash = sha256(convert_to(staged.previous_push_id, 'UTF8'))
      and push_addresses.device_row_id = staged.id`;
  await session`
    delete from identifiers using import_devices staged
    where staged.is_existing and staged.previous_push_id <> staged.push_id and identifiers.workspace_id = ${workspaceId}
      and identifiers.bucket = staged.bucket and identifiers.user_id = staged.user_id
      and identifiers.attribute = 'device:push_id'
      and identifiers.value = case when octet_length(staged.previous_push_id) <= 512 then staged.previous_push_id
        else encode(sha256(convert_to(staged.previous_push_id, 'UTF8')), 'hex') end`;
  await session`
    insert into devices (
      workspace_id, bucket, id, user_id, device_id, platform, push_id, state, provisional, model, app_version,
      os_version, gaid, idfv, registered_at, created_at, updated_at
    )
    select ${workspaceId}, bucket, id, user_id, device_id, platform, push_id, state, provisional, model, app_version,
      os_version, gaid, idfv, ${at}, ${at}, ${at}
    from import_devices order by bucket, id
    on conflict (workspace_id, bucket, user_id, device_id) do update
    set platform = excluded.platform, push_id = excluded.push_id,
      state = case when devices.state = 'BLOCKED' then 'BLOCKED' else excluded.state end,
      blocked_state = case when devices.state = 'BLOCKED' then excluded.state end,
      provisional = excluded.provisional, model = coalesce(excluded.model, devices.model),
      app_version = coalesce(excluded.app_version, devices.app_version),
      os_version = coalesce(excluded.os_version, devices.os_version), gaid = coalesce(excluded.gaid, devices.gaid),
      idfv = coalesce(excluded.idfv, devices.idfv), registered_at = excluded.registered_at,
      gone_at = null, gone_reason = null, updated_at = excluded.updated_at`;
  await session`
    insert into push_addresses (workspace_id, address_hash, bucket, device_row_id)
    select ${workspaceId}, address_hash, bucket, id from import_devices order by address_hash
    on conflict (workspace_id, address_hash) do update
    set bucket = excluded.bucket, device_row_id = excluded.device_row_id`;
  await session`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select ${workspaceId}, staged.bucket, staged.user_id, identifier.attribute, 'string', identifier.value
    from import_devices staged
    cross join lateral (
      values ('device:push_id', staged.identifier), ('device:gaid', staged.gaid), ('device:idfv', staged.idfv)
    ) as identifier (attribute, value)
    where identifier.value is not null
    on conflict (workspace_id, bucket, user_id, attribute, type, value) do nothing`;
}

/** Fresh statistics: without them the planner reads the filled tables 25 to 40 times slower (faults, finding 9). */
export async function analyzePeople(session: ImportSession): Promise<void> {
  await session`analyze users, identifiers, devices, push_addresses`;
}

import { defaultAppId } from '../../domain/apps.ts';
import type { Platform } from '../../domain/content/content.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Fragment, Queryable, Session } from '../database.ts';
import { isInBuckets } from '../users/buckets.ts';
import { deviceAttributes, deviceIdentifier } from '../users/identifiers.ts';

export type DeviceRecord = {
  deviceId: string;
  platform: Platform;
  /** Null: the platform's default provider. */
  provider: ProviderName | null;
  pushId: string;
  /** Null: a token. */
  pushIdType: 'fid' | null;
  /** Null: the default app. */
  appId: string | null;
  isOptedOut: boolean;
  isProvisional: boolean;
  model: string | null;
  appVersion: string | null;
  osVersion: string | null;
  gaid: string | null;
  idfv: string | null;
  /** A language tag in its canonical form. */
  locale: string | null;
  badgeCount: number | null;
  /** The device registered itself through the app API. Absent: a server or an operator registered it. */
  isFromApp?: boolean;
};

export type StoredDevice = UserKey & {
  id: string;
  platform: Platform;
  pushId: string;
  appId: string | null;
  gaid: string | null;
  idfv: string | null;
};

/**
 * Finds and locks a user's device by the caller's name for it. Index: devices (workspace_id, bucket, user_id,
 * device_id).
 */
export async function lockDevice(
  tx: Queryable,
  device: UserKey & { workspaceId: string; deviceId: string },
): Promise<StoredDevice | undefined> {
  const [row] = await tx<StoredDevice[]>`
    select bucket, user_id as "userId", id, platform, push_id as "pushId", app_id as "appId", gaid, idfv
    from devices
    where workspace_id = ${device.workspaceId} and bucket = ${device.bucket} and user_id = ${device.userId}
      and device_id = ${device.deviceId}
    for update`;
  return row;
}

/**
 * Updates a known device when its app registers it again. A block stays and keeps the new state for later, values that
 * the app omits stay, and a gone device becomes active again.
 */
const registeredAgain = (tx: Queryable): Fragment => tx`
    on conflict (workspace_id, bucket, user_id, device_id) do update
    set platform = excluded.platform, push_id = excluded.push_id, app_id = excluded.app_id,
      push_provider = excluded.push_provider, push_id_type = excluded.push_id_type,
      state = case when devices.state = 'BLOCKED' then 'BLOCKED' else excluded.state end,
      blocked_state = case when devices.state = 'BLOCKED' then excluded.state end,
      provisional = excluded.provisional, model = coalesce(excluded.model, devices.model),
      app_version = coalesce(excluded.app_version, devices.app_version),
      os_version = coalesce(excluded.os_version, devices.os_version), gaid = coalesce(excluded.gaid, devices.gaid),
      idfv = coalesce(excluded.idfv, devices.idfv), locale = coalesce(excluded.locale, devices.locale),
      badge_count = coalesce(excluded.badge_count, devices.badge_count), registered_at = excluded.registered_at,
      is_from_app = excluded.is_from_app, gone_at = null, gone_reason = null, suspected_code = null, suspected_sends = null, suspected_since = null,
      suspected_at = null, updated_at = excluded.updated_at`;

/**
 * Creates or updates a device. An updated device is active again, whatever a provider reported about it before. A
 * blocked device stays blocked and keeps the new state for later. Index: devices (workspace_id, bucket, user_id,
 * device_id).
 *
 * @returns the row's id
 */
export async function upsertDevice(
  tx: Queryable,
  device: UserKey & DeviceRecord & { workspaceId: string; id: string; at: Date },
): Promise<string> {
  const state = device.isOptedOut ? 'OPTED_OUT' : 'ACTIVE';
  const [row] = await tx<{ id: string }[]>`
    insert into devices (
      workspace_id, bucket, id, user_id, device_id, platform, push_provider, push_id, push_id_type, app_id, state, provisional, model,
      app_version, os_version, gaid, idfv, locale, badge_count, registered_at, created_at, updated_at, is_from_app
    )
    values (
      ${device.workspaceId}, ${device.bucket}, ${device.id}, ${device.userId}, ${device.deviceId}, ${device.platform},
      ${device.provider}, ${device.pushId}, ${device.pushIdType}, ${device.appId}, ${state}, ${device.isProvisional}, ${device.model},
      ${device.appVersion}, ${device.osVersion}, ${device.gaid}, ${device.idfv}, ${device.locale}, ${device.badgeCount},
      ${device.at}, ${device.at}, ${device.at}, ${device.isFromApp === true}
    )
    ${registeredAgain(tx)}
    returning id`;
  return row!.id;
}

/**
 * Stores whether a user wants messages on a device, until its app reports otherwise. A blocked device keeps the choice
 * for later; a gone device is not changed. The caller holds the user's lock. Index: primary key.
 *
 * @returns false when the device is gone or does not exist
 */
export async function setDeviceOptIn(
  tx: Queryable,
  device: UserKey & { workspaceId: string; id: string; state: 'ACTIVE' | 'OPTED_OUT'; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update devices
    set state = case when state = 'BLOCKED' then state else ${device.state} end,
      blocked_state = case when state = 'BLOCKED' then ${device.state} end, updated_at = ${device.at}
    where workspace_id = ${device.workspaceId} and bucket = ${device.bucket} and id = ${device.id}
      and user_id = ${device.userId} and state <> 'GONE' and blocked_state is distinct from 'GONE'
    returning 1`;
  return rows.length === 1;
}

/**
 * Replaces the address of a device, unless its app registered another one meanwhile. A gone device stays gone: the
 * registration that makes it active again names its address. Index: primary key.
 *
 * @returns false when the device does not exist or has another address
 */
export async function replacePushId(
  tx: Queryable,
  device: { workspaceId: string; bucket: number; id: string; from: string; to: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update devices set push_id = ${device.to}, updated_at = ${device.at}
    where workspace_id = ${device.workspaceId} and bucket = ${device.bucket} and id = ${device.id}
      and push_id = ${device.from} and state <> 'GONE'
    returning 1`;
  return rows.length === 1;
}

/** Deletes a device whose push address now belongs to another device. Index: primary key. */
export async function deleteDevice(
  tx: Queryable,
  device: { workspaceId: string; bucket: number; id: string },
): Promise<StoredDevice | undefined> {
  const [row] = await tx<StoredDevice[]>`
    delete from devices
    where workspace_id = ${device.workspaceId} and bucket = ${device.bucket} and id = ${device.id}
    returning bucket, user_id as "userId", id, platform, push_id as "pushId", app_id as "appId", gaid, idfv`;
  return row;
}

export type DeviceOfUser = {
  id: string;
  deviceId: string;
  platform: Platform;
  pushId: string;
  gaid: string | null;
  idfv: string | null;
};

type Owner = UserKey & { workspaceId: string };

/**
 * Lists a user's devices. The caller holds the user's lock. Index: devices (workspace_id, bucket, user_id, device_id).
 */
export async function listDevicesOfUser(tx: Queryable, owner: Owner): Promise<DeviceOfUser[]> {
  return tx<DeviceOfUser[]>`
    select id, device_id as "deviceId", platform, push_id as "pushId", gaid, idfv
    from devices
    where workspace_id = ${owner.workspaceId} and bucket = ${owner.bucket} and user_id = ${owner.userId}
    order by device_id`;
}

/**
 * Blocks devices and keeps their previous state. A device that is already blocked gets the new reason. Locks the rows
 * after the user's row. Index: primary key.
 */
export async function blockDevicesOf(
  tx: Queryable,
  block: Owner & { ids: string[]; reason: string | null; reference: string | null; at: Date },
): Promise<void> {
  await tx`
    update devices
    set state = 'BLOCKED', blocked_state = coalesce(blocked_state, state), blocked_at = coalesce(blocked_at, ${block.at}),
      block_reason = ${block.reason}, block_reference = ${block.reference}, gone_at = null, updated_at = ${block.at}
    where workspace_id = ${block.workspaceId} and bucket = ${block.bucket} and id = any(${block.ids})`;
}

/** Restores the previous state of blocked devices; the others stay as they are. Index: primary key. */
export async function unblockDevicesOf(tx: Queryable, block: Owner & { ids: string[]; at: Date }): Promise<void> {
  await tx`
    update devices
    set state = blocked_state, gone_at = case when blocked_state = 'GONE' then ${block.at}::timestamptz end,
      blocked_state = null, blocked_at = null, block_reason = null, block_reference = null, updated_at = ${block.at}
    where workspace_id = ${block.workspaceId} and bucket = ${block.bucket} and id = any(${block.ids})
      and state = 'BLOCKED'`;
}

/** Counts the devices of an app in any state. Reads every device of the workspace. */
export async function countDevicesOfApp(
  tx: Queryable,
  { workspaceId, platform, appId }: { workspaceId: string; platform: Platform; appId: string },
): Promise<number> {
  const [row] = await tx<{ devices: number }[]>`
    select count(*) as devices from devices
    where workspace_id = ${workspaceId} and platform = ${platform} and app_id = ${appId}`;
  return row!.devices;
}

export type ReachedDevices = { platform: Platform; provider: ProviderName | null; devices: number };

/** Counts the active devices by platform and provider. Reads every device of the workspace. */
export async function countReachedDevices(tx: Queryable, workspaceId: string): Promise<ReachedDevices[]> {
  return tx<ReachedDevices[]>`
    select platform, push_provider as provider, count(*) as devices
    from devices where workspace_id = ${workspaceId} and state = 'ACTIVE' group by platform, push_provider`;
}

/** Creates the staging tables of devices in this session. */
export async function makeDeviceStaging(session: Session): Promise<void> {
  await session`
    create temporary table if not exists import_devices (
      line bigint, customer_id text collate "C", bucket smallint, user_id text collate "C", id text collate "C",
      device_id text collate "C", platform text, push_provider text, push_id text, push_id_type text, app_id text collate "C",
      address_hash bytea, state text, provisional boolean, model text, app_version text, os_version text, gaid text,
      idfv text, locale text collate "C", badge_count integer,
      previous_push_id text, is_existing boolean
    )`;
  // Users whose devices this batch changes; is_known: they already had devices.
  await session`
    create temporary table if not exists import_owners (bucket smallint, user_id text collate "C", is_known boolean)`;
  await session`truncate import_devices, import_owners`;
}

type Batch = { workspaceId: string; at: Date };

/**
 * Stores one staged batch of devices: rows, owners of push addresses, identifiers. Set-based. The caller holds a
 * transaction open, under lockImportsOf, and has stored the batch's users.
 *
 * @returns the lines of devices whose users do not exist
 */
export async function storeStagedDevices(session: Queryable, batch: Batch): Promise<number[]> {
  await session`analyze import_devices`;
  const strangers = await findOwners(session, batch.workspaceId);
  await dropMovedDevices(session, batch.workspaceId);
  await upsertDevices(session, batch);
  await storeDeviceIdentifiers(session, batch.workspaceId);
  await session`truncate import_devices, import_owners`;
  return strangers;
}

async function findOwners(session: Queryable, workspaceId: string): Promise<number[]> {
  // Selects first, then updates: a cluster would fetch a whole sharded table to update a staging table from it.
  await session`
    with found as materialized (
      select staged.id, users.id as user_id
      from import_devices as staged
      join users on users.workspace_id = ${workspaceId} and users.bucket = staged.bucket
        and users.customer_id = staged.customer_id
    )
    update import_devices as staged set user_id = found.user_id from found where found.id = staged.id`;
  const strangers = await session<{ line: number }[]>`
    delete from import_devices where user_id is null returning line`;
  await session`
    with found as materialized (
      select staged.id as staged_id, devices.id, devices.push_id, devices.platform, devices.app_id
      from import_devices as staged
      join devices on devices.workspace_id = ${workspaceId} and devices.bucket = staged.bucket
        and devices.user_id = staged.user_id and devices.device_id = staged.device_id
    )
    update import_devices as staged
    set id = found.id, previous_push_id = found.push_id, is_existing = true,
      app_id = coalesce(staged.app_id, case when staged.platform = found.platform then found.app_id end)
    from found where found.staged_id = staged.id`;
  await session`
    insert into import_owners (bucket, user_id, is_known)
    select bucket, user_id, coalesce(bool_or(is_existing), false) from import_devices group by bucket, user_id`;
  return strangers.map(({ line }) => line);
}

/**
 * Deletes devices whose address now belongs to another device, and releases the addresses that a device no longer uses.
 */
async function dropMovedDevices(session: Queryable, workspaceId: string): Promise<void> {
  await session`
    with moved as (
      select owners.bucket, owners.device_row_id
      from import_devices staged
      join push_addresses owners on owners.workspace_id = ${workspaceId} and owners.address_hash = staged.address_hash
      where owners.device_row_id <> staged.id
    ), removed as (
      delete from devices using moved
      where devices.workspace_id = ${workspaceId} and devices.bucket = moved.bucket and devices.id = moved.device_row_id
      returning devices.bucket, devices.user_id
    )
    insert into import_owners (bucket, user_id, is_known) select distinct bucket, user_id, true from removed`;
  await session`
    delete from push_addresses using (
      select sha256(convert_to(previous_push_id, 'UTF8')) as address_hash, id
      from import_devices where is_existing and previous_push_id <> push_id
    ) as left_behind
    where push_addresses.workspace_id = ${workspaceId} and push_addresses.address_hash = left_behind.address_hash
      and push_addresses.device_row_id = left_behind.id`;
}

async function upsertDevices(session: Queryable, { workspaceId, at }: Batch): Promise<void> {
  await session`
    insert into devices (
      workspace_id, bucket, id, user_id, device_id, platform, push_provider, push_id, push_id_type, app_id, state, provisional, model,
      app_version, os_version, gaid, idfv, locale, badge_count, registered_at, created_at, updated_at
    )
    select ${workspaceId}, bucket, id, user_id, device_id, platform, push_provider, push_id, push_id_type,
      nullif(app_id, ${defaultAppId}), state, provisional, model, app_version, os_version, gaid, idfv, locale,
      badge_count, ${at}, ${at}, ${at}
    from import_devices order by bucket, id
    ${registeredAgain(session)}`;
  await session`
    insert into push_addresses (workspace_id, address_hash, bucket, device_row_id)
    select ${workspaceId}, address_hash, bucket, id from import_devices order by address_hash
    on conflict (workspace_id, address_hash) do update
    set bucket = excluded.bucket, device_row_id = excluded.device_row_id`;
}

/**
 * Syncs users' identifiers with their devices: deletes the ones that no device has any more, inserts the current ones.
 */
async function storeDeviceIdentifiers(session: Queryable, workspaceId: string): Promise<void> {
  await session`
    delete from identifiers using import_owners owners
    where owners.is_known and identifiers.workspace_id = ${workspaceId} and identifiers.bucket = owners.bucket
      and identifiers.user_id = owners.user_id
      and identifiers.attribute in ('device:push_id', 'device:gaid', 'device:idfv')`;
  await session`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select ${workspaceId}, devices.bucket, devices.user_id, identifier.attribute, 'string', ${deviceIdentifier(session)}
    from (select distinct bucket, user_id from import_owners) as owners
    join devices on devices.workspace_id = ${workspaceId} and devices.bucket = owners.bucket
      and devices.user_id = owners.user_id
    cross join ${deviceAttributes(session)} as identifier (attribute)
    where ${deviceIdentifier(session)} is not null
    order by devices.bucket, devices.user_id
    on conflict (workspace_id, bucket, user_id, attribute, type, value) do nothing`;
}

/**
 * Returns the locales of the devices that reported one, by device id. Index: devices primary key, one lookup per
 * device.
 */
export async function findDeviceLocales(
  tx: Queryable,
  { workspaceId, devices }: { workspaceId: string; devices: readonly { bucket: number; id: string }[] },
): Promise<Map<string, string>> {
  const isThere = isInBuckets(tx, { column: tx`devices.bucket`, buckets: devices.map(({ bucket }) => bucket) });
  const rows = await tx<{ id: string; locale: string }[]>`
    select devices.id, devices.locale
    from unnest(
      ${devices.map(({ bucket }) => bucket)}::smallint[], ${devices.map(({ id }) => id)}::text[]
    ) as given (bucket, id)
    join devices on devices.workspace_id = ${workspaceId} and ${isThere} and devices.bucket = given.bucket
      and devices.id = given.id collate "C"
    where devices.locale is not null`;
  return new Map(rows.map(({ id, locale }) => [id, locale]));
}

/**
 * Returns the latest locale that a user's devices reported, by platform. Index: devices (workspace_id, bucket, user_id,
 * device_id).
 */
export async function findLocalesOfUser(
  tx: Queryable,
  { workspaceId, bucket, userId }: { workspaceId: string; bucket: number; userId: string },
): Promise<Map<Platform, string>> {
  const rows = await tx<{ platform: Platform; locale: string }[]>`
    select platform, locale from devices
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and state = 'ACTIVE'
      and locale is not null
    order by registered_at, id`;
  return new Map(rows.map(({ platform, locale }) => [platform, locale]));
}

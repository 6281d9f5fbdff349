import type { AndroidPayload, PayloadMode } from '../domain/content/content.ts';
import type { PushBodies } from '../domain/push.ts';
import { resolveTimeZoneAlias } from '../domain/timing/local-time.ts';
import type { FrequencyCap, QuietMode, WorkspaceControls } from '../domain/workspace-controls.ts';
import type { Queryable, Transaction } from './database.ts';

export type Workspace = {
  id: string;
  dbName: string;
  name: string;
  /** IANA name; the zone of campaign times without one (decision D36). */
  timeZone: string;
  /** One of 01, 02, 03, 04, 05, 06, 101 (decision D1). */
  dataCenter: string;
  secretRequiredAtRefresh: boolean;
  signatureV2Required: boolean;
  androidPayload: AndroidPayload;
  pushBodies: PushBodies;
};

/** Adds a workspace. @returns false if its id or its database name is taken: by the primary key, by workspaces_db_name_key */
export async function insertWorkspace(
  tx: Queryable,
  workspace: { id: string; dbName: string; name: string; timeZone: string; createdAt: Date; dataCenter?: string },
): Promise<boolean> {
  const rows = await tx`
    insert into workspaces (id, db_name, name, time_zone, data_center, created_at)
    values (${workspace.id}, ${workspace.dbName}, ${workspace.name}, ${workspace.timeZone},
      ${workspace.dataCenter ?? '01'}, ${workspace.createdAt})
    on conflict do nothing
    returning 1`;
  return rows.length === 1;
}

/**
 * Serialises changes to things of which a workspace has few: of two transactions the second waits here, and sees the
 * changes of the first. Meanwhile rows that refer to the workspace can be added. Held until the transaction ends.
 * Index: primary key.
 */
export async function lockWorkspace(tx: Transaction, id: string): Promise<void> {
  await tx`select 1 from workspaces where id = ${id} for no key update`;
}

/** Finds a workspace by id. Index: primary key. */
export async function findWorkspace(tx: Queryable, id: string): Promise<Workspace | undefined> {
  const [row] = await tx<Workspace[]>`
    select id, db_name as "dbName", name, time_zone as "timeZone", data_center as "dataCenter",
      secret_required_at_refresh as "secretRequiredAtRefresh", signature_v2_required as "signatureV2Required",
      ${androidPayload(tx)} as "androidPayload", push_bodies as "pushBodies"
    from workspaces
    where id = ${id}`;
  return row && inKnownZone(row);
}

/** Finds workspaces by id in one look-up, in the order of `ids`. Index: primary key. */
export async function findWorkspaces(tx: Queryable, ids: readonly string[]): Promise<(Workspace | undefined)[]> {
  const rows = await tx<Workspace[]>`
    select id, db_name as "dbName", name, time_zone as "timeZone", data_center as "dataCenter",
      secret_required_at_refresh as "secretRequiredAtRefresh", signature_v2_required as "signatureV2Required",
      ${androidPayload(tx)} as "androidPayload", push_bodies as "pushBodies"
    from workspaces
    where id = any (${[...ids]}::text[])`;
  const found = new Map(rows.map((row) => [row.id, inKnownZone(row)]));
  return ids.map((id) => found.get(id));
}

/**
 * Finds the ids of workspaces that an operator named by id or by database name. An id wins over an equal name. Indexes: primary
 * key, unique db_name.
 */
export async function findWorkspaceIds(tx: Queryable, names: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx<{ id: string; dbName: string }[]>`
    select id, db_name as "dbName" from workspaces
    where id = any (${[...names]}::text[]) or db_name = any (${[...names]}::text[])`;
  return new Map([...rows.map(({ id, dbName }) => [dbName, id] as const), ...rows.map(({ id }) => [id, id] as const)]);
}

/** Returns a workspace's number in the ledger, where rows have no room for its id. Index: primary key. */
export async function findWorkspaceNumber(tx: Queryable, id: string): Promise<number | undefined> {
  const [row] = await tx<{ number: number }[]>`select number from workspaces where id = ${id}`;
  return row?.number;
}

/** Finds a workspace by its database name. Index: unique db_name. */
export async function findWorkspaceByDbName(tx: Queryable, dbName: string): Promise<Workspace | undefined> {
  const [row] = await tx<Workspace[]>`
    select id, db_name as "dbName", name, time_zone as "timeZone", data_center as "dataCenter",
      secret_required_at_refresh as "secretRequiredAtRefresh", signature_v2_required as "signatureV2Required",
      ${androidPayload(tx)} as "androidPayload", push_bodies as "pushBodies"
    from workspaces
    where db_name = ${dbName}`;
  return row && inKnownZone(row);
}

/** Replaces an alias that was stored before names were checked with its zone. */
export function inKnownZone<Row extends { timeZone: string }>(row: Row): Row {
  return { ...row, timeZone: resolveTimeZoneAlias(row.timeZone) };
}

/** Selects a workspace's Android message format as one object, for statements that read its row. */
export function androidPayload(tx: Queryable) {
  return tx`jsonb_build_object(
    'mode', workspaces.android_mode, 'pushFrom', workspaces.push_from, 'dataPrefix', workspaces.data_prefix
  )`;
}

/** Selects the controls of a workspace as one object, for statements that read its row. */
export function workspaceControls(tx: Queryable) {
  return tx`jsonb_build_object(
    'caps', coalesce((
      select jsonb_agg(jsonb_build_object('messages', cap.messages, 'hours', cap.hours) order by cap.hours)
      from unnest(workspaces.cap_messages, workspaces.cap_hours) as cap (messages, hours)
    ), '[]'),
    'quietHours', case when workspaces.quiet_from is null then null else jsonb_build_object(
      'from', workspaces.quiet_from, 'to', workspaces.quiet_to, 'mode', workspaces.quiet_mode
    ) end,
    'minimumDelayMinutes', workspaces.minimum_delay_minutes, 'zoneAttribute', workspaces.zone_attribute,
    'timeZone', workspaces.time_zone, 'controlGroupPercent', workspaces.control_group_percent
  )`;
}

/** Returns the workspace's controls on its campaigns. Index: primary key. */
export async function findWorkspaceControls(tx: Queryable, id: string): Promise<WorkspaceControls | undefined> {
  const [row] = await tx<{ controls: WorkspaceControls }[]>`
    select ${workspaceControls(tx)} as controls from workspaces where id = ${id}`;
  return row && inKnownZone(row.controls);
}

/** Returns the user attribute that contains a user's time zone. Index: primary key. */
export async function findZoneAttribute(tx: Queryable, id: string): Promise<string> {
  const [row] = await tx<{ zoneAttribute: string }[]>`
    select zone_attribute as "zoneAttribute" from workspaces where id = ${id}`;
  if (!row) throw new Error(`no workspace ${id}`);
  return row.zoneAttribute;
}

/** The fields of a workspace that can change; undefined keeps the stored value. */
export type WorkspaceChanges = {
  name: string | undefined;
  timeZone: string | undefined;
  /** The maximum devices per minute of campaigns without a throttle; null for no limit. */
  devicesPerMinute: number | null | undefined;
  /** An empty list for none. */
  frequencyCaps: FrequencyCap[] | undefined;
  /** Null for none. */
  quietSpan: { from: string; to: string } | null | undefined;
  quietMode: QuietMode | undefined;
  minimumDelayMinutes: number | null | undefined;
  zoneAttribute: string | undefined;
  /** Null for none. */
  controlGroupPercent: number | null | undefined;
  campaignVersioning: boolean | undefined;
  pushBodies: PushBodies | undefined;
  androidMode: PayloadMode | undefined;
  pushFrom: string | undefined;
  /** Null for the installation's default. */
  dataPrefix: string | null | undefined;
  v1SearchBareArray: boolean | undefined;
  earlierStatistics: boolean | undefined;
  secretRequiredAtRefresh: boolean | undefined;
  signatureV2Required: boolean | undefined;
};

/** Changes a workspace. Index: primary key. @returns whether it exists */
export async function updateWorkspace(tx: Queryable, { id, ...changes }: WorkspaceChanges & { id: string }) {
  const { devicesPerMinute, frequencyCaps: caps, quietSpan, minimumDelayMinutes, dataPrefix } = changes;
  const { controlGroupPercent } = changes;
  const rows = await tx`
    update workspaces
    set name = coalesce(${changes.name ?? null}, name),
      time_zone = coalesce(${changes.timeZone ?? null}, time_zone),
      devices_per_minute = case when ${devicesPerMinute === undefined} then devices_per_minute
        else ${devicesPerMinute ?? null}::int end,
      cap_messages = coalesce(${caps?.map(({ messages }) => messages) ?? null}::smallint[], cap_messages),
      cap_hours = coalesce(${caps?.map(({ hours }) => hours) ?? null}::smallint[], cap_hours),
      quiet_from = case when ${quietSpan === undefined} then quiet_from else ${quietSpan?.from ?? null} end,
      quiet_to = case when ${quietSpan === undefined} then quiet_to else ${quietSpan?.to ?? null} end,
      quiet_mode = coalesce(${changes.quietMode ?? null}, quiet_mode),
      minimum_delay_minutes = case when ${minimumDelayMinutes === undefined} then minimum_delay_minutes
        else ${minimumDelayMinutes ?? null}::int end,
      zone_attribute = coalesce(${changes.zoneAttribute ?? null}, zone_attribute),
      control_group_percent = case when ${controlGroupPercent === undefined} then control_group_percent
        else ${controlGroupPercent ?? null}::smallint end,
      campaign_versioning = coalesce(${changes.campaignVersioning ?? null}, campaign_versioning),
      push_bodies = coalesce(${changes.pushBodies ?? null}, push_bodies),
      android_mode = coalesce(${changes.androidMode ?? null}, android_mode),
      push_from = coalesce(${changes.pushFrom ?? null}, push_from),
      data_prefix = case when ${dataPrefix === undefined} then data_prefix else ${dataPrefix ?? null} end,
      v1_search_bare_array = coalesce(${changes.v1SearchBareArray ?? null}, v1_search_bare_array),
      earlier_statistics = coalesce(${changes.earlierStatistics ?? null}, earlier_statistics),
      secret_required_at_refresh = coalesce(${changes.secretRequiredAtRefresh ?? null}, secret_required_at_refresh),
      signature_v2_required = coalesce(${changes.signatureV2Required ?? null}, signature_v2_required)
    where id = ${id}
    returning 1`;
  return rows.length === 1;
}

/**
 * Returns the workspace's webhook secret, still encrypted; undefined before its first callback. Index: workspaces
 * primary key.
 */
export async function findWebhookSecret(tx: Queryable, workspaceId: string): Promise<Buffer | undefined> {
  const [row] = await tx<{ encrypted: Buffer | null }[]>`
    select webhook_secret_sealed as encrypted from workspaces where id = ${workspaceId}`;
  return row?.encrypted ?? undefined;
}

/**
 * Stores a workspace's webhook secret unless it has one. Two nodes that create one at the same time queue on the row,
 * and the first is kept, so a receiver never needs to know two. Index: workspaces primary key.
 *
 * @returns whether it was stored
 */
export async function storeWebhookSecret(
  tx: Queryable,
  secret: { workspaceId: string; encrypted: Buffer },
): Promise<boolean> {
  const rows = await tx`
    update workspaces
    set webhook_secret_sealed = ${secret.encrypted}
    where id = ${secret.workspaceId} and webhook_secret_sealed is null
    returning 1`;
  return rows.length === 1;
}

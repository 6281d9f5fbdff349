import type { Queryable } from '../pool.ts';

export type Workspace = {
  id: string;
  dbName: string;
  name: string;
  /** IANA name; the zone of campaign times that name none (decisions D36). */
  timeZone: string;
  /** One of 01, 02, 03, 04, 05, 06, 101 (decisions D1). */
  dataCenter: string;
  secretRequiredAtRefresh: boolean;
  signatureV2Required: boolean;
};

/** Adds a workspace. A taken id or database name is refused by the primary key and the unique index. */
export async function insertWorkspace(
  tx: Queryable,
  workspace: { id: string; dbName: string; name: string; timeZone: string; createdAt: Date; dataCenter?: string },
): Promise<void> {
  await tx`
    insert into workspaces (id, db_name, name, time_zone, data_center, created_at)
    values (${workspace.id}, ${workspace.dbName}, ${workspace.name}, ${workspace.timeZone},
      ${workspace.dataCenter ?? '01'}, ${workspace.createdAt})`;
}

/** The workspace of that id. Index: primary key. */
export async function findWorkspace(tx: Queryable, id: string): Promise<Workspace | undefined> {
  const [row] = await tx<Workspace[]>`
    select id, db_name as "dbName", name, time_zone as "timeZone", data_center as "dataCenter",
      secret_required_at_refresh as "secretRequiredAtRefresh", signature_v2_required as "signatureV2Required"
    from workspaces
    where id = ${id}`;
  return row;
}

/** The workspace whose data is available under that database name. Index: unique db_name. */
export async function findWorkspaceByDbName(tx: Queryable, dbName: string): Promise<Workspace | undefined> {
  const [row] = await tx<Workspace[]>`
    select id, db_name as "dbName", name, time_zone as "timeZone", data_center as "dataCenter",
      secret_required_at_refresh as "secretRequiredAtRefresh", signature_v2_required as "signatureV2Required"
    from workspaces
    where db_name = ${dbName}`;
  return row;
}

/** What a workspace may change of itself; undefined keeps what is stored. */
export type WorkspaceChanges = {
  name: string | undefined;
  timeZone: string | undefined;
  /** Most devices a minute of campaigns that name no throttle; null for none. */
  devicesPerMinute: number | null | undefined;
  campaignVersioning: boolean | undefined;
  v1SearchBareArray: boolean | undefined;
  secretRequiredAtRefresh: boolean | undefined;
  signatureV2Required: boolean | undefined;
};

/** Changes a workspace. Index: primary key. @returns whether there is one */
export async function updateWorkspace(tx: Queryable, { id, ...changes }: WorkspaceChanges & { id: string }) {
  const { devicesPerMinute } = changes;
  const rows = await tx`
    update workspaces
    set name = coalesce(${changes.name ?? null}, name),
      time_zone = coalesce(${changes.timeZone ?? null}, time_zone),
      devices_per_minute = case when ${devicesPerMinute === undefined} then devices_per_minute
        else ${devicesPerMinute ?? null}::int end,
      campaign_versioning = coalesce(${changes.campaignVersioning ?? null}, campaign_versioning),
      v1_search_bare_array = coalesce(${changes.v1SearchBareArray ?? null}, v1_search_bare_array),
      secret_required_at_refresh = coalesce(${changes.secretRequiredAtRefresh ?? null}, secret_required_at_refresh),
      signature_v2_required = coalesce(${changes.signatureV2Required ?? null}, signature_v2_required)
    where id = ${id}
    returning 1`;
  return rows.length === 1;
}

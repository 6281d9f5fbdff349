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

import type { App } from '../domain/apps.ts';
import type { Platform } from '../domain/content/content.ts';
import type { Queryable } from './database.ts';

type Named = { workspaceId: string; platform: Platform; appId: string };

/** Lists a workspace's apps other than the default ones, by platform and id. Index: primary key. */
export async function listApps(tx: Queryable, workspaceId: string): Promise<App[]> {
  return tx<App[]>`
    select platform, app_id as "appId", name, identifier, environment, restrict_package as "restrictsPackage",
      settings
    from apps where workspace_id = ${workspaceId} order by platform, app_id`;
}

/** As listApps, for several workspaces at once: returns the apps of each that has any. Index: primary key. */
export async function listAppsOfWorkspaces(
  tx: Queryable,
  workspaceIds: readonly string[],
): Promise<Map<string, App[]>> {
  const rows = await tx<(App & { workspaceId: string })[]>`
    select workspace_id as "workspaceId", platform, app_id as "appId", name, identifier, environment,
      restrict_package as "restrictsPackage", settings
    from apps where workspace_id = any (${[...workspaceIds]}::text[]) order by workspace_id, platform, app_id`;
  const apps = new Map<string, App[]>();
  for (const { workspaceId, ...app } of rows) apps.set(workspaceId, [...(apps.get(workspaceId) ?? []), app]);
  return apps;
}

/** Share-locks an app: it is neither changed nor removed until the transaction ends. Index: primary key. */
export async function holdApp(tx: Queryable, { workspaceId, platform, appId }: Named): Promise<App | undefined> {
  const [row] = await tx<App[]>`
    select platform, app_id as "appId", name, identifier, environment, restrict_package as "restrictsPackage",
      settings
    from apps where workspace_id = ${workspaceId} and platform = ${platform} and app_id = ${appId} for share`;
  return row;
}

/**
 * True if an app exists; it is not removed until the transaction ends. Several transactions can hold it at once. Index:
 * primary key.
 */
export async function keepApp(tx: Queryable, { workspaceId, platform, appId }: Named): Promise<boolean> {
  const rows = await tx`
    select 1 from apps
    where workspace_id = ${workspaceId} and platform = ${platform} and app_id = ${appId} for key share`;
  return rows.length === 1;
}

/** Locks an app until the transaction ends. Index: primary key. */
export async function lockApp(tx: Queryable, { workspaceId, platform, appId }: Named): Promise<App | undefined> {
  const [row] = await tx<App[]>`
    select platform, app_id as "appId", name, identifier, environment, restrict_package as "restrictsPackage",
      settings
    from apps where workspace_id = ${workspaceId} and platform = ${platform} and app_id = ${appId} for update`;
  return row;
}

/** Adds an app. @returns false if its id or its identifier is taken: by the primary key, by apps_identifier_key */
export async function insertApp(tx: Queryable, app: App & { workspaceId: string; at: Date }): Promise<boolean> {
  const rows = await tx`
    insert into apps (workspace_id, platform, app_id, name, identifier, environment, restrict_package, settings,
      created_at)
    values (${app.workspaceId}, ${app.platform}, ${app.appId}, ${app.name}, ${app.identifier}, ${app.environment},
      ${app.restrictsPackage}, ${JSON.stringify(app.settings ?? {})}::text::jsonb, ${app.at})
    on conflict do nothing returning 1`;
  return rows.length === 1;
}

/** Changes the mutable fields of an app. Index: primary key. */
export async function updateApp(
  tx: Queryable,
  {
    workspaceId,
    platform,
    appId,
    name,
    restrictsPackage,
    settings = {},
  }: Named & Pick<App, 'name' | 'restrictsPackage' | 'settings'>,
): Promise<void> {
  await tx`
    update apps set name = ${name}, restrict_package = ${restrictsPackage}, settings = ${JSON.stringify(settings)}::text::jsonb
    where workspace_id = ${workspaceId} and platform = ${platform} and app_id = ${appId}`;
}

/** Index: primary key. */
export async function deleteApp(tx: Queryable, { workspaceId, platform, appId }: Named): Promise<void> {
  await tx`
    delete from apps where workspace_id = ${workspaceId} and platform = ${platform} and app_id = ${appId}`;
}

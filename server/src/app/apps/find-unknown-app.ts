import { defaultAppId } from '../../domain/apps/app.ts';
import { listApps } from '../../storage/apps/apps.ts';
import type { Queryable } from '../../storage/database.ts';

/** The first of the named apps that the workspace does not have. Undefined where none are named, and nothing is read. */
export async function findUnknownApp(
  tx: Queryable,
  { workspaceId, appIds }: { workspaceId: string; appIds: readonly string[] | undefined },
): Promise<string | undefined> {
  const named = appIds?.filter((appId) => appId !== defaultAppId) ?? [];
  if (named.length === 0) return undefined;
  const apps = new Set((await listApps(tx, workspaceId)).map(({ appId }) => appId));
  return named.find((appId) => !apps.has(appId));
}

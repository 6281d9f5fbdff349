import { defaultAppId, noSuchApp } from '../../domain/apps/app.ts';
import { ServiceError } from '../../domain/errors.ts';
import { listApps } from '../../storage/apps/apps.ts';
import type { Queryable } from '../../storage/database.ts';

/** The apps that a push names; undefined: it names none and reads nothing. @throws ServiceError PUSH_PARAMETER_INVALID */
export async function requireApps(
  database: Queryable,
  { workspaceId, appIds }: { workspaceId: string; appIds: readonly string[] | undefined },
): Promise<void> {
  const named = appIds?.filter((appId) => appId !== defaultAppId) ?? [];
  if (named.length === 0) return;
  const apps = new Set((await listApps(database, workspaceId)).map(({ appId }) => appId));
  const unknown = named.find((appId) => !apps.has(appId));
  if (unknown === undefined) return;
  throw new ServiceError('PUSH_PARAMETER_INVALID', { field: 'advancedSettings.appIds', reason: noSuchApp(unknown) });
}

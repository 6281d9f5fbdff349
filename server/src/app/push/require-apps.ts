import { noSuchApp } from '../../domain/apps/app.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Queryable } from '../../storage/database.ts';
import { findUnknownApp } from '../apps/find-unknown-app.ts';

/** The apps that a push names; undefined: it names none and reads nothing. @throws ServiceError PUSH_PARAMETER_INVALID */
export async function requireApps(
  database: Queryable,
  named: { workspaceId: string; appIds: readonly string[] | undefined },
): Promise<void> {
  const unknown = await findUnknownApp(database, named);
  if (unknown === undefined) return;
  throw new ServiceError('PUSH_PARAMETER_INVALID', { field: 'advancedSettings.appIds', reason: noSuchApp(unknown) });
}

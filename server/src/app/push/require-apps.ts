import { noSuchApp } from '../../domain/apps/app.ts';
import { findCriticalSounds, needsCriticalAlerts } from '../../domain/apps/critical-sounds.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { PushCommand } from '../../domain/push/push-command.ts';
import type { Queryable } from '../../storage/database.ts';
import { findUnknownApp } from '../apps/find-unknown-app.ts';
import type { PushOfWorkspace } from './admit-push.ts';

type Asked = {
  admitted: Pick<PushOfWorkspace, 'workspace' | 'apps'>;
  command: Pick<PushCommand, 'content' | 'settings'>;
};

/**
 * The apps that a push names, and one that can play what it asks for. A push that names none reads nothing.
 *
 * @throws ServiceError PUSH_PARAMETER_INVALID
 */
export async function requireApps(database: Queryable, { admitted, command }: Asked): Promise<void> {
  const { content, settings } = command;
  const { appIds } = settings;
  const unknown = await findUnknownApp(database, { workspaceId: admitted.workspace.id, appIds });
  if (unknown !== undefined)
    throw new ServiceError('PUSH_PARAMETER_INVALID', { field: 'advancedSettings.appIds', reason: noSuchApp(unknown) });
  const [asking] = findCriticalSounds(content, { apps: admitted.apps, appIds });
  if (asking === undefined) return;
  const entry = asking === 'content' ? 'payload.IOS' : 'payload.IOS.fallback';
  throw new ServiceError('PUSH_PARAMETER_INVALID', {
    field: `${entry}.options.sound.critical`,
    reason: needsCriticalAlerts,
  });
}

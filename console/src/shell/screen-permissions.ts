import type { Permission } from '../api/generated/accounts.ts';
import { screens } from './screens.ts';

/** What the server asks of whoever opens a screen; the navigation shows those alone that would be shown. */
export const screenPermissions: Record<string, Permission> = {
  [screens.overview]: 'overview.read',
  [screens.campaigns]: 'overview.read',
  [screens.calendar]: 'overview.read',
  [screens.templates]: 'overview.read',
  [screens.composer]: 'campaigns.write',
  [screens.composed]: 'campaigns.write',
  [screens.segments]: 'overview.read',
  [screens.newFile]: 'segments.write',
  [screens.changedFile]: 'segments.write',
  [screens.newFilter]: 'segments.write',
  [screens.changedFilter]: 'segments.write',
  [screens.users]: 'people.read',
  [screens.user]: 'people.read',
  [screens.deliveries]: 'people.read',
  [screens.log]: 'log.read',
  [screens.sandbox]: 'sandbox.use',
  [screens.keys]: 'keys.read',
  [screens.providers]: 'overview.read',
  [screens.settings]: 'settings.write',
  [screens.alerts]: 'overview.read',
  [screens.metrics]: 'system.read',
  [screens.system]: 'system.read',
  [screens.audit]: 'audit.read',
  '/w/$workspaceId/accounts': 'accounts.manage',
};

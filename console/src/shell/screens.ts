import type { Permission } from '../api/generated/accounts.ts';

/**
 * The address of every screen, below /console. A screen that has no route in router.tsx yet keeps its address here, so
 * that links to it can be written and nobody takes it for something else.
 */
export const screens = {
  overview: '/w/$workspaceId',
  campaigns: '/w/$workspaceId/campaigns',
  composer: '/w/$workspaceId/campaigns/new',
  composed: '/w/$workspaceId/campaigns/$campaignId/edit',
  campaign: '/w/$workspaceId/campaigns/$campaignId',
  calendar: '/w/$workspaceId/calendar',
  templates: '/w/$workspaceId/templates',
  segments: '/w/$workspaceId/segments',
  segment: '/w/$workspaceId/segments/$segmentId',
  newFile: '/w/$workspaceId/segments/new/file',
  changedFile: '/w/$workspaceId/segments/$segmentId/file',
  newFilter: '/w/$workspaceId/segments/new/filter',
  changedFilter: '/w/$workspaceId/segments/$segmentId/filter',
  users: '/w/$workspaceId/people',
  user: '/w/$workspaceId/people/$userId',
  deliveries: '/w/$workspaceId/deliveries',
  log: '/w/$workspaceId/log',
  sandbox: '/w/$workspaceId/sandbox',
  keys: '/w/$workspaceId/keys',
  settings: '/w/$workspaceId/settings',
  providers: '/w/$workspaceId/providers',
  alerts: '/w/$workspaceId/alerts',
  metrics: '/w/$workspaceId/metrics',
  system: '/w/$workspaceId/system',
  audit: '/w/$workspaceId/audit',
} as const;

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

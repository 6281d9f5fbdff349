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

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
  segments: '/w/$workspaceId/segments',
  segment: '/w/$workspaceId/segments/$segmentId',
  users: '/w/$workspaceId/people',
  user: '/w/$workspaceId/people/$userId',
  deliveries: '/w/$workspaceId/deliveries',
  log: '/w/$workspaceId/log',
  sandbox: '/w/$workspaceId/sandbox',
  keys: '/w/$workspaceId/keys',
  settings: '/w/$workspaceId/settings',
  providers: '/w/$workspaceId/providers',
  system: '/w/$workspaceId/system',
  audit: '/w/$workspaceId/audit',
} as const;

/** What a person is in the console; docs/console.md shows the table below. */
export const roles = ['owner', 'marketer', 'analyst', 'developer'] as const;
export type Role = (typeof roles)[number];

type Rule = { may: string; roles: readonly Role[] };

/** Everything that is done in the console, and who may. A route names one of these; nothing else opens it. */
export const permissions = {
  'session.own': { may: 'sign out, see and end own sessions, change the own password', roles },
  'overview.read': { may: 'see the overview, campaigns, reports and segments', roles },
  'campaigns.write': {
    may: 'make, change, send, pause, resume, stop and clone campaigns',
    roles: ['owner', 'marketer'],
  },
  'segments.write': { may: 'make and change segments, of files and of filters', roles: ['owner', 'marketer'] },
  'people.read': { may: 'see people, their devices and messages', roles: ['owner', 'marketer', 'developer'] },
  'people.write': { may: 'change and erase people', roles: ['owner', 'developer'] },
  'log.read': { may: 'see callbacks, mails and the API log', roles: ['owner', 'marketer', 'developer'] },
  'log.resend': { may: 'send a callback again', roles: ['owner', 'marketer', 'developer'] },
  'sandbox.use': { may: 'move the clock, break providers, reset the demo', roles: ['owner', 'developer'] },
  'keys.read': { may: 'see API keys', roles: ['owner', 'developer'] },
  'keys.write': { may: 'make, rotate and revoke API keys; see the secret of callbacks', roles: ['owner', 'developer'] },
  'settings.write': { may: 'change the workspace and its provider credentials', roles: ['owner'] },
  'system.read': { may: 'see nodes, queues and the database, copy diagnostics', roles: ['owner', 'developer'] },
  'accounts.manage': { may: 'invite people, change roles, disable accounts', roles: ['owner'] },
  'audit.read': { may: 'read the audit log', roles: ['owner'] },
} as const satisfies Record<string, Rule>;

export type Permission = keyof typeof permissions;

export function mayDo(role: Role, permission: Permission): boolean {
  return (permissions[permission].roles as readonly Role[]).includes(role);
}

export function permissionsOf(role: Role): Permission[] {
  return (Object.keys(permissions) as Permission[]).filter((permission) => mayDo(role, permission));
}

// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type ConsoleSession = {
  /** Id and address are null for the start link of a sandbox. */
  account: {
    id: string | null;
    name: string;
    email: string | null;
    role: Role;
  };
  permissions: Permission[];
  workspaces: ConsoleWorkspace[];
  isSandbox: boolean;
};

export type ConsoleWorkspace = {
  id: string;
  dbName: string;
  name: string;

  /** IANA name; the console shows times in it. */
  timeZone: string;
};

export type Permission =
  | 'session.own'
  | 'overview.read'
  | 'campaigns.write'
  | 'segments.write'
  | 'people.read'
  | 'people.write'
  | 'log.read'
  | 'log.resend'
  | 'sandbox.use'
  | 'keys.read'
  | 'keys.write'
  | 'settings.write'
  | 'system.read'
  | 'accounts.manage'
  | 'audit.read';

export type Role = 'owner' | 'marketer' | 'analyst' | 'developer';

// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type AccountList = {
  accounts: ConsoleAccount[];
  invitations: ConsoleInvitation[];
};

export type AuditEntry = {
  id: string;

  /** Null: what concerns the whole installation. */
  workspaceId: string | null;
  at: string;
  actorId: string | null;
  actorName: string;

  /** The object's kind and what was done: `campaign.stop`. */
  action: string;
  objectKind: string;
  objectId: string | null;
  objectName: string | null;
  detail: Record<string, unknown>;
};

export type CompanySignIn = {
  /** Where the browser goes now. */
  location: string;
};

export type ConsoleAccount = {
  id: string;
  email: string;
  name: string;
  role: Role;
  createdAt: string;
  signedInAt: string | null;
  disabledAt: string | null;
};

export type ConsoleInvitation = {
  id: string;
  purpose: string;
  accountId: string | null;
  email: string;
  role: Role;
  createdBy: string;
  createdAt: string;
  expiresAt: string;
};

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

/** What somebody may come in by who is not signed in. */
export type Entrance = {
  /** The company's accounts; null: there are passwords only. */
  company: {
    name: string;
  } | null;

  /** Whose passwords open the console. */
  passwordSignIn: 'everyone' | 'owners';
};

/** The link of an invitation, which works once. */
export type InvitationLink = {
  id: string;

  /** At the public URL; a path where none is set. */
  link: string;
  expiresAt: string;
};

/** A link that works once. */
export type OneTimeLink = {
  /** At the public URL; a path where none is set. */
  link: string;
  expiresAt: string;
};

export type OpenInvitation = {
  email: string;
  role: Role;
  invitedBy: string;
};

export type OwnSession = {
  id: string;
  accountId: string | null;
  sourceAddress: string;
  userAgent: string;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
  isThis: boolean;
};

/** Who can change what somebody may. */
export type Owner = {
  name: string;
  email: string;
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

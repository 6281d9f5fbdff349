// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type AccountList = {
  accounts: ListedAccount[];
  invitations: ConsoleInvitation[];
};

export type AuditEntry = {
  id: string;

  /** Null if the entry concerns the whole installation. */
  workspaceId: string | null;
  at: string;
  actorId: string | null;
  actorName: string;

  /** The kind of the object and the action, as in `campaign.stop`. */
  action: string;
  objectKind: string;
  objectId: string | null;
  objectName: string | null;
  detail: Record<string, unknown>;
};

export type CompanySignIn = {
  /** The address that the browser opens next. */
  location: string;
};

export type ConsoleAccount = {
  id: string;
  email: string;
  name: string;

  /** The role in the installation, which applies in every workspace; null if there is none. */
  role: Role | null;

  /** The role in the installation by groups of the company account. */
  groupRole: Role | null;
  workspaceRoles: WorkspaceRole[];
  createdAt: string;
  signedInAt: string | null;
  disabledAt: string | null;
};

export type ConsoleInvitation = {
  id: string;
  purpose: string;
  accountId: string | null;
  email: string;
  role: Role | null;

  /** Roles by the id of the workspace. */
  workspaceRoles: Record<string, Role>;
  createdBy: string;
  createdAt: string;
  expiresAt: string;
};

export type ConsoleSession = {
  /** For the start link of a sandbox, the id and the address are null. */
  account: {
    id: string | null;
    name: string;
    email: string | null;

    /** The roles in the installation, which apply in every workspace. */
    roles: Role[];
  };
  workspaces: SessionWorkspace[];
  isSandbox: boolean;
};

export type ConsoleWorkspace = {
  id: string;
  dbName: string;
  name: string;

  /** IANA name; the console shows times in it. */
  timeZone: string;
};

/** The ways to sign in. */
export type Entrance = {
  /** The sign-in with company accounts; null if there are only passwords. */
  company: {
    name: string;
  } | null;

  /** The accounts that may sign in with a password. */
  passwordSignIn: 'everyone' | 'owners';
};

/** The link of an invitation, which works once. */
export type InvitationLink = {
  id: string;

  /** An address at the public URL, or a path if no public URL is set. */
  link: string;
  expiresAt: string;
};

export type ListedAccount = {
  id: string;
  email: string;
  name: string;

  /** The role in the installation, which applies in every workspace; null if there is none. */
  role: Role | null;

  /** The role in the installation by groups of the company account. */
  groupRole: Role | null;
  workspaceRoles: WorkspaceRole[];
  createdAt: string;
  signedInAt: string | null;
  disabledAt: string | null;
  hasSecondFactor: boolean;
};

/** A link that works once. */
export type OneTimeLink = {
  /** An address at the public URL, or a path if no public URL is set. */
  link: string;
  expiresAt: string;
};

export type OpenInvitation = {
  email: string;
  role: Role | null;
  workspaceRoles: {
    workspace: string;
    role: Role;
  }[];
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

/** An owner, who can change what other accounts may do. */
export type Owner = {
  name: string;
  email: string;
};

export type Permission =
  | 'session.enter'
  | 'session.factors'
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

/** A workspace in which the user has a role. */
export type SessionWorkspace = {
  id: string;
  dbName: string;
  name: string;

  /** IANA name; the console shows times in it. */
  timeZone: string;

  /** The roles of the user here, including those in the installation. */
  roles: Role[];

  /** What the user may do here. */
  permissions: Permission[];
};

export type WorkspaceRole = {
  workspaceId: string;

  /** The role that an owner assigned. */
  role: Role | null;

  /** The role by groups of the company account. */
  groupRole: Role | null;
};

import type { ConsoleCaller } from './console-caller.ts';
import type { Role } from './console-client.ts';

export type OwnSession = {
  id: string;
  sourceAddress: string;
  userAgent: string;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
  isThis: boolean;
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
  email: string;
  role: Role;
  createdBy: string;
  createdAt: string;
  expiresAt: string;
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

/** What somebody may come in by who is not signed in. */
export type Entrance = {
  /** The company's accounts; null: there are passwords only. */
  company: { name: string } | null;
  /** Whose passwords open the console. */
  passwordSignIn: 'everyone' | 'owners';
};

/** A link that works once. */
export type OneTimeLink = { link: string; expiresAt: string };

export type ConsoleAccounts = {
  readEntrance(): Promise<Entrance>;
  /** Begins a sign-in by the company's account. @returns where the browser goes now */
  beginCompanySignIn(): Promise<string>;
  /** Opens the session of a sandbox's start link. @throws CarillonError */
  signInByLink(code: string): Promise<void>;
  signIn(person: { email: string; password: string }): Promise<void>;
  signOut(): Promise<void>;
  /** With the link that the first start printed. */
  createFirstOwner(owner: { code: string; email: string; name: string; password: string }): Promise<void>;
  readInvitation(code: string): Promise<{ email: string; role: Role; invitedBy: string }>;
  acceptInvitation(acceptance: { code: string; name: string; password: string }): Promise<void>;
  /** With a link that an owner made. */
  setNewPassword(change: { code: string; password: string }): Promise<void>;
  /** Newest first. */
  listOwnSessions(): Promise<OwnSession[]>;
  endOwnSession(id: string): Promise<void>;
  /** Ends every other session. */
  changePassword(change: { current: string; password: string }): Promise<void>;
  list(): Promise<{ accounts: ConsoleAccount[]; invitations: ConsoleInvitation[] }>;
  invite(person: { email: string; role: Role }): Promise<OneTimeLink>;
  withdrawInvitation(id: string): Promise<void>;
  changeRole(change: { id: string; role: Role }): Promise<ConsoleAccount>;
  disable(id: string): Promise<ConsoleAccount>;
  enable(id: string): Promise<ConsoleAccount>;
  makePasswordLink(id: string): Promise<OneTimeLink>;
  /** Newest first, older than `before`. */
  listAudit(page: { workspaceId: string; before?: string }): Promise<AuditEntry[]>;
};

export function makeConsoleAccounts({ read, send }: ConsoleCaller): ConsoleAccounts {
  const account = async (path: string, body?: unknown): Promise<ConsoleAccount> =>
    (await send<{ account: ConsoleAccount }>(body === undefined ? 'POST' : 'PUT', `accounts/${path}`, body)).account;
  return {
    readEntrance: () => read('entrance', {}),
    beginCompanySignIn: async () => (await send<{ location: string }>('POST', 'company')).location,
    signInByLink: (code) => send('POST', 'session', { code }),
    signIn: (person) => send('POST', 'session/password', person),
    signOut: () => send('DELETE', 'session'),
    createFirstOwner: (owner) => send('POST', 'first-owner', owner),
    readInvitation: (code) => send('POST', 'invitation', { code }),
    acceptInvitation: (acceptance) => send('POST', 'invitation/acceptance', acceptance),
    setNewPassword: (change) => send('POST', 'new-password', change),
    listOwnSessions: async () => (await read<{ sessions: OwnSession[] }>('own/sessions', {})).sessions,
    endOwnSession: (id) => send('DELETE', `own/sessions/${id}`),
    changePassword: (change) => send('PUT', 'own/password', change),
    list: () => read('accounts', {}),
    invite: (person) => send('POST', 'invitations', person),
    withdrawInvitation: (id) => send('DELETE', `invitations/${id}`),
    changeRole: ({ id, role }) => account(`${id}/role`, { role }),
    disable: (id) => account(`${id}/disable`),
    enable: (id) => account(`${id}/enable`),
    makePasswordLink: (id) => send('POST', `accounts/${id}/password-link`),
    listAudit: async ({ workspaceId, before }) =>
      (await read<{ entries: AuditEntry[] }>('audit', { workspaceId, ...(before === undefined ? {} : { before }) }))
        .entries,
  };
}

import { addressOf } from './console-caller.ts';
import type { ConsoleCaller } from './console-caller.ts';
import type { Role } from './generated/accounts.ts';

export type AuditFilters = {
  actor?: string;
  /** The beginning of one: `campaign`. */
  action?: string;
  /** An id, or a part of a name. */
  object?: string;
  /** Instants. */
  from?: string;
  until?: string;
};

/** Accounts: signing in, the own account, the accounts of others, what everybody did. */
export function makeAccountCalls({ ask }: ConsoleCaller) {
  return {
    /** What this session may see. @throws CarillonError 401 without one */
    readSession: () => ask('GET session'),
    readEntrance: () => ask('GET entrance'),
    /** Begins a sign-in by the company's account. @returns where the browser goes now */
    beginCompanySignIn: async () => (await ask('POST company')).location,
    /** Opens the session of a sandbox's start link. */
    signInByLink: (code: string) => ask('POST session', { body: { code } }),
    signIn: (credentials: { email: string; password: string }) => ask('POST session/password', { body: credentials }),
    signOut: () => ask('DELETE session'),
    /** With the link that the first start printed. */
    createFirstOwner: (owner: { code: string; email: string; name: string; password: string }) =>
      ask('POST first-owner', { body: owner }),
    readInvitation: (code: string) => ask('POST invitation', { body: { code } }),
    acceptInvitation: (acceptance: { code: string; name: string; password: string }) =>
      ask('POST invitation/acceptance', { body: acceptance }),
    /** With a link that an owner made. */
    setNewPassword: (change: { code: string; password: string }) => ask('POST new-password', { body: change }),
    /** Newest first. */
    listOwnSessions: async () => (await ask('GET own/sessions')).sessions,
    endOwnSession: (id: string) => ask('DELETE own/sessions/:id', { params: { id } }),
    /** Ends every other session. */
    changePassword: (change: { current: string; password: string }) => ask('PUT own/password', { body: change }),
    /** Who can change what somebody may. */
    listOwners: async () => (await ask('GET owners')).owners,
    list: () => ask('GET accounts'),
    invite: (invited: { email: string; role: Role }) => ask('POST invitations', { body: invited }),
    withdrawInvitation: (id: string) => ask('DELETE invitations/:id', { params: { id } }),
    changeRole: async ({ id, role }: { id: string; role: Role }) =>
      (await ask('PUT accounts/:id/role', { params: { id }, body: { role } })).account,
    disable: async (id: string) => (await ask('POST accounts/:id/disable', { params: { id } })).account,
    enable: async (id: string) => (await ask('POST accounts/:id/enable', { params: { id } })).account,
    makePasswordLink: (id: string) => ask('POST accounts/:id/password-link', { params: { id } }),
    /** Newest first, older than `before`. */
    listAudit: async (page: AuditFilters & { workspaceId: string; before?: string }) =>
      (await ask('GET audit', { query: page })).entries,
    /** Of the same filters, at most 10,000 lines. */
    auditFileUrl: (query: AuditFilters & { workspaceId: string }) => addressOf('audit.csv', query),
  };
}

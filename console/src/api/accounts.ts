import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import { addressOf } from './console-caller.ts';
import type { ConsoleCaller } from './console-caller.ts';
import type { Role } from './generated/accounts.ts';

export type AuditFilters = {
  actor?: string;
  /** The prefix of an action: `campaign`. */
  action?: string;
  /** An id, or part of a name. */
  object?: string;
  /** ISO 8601 instants. */
  from?: string;
  until?: string;
};

/** Signing in, the user's own account, other accounts, and the audit log. */
export function makeAccountCalls({ ask }: ConsoleCaller) {
  return {
    /**
     * Returns the account, its permissions and the installation's workspaces. @throws CarillonError 401 without a
     * session
     */
    readSession: () => ask('GET session'),
    readEntrance: () => ask('GET entrance'),
    /** Begins a sign-in with the company's account. @returns the address that the browser opens next */
    beginCompanySignIn: async () => (await ask('POST company')).location,
    /** Starts a session from a sandbox's start link. */
    signInByLink: (code: string) => ask('POST session', { body: { code } }),
    signIn: (credentials: { email: string; password: string }) => ask('POST session/password', { body: credentials }),
    /** What the second step of the sign-in needs. */
    readSecondStep: () => ask('GET second-factor'),
    /** Completes a sign-in with a code of the app or a recovery code. */
    presentCode: (code: string) => ask('POST second-factor/code', { body: { code } }),
    askForPasskey: async () =>
      (await ask('POST second-factor/passkey-options')).options as PublicKeyCredentialRequestOptionsJSON,
    presentPasskey: (response: AuthenticationResponseJSON) => ask('POST second-factor/passkey', { body: { response } }),
    readOwnFactors: () => ask('GET own/second-factors'),
    beginAuthenticator: () => ask('POST own/authenticator'),
    confirmAuthenticator: (code: string) => ask('POST own/authenticator/confirmation', { body: { code } }),
    removeAuthenticator: () => ask('DELETE own/authenticator'),
    askForNewPasskey: async () =>
      (await ask('POST own/passkeys/options')).options as PublicKeyCredentialCreationOptionsJSON,
    addPasskey: (passkey: { name: string; response: RegistrationResponseJSON }) =>
      ask('POST own/passkeys', { body: passkey }),
    renamePasskey: ({ id, name }: { id: string; name: string }) =>
      ask('PATCH own/passkeys/:id', { params: { id }, body: { name } }),
    removePasskey: (id: string) => ask('DELETE own/passkeys/:id', { params: { id } }),
    renewRecoveryCodes: async () => (await ask('POST own/recovery-codes')).recoveryCodes,
    /** Removes all second factors of an account, and ends its sessions. */
    resetFactors: (id: string) => ask('DELETE accounts/:id/second-factors', { params: { id } }),
    signOut: () => ask('DELETE session'),
    /** Accepts the link that the first start printed. */
    createFirstOwner: (owner: { code: string; email: string; name: string; password: string }) =>
      ask('POST first-owner', { body: owner }),
    readInvitation: (code: string) => ask('POST invitation', { body: { code } }),
    acceptInvitation: (acceptance: { code: string; name: string; password: string }) =>
      ask('POST invitation/acceptance', { body: acceptance }),
    /** Accepts an invitation or reset link that an owner created. */
    setNewPassword: (change: { code: string; password: string }) => ask('POST new-password', { body: change }),
    /** Newest first. */
    listOwnSessions: async () => (await ask('GET own/sessions')).sessions,
    endOwnSession: (id: string) => ask('DELETE own/sessions/:id', { params: { id } }),
    /** Ends every other session. */
    changePassword: (change: { current: string; password: string }) => ask('PUT own/password', { body: change }),
    /** The owners of the installation, who can change roles. */
    listOwners: async () => (await ask('GET owners')).owners,
    list: () => ask('GET accounts'),
    invite: (invited: { email: string; role: Role | null; workspaceRoles: Record<string, Role> }) =>
      ask('POST invitations', { body: invited }),
    withdrawInvitation: (id: string) => ask('DELETE invitations/:id', { params: { id } }),
    /** Without a workspace: the role in the installation. `role` null takes the role away. */
    changeRole: async ({ id, ...change }: { id: string; role: Role | null; workspaceId: string | null }) =>
      (await ask('PUT accounts/:id/role', { params: { id }, body: change })).account,
    disable: async (id: string) => (await ask('POST accounts/:id/disable', { params: { id } })).account,
    enable: async (id: string) => (await ask('POST accounts/:id/enable', { params: { id } })).account,
    makePasswordLink: (id: string) => ask('POST accounts/:id/password-link', { params: { id } }),
    /** Newest first, older than `before`. */
    listAudit: async (page: AuditFilters & { workspaceId: string; before?: string }) =>
      (await ask('GET audit', { query: page })).entries,
    /** The address of the CSV with the same filters, at most 10,000 lines. */
    auditFileUrl: (query: AuditFilters & { workspaceId: string }) => addressOf('audit.csv', query),
  };
}

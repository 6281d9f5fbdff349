import { mayDo, permissionsOf } from '../../domain/accounts/roles.ts';
import type { Permission, Role } from '../../domain/accounts/roles.ts';
import { ServiceError } from '../../domain/errors.ts';
import { hashSecret } from '../../domain/tokens/secret.ts';
import { hasOwner, listAuditEntries } from '../../storage/accounts/accounts.ts';
import {
  deleteConsoleSession,
  findSessionOwner,
  touchConsoleSession,
} from '../../storage/accounts/console-sessions.ts';
import type { AccountDependencies, SignedIn } from './account-dependencies.ts';
import { makeLink } from './make-link.ts';
import { makeManageAccounts } from './manage-accounts.ts';
import { makeOwnAccount } from './own-account.ts';
import { makeUseLinks } from './use-links.ts';
import { signIn } from './sign-in.ts';
import type { SignInCommand } from './sign-in.ts';

const auditPage = 100;
const seenMilliseconds = 60_000;

/** Who uses the console, what each may do, and what each did. */
export function makeAccountUseCases(deps: AccountDependencies & { isSandbox: boolean }) {
  const { database, clock } = deps;

  /** @throws ServiceError AUTHENTICATION_INVALID */
  async function findSignedIn(token: string | undefined): Promise<SignedIn> {
    const at = clock.now();
    const tokenHash = hashSecret(token ?? '');
    const found = token === undefined ? undefined : await findSessionOwner(database, { tokenHash, at });
    // Without an account only in a sandbox, whatever a database brings along.
    if (!found || (!found.account && !deps.isSandbox))
      throw new ServiceError('AUTHENTICATION_INVALID', { detail: 'no open console session' });
    if (at.getTime() - found.lastSeenAt.getTime() >= seenMilliseconds)
      await touchConsoleSession(database, { tokenHash, at });
    return { ...(found.account ?? sandboxOwner), sessionId: found.sessionId };
  }

  return {
    /** Every call to the console passes here. @throws ServiceError AUTHENTICATION_INVALID, ACCOUNT_NOT_PERMITTED */
    async authorize(token: string | undefined, permission: Permission): Promise<SignedIn> {
      const signedIn = await findSignedIn(token);
      if (!mayDo(signedIn.role, permission))
        throw new ServiceError('ACCOUNT_NOT_PERMITTED', { detail: `${signedIn.role} asked for ${permission}` });
      return signedIn;
    },

    permissionsOf: (role: Role): Permission[] => permissionsOf(role),
    signOut: (token: string) => deleteConsoleSession(database, hashSecret(token)),
    signIn: (command: SignInCommand) => signIn(deps, command),
    ...makeUseLinks(deps),
    own: makeOwnAccount(deps),
    manage: makeManageAccounts(deps),

    /** Newest first. */
    listAudit: (page: { workspaceId: string; beforeId: string | undefined }) =>
      listAuditEntries(database, { ...page, limit: auditPage }),

    /**
     * The link printed at the start: in a sandbox it opens the console, elsewhere it creates the first owner; none once
     * there is an owner.
     */
    async createStartLink(): Promise<{ kind: 'sign-in' | 'first-owner'; code: string } | undefined> {
      const link = { createdBy: 'the start', at: clock.now() };
      if (deps.isSandbox) {
        const { code } = await makeLink(database, { ...link, purpose: 'SIGN_IN' });
        return { kind: 'sign-in', code };
      }
      if (await hasOwner(database)) return undefined;
      const { code } = await makeLink(database, { ...link, purpose: 'FIRST_OWNER' });
      return { kind: 'first-owner', code };
    },
  };
}

export type AccountUseCases = ReturnType<typeof makeAccountUseCases>;

const sandboxOwner = { id: null, name: 'Console', email: null, role: 'owner' } as const;

import { mayDo } from '../../domain/accounts/roles.ts';
import type { Permission } from '../../domain/accounts/roles.ts';
import { ServiceError } from '../../domain/errors.ts';
import { hashSecret } from '../../domain/tokens/secret.ts';
import { findSessionOwner, touchConsoleSession } from '../../storage/accounts/console-sessions.ts';
import type { ConsoleAccountDependencies, SignedIn } from './account-dependencies.ts';

const seenMilliseconds = 60_000;

/** Every call to the console passes here. @throws ServiceError AUTHENTICATION_INVALID, ACCOUNT_NOT_PERMITTED */
export async function authorizeSession(
  deps: ConsoleAccountDependencies,
  { token, permission }: { token: string | undefined; permission: Permission },
): Promise<SignedIn> {
  const signedIn = await findSignedIn(deps, token);
  if (!mayDo(signedIn.role, permission))
    throw new ServiceError('ACCOUNT_NOT_PERMITTED', { detail: `${signedIn.role} asked for ${permission}` });
  return signedIn;
}

/** @throws ServiceError AUTHENTICATION_INVALID */
async function findSignedIn(
  { database, clock, isSandbox }: ConsoleAccountDependencies,
  token: string | undefined,
): Promise<SignedIn> {
  const at = clock.realNow();
  const tokenHash = hashSecret(token ?? '');
  const found = token === undefined ? undefined : await findSessionOwner(database, { tokenHash, at });
  // Without an account only in a sandbox, whatever a database brings along.
  if (!found || (!found.account && !isSandbox))
    throw new ServiceError('AUTHENTICATION_INVALID', { detail: 'no open console session' });
  if (at.getTime() - found.lastSeenAt.getTime() >= seenMilliseconds)
    await touchConsoleSession(database, { tokenHash, at });
  return { ...(found.account ?? sandboxOwner), sessionId: found.sessionId };
}

const sandboxOwner = { id: null, name: 'Console', email: null, role: 'owner' } as const;

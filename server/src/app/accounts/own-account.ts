import { inTransaction } from '../../storage/database.ts';
import { readNewPassword } from '../../domain/accounts/account-fields.ts';
import { ServiceError } from '../../domain/errors.ts';
import { endPasswordLinks, findPasswordHash, replacePasswordHash } from '../../storage/accounts/accounts.ts';
import { deleteSessionOf, deleteSessionsOf, listConsoleSessions } from '../../storage/accounts/console-sessions.ts';
import type { AccountDependencies, ConsoleCaller, SignedIn } from './account-dependencies.ts';
import { audit } from './audit.ts';
import { limitAttempts } from './sign-in.ts';

type By = { by: SignedIn };
type PasswordChange = By & { current: string; password: string; caller: ConsoleCaller };

/** Newest first. */
export async function listOwnSessions({ database, clock }: AccountDependencies, { by }: By) {
  const sessions = await listConsoleSessions(database, { accountId: by.id, at: clock.realNow() });
  return sessions.map((session) => ({ ...session, isThis: session.id === by.sessionId }));
}

/** @throws ServiceError NOT_FOUND */
export async function endOwnSession(
  { database, clock }: AccountDependencies,
  { by, id }: By & { id: string },
): Promise<void> {
  const at = clock.realNow();
  await inTransaction(database, async (tx) => {
    if (!(await deleteSessionOf(tx, { accountId: by.id, id }))) throw new ServiceError('NOT_FOUND');
    await audit(tx, { actor: by, action: 'session.end', object: { id }, at });
  });
}

/** Ends every other session. @throws ServiceError ACCOUNT_SIGN_IN_FAILED, ACCOUNT_ATTEMPTS_LIMITED, PARAMETER_INVALID */
export async function changeOwnPassword(deps: AccountDependencies, command: PasswordChange): Promise<void> {
  const { database, clock, passwords } = deps;
  const { by, current, caller } = command;
  if (by.id === null || by.email === null)
    throw new ServiceError('PARAMETER_INVALID', { field: 'password', reason: 'belongs to an account' });
  const { id, email, name, sessionId } = { ...by, id: by.id, email: by.email };
  const password = readNewPassword(command.password, { email, name });
  await limitAttempts(database, { email, address: caller.address, at: clock.realNow() });
  const from = (await findPasswordHash(database, id)) ?? null;
  if (!(await passwords.matches(current, from ?? undefined)))
    throw new ServiceError('ACCOUNT_SIGN_IN_FAILED', { detail: 'the current password is wrong' });
  const passwordHash = await passwords.hash(password);
  const at = clock.realNow();
  await inTransaction(database, async (tx) => {
    if (!(await replacePasswordHash(tx, { id, from, passwordHash })))
      throw new ServiceError('ACCOUNT_SIGN_IN_FAILED', { detail: 'the account was changed meanwhile' });
    await endPasswordLinks(tx, { accountId: id, at });
    await deleteSessionsOf(tx, { accountId: id, exceptId: sessionId });
    const object = { id, name: email };
    await audit(tx, { actor: by, action: 'account.password', object, detail: { by: 'own hand' }, at });
  });
}

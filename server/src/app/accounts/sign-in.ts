import type { Role } from '../../domain/accounts/roles.ts';
import { signInWindows } from '../../domain/accounts/limits.ts';
import { ServiceError } from '../../domain/errors.ts';
import { secondsUntilPass } from '../../domain/limits/sliding-window.ts';
import { sourceOfAddress } from '../../domain/limits/source-address.ts';
import { limitSubject } from '../../domain/tokens/limit-subject.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findAccountByEmail, noteSignIn } from '../../storage/accounts/accounts.ts';
import { countEvent, findLimitWindows } from '../../storage/limits/limit-windows.ts';
import type { AccountDependencies, ConsoleCaller, OpenedSession } from './account-dependencies.ts';
import { audit } from './audit.ts';
import { notingFailure } from './note-failed-sign-in.ts';
import { openSession } from './open-session.ts';

export type SignInCommand = { email: string; password: string; caller: ConsoleCaller };

/**
 * Signs in by address and password. A wrong address, a wrong password and a disabled account are one answer, and take
 * one time.
 *
 * @throws ServiceError ACCOUNT_SIGN_IN_FAILED, ACCOUNT_ATTEMPTS_LIMITED
 */
export async function signIn(deps: AccountDependencies, command: SignInCommand): Promise<OpenedSession> {
  const { email, caller } = command;
  return await notingFailure(deps, { way: 'password', caller, email: () => email }, () =>
    openByPassword(deps, command),
  );
}

async function openByPassword(deps: AccountDependencies, command: SignInCommand): Promise<OpenedSession> {
  const { database, clock, passwords } = deps;
  const { email, password, caller } = command;
  await limitAttempts(database, { email, address: caller.address, at: clock.realNow() });
  const account = await findAccountByEmail(database, email.trim());
  const isRight = await passwords.matches(password, account?.passwordHash ?? undefined);
  if (!isRight || !account || account.disabledAt)
    throw new ServiceError('ACCOUNT_SIGN_IN_FAILED', {
      detail: account ? (account.disabledAt ? 'the account is disabled' : 'wrong password') : 'no such account',
    });
  // Disclosed only to somebody who knows the password.
  requirePasswords(deps, account.role);
  const at = clock.realNow();
  return await inTransaction(database, async (tx) => {
    if (!(await noteSignIn(tx, { id: account.id, at, passwordHash: account.passwordHash })))
      throw new ServiceError('ACCOUNT_SIGN_IN_FAILED', { detail: 'the account was changed meanwhile' });
    const object = { id: account.id, name: account.email };
    await audit(tx, { actor: account, action: 'account.sign-in', object, detail: { address: caller.address }, at });
    return openSession(tx, { accountId: account.id, caller, at });
  });
}

/**
 * Counts an attempt before anything is compared, so that a full limit tells nothing and costs no hash.
 *
 * @throws ServiceError ACCOUNT_ATTEMPTS_LIMITED
 */
export async function limitAttempts(
  database: Database,
  { email, address, at }: { email: string; address: string; at: Date },
): Promise<void> {
  const source = sourceOfAddress(address);
  const subject = limitSubject([email.trim().toLowerCase(), source]);
  await limit(database, { operation: 'sign-in-account-address', subject, at });
  await limitSource(database, { address, at });
}

/** The same before the caller is identified. @throws ServiceError ACCOUNT_ATTEMPTS_LIMITED */
export async function limitSource(database: Database, { address, at }: { address: string; at: Date }): Promise<void> {
  await limit(database, { operation: 'sign-in-address', subject: limitSubject([sourceOfAddress(address)]), at });
}

type Attempt = { operation: keyof typeof signInWindows; subject: Buffer; at: Date };

async function limit(database: Database, { at, ...counter }: Attempt): Promise<void> {
  const windows = signInWindows[counter.operation];
  const { counted } = await countEvent(database, { ...counter, windows, at });
  if (counted) return;
  const [events] = await findLimitWindows(database, [counter]);
  throw new ServiceError('ACCOUNT_ATTEMPTS_LIMITED', {
    retryAfterSeconds: Math.max(1, secondsUntilPass(windows, { events: events!, at })),
  });
}

/**
 * Where passwords are reserved for owners, nobody else can sign in with one. @throws ServiceError ACCOUNT_PASSWORDS_OFF
 */
export function requirePasswords({ passwordSignIn }: Pick<AccountDependencies, 'passwordSignIn'>, role: Role): void {
  if (passwordSignIn === 'owners' && role !== 'owner') throw new ServiceError('ACCOUNT_PASSWORDS_OFF');
}

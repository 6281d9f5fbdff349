import { randomBytes } from 'node:crypto';
import { accessOf, isPermitted, readEmail } from '../../domain/access/accounts.ts';
import type { Role, Permission } from '../../domain/access/accounts.ts';
import { limitSubject, hashSecret } from '../../domain/access/keys.ts';
import { findStage, isOpenAt } from '../../domain/access/second-factor.ts';
import type { SessionStage } from '../../domain/access/second-factor.ts';
import { secondsUntilPass, sourceOfAddress } from '../../domain/access/rate-limits.ts';
import type { LimitWindow } from '../../domain/access/rate-limits.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ErrorName } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import {
  accountGuessWindows,
  failedSignInWindows,
  knownSourceDays,
  pendingSignInMinutes,
  sessionHours,
  signInWindows,
} from '../../domain/limits/access.ts';
import { findAccountByEmail, noteSignIn } from '../../storage/accounts/accounts.ts';
import type { Account } from '../../storage/accounts/accounts.ts';
import {
  deleteConsoleSession,
  findSessionOwner,
  touchConsoleSession,
  deleteExpiredConsoleSessions,
  insertConsoleSession,
} from '../../storage/accounts/console-sessions.ts';
import { countFactors, isKnownSource, noteSource } from '../../storage/accounts/second-factors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Queryable, Transaction } from '../../storage/database.ts';
import { countEvent, findLimitWindows } from '../../storage/limits/sliding-windows.ts';
import { accountActor, audit } from './audit.ts';
import type {
  AccountDependencies,
  ConsoleCaller,
  OpenedSession,
  ConsoleAccountDependencies,
  SignedIn,
} from './audit.ts';

export type SignInCommand = { email: string; password: string; caller: ConsoleCaller };

/**
 * Signs in by address and password. A wrong address, a wrong password and a disabled account get the same response after the
 * same time.
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
  // Disclosed only to a caller who knows the password.
  requirePasswords(deps, account.role);
  return await inTransaction(database, async (tx) => {
    const entered = await enter(tx, deps, {
      account,
      way: 'password',
      caller,
      passwordHash: account.passwordHash,
      detail: {},
    });
    if (entered) return entered;
    throw new ServiceError('ACCOUNT_SIGN_IN_FAILED', { detail: 'the account was changed meanwhile' });
  });
}

type Entering = {
  account: Account;
  way: 'password' | 'company account';
  caller: ConsoleCaller;
  /** What the password was compared with; absent where no password was. */
  passwordHash?: string | null;
  /** Details for the audit log; absent if another line of it says already how the account was opened. */
  detail?: Record<string, unknown>;
};

/**
 * Opens a session after the first step: a full one, or one that may only present or add a second factor. A link for a new
 * password is a first step as well, so that it does not replace the second factor.
 *
 * @returns undefined if the account was disabled or changed meanwhile
 */
export async function enter(
  tx: Transaction,
  { clock, secondFactor }: Pick<AccountDependencies, 'clock' | 'secondFactor'>,
  { account, way, caller, detail, ...compared }: Entering,
): Promise<OpenedSession | undefined> {
  const at = clock.realNow();
  const { id } = account;
  // Locked first: a factor that is added meanwhile is waited for, or ends the session that is made here.
  if (!(await noteSignIn(tx, { id, at: null, ...compared }))) return undefined;
  const { authenticatorAt, passkeys } = await countFactors(tx, id);
  const stage = findStage(secondFactor, { way, hasFactor: authenticatorAt !== null || passkeys > 0 });
  if (stage === 'OPEN') {
    await noteSignIn(tx, { id, at });
    await noteKnownSource(tx, { accountId: id, address: caller.address, at });
    const object = { id, name: account.email };
    const line = { actor: accountActor(account), action: 'account.sign-in', object, at } as const;
    if (detail) await audit(tx, { ...line, detail: { address: caller.address, ...detail } });
  }
  return openSession(tx, { accountId: id, stage, caller, at });
}

type KnownSource = { accountId: string; address: string; at: Date };

/** Notes that the address opened the account: guesses from elsewhere do not limit it. */
export async function noteKnownSource(tx: Queryable, { accountId, address, at }: KnownSource): Promise<void> {
  const sourceHash = limitSubject([sourceOfAddress(address)]);
  await noteSource(tx, { accountId, sourceHash, at, before: knownSince(at) });
}

function knownSince(at: Date): Date {
  return new Date(at.getTime() - knownSourceDays * 86_400_000);
}

/**
 * Counts an attempt before comparing anything, so that a reached limit reveals nothing and costs no hash.
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
  const sourceHash = limitSubject([source]);
  if (await isKnownSource(database, { email: email.trim(), sourceHash, since: knownSince(at) })) return;
  // Addresses without an account are counted as well: otherwise the limit would tell which ones have one.
  await limit(database, { operation: 'sign-in-account', subject: limitSubject([email.trim().toLowerCase()]), at });
}

/** Limits guesses of a second factor, over all addresses. @throws ServiceError ACCOUNT_ATTEMPTS_LIMITED */
export async function limitFactor(
  database: Database,
  { factor, accountId, at }: { factor: 'code' | 'passkey'; accountId: string; at: Date },
): Promise<void> {
  await limit(database, { operation: `second-factor-${factor}`, subject: limitSubject([accountId]), at });
}

/** Applies the limit per address alone, before the caller is identified. @throws ServiceError ACCOUNT_ATTEMPTS_LIMITED */
export async function limitSource(database: Database, { address, at }: { address: string; at: Date }): Promise<void> {
  await limit(database, { operation: 'sign-in-address', subject: limitSubject([sourceOfAddress(address)]), at });
}

const attemptWindows = { ...signInWindows, ...accountGuessWindows };
type Attempt = { operation: keyof typeof attemptWindows; subject: Buffer; at: Date };

async function limit(database: Database, { at, ...counter }: Attempt): Promise<void> {
  const windows: readonly LimitWindow[] = attemptWindows[counter.operation];
  const { counted } = await countEvent(database, { ...counter, windows, at });
  if (counted) return;
  const [events] = await findLimitWindows(database, [counter]);
  throw new ServiceError('ACCOUNT_ATTEMPTS_LIMITED', {
    retryAfterSeconds: Math.max(1, secondsUntilPass(windows, { events: events!, at })),
  });
}

/** Rejects all but owners where passwords are reserved for owners. @throws ServiceError ACCOUNT_PASSWORDS_OFF */
export function requirePasswords(
  { passwordSignIn }: Pick<AccountDependencies, 'passwordSignIn'>,
  role: Role | null,
): void {
  if (passwordSignIn === 'owners' && role !== 'owner') throw new ServiceError('ACCOUNT_PASSWORDS_OFF');
}

export async function signOut({ database }: Pick<AccountDependencies, 'database'>, token: string): Promise<void> {
  await deleteConsoleSession(database, hashSecret(token));
}

const seenMilliseconds = 60_000;

/** Authorizes a call to the console; every call uses it. @throws ServiceError AUTHENTICATION_INVALID, ACCOUNT_NOT_PERMITTED */
export async function authorizeSession(
  deps: ConsoleAccountDependencies,
  { token, ...asked }: { token: string | undefined; permission: Permission; workspaceId: string | undefined },
): Promise<SignedIn> {
  const signedIn = await findSignedIn(deps, token);
  if (!isOpenAt(signedIn.stage, asked.permission)) {
    const reason = signedIn.stage === 'ENROLMENT' ? 'enrolment' : 'second factor';
    throw new ServiceError('ACCOUNT_SECOND_FACTOR_NEEDED', { reason });
  }
  requirePermission(signedIn, asked);
  return signedIn;
}

/** @throws ServiceError ACCOUNT_NOT_PERMITTED */
export function requirePermission(
  { access }: SignedIn,
  asked: { permission: Permission; workspaceId: string | undefined },
): void {
  // The same response for a workspace of others and for one that does not exist.
  if (!isPermitted(access, asked))
    throw new ServiceError('ACCOUNT_NOT_PERMITTED', { detail: `no role allows ${asked.permission} here` });
}

/** @throws ServiceError AUTHENTICATION_INVALID */
async function findSignedIn(
  { database, clock, isSandbox }: ConsoleAccountDependencies,
  token: string | undefined,
): Promise<SignedIn> {
  const at = clock.realNow();
  const tokenHash = hashSecret(token ?? '');
  const found = token === undefined ? undefined : await findSessionOwner(database, { tokenHash, at });
  // A session without an account is valid only in a sandbox, even if a database from elsewhere contains one.
  if (!found || (!found.account && !isSandbox))
    throw new ServiceError('AUTHENTICATION_INVALID', { detail: 'no open console session' });
  if (at.getTime() - found.lastSeenAt.getTime() >= seenMilliseconds)
    await touchConsoleSession(database, { tokenHash, at });
  const session = { sessionId: found.sessionId, stage: found.stage, openedAt: found.createdAt };
  if (!found.account) return { kind: 'account', ...sandboxOwner, ...session };
  const { id, name, email } = found.account;
  return { kind: 'account', id, name, email, access: accessOf(found.account), ...session };
}

/** The user of a sandbox's console, which opens without an account. */
export const sandboxOwner = {
  id: null,
  name: 'Console',
  email: null,
  access: { installation: ['owner'], workspaces: {} },
} as const;

const maxUserAgentCharacters = 300;

/** Opens a session for twelve hours, or until the second step. Its token is 256 random bits; only the hash is stored. */
export async function openSession(
  tx: Queryable,
  session: { accountId: string | null; stage: SessionStage; caller: ConsoleCaller; at: Date },
): Promise<OpenedSession> {
  const { accountId, stage, caller, at } = session;
  const seconds = stage === 'OPEN' ? sessionHours * 3_600 : pendingSignInMinutes * 60;
  const token = randomBytes(32).toString('base64url');
  await deleteExpiredConsoleSessions(tx, at);
  await insertConsoleSession(tx, {
    tokenHash: hashSecret(token),
    id: makeId(at),
    accountId,
    stage,
    sourceAddress: caller.address,
    userAgent: caller.userAgent.slice(0, maxUserAgentCharacters),
    at,
    expiresAt: new Date(at.getTime() + seconds * 1000),
  });
  return { token, maxAgeSeconds: seconds };
}

export type SignInAttempt = {
  way:
    | 'password'
    | 'second factor'
    | 'company account'
    | 'invitation'
    | 'start link'
    | 'first owner link'
    | 'password link';
  caller: ConsoleCaller;
  /** The typed address or the issuer's, if it is known when the attempt fails. */
  email?: () => string | undefined;
};

/** Errors that count as a failed sign-in. Any other error is an invalid form or an internal fault. */
const reasons: Partial<Record<ErrorName, string>> = {
  ACCOUNT_SIGN_IN_FAILED: 'wrong address or password',
  ACCOUNT_SECOND_FACTOR_FAILED: 'wrong second factor',
  ACCOUNT_ATTEMPTS_LIMITED: 'too many attempts',
  ACCOUNT_LINK_INVALID: 'the link does not work',
  ACCOUNT_PASSWORDS_OFF: 'passwords are for owners',
  ACCOUNT_EMAIL_TAKEN: 'the address has an account',
  ACCOUNT_COMPANY_REFUSED: 'refused',
};

/** Runs one attempt to sign in. A rejected attempt is written to the audit log, and its error is thrown again. */
export async function notingFailure<Result>(
  deps: Pick<AccountDependencies, 'database' | 'clock'>,
  attempt: SignInAttempt,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const known = error instanceof ServiceError ? reasons[error.code] : undefined;
    if (known === undefined) throw error;
    const { code, context } = error as ServiceError;
    // Words from fixed lists: they contain no text from a caller or an issuer.
    const closer: Partial<Record<ErrorName, string | undefined>> = {
      ACCOUNT_SIGN_IN_FAILED: context.detail,
      ACCOUNT_COMPANY_REFUSED: context.reason,
      ACCOUNT_LINK_INVALID: `the link is ${context.reason}`,
    };
    const reason = closer[code] ?? known;
    await inTransaction(deps.database, (tx) => noteFailedSignIn(tx, { ...attempt, reason, at: deps.clock.realNow() }));
    throw error;
  }
}

type FailedSignIn = SignInAttempt & { reason: string; at: Date };

/**
 * Writes the audit entry, within limits: repeated attempts write no more. Attempts on an existing account have a separate
 * counter, so that a flood of made-up addresses does not hide them.
 */
async function noteFailedSignIn(tx: Transaction, { way, caller, email, reason, at }: FailedSignIn): Promise<void> {
  const address = readTyped(email?.());
  const account = address === undefined ? undefined : await findAccountByEmail(tx, address);
  const source = limitSubject([sourceOfAddress(caller.address)]);
  if (!(await count(tx, { operation: 'failed-sign-in-address', subject: source, at }))) return;
  const subject = limitSubject(account ? ['account', account.id] : ['nobody']);
  const counted = await count(tx, { operation: 'failed-sign-in', subject, at });
  if (!counted) return;
  await audit(tx, {
    actor: { kind: 'visitor', name: 'somebody' },
    action: 'account.sign-in-failed',
    ...objectOf(account),
    detail: {
      ...{ way, reason, address: caller.address },
      ...(account || address === undefined ? {} : { email: address }),
      ...(counted.isLast ? { note: 'further ones of this hour are not listed' } : {}),
    },
    at,
  });
}

type Counted = { operation: keyof typeof failedSignInWindows; subject: Buffer; at: Date };

async function count(tx: Transaction, { at, ...counter }: Counted): Promise<{ isLast: boolean } | undefined> {
  const windows = failedSignInWindows[counter.operation];
  const { counted } = await countEvent(tx, { ...counter, windows, at });
  if (!counted) return undefined;
  const [events] = await findLimitWindows(tx, [counter]);
  const [{ events: max, seconds }] = windows;
  const inWindow = events!.filter((each) => each.getTime() > at.getTime() - seconds * 1000);
  return { isLast: inWindow.length >= max };
}

/** Returns the text only if it is an address: users sometimes type their password into the wrong field. */
function readTyped(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : readEmail(text);
  } catch {
    return undefined;
  }
}

function objectOf(account: Account | undefined): { object?: { id: string; name: string } } {
  return account ? { object: { id: account.id, name: account.email } } : {};
}

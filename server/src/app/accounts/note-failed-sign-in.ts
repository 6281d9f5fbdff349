import { readEmail } from '../../domain/accounts/account-fields.ts';
import { failedSignInWindows } from '../../domain/accounts/limits.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ErrorName } from '../../domain/errors.ts';
import { sourceOfAddress } from '../../domain/limits/source-address.ts';
import { limitSubject } from '../../domain/tokens/limit-subject.ts';
import { findAccountByEmail } from '../../storage/accounts/accounts.ts';
import type { Account } from '../../storage/accounts/accounts.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import { countEvent, findLimitWindows } from '../../storage/limits/limit-windows.ts';
import type { AccountDependencies, ConsoleCaller } from './account-dependencies.ts';
import { audit } from './audit.ts';

export type SignInAttempt = {
  way: 'password' | 'company account' | 'invitation' | 'start link' | 'first owner link' | 'password link';
  caller: ConsoleCaller;
  /** What was typed, or what the issuer says, as far as it is known when the attempt fails. */
  email?: () => string | undefined;
};

/** A refusal of these is a failed sign-in; any other is a form that was filled in badly, or a fault of ours. */
const reasons: Partial<Record<ErrorName, string>> = {
  ACCOUNT_SIGN_IN_FAILED: 'wrong address or password',
  ACCOUNT_ATTEMPTS_LIMITED: 'too many attempts',
  ACCOUNT_LINK_INVALID: 'the link does not work',
  ACCOUNT_PASSWORDS_OFF: 'passwords are for owners',
  ACCOUNT_EMAIL_TAKEN: 'the address has an account',
  ACCOUNT_COMPANY_REFUSED: 'refused',
};

/** Does the work of one attempt to sign in; one that is refused leaves a line in the audit log, and the refusal stands. */
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
    // Words of closed lists: what a caller or an issuer wrote is in none of them.
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
 * Writes the line, within limits: whoever tries on writes no more. Attempts on an account that exists are counted for
 * themselves, so that a flood of made-up addresses does not hide them.
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
    actor: { id: null, name: 'somebody' },
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

/** An address, and nothing else: people type their password into the wrong field. */
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

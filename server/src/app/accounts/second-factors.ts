import { readAccountName } from '../../domain/access/accounts.ts';
import {
  authenticatorAddress,
  findCodeStep,
  findPasskeySite,
  hashRecoveryCode,
  makeAuthenticatorSecret,
  makeRecoveryCodes,
  parseTypedCode,
} from '../../domain/access/second-factor.ts';
import type { PasskeySite } from '../../domain/access/second-factor.ts';
import { encryptionContext } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { freshSessionMinutes, maxPasskeys } from '../../domain/limits/access.ts';
import { findAccount } from '../../storage/accounts/accounts.ts';
import { deleteSessionsOf } from '../../storage/accounts/console-sessions.ts';
import {
  beginAuthenticator,
  confirmAuthenticator,
  countFactors,
  deleteAuthenticator,
  deleteFactors,
  deletePasskey,
  findAuthenticator,
  insertPasskey,
  listPasskeys,
  lockActiveAccount,
  renamePasskey,
  replaceRecoveryCodes,
  takeAuthenticatorStep,
  takeChallenge,
} from '../../storage/accounts/second-factors.ts';
import type { Passkey } from '../../storage/accounts/second-factors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import { audit } from './audit.ts';
import type { AccountDependencies, Actor, ConsoleCaller, OpenedSession, SignedIn } from './audit.ts';
import { askForNewPasskey, readNewPasskey } from './passkeys.ts';
import { limitFactor, openSession } from './sign-in.ts';

type Own = { actor: SignedIn };

/** What a change of the own factors returns. */
type FactorChange = {
  /** New ones, if the account had none: shown once, because only their hashes are stored. */
  recoveryCodes: string[] | null;
  /** The full session that replaces the one that could only add a factor. */
  opened: OpenedSession | undefined;
};

/** Returns the second factors of the signed-in user, and why there can be no passkeys. */
export async function readOwnFactors({ database, publicUrl, secondFactor }: AccountDependencies, { actor }: Own) {
  const { id } = requireAccount(actor);
  const [summary, passkeys] = await Promise.all([countFactors(database, id), listPasskeys(database, id)]);
  const site = findPasskeySite(publicUrl);
  return {
    authenticatorAt: summary.authenticatorAt,
    recoveryCodes: summary.recoveryCodes,
    passkeys: passkeys.map(presentPasskey),
    passkeyFault: 'fault' in site ? site.fault : null,
    isRequired: secondFactor !== 'optional',
  };
}

function presentPasskey({ id, name, createdAt, usedAt }: Passkey) {
  return { id, name, createdAt, usedAt };
}

/** Begins to add an authenticator app. The secret counts once its first code is confirmed. @throws ServiceError PARAMETER_INVALID, ACCOUNT_SIGN_IN_STALE */
export async function beginOwnAuthenticator(deps: AccountDependencies, { actor }: Own) {
  const { database, clock, encryption, publicUrl } = deps;
  const { id, email } = requireFresh(deps, actor);
  const secret = makeAuthenticatorSecret();
  const encryptedSecret = encryption.encrypt(secret, encryptionContext.authenticator({ accountId: id }));
  const begun = await beginAuthenticator(database, { accountId: id, encryptedSecret, at: clock.realNow() });
  if (!begun) throw invalid('authenticator', 'is set up already; remove it first');
  const host = publicUrl === undefined ? '' : new URL(publicUrl).host;
  return { secret, address: authenticatorAddress(secret, { email, host }) };
}

/**
 * Completes what `beginOwnAuthenticator` began. Ends all other sessions.
 *
 * @throws ServiceError ACCOUNT_SECOND_FACTOR_FAILED, ACCOUNT_ATTEMPTS_LIMITED, ACCOUNT_SIGN_IN_STALE
 */
export async function confirmOwnAuthenticator(
  deps: AccountDependencies,
  { actor, code: text, caller }: Own & { code: string; caller: ConsoleCaller },
): Promise<FactorChange> {
  const { database, clock, encryption } = deps;
  const { id: accountId } = requireFresh(deps, actor);
  const at = clock.realNow();
  await limitFactor(database, { factor: 'code', accountId, at });
  const typed = parseTypedCode(text);
  const stored = await findAuthenticator(database, accountId);
  if (stored?.confirmedAt === null && typed?.kind === 'authenticator') {
    const secret = encryption
      .decrypt(stored.encryptedSecret, encryptionContext.authenticator({ accountId }))
      .toString();
    const step = findCodeStep(secret, { code: typed.code, at });
    if (step !== undefined)
      return await changeFactors(deps, { actor, caller, action: 'account.authenticator-add' }, async (tx) => {
        // The code that confirms the app does not open a session as well.
        if (!(await takeAuthenticatorStep(tx, { accountId, step, encryptedSecret: stored.encryptedSecret })))
          throw new ServiceError('ACCOUNT_SECOND_FACTOR_FAILED');
        await confirmAuthenticator(tx, { accountId, at });
      });
  }
  throw new ServiceError('ACCOUNT_SECOND_FACTOR_FAILED');
}

/** Ends all other sessions. @throws ServiceError NOT_FOUND, PARAMETER_INVALID, ACCOUNT_SIGN_IN_STALE */
export async function removeOwnAuthenticator(
  deps: AccountDependencies,
  { actor, caller }: Own & { caller: ConsoleCaller },
): Promise<void> {
  const { id } = requireFresh(deps, actor);
  await changeFactors(deps, { actor, caller, action: 'account.authenticator-remove' }, async (tx) => {
    if (!(await deleteAuthenticator(tx, id))) throw new ServiceError('NOT_FOUND');
  });
}

/** @throws ServiceError PARAMETER_INVALID, ACCOUNT_SIGN_IN_STALE */
export async function beginOwnPasskey(deps: AccountDependencies, { actor }: Own) {
  const { database, clock } = deps;
  const { id: accountId, email } = requireFresh(deps, actor);
  const site = requireSite(deps);
  const passkeys = await listPasskeys(database, accountId);
  if (passkeys.length >= maxPasskeys) throw invalid('passkey', `is one more than the ${maxPasskeys} that are allowed`);
  const { sessionId, name } = actor;
  return askForNewPasskey(database, { accountId, email, name, sessionId, site, passkeys, at: clock.realNow() });
}

type AddedPasskey = Own & { name: string; response: unknown; caller: ConsoleCaller };

/** Ends all other sessions. @throws ServiceError ACCOUNT_SECOND_FACTOR_FAILED, PARAMETER_INVALID, ACCOUNT_SIGN_IN_STALE */
export async function addOwnPasskey(
  deps: AccountDependencies,
  { actor, name: typed, response, caller }: AddedPasskey,
): Promise<FactorChange> {
  const { database, clock } = deps;
  const { id: accountId } = requireFresh(deps, actor);
  const name = readAccountName(typed);
  const site = requireSite(deps);
  const at = clock.realNow();
  const challenge = await takeChallenge(database, { sessionId: actor.sessionId, at });
  const made = challenge && (await readNewPasskey(response, { challenge, site }));
  if (!made) throw new ServiceError('ACCOUNT_SECOND_FACTOR_FAILED');
  return await changeFactors(deps, { actor, caller, action: 'account.passkey-add', detail: { name } }, async (tx) => {
    const { length } = await listPasskeys(tx, accountId);
    const isNew =
      length < maxPasskeys && (await insertPasskey(tx, { ...made, id: makeId(at), accountId, name, createdAt: at }));
    if (!isNew) throw invalid('passkey', 'is stored already, or is one more than the allowed ones');
  });
}

/** @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
export async function renameOwnPasskey(
  { database, clock }: AccountDependencies,
  { actor, id, name: typed }: Own & { id: string; name: string },
): Promise<void> {
  const { id: accountId, email } = requireAccount(actor);
  const name = readAccountName(typed);
  const at = clock.realNow();
  await inTransaction(database, async (tx) => {
    if (!(await renamePasskey(tx, { accountId, id, name }))) throw new ServiceError('NOT_FOUND');
    const object = { id: accountId, name: email };
    await audit(tx, { actor, action: 'account.passkey-rename', object, detail: { name }, at });
  });
}

/** Ends all other sessions. @throws ServiceError NOT_FOUND, PARAMETER_INVALID, ACCOUNT_SIGN_IN_STALE */
export async function removeOwnPasskey(
  deps: AccountDependencies,
  { actor, id, caller }: Own & { id: string; caller: ConsoleCaller },
): Promise<void> {
  const { id: accountId } = requireFresh(deps, actor);
  await changeFactors(deps, { actor, caller, action: 'account.passkey-remove' }, async (tx) => {
    if ((await deletePasskey(tx, { accountId, id })) === undefined) throw new ServiceError('NOT_FOUND');
  });
}

/** Replaces all recovery codes. Ends all other sessions. @throws ServiceError PARAMETER_INVALID, ACCOUNT_SIGN_IN_STALE */
export async function renewOwnRecoveryCodes(
  deps: AccountDependencies,
  { actor, caller }: Own & { caller: ConsoleCaller },
): Promise<string[]> {
  const { id: accountId } = requireFresh(deps, actor);
  const change = await changeFactors(deps, { actor, caller, action: 'account.recovery-codes' }, async (tx) => {
    const { authenticatorAt, passkeys } = await countFactors(tx, accountId);
    if (authenticatorAt === null && passkeys === 0)
      throw invalid('recoveryCodes', 'belong to a second factor; add one first');
    // The change then finds none and makes new ones.
    await replaceRecoveryCodes(tx, { accountId, hashes: [] });
  });
  return change.recoveryCodes!;
}

/**
 * Removes all second factors of another account, whose user lost them, and ends its sessions. The password stays.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function resetFactors(
  { database, clock }: Pick<AccountDependencies, 'database' | 'clock'>,
  { actor, id }: { actor: Actor; id: string },
): Promise<void> {
  const at = clock.realNow();
  await inTransaction(database, async (tx) => {
    const account = await findAccount(tx, id);
    if (!account) throw new ServiceError('NOT_FOUND');
    await lockActiveAccount(tx, id);
    if (!(await deleteFactors(tx, id)))
      throw new ServiceError('NOT_FOUND', { detail: 'the account has no second factor' });
    const sessions = await deleteSessionsOf(tx, { accountId: id });
    const object = { id, name: account.email };
    await audit(tx, { actor, action: 'account.second-factor-reset', object, detail: { sessions }, at });
  });
}

type OwnChange = Own & { caller: ConsoleCaller; action: `account.${string}`; detail?: Record<string, unknown> };

/**
 * Runs a change of the own factors. The first factor comes with recovery codes; with the last one they go, unless one is required.
 * All other sessions end, because one of them may be a thief's.
 */
async function changeFactors(
  { database, clock, secondFactor }: AccountDependencies,
  { actor, caller, action, detail }: OwnChange,
  change: (tx: Transaction) => Promise<void>,
): Promise<FactorChange> {
  const { id: accountId, email } = requireAccount(actor);
  const at = clock.realNow();
  return await inTransaction(database, async (tx) => {
    if (!(await lockActiveAccount(tx, accountId))) throw new ServiceError('AUTHENTICATION_INVALID');
    await change(tx);
    const { authenticatorAt, passkeys, recoveryCodes } = await countFactors(tx, accountId);
    const hasFactor = authenticatorAt !== null || passkeys > 0;
    if (!hasFactor && secondFactor !== 'optional')
      throw invalid('secondFactor', 'is required here; add another one first');
    const codes = hasFactor && recoveryCodes === 0 ? makeRecoveryCodes() : null;
    if (codes || !hasFactor) await replaceRecoveryCodes(tx, { accountId, hashes: (codes ?? []).map(hashRecoveryCode) });
    const object = { id: accountId, name: email };
    await audit(tx, { actor, action, object, ...(detail && { detail }), at });
    const isComplete = actor.stage === 'OPEN';
    await deleteSessionsOf(tx, { accountId, ...(isComplete && { exceptId: actor.sessionId }) });
    // Another token: the one so far belongs to a session that could do less.
    const opened = isComplete ? undefined : await openSession(tx, { accountId, stage: 'OPEN', caller, at });
    return { recoveryCodes: codes, opened };
  });
}

/** @throws ServiceError PARAMETER_INVALID for the start link of a sandbox, which has no account */
export function requireAccount({ id, email }: SignedIn): { id: string; email: string } {
  if (id === null || email === null) throw invalid('account', 'is required: the start link of a sandbox has none');
  return { id, email };
}

/** Requires that the user signed in recently, so that a session left open does not change factors. @throws ServiceError ACCOUNT_SIGN_IN_STALE */
function requireFresh({ clock }: AccountDependencies, actor: SignedIn): { id: string; email: string } {
  const account = requireAccount(actor);
  const ageMilliseconds = clock.realNow().getTime() - actor.openedAt.getTime();
  if (ageMilliseconds > freshSessionMinutes * 60_000) throw new ServiceError('ACCOUNT_SIGN_IN_STALE');
  return account;
}

/** @throws ServiceError PARAMETER_INVALID */
export function requireSite({ publicUrl }: Pick<AccountDependencies, 'publicUrl'>): PasskeySite {
  const site = findPasskeySite(publicUrl);
  if ('fault' in site) throw invalid('passkey', `is not possible: ${site.fault}`);
  return site;
}

function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('PARAMETER_INVALID', { field, reason });
}

import { findCodeStep, findPasskeySite, parseTypedCode } from '../../domain/access/second-factor.ts';
import { encryptionContext } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import { deleteSessionOf } from '../../storage/accounts/console-sessions.ts';
import {
  countFactors,
  findAuthenticator,
  listPasskeys,
  lockActiveAccount,
  takeAuthenticatorStep,
  takeChallenge,
  takePasskeyUse,
  takeRecoveryCode,
} from '../../storage/accounts/second-factors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import { audit } from './audit.ts';
import type { AccountDependencies, ConsoleCaller, OpenedSession, SignedIn } from './audit.ts';
import { askForPasskey, readPasskeyUse } from './passkeys.ts';
import { requireAccount, requireSite } from './second-factors.ts';
import { limitFactor, notingFailure, noteKnownSource, openSession } from './sign-in.ts';

type Presenting = { actor: SignedIn; caller: ConsoleCaller };

/** Returns what the sign-in page offers as the second step. */
export async function readSecondStep({ database, publicUrl }: AccountDependencies, { actor }: { actor: SignedIn }) {
  const { id } = requireAccount(actor);
  const { authenticatorAt, passkeys, recoveryCodes } = await countFactors(database, id);
  const canSign = !('fault' in findPasskeySite(publicUrl));
  return {
    ...{ stage: actor.stage, email: actor.email },
    hasAuthenticator: authenticatorAt !== null,
    hasPasskey: passkeys > 0 && canSign,
    hasRecoveryCode: recoveryCodes > 0,
  };
}

/**
 * Completes a sign-in with a code of the authenticator app or a recovery code, which works once.
 *
 * @throws ServiceError ACCOUNT_SECOND_FACTOR_FAILED, ACCOUNT_ATTEMPTS_LIMITED
 */
export async function presentCode(
  deps: AccountDependencies,
  { code: text, ...presenting }: Presenting & { code: string },
): Promise<OpenedSession> {
  const { database, clock, encryption } = deps;
  const { id: accountId, email } = requireSecondStep(presenting.actor);
  return await notingFailure(
    deps,
    { way: 'second factor', caller: presenting.caller, email: () => email },
    async () => {
      const at = clock.realNow();
      await limitFactor(database, { factor: 'code', accountId, at });
      const typed = parseTypedCode(text);
      if (typed === undefined) return fail();
      if (typed.kind === 'recovery code')
        return complete(deps, { ...presenting, factor: 'recovery code' }, (tx) =>
          takeRecoveryCode(tx, { accountId, hash: typed.hash, at }),
        );
      const stored = await findAuthenticator(database, accountId);
      if (!stored?.confirmedAt) return fail();
      const { encryptedSecret } = stored;
      const secret = encryption.decrypt(encryptedSecret, encryptionContext.authenticator({ accountId })).toString();
      const step = findCodeStep(secret, { code: typed.code, at });
      if (step === undefined) return fail();
      return complete(deps, { ...presenting, factor: 'authenticator app' }, (tx) =>
        takeAuthenticatorStep(tx, { accountId, step, encryptedSecret }),
      );
    },
  );
}

/** @throws ServiceError ACCOUNT_ATTEMPTS_LIMITED, PARAMETER_INVALID */
export async function beginPresentPasskey(deps: AccountDependencies, { actor }: { actor: SignedIn }) {
  const { database, clock } = deps;
  const { id: accountId } = requireSecondStep(actor);
  const site = requireSite(deps);
  const at = clock.realNow();
  await limitFactor(database, { factor: 'passkey', accountId, at });
  const passkeys = await listPasskeys(database, accountId);
  return askForPasskey(database, { sessionId: actor.sessionId, site, passkeys, at });
}

/** Completes a sign-in with a passkey. @throws ServiceError ACCOUNT_SECOND_FACTOR_FAILED */
export async function presentPasskey(
  deps: AccountDependencies,
  { response, ...presenting }: Presenting & { response: unknown },
): Promise<OpenedSession> {
  const { database, clock } = deps;
  const { actor, caller } = presenting;
  const { id: accountId, email } = requireSecondStep(actor);
  const site = requireSite(deps);
  return await notingFailure(deps, { way: 'second factor', caller, email: () => email }, async () => {
    const at = clock.realNow();
    const challenge = await takeChallenge(database, { sessionId: actor.sessionId, at });
    const passkeys = await listPasskeys(database, accountId);
    const use = challenge && (await readPasskeyUse(response, { challenge, site, passkeys }));
    if (!use) return fail();
    const { id, name } = use.passkey;
    return complete(deps, { ...presenting, factor: `passkey ${name}` }, (tx) =>
      takePasskeyUse(tx, { id, signCount: use.signCount, at }),
    );
  });
}

/** Replaces the session of the first step by a full one, if the factor can be used up. */
async function complete(
  { database, clock }: AccountDependencies,
  { actor, caller, factor }: Presenting & { factor: string },
  use: (tx: Transaction) => Promise<boolean>,
): Promise<OpenedSession> {
  const { id: accountId, email } = requireAccount(actor);
  const at = clock.realNow();
  return await inTransaction(database, async (tx) => {
    if (!(await lockActiveAccount(tx, accountId)) || !(await use(tx))) return fail();
    // A changed password, a reset or another request ended the first step meanwhile.
    if (!(await deleteSessionOf(tx, { accountId, id: actor.sessionId }))) return fail();
    const object = { id: accountId, name: email };
    await audit(tx, { actor, action: 'account.sign-in', object, detail: { address: caller.address, factor }, at });
    await noteKnownSource(tx, { accountId, address: caller.address, at });
    return openSession(tx, { accountId, stage: 'OPEN', caller, at });
  });
}

/** @throws ServiceError PARAMETER_INVALID for a session that needs no second step */
function requireSecondStep(actor: SignedIn): { id: string; email: string } {
  if (actor.stage !== 'SECOND_FACTOR')
    throw new ServiceError('PARAMETER_INVALID', { field: 'session', reason: 'needs no second factor now' });
  return requireAccount(actor);
}

function fail(): never {
  throw new ServiceError('ACCOUNT_SECOND_FACTOR_FAILED');
}

import type { RealClock } from '../../clock.ts';
import { succeededSecretDays } from '../../domain/access/tokens.ts';
import { makeTokenSecret } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  addTokenSecret,
  listTokenSecrets,
  nextSecretNumber,
  raiseTokenEpoch,
  readTokenEpoch,
  retireTokenSecrets,
} from '../../storage/keys/token-secrets.ts';
import type { StoredTokenSecret } from '../../storage/keys/token-secrets.ts';
import { endStoredTokens } from '../../storage/keys/tokens.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';

export type TokenSecretDependencies = { database: Database; clock: RealClock; encryption: Encryption };

export type TokenSecretState = 'issues' | 'accepts' | 'retired';
export type ShownTokenSecret = Omit<StoredTokenSecret, 'encryptedSecret'> & { state: TokenSecretState };

/** Returns the epoch of the installation and its secrets, oldest first. */
export async function readTokenSecrets({ database }: Pick<TokenSecretDependencies, 'database'>) {
  const secrets = await listTokenSecrets(database);
  return {
    epoch: await readTokenEpoch(database),
    secrets: secrets.map(({ encryptedSecret: _secret, ...shown }): ShownTokenSecret => {
      return { ...shown, state: stateOfSecret(shown) };
    }),
  };
}

function stateOfSecret({ succeededAt, retiredAt }: Pick<StoredTokenSecret, 'succeededAt' | 'retiredAt'>) {
  if (retiredAt) return 'retired';
  return succeededAt ? 'accepts' : 'issues';
}

/**
 * Makes a new secret issue from now on, before it is due. The previous one accepts tokens for another 31 days.
 *
 * @returns the number of the new secret
 * @throws ServiceError PARAMETER_INVALID while two secrets accept
 */
export async function rotateTokenSecret(deps: TokenSecretDependencies, { actor }: { actor: Actor }): Promise<number> {
  return inTransaction(deps.database, async (tx) => {
    const secrets = await listTokenSecrets(tx);
    const older = secrets.find(({ succeededAt, retiredAt }) => succeededAt && !retiredAt);
    if (older) {
      const reason = `is still accepted, for ${succeededSecretDays} days after ${older.succeededAt!.toISOString()}`;
      throw new ServiceError('PARAMETER_INVALID', { field: `secret ${older.number}`, reason });
    }
    return addSecret(deps, tx, { actor, secrets });
  });
}

/**
 * Retires a secret that may have leaked: every token under it ends within a second, on every node. If it was the one that
 * issues, a new one takes over.
 *
 * @returns the number of the new secret, if there is one
 * @throws ServiceError NOT_FOUND if there is no such secret that is not retired
 */
export async function retireTokenSecret(
  deps: TokenSecretDependencies,
  { actor, number }: { actor: Actor; number: number },
): Promise<number | undefined> {
  const at = deps.clock.realNow();
  return inTransaction(deps.database, async (tx) => {
    const secrets = await listTokenSecrets(tx);
    const retiring = secrets.find((secret) => secret.number === number);
    if (!retiring || (await retireTokenSecrets(tx, { numbers: [number], at })) === 0)
      throw new ServiceError('NOT_FOUND', { detail: `there is no secret ${number} that is not retired` });
    await audit(tx, { actor, action: 'token-secret.retire', object: { id: String(number) }, at });
    return retiring.succeededAt === null ? addSecret(deps, tx, { actor, secrets }) : undefined;
  });
}

async function addSecret(
  { clock, encryption }: TokenSecretDependencies,
  tx: Transaction,
  { actor, secrets }: { actor: Actor; secrets: readonly StoredTokenSecret[] },
): Promise<number> {
  const at = clock.realNow();
  const number = nextSecretNumber(secrets);
  if (!(await addTokenSecret(tx, { number, encryptedSecret: makeTokenSecret(encryption, number), at })))
    throw new ServiceError('PARAMETER_INVALID', {
      field: 'secret',
      reason: 'was changed by another caller; try again',
    });
  await audit(tx, { actor, action: 'token-secret.create', object: { id: String(number) }, at });
  return number;
}

/**
 * Ends every token that was issued so far, within a second on every node. Needed after a restore by PostgreSQL's own tools, which
 * brings revoked tokens back.
 *
 * @returns the new epoch
 */
export async function endAllTokens(
  { database, clock }: Pick<TokenSecretDependencies, 'database' | 'clock'>,
  { actor }: { actor: Actor },
): Promise<number> {
  return inTransaction(database, async (tx) => {
    const at = clock.realNow();
    const epoch = (await raiseTokenEpoch(tx, { at }))!;
    await endStoredTokens(tx, { at });
    await audit(tx, { actor, action: 'token.end-all', detail: { epoch }, at });
    return epoch;
  });
}

import { hashSecret, isSecret, stateOfToken } from '../../domain/access/keys.ts';
import type { Scope, TokenState } from '../../domain/access/keys.ts';
import { namesKey, stateOfClaims } from '../../domain/access/tokens.ts';
import type { Queryable } from '../../storage/database.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { findAccessToken } from '../../storage/keys/tokens.ts';
import type { TokenAuthority } from './token-authority.ts';

export type PresentedToken = {
  token: string;
  /** The scope that the route requires; undefined for a route that any token may call. */
  scope?: Scope | undefined;
  at: Date;
  /** Data center of the called host, if it names one (decision D1). */
  dataCenter?: string | undefined;
};

export type BearerAuthentication =
  | { outcome: 'ok'; key: ApiKey }
  | { outcome: 'invalid' }
  | { outcome: 'expired' }
  | { outcome: 'scope-missing'; key: ApiKey };

type Judged = { state: 'live'; key: ApiKey } | { state: Exclude<TokenState, 'live'> };

/**
 * Checks an access token: its signature, then the key as it was within the last second. A revoked token, an archived key or a
 * new secret takes effect at once on the node that answered the change, and within a second on every other (decision D13).
 */
export async function authenticateToken(
  deps: { database: Queryable; tokens: TokenAuthority },
  presented: PresentedToken,
): Promise<BearerAuthentication> {
  const { token, scope, at } = presented;
  const judged = isSecret('access-token', token)
    ? await judgeStored(deps.database, presented)
    : await judgeSigned(deps.tokens, presented);
  if (judged.state !== 'live') return { outcome: judged.state };
  const { key } = judged;
  if (scope !== undefined && !key.scopes.includes(scope)) return { outcome: 'scope-missing', key };
  await deps.tokens.noteUse(key, at);
  return { outcome: 'ok', key };
}

async function judgeSigned(tokens: TokenAuthority, { token, at, dataCenter }: PresentedToken): Promise<Judged> {
  const claims = await tokens.verify(token, 'access-token');
  if (!claims) return { state: 'invalid' };
  const { epoch, secrets } = await tokens.currentState();
  const found = namesKey(claims, { epoch }) ? await tokens.findKey(claims.keyNumber) : undefined;
  const isSecretRetired = secrets.get(claims.secretNumber)?.retiredAt !== null;
  const state = stateOfClaims(claims, { at, epoch, isSecretRetired, key: found?.token });
  if (found && dataCenter !== undefined && found.dataCenter !== dataCenter) return { state: 'invalid' };
  return state === 'live' ? { state, key: found!.key } : { state };
}

/** Checks a token that was stored when it was issued (before decision 0072). Each check reads the database. */
async function judgeStored(database: Queryable, { token, at, dataCenter }: PresentedToken): Promise<Judged> {
  const found = await findAccessToken(database, hashSecret(token));
  if (!found || (dataCenter !== undefined && found.dataCenter !== dataCenter)) return { state: 'invalid' };
  const state = stateOfToken(found, found, at);
  if (state !== 'live') return { state };
  const { tokenHash: _hash, keyGeneration: _generation, expiresAt: _expiry, revokedAt: _end, ...rest } = found;
  const { dataCenter: _dataCenter, ...key } = rest;
  return { state, key };
}

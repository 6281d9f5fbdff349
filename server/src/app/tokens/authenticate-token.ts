import { stateOfToken } from '../../domain/tokens/token-state.ts';
import type { Scope } from '../../domain/tokens/scopes.ts';
import { hashSecret, isSecret } from '../../domain/tokens/secret.ts';
import type { Queryable } from '../../storage/database.ts';
import { findAccessToken } from '../../storage/keys/tokens.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { noteUse } from '../keys/authenticate-key.ts';

export type PresentedToken = {
  token: string;
  /** What the route does; undefined for a route that any token may call. */
  scope?: Scope | undefined;
  at: Date;
  /** Data center of the host that was called, if it names one (decision D1). */
  dataCenter?: string | undefined;
};

export type BearerAuthentication =
  | { outcome: 'ok'; key: ApiKey }
  | { outcome: 'invalid' }
  | { outcome: 'expired' }
  | { outcome: 'scope-missing'; key: ApiKey };

/**
 * Checks an access token. Every check reads the database, so a revoked token, an archived key or a new secret counts
 * from its commit on, on every node (decision D13, D14).
 */
export async function authenticateToken(
  { database }: { database: Queryable },
  { token, scope, at, dataCenter }: PresentedToken,
): Promise<BearerAuthentication> {
  if (!isSecret('access-token', token)) return { outcome: 'invalid' };
  const found = await findAccessToken(database, hashSecret(token));
  if (!found || (dataCenter !== undefined && found.dataCenter !== dataCenter)) return { outcome: 'invalid' };
  const state = stateOfToken(found, found, at);
  if (state !== 'live') return { outcome: state };
  const { tokenHash: _hash, keyGeneration: _generation, expiresAt: _expiry, revokedAt: _end, ...rest } = found;
  const { dataCenter: _dataCenter, ...key } = rest;
  if (scope !== undefined && !key.scopes.includes(scope)) return { outcome: 'scope-missing', key };
  await noteUse(database, key, at);
  return { outcome: 'ok', key };
}

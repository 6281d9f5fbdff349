import { ServiceError } from '../../domain/errors.ts';
import type { TokenOperation } from '../../domain/tokens/limits.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { authenticateKey } from '../keys/authenticate-key.ts';
import { limitGuesses, limitRequests, noteGuess } from './limit-requests.ts';
import type { TokenCaller, TokenDependencies } from './token-dependencies.ts';

/**
 * Proves client credentials: limits first, then the secret, then the kind of the key (decision D10), so that ER012 is
 * disclosed only to a caller who knows the secret.
 *
 * @returns the OAuth key of the credentials
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_CREDENTIALS_INVALID, TOKEN_KEY_NOT_OAUTH
 */
export async function authenticateClient(
  deps: TokenDependencies,
  { operation, caller, clientSecret }: { operation: TokenOperation; caller: TokenCaller; clientSecret: string },
): Promise<ApiKey> {
  await limitGuesses(deps, caller);
  const at = deps.clock.now();
  const { isNewPair } = await limitRequests(deps, { operation, pair: [caller.clientId, clientSecret], at });
  const authentication = await authenticateKey(deps, {
    workspaceId: caller.clientId,
    secret: clientSecret,
    at,
    dataCenter: caller.dataCenter,
  });
  if (authentication.outcome === 'unknown') {
    // The same wrong secret again is no further guess: a forgotten client of the owner must not use up the limit.
    if (isNewPair) await noteGuess(deps, caller, at);
    throw new ServiceError('TOKEN_CREDENTIALS_INVALID', { detail: 'unknown workspace, wrong secret or archived key' });
  }
  const { key } = authentication;
  if (key.kind !== 'oauth') throw new ServiceError('TOKEN_KEY_NOT_OAUTH', { detail: `the key is of kind ${key.kind}` });
  return key;
}

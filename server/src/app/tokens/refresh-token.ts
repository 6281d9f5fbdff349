import { ServiceError } from '../../domain/errors.ts';
import { stateOfToken } from '../../domain/tokens/token-state.ts';
import { hashSecret, isSecret } from '../../domain/tokens/secret.ts';
import type { StoredRefreshToken } from '../../storage/keys/tokens.ts';
import { findRefreshToken } from '../../storage/keys/tokens.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { authenticateKey, noteUse } from '../keys/authenticate-key.ts';
import { issueAccessToken } from './issue-access-token.ts';
import type { IssuedTokens } from './issue-access-token.ts';
import { limitGuesses, limitRequests, noteGuess } from './limit-requests.ts';
import type { TokenCaller } from './token-caller.ts';
import type { Repeatable, TokenDependencies } from './token-dependencies.ts';

export type RefreshTokenCommand = Repeatable & {
  caller: TokenCaller;
  refreshToken: string;
  /** Optional unless the workspace requires it (decision D19). */
  clientSecret?: string | undefined;
};

/**
 * Issues a further access token from a refresh token, which stays as it is (interface 4.2).
 *
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_REFRESH_INVALID, TOKEN_CLIENT_MISMATCH, TOKEN_CLIENT_SECRET_MISSING,
 *   TOKEN_CREDENTIALS_INVALID, IDEMPOTENCY_KEY_INVALID, IDEMPOTENCY_CONFLICT
 */
export async function refreshToken(deps: TokenDependencies, command: RefreshTokenCommand): Promise<IssuedTokens> {
  const { caller } = command;
  await limitGuesses(deps, caller);
  const at = deps.clock.now();
  const canExist = isSecret('refresh-token', command.refreshToken);
  const token = canExist ? await findRefreshToken(deps.database, hashSecret(command.refreshToken)) : undefined;
  // The pair of a known token is that of its key, so two tokens of one key share a limit (decision D11).
  const pair = token ? ['key', token.id] : ['token', caller.clientId, command.refreshToken];
  const { isNewPair } = await limitRequests(deps, { operation: 'refresh', pair, at });
  if (!token || stateOfToken(token, token, at) !== 'live' || isElsewhere(token, caller)) {
    if (!token && isNewPair) await noteGuess(deps, caller, at);
    throw new ServiceError('TOKEN_REFRESH_INVALID', {
      detail: token ? 'expired, revoked or of a dead key' : 'unknown',
    });
  }
  if (caller.clientId !== token.workspaceId) throw new ServiceError('TOKEN_CLIENT_MISMATCH');
  await checkSecret(deps, command, { token, at });
  const once = { workspaceId: token.workspaceId, operation: `refresh:${token.id}`, key: command.idempotencyKey };
  const issued = await answerOnce(deps, { ...once, rawBody: command.rawBody, at }, (tx) =>
    issueAccessToken(tx, { key: token, refreshTokenHash: token.tokenHash, at, random: deps.random }),
  );
  await noteUse(deps.database, token, at);
  return issued;
}

/** A workspace of another data center is treated as not found (decision D1). */
function isElsewhere(token: StoredRefreshToken, caller: TokenCaller): boolean {
  return caller.dataCenter !== undefined && caller.dataCenter !== token.dataCenter;
}

/** Told only to who holds a valid refresh token: whether the workspace requires the secret, and whether it is right. */
async function checkSecret(
  deps: TokenDependencies,
  { caller, clientSecret }: RefreshTokenCommand,
  { token, at }: { token: StoredRefreshToken; at: Date },
): Promise<void> {
  if (clientSecret === undefined) {
    if (token.secretRequiredAtRefresh) throw new ServiceError('TOKEN_CLIENT_SECRET_MISSING');
    return;
  }
  const authentication = await authenticateKey(deps, { workspaceId: token.workspaceId, secret: clientSecret, at });
  if (authentication.outcome === 'ok' && authentication.key.id === token.id) return;
  await noteGuess(deps, caller, at);
  throw new ServiceError('TOKEN_CREDENTIALS_INVALID', { detail: 'not the secret of the key behind the refresh token' });
}

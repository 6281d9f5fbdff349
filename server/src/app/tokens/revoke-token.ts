import { inTransaction } from '../../storage/database.ts';
import { hashSecret } from '../../domain/tokens/secret.ts';
import { revokeAccessToken, revokeAccessTokensOfRefresh, revokeRefreshToken } from '../../storage/keys/tokens.ts';
import { authenticateClient } from './authenticate-client.ts';
import type { TokenCaller } from './token-caller.ts';
import type { TokenDependencies } from './token-dependencies.ts';

export type RevokeTokenCommand = { caller: TokenCaller; clientSecret: string; token: string };

/**
 * Ends a token of the caller's workspace immediately: an access token alone, a refresh token with all access tokens
 * issued from it (RFC 7009, decision D18). An unknown or expired token, or one of another workspace, is not an error.
 *
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_CREDENTIALS_INVALID, TOKEN_KEY_NOT_OAUTH
 */
export async function revokeToken(deps: TokenDependencies, command: RevokeTokenCommand): Promise<void> {
  const { caller, clientSecret } = command;
  const { key } = await authenticateClient(deps, { operation: 'revoke', caller, clientSecret });
  const at = deps.clock.now();
  const token = { tokenHash: hashSecret(command.token), workspaceId: key.workspaceId, at };
  // The hint is not needed: a hash is in one of the two tables at most.
  await inTransaction(deps.database, async (tx) => {
    if (await revokeRefreshToken(tx, token)) {
      await revokeAccessTokensOfRefresh(tx, { refreshTokenHash: token.tokenHash, at });
    } else await revokeAccessToken(tx, token);
  });
}

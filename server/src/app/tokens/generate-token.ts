import { ServiceError } from '../../domain/errors.ts';
import { refreshTokenSeconds } from '../../domain/tokens/limits.ts';
import { hashSecret, makeSecret } from '../../domain/tokens/secret.ts';
import { insertRefreshToken } from '../../storage/keys/tokens.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { authenticateClient } from './authenticate-client.ts';
import { issueAccessToken } from './issue-access-token.ts';
import type { IssuedTokens } from './issue-access-token.ts';
import type { Repeatable, TokenCaller, TokenDependencies } from './token-dependencies.ts';

export type GenerateTokenCommand = Repeatable & { caller: TokenCaller; clientSecret: string };

/**
 * Issues an access token and its refresh token (interface 4.1). Older tokens of the key stay as they are (decision
 * D14).
 *
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_CREDENTIALS_INVALID, TOKEN_KEY_NOT_OAUTH, IDEMPOTENCY_KEY_INVALID,
 *   IDEMPOTENCY_CONFLICT
 */
export async function generateToken(deps: TokenDependencies, command: GenerateTokenCommand): Promise<IssuedTokens> {
  const { caller, clientSecret } = command;
  const key = await authenticateClient(deps, { operation: 'token', caller, clientSecret });
  const at = deps.clock.now();
  // The key's id is part of the operation: two keys of a workspace never get each other's stored answer.
  const once = { workspaceId: key.workspaceId, operation: `token:${key.id}`, key: command.idempotencyKey };
  return answerOnce(deps, { ...once, rawBody: command.rawBody, at }, async (tx) => {
    const refreshToken = makeSecret('refresh-token', deps.random);
    const isStored = await insertRefreshToken(tx, {
      tokenHash: hashSecret(refreshToken),
      workspaceId: key.workspaceId,
      keyId: key.id,
      keyGeneration: key.generation,
      issuedAt: at,
      expiresAt: new Date(at.getTime() + refreshTokenSeconds * 1000),
    });
    if (!isStored) throw new ServiceError('TOKEN_CREDENTIALS_INVALID', { detail: 'the key was removed meanwhile' });
    const issued = await issueAccessToken(tx, {
      key,
      refreshTokenHash: hashSecret(refreshToken),
      at,
      random: deps.random,
    });
    return { ...issued, refreshToken };
  });
}

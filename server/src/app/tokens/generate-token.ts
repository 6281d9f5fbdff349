import { ServiceError } from '../../domain/errors.ts';
import { refreshTokenSeconds } from '../../domain/tokens/limits.ts';
import type { Random } from '../../domain/tokens/secret.ts';
import { hashSecret, makeSecret } from '../../domain/tokens/secret.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { insertTokens } from '../../storage/keys/tokens.ts';
import type { NewTokens } from '../../storage/keys/tokens.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { authenticateClient } from './authenticate-client.ts';
import type { IssuedTokens } from './issue-access-token.ts';
import type { TokenCaller } from './token-caller.ts';
import type { Repeatable, TokenDependencies } from './token-dependencies.ts';

export type GenerateTokenCommand = Repeatable & { caller: TokenCaller; clientSecret: string };

/**
 * Issues an access token and its refresh token (interface 4.1). Older tokens of the key stay as they are (decision
 * D14).
 *
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_CREDENTIALS_INVALID, TOKEN_KEY_NOT_OAUTH, IDEMPOTENCY_KEY_INVALID,
 *   IDEMPOTENCY_CONFLICT
 */
export async function generateToken(deps: TokenDependencies, command: GenerateTokenCommand): Promise<IssuedTokens> {
  const { caller, clientSecret, idempotencyKey } = command;
  const client = { operation: 'token', caller, clientSecret } as const;
  if (idempotencyKey !== undefined) {
    const { key } = await authenticateClient(deps, client);
    return generateOnce(deps, command, { key, idempotencyKey });
  }
  let issued: IssuedTokens | undefined;
  const makeTokensOf = (key: ApiKey, at: Date): NewTokens => {
    const made = makeTokens(key, { at, random: deps.random });
    ({ issued } = made);
    return made.stored;
  };
  const { isStored } = await authenticateClient(deps, { ...client, makeTokens: makeTokensOf });
  return issuedOr(isStored, issued!);
}

function generateOnce(
  deps: TokenDependencies,
  { rawBody }: GenerateTokenCommand,
  { key, idempotencyKey }: { key: ApiKey; idempotencyKey: string },
): Promise<IssuedTokens> {
  const at = deps.clock.now();
  const made = makeTokens(key, { at, random: deps.random });
  // The key's id is part of the operation: two keys of a workspace never get each other's stored answer.
  const once = { workspaceId: key.workspaceId, operation: `token:${key.id}`, key: idempotencyKey };
  return answerOnce(deps, { ...once, rawBody, at }, async (tx) => {
    const [isStored] = await insertTokens(tx, [made.stored]);
    return issuedOr(isStored!, made.issued);
  });
}

function issuedOr(isStored: boolean, issued: IssuedTokens): IssuedTokens {
  if (isStored) return issued;
  throw new ServiceError('TOKEN_CREDENTIALS_INVALID', { detail: 'the key was removed meanwhile' });
}

/** A refresh token and its first access token, with the current lifetime of the key (decision D15). */
function makeTokens(
  key: ApiKey,
  { at, random }: { at: Date; random: Random | undefined },
): { stored: NewTokens; issued: IssuedTokens } {
  const [refreshToken, accessToken] = [makeSecret('refresh-token', random), makeSecret('access-token', random)];
  const { workspaceId, id: keyId, generation: keyGeneration } = key;
  const expiresInSeconds = key.accessTokenMinutes * 60;
  const stored = {
    ...{ refreshTokenHash: hashSecret(refreshToken), accessTokenHash: hashSecret(accessToken) },
    ...{ workspaceId, keyId, keyGeneration, issuedAt: at },
    refreshExpiresAt: new Date(at.getTime() + refreshTokenSeconds * 1000),
    accessExpiresAt: new Date(at.getTime() + expiresInSeconds * 1000),
  };
  return { stored, issued: { workspaceId, keyId, accessToken, refreshToken, expiresInSeconds } };
}

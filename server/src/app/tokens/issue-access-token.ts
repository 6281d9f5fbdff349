import { ServiceError } from '../../domain/errors.ts';
import type { Random } from '../../domain/tokens/secret.ts';
import { hashSecret, makeSecret } from '../../domain/tokens/secret.ts';
import type { Transaction } from '../../storage/database.ts';
import { insertAccessToken } from '../../storage/keys/tokens.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';

export type IssuedTokens = {
  workspaceId: string;
  keyId: string;
  accessToken: string;
  /** Generation only: refreshing keeps the one there is (interface 4.2). */
  refreshToken?: string;
  /** Seconds, 300 to 3600, from the issue. */
  expiresInSeconds: number;
};

/**
 * Issues one access token with the current lifetime of the key (decision D15).
 *
 * @throws ServiceError TOKEN_REFRESH_INVALID when the refresh token was revoked at the same moment
 */
export async function issueAccessToken(
  tx: Transaction,
  issue: {
    key: Pick<ApiKey, 'id' | 'workspaceId' | 'generation' | 'accessTokenMinutes'>;
    refreshTokenHash: Buffer;
    at: Date;
    random: Random | undefined;
  },
): Promise<IssuedTokens> {
  const { key, at } = issue;
  const accessToken = makeSecret('access-token', issue.random);
  const expiresInSeconds = key.accessTokenMinutes * 60;
  const stored = await insertAccessToken(tx, {
    tokenHash: hashSecret(accessToken),
    refreshTokenHash: issue.refreshTokenHash,
    workspaceId: key.workspaceId,
    keyId: key.id,
    keyGeneration: key.generation,
    issuedAt: at,
    expiresAt: new Date(at.getTime() + expiresInSeconds * 1000),
  });
  if (!stored) throw new ServiceError('TOKEN_REFRESH_INVALID', { detail: 'revoked while it was used' });
  return { workspaceId: key.workspaceId, keyId: key.id, accessToken, expiresInSeconds };
}

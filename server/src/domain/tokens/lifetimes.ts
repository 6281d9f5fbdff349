/** A refresh token lives 30 days from generation; refreshing does not change that (interface 3.2). */
export const refreshTokenSeconds = 30 * 24 * 60 * 60;

/**
 * How long after its end an access token is still known as expired (ER008); after that it is invalid (ER001). Rows of
 * expired tokens may be deleted then (decision D13).
 */
export const expiredTokenSeconds = 24 * 60 * 60;

export type TokenState = 'live' | 'expired' | 'invalid';

/**
 * The state of a stored token. It lives up to, not at, its expiry; a revoked, archived or regenerated one is invalid,
 * whatever its age.
 */
export function stateOfToken(
  token: { expiresAt: Date; revokedAt: Date | null; keyGeneration: number },
  key: { archivedAt: Date | null; generation: number },
  at: Date,
): TokenState {
  if (token.revokedAt || key.archivedAt || token.keyGeneration !== key.generation) return 'invalid';
  const age = at.getTime() - token.expiresAt.getTime();
  if (age < 0) return 'live';
  return age < expiredTokenSeconds * 1000 ? 'expired' : 'invalid';
}

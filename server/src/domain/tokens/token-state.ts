import { expiredTokenSeconds } from './limits.ts';

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

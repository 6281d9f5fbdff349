import { createPublicKey } from 'node:crypto';
import { identityClockSkewSeconds, maxIdentityTokenHours } from '../limits/installations.ts';
import { customerIdFault } from '../users/user-attributes.ts';

/** The algorithm of a key is fixed when the key is made. A token never chooses it (RFC 8725 §3.1). */
export const identityAlgorithms = ['HS256', 'ES256'] as const;
export type IdentityAlgorithm = (typeof identityAlgorithms)[number];

/** The claims of a token whose signature was verified. */
export type IdentityClaims = {
  sub?: unknown;
  exp?: unknown;
  iat?: unknown;
};

/**
 * Returns the user whom a verified token names, or why the token is refused. Signature, audience, `exp` and `nbf` were checked
 * before; this checks that the token is short-lived and names a user.
 */
export function readIdentity({ sub, exp, iat }: IdentityClaims, now: Date): { customerId: string } | { fault: string } {
  if (typeof sub !== 'string' || sub === '') return { fault: 'names no user in `sub`' };
  const fault = customerIdFault(sub);
  if (fault !== undefined) return { fault: `has a \`sub\` that ${fault}` };
  if (typeof exp !== 'number') return { fault: 'has no `exp`' };
  const issuedAt = typeof iat === 'number' ? iat : now.getTime() / 1000;
  const maxSeconds = maxIdentityTokenHours * 3_600 + identityClockSkewSeconds;
  if (exp - issuedAt > maxSeconds || exp - now.getTime() / 1000 > maxSeconds)
    return { fault: `is valid for more than ${maxIdentityTokenHours} hours` };
  return { customerId: sub };
}

/** Returns a P-256 public key in its canonical form, or why the text is none. A private key is refused. */
export function readPublicKey(pem: string): { pem: string } | { fault: string } {
  const fault = 'must be a P-256 public key in PEM (BEGIN PUBLIC KEY)';
  if (!pem.includes('BEGIN PUBLIC KEY')) return { fault };
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return { fault };
    return { pem: key.export({ type: 'spki', format: 'pem' }).toString() };
  } catch {
    return { fault };
  }
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import { signatureToleranceSeconds } from '../push/limits.ts';

export type SignedBody = {
  /** `webhook-id` header: 1 to 128 printable characters, used once. */
  id: string;
  /** `webhook-timestamp` header: whole seconds since 1970. */
  timestamp: string;
  /** The body as it was sent, byte for byte. */
  rawBody: string;
};

/**
 * The stronger signature (decision D35a): `v1,` and the base64 of HMAC-SHA-256 over `id.timestamp.body`, the form of
 * Standard Webhooks. Unlike the first one it covers body and time.
 */
export function signPushV2(signed: SignedBody, key: string): string {
  return `v1,${createHmac('sha256', key).update(`${signed.id}.${signed.timestamp}.${signed.rawBody}`, 'utf8').digest('base64')}`;
}

/** Finds the key, or undefined: wrong form, wrong key, or a timestamp more than five minutes off. */
export function findSigningKeyV2<Key extends { secret: string }>(
  signed: SignedBody & { signature: string; now: Date },
  keys: readonly Key[],
): Key | undefined {
  if (!/^[\x21-\x7e]{1,128}$/.test(signed.id) || !/^\d{1,12}$/.test(signed.timestamp)) return undefined;
  if (Math.abs(signed.now.getTime() / 1000 - Number(signed.timestamp)) > signatureToleranceSeconds) return undefined;
  const given = Buffer.from(signed.signature);
  let found: Key | undefined;
  for (const key of keys) {
    const expected = Buffer.from(signPushV2(signed, key.secret));
    if (expected.length === given.length && timingSafeEqual(expected, given)) found ??= key;
  }
  return found;
}

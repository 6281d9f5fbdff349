import { hash, timingSafeEqual, createHmac, createHash } from 'node:crypto';
import { signatureToleranceSeconds } from '../limits/push.ts';

export type SignedPush = { appId: string; campaignName: string; key: string };

/**
 * Returns the push signature: lower-case hexadecimal SHA-256 of `<app_id>|<campaign_name>|<push_api_key>` (interface 5). The
 * name is signed as it was sent: never trimmed, never normalised.
 */
export function signPush({ appId, campaignName, key }: SignedPush): string {
  return digest({ appId, campaignName, key }).toString('hex');
}

/**
 * Finds the key that a signature was made with, or undefined. A signature has exactly 64 lower-case hexadecimal characters.
 * Every key is compared, in constant time, so the response time reveals nothing.
 */
export function findSigningKey<Key extends { secret: string }>(
  signed: { appId: string; campaignName: string; signature: string },
  keys: readonly Key[],
): Key | undefined {
  if (!/^[0-9a-f]{64}$/.test(signed.signature)) return undefined;
  const given = Buffer.from(signed.signature, 'hex');
  let found: Key | undefined;
  for (const key of keys) {
    if (timingSafeEqual(digest({ ...signed, key: key.secret }), given)) found ??= key;
  }
  return found;
}

function digest({ appId, campaignName, key }: SignedPush): Buffer {
  return hash('sha256', `${appId}|${campaignName}|${key}`, 'buffer');
}

export type SignedBody = {
  /** `webhook-id` header: 1 to 128 printable characters, used once. */
  id: string;
  /** `webhook-timestamp` header: whole seconds since 1970. */
  timestamp: string;
  /** The body as it was sent, byte for byte. */
  rawBody: string;
};

/**
 * Returns the stronger signature (decision D35a): `v1,` and the base64 of HMAC-SHA-256 over `id.timestamp.body`, the form
 * of Standard Webhooks. Unlike the first signature, it covers body and time.
 */
export function signPushV2(signed: SignedBody, key: string): string {
  return `v1,${createHmac('sha256', key).update(`${signed.id}.${signed.timestamp}.${signed.rawBody}`, 'utf8').digest('base64')}`;
}

/** Finds the key. Undefined for a wrong form, a wrong key, or a timestamp that is more than five minutes off. */
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

/** Returns the signature that gives access to a report file (fact 7). */
export function signReport({
  workspaceId,
  name,
  secret,
}: {
  workspaceId: string;
  name: string;
  secret: string;
}): string {
  return createHash('sha256').update(`${workspaceId}|${name}|${secret}`).digest('hex');
}

/** Returns the hash that is stored of a signature. A reader of the database cannot access the file with it. */
export function hashReportSignature(signature: string): Buffer {
  return createHash('sha256').update(signature).digest();
}

export function opensReport(signature: string, signatureHash: Buffer): boolean {
  return timingSafeEqual(hashReportSignature(signature), signatureHash);
}

import { hash, timingSafeEqual } from 'node:crypto';

export type SignedPush = { appId: string; campaignName: string; key: string };

/**
 * The push signature: lower-case hexadecimal SHA-256 of `<app_id>|<campaign_name>|<push_api_key>` (interface 5). The
 * name is signed as it was sent: never trimmed, never normalised.
 */
export function signPush({ appId, campaignName, key }: SignedPush): string {
  return digest({ appId, campaignName, key }).toString('hex');
}

/**
 * Finds the key a signature was made with, or undefined. Exactly 64 lower-case hexadecimal characters are a signature;
 * every key is compared, in constant time, so the answer's time tells nothing.
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

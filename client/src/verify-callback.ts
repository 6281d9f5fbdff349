import type { FileSegmentCallback } from './generated/shapes.ts';

/** Headers of a Node request, a `Headers`, or any record with names in lower case. */
export type CallbackHeaders = Headers | Record<string, string | string[] | undefined>;

/** A callback that the workspace has signed. */
export type VerifiedCallback = { id: string; outcome: FileSegmentCallback };

// As required by Standard Webhooks: a recorded request cannot be replayed later.
const toleranceSeconds = 5 * 60;

/**
 * Verifies the signature of a callback: HMAC-SHA-256 over id, timestamp and body with the workspace's secret (Standard
 * Webhooks). Pass the body as received, byte for byte.
 *
 * @returns its content, or undefined if it is not signed by the workspace or is older than five minutes
 */
export async function verifyCallback(posted: {
  headers: CallbackHeaders;
  rawBody: string;
  /** The `whsec_…` secret of the workspace. */
  secret: string;
  /** Milliseconds now; for tests. */
  now?: number;
}): Promise<VerifiedCallback | undefined> {
  const { headers, rawBody, secret, now = Date.now() } = posted;
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => read(headers, `webhook-${name}`));
  if (!id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp)) return undefined;
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds) return undefined;
  const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (letter) => letter.charCodeAt(0));
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${rawBody}`);
  // During a rotation there are two signatures; one match is enough.
  for (const signature of signatures.split(' ')) {
    const given = decode(signature.replace(/^v1,/, ''));
    if (given && (await crypto.subtle.verify('HMAC', key, given, signed)))
      return { id, outcome: JSON.parse(rawBody) as FileSegmentCallback };
  }
  return undefined;
}

function read(headers: CallbackHeaders, name: string): string | undefined {
  const value = headers instanceof Headers ? (headers.get(name) ?? undefined) : headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

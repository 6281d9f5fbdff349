/**
 * Returns the stronger push signature: `v1,` and the Base64 of HMAC-SHA-256 with the push key over `<id>.<timestamp>.<body>`.
 * Unlike the first signature it covers the body, and each id is valid for one request within five minutes.
 */
export async function signPushV2(signed: {
  id: string;
  /** Seconds since 1970. */
  timestamp: number;
  rawBody: string;
  pushKey: string;
}): Promise<string> {
  const encoder = new TextEncoder();
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(signed.pushKey), hmac, false, ['sign']);
  const text = `${signed.id}.${signed.timestamp}.${signed.rawBody}`;
  const digest = await crypto.subtle.sign('HMAC', key, encoder.encode(text));
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
}

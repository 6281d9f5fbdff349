import type { IncomingHttpHeaders } from 'node:http';

export type BasicCredentials = { username: string; password: string };

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Reads the credentials of an `Authorization: Basic` header (RFC 7617): strict base64, UTF-8, split at the first colon.
 * Anything else is undefined, like no header at all.
 */
export function readBasic(headers: IncomingHttpHeaders): BasicCredentials | undefined {
  const value = headers.authorization;
  const encoded = value === undefined ? undefined : /^basic +(\S+) *$/i.exec(value)?.[1];
  if (encoded === undefined || !base64.test(encoded)) return undefined;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

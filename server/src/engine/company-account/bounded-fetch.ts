import type { CustomFetch } from 'openid-client';
import type { OutgoingClient } from '../outgoing-http/outgoing-client.ts';

const maxMilliseconds = 10_000;
// Key sets and metadata have some kilobytes.
const maxBytes = 1024 * 1024;

/**
 * `fetch` for openid-client, implemented with our own client: no redirects, no cookies; limited in time and size.
 */
export function makeBoundedFetch(outgoing: OutgoingClient): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const answer = await outgoing.open({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body === undefined || body === null ? {} : { body: bodyText(body) }),
      totalMilliseconds: maxMilliseconds,
      ...(signal ? { signal } : {}),
    });
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > maxBytes) throw new Error('the answer of the issuer is too long');
      parts.push(part);
    }
    const known = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as [string, string]],
    );
    const isEmpty = answer.status === 204 || answer.status === 304;
    return new Response(isEmpty ? null : Buffer.concat(parts), { status: answer.status, headers: known });
  };
}

/** The library sends forms only. */
function bodyText(body: unknown): string {
  return typeof body === 'string' ? body : (body as URLSearchParams).toString();
}

import { readBody } from './read-recording.ts';
import type { RecordedCall } from './read-recording.ts';
import type { Reply } from './compare-reply.ts';

const maxMilliseconds = 30_000;
const maxReplyBytes = 5 * 1024 * 1024;

// Of the connection that was recorded, and what fetch makes itself.
const connectionHeaders = new Set(
  [
    'host',
    'connection',
    'content-length',
    'transfer-encoding',
    'accept-encoding',
    'cookie',
    'expect',
    'upgrade',
  ].concat([...['keep-alive', 'te', 'trailer', 'proxy-authorization', 'proxy-connection']]),
);

/**
 * Makes a call at the base URL and nowhere else: the host of the recording is not called, and a redirection is a reply. The
 * address comes from whoever typed it, so it may be of this machine.
 *
 * @throws Error without a reply within 30 seconds, and for one of more than 5 MiB
 */
export async function playCall(baseUrl: string, { method, path, headers, body }: RecordedCall): Promise<Reply> {
  const sent = Object.entries(headers).filter(([name]) => !name.startsWith(':') && !connectionHeaders.has(name));
  const reply = await fetch(baseUrl + path, {
    ...{ method, headers: Object.fromEntries(sent), redirect: 'manual', signal: AbortSignal.timeout(maxMilliseconds) },
    ...(body === undefined || method === 'GET' || method === 'HEAD' ? {} : { body }),
  });
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of reply.body ?? []) {
    size += piece.length;
    if (size > maxReplyBytes) throw new Error('a reply of more than 5 MiB');
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString();
  return { status: reply.status, headers: Object.fromEntries(reply.headers), body: readBody(text) };
}

import type { Readable } from 'node:stream';
import {
  fileRateSeconds,
  maxFileBytes,
  maxFileRedirects,
  minFileBytesPerSecond,
} from '../../domain/limits/segments.ts';
import { OutgoingRefusedError, silenceCodes } from '../../outgoing/client.ts';
import type { OutgoingAnswer, OutgoingClient } from '../../outgoing/client.ts';
import { AddressBlockedError } from '../../outgoing/guard.ts';
import type { Database } from '../../storage/database.ts';
import { findFilePiece } from '../../storage/segments/segment-operations.ts';
import type { ClaimedOperation } from '../../storage/segments/segment-operations.ts';
import { decodeContent, tooLarge, DownloadFailedError, readContentCodings } from './content-codings.ts';
import type { ContentCodings } from './content-codings.ts';

export type FileToDownload = {
  url: string;
  /** Counted after decoding. */
  maxBytes?: number;
  /** Milliseconds of a monotonic clock: real time, regardless of the sandbox's clock. */
  readMilliseconds?: () => number;
  signal?: AbortSignal;
};

/**
 * Downloads a file from a URL chosen by a user and decodes it piece by piece. Only data that the consumer has not read yet is
 * held in memory, and leaving the loop closes the connection. The total time is not limited (decision D25), but a file must not
 * trickle.
 *
 * @throws DownloadFailedError, or the signal's reason
 */
export async function* downloadFile(
  client: OutgoingClient,
  { url, maxBytes = maxFileBytes, readMilliseconds = () => performance.now(), signal }: FileToDownload,
): AsyncGenerator<Buffer, void, undefined> {
  let answer: OutgoingAnswer | undefined;
  try {
    answer = await openAfterRedirects(client, { url, ...(signal && { signal }) });
    const content = readContentCodings(oneValue(answer.headers['content-encoding']));
    checkHeaders(answer, { maxBytes, content });
    yield* decodeContent(refuseTrickle(answer.body, readMilliseconds), { content, maxBytes });
  } catch (error) {
    signal?.throwIfAborted();
    throw answer ? classifyBodyFault(error) : classifyOpenFault(error);
  } finally {
    answer?.body.destroy();
  }
}

export type RedirectDecision = { allowed: true; url: string } | { allowed: false; reason: string };

/**
 * Returns the target of a redirect. Whether that address may be called is decided when it is opened, as for the first URL. The
 * only check specific to a redirect is that it keeps encryption.
 */
export function decideRedirect(from: URL, location: string | string[] | undefined): RedirectDecision {
  // Several `location` headers have no defined meaning (RFC 9110 §5.3).
  if (typeof location !== 'string') return { allowed: false, reason: 'redirect without one location' };
  if (!URL.canParse(location, from.href)) return { allowed: false, reason: 'redirect to what is not a URL' };
  const url = new URL(location, from);
  if (from.protocol === 'https:' && url.protocol !== 'https:')
    return { allowed: false, reason: 'redirect from https to an unencrypted address' };
  return { allowed: true, url: url.href };
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

async function openAfterRedirects(
  client: OutgoingClient,
  { url, signal }: { url: string; signal?: AbortSignal },
): Promise<OutgoingAnswer> {
  let next = url;
  for (let redirects = 0; redirects <= maxFileRedirects; redirects++) {
    const headers = { 'accept-encoding': 'gzip, br, zstd, deflate' };
    const answer = await client.open({ url: next, method: 'GET', headers, ...(signal && { signal }) });
    if (!redirectStatuses.has(answer.status)) return answer;
    answer.body.destroy();
    const decision = decideRedirect(answer.url, answer.headers.location);
    if (!decision.allowed) throw new DownloadFailedError('refused', decision.reason);
    next = decision.url;
  }
  throw new DownloadFailedError('redirects', `more than ${maxFileRedirects} redirects`);
}

/** Content types that servers use for CSV. An HTML page is usually a login form with status 200 (fault F29). */
const acceptedTypes: ReadonlySet<string> = new Set([
  'text/csv',
  'application/csv',
  'application/vnd.ms-excel',
  'text/plain',
  'application/octet-stream',
  'binary/octet-stream',
  '',
]);

function checkHeaders(
  { status, headers }: OutgoingAnswer,
  { maxBytes, content }: { maxBytes: number; content: ContentCodings },
): void {
  if (status !== 200) throw new DownloadFailedError('status', `the answer was ${status}`);
  const type = oneValue(headers['content-type']).split(';', 1)[0]!.trim();
  if (!acceptedTypes.has(type)) throw new DownloadFailedError('content-type', `the content type is ${shorten(type)}`);
  if (content.codings.length === 0 && Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
}

/**
 * Passes a body on and fails if it trickles. Silence between two pieces is limited elsewhere, but one byte just before each
 * timeout would keep the download going forever. Only the time spent waiting for a piece counts.
 *
 * @throws DownloadFailedError
 */
async function* refuseTrickle(body: Readable, readMilliseconds: () => number): AsyncGenerator<Buffer, void, undefined> {
  let waitedMilliseconds = 0;
  let bytes = 0;
  let askedAt = readMilliseconds();
  for await (const piece of body as AsyncIterable<Buffer>) {
    waitedMilliseconds += readMilliseconds() - askedAt;
    bytes += piece.length;
    if (waitedMilliseconds >= fileRateSeconds * 1000) {
      if (bytes * 1000 < minFileBytesPerSecond * waitedMilliseconds)
        throw new DownloadFailedError('too-slow', `the file comes slower than ${minFileBytesPerSecond} bytes a second`);
      [waitedMilliseconds, bytes] = [0, 0];
    }
    yield piece;
    askedAt = readMilliseconds();
  }
}

function classifyOpenFault(error: unknown): unknown {
  if (error instanceof DownloadFailedError) return error;
  if (error instanceof OutgoingRefusedError || error instanceof AddressBlockedError)
    return new DownloadFailedError('refused', error.message, { cause: error });
  if (codeOf(error) === silenceCodes.headers)
    return new DownloadFailedError('stalled', 'no answer in time', { cause: error });
  // Only the code, because the message contains the address.
  const code = codeOf(error);
  return new DownloadFailedError('unreachable', `no connection${code && ` (${code})`}`, { cause: error });
}

function classifyBodyFault(error: unknown): unknown {
  if (error instanceof DownloadFailedError) return error;
  if (codeOf(error) === silenceCodes.body)
    return new DownloadFailedError('stalled', 'the file stopped coming', { cause: error });
  if (codeOf(error) === 'ZSTD_error_frameParameter_windowTooLarge')
    return new DownloadFailedError('encoding', 'the zstd window is over 8 MiB', { cause: error });
  return new DownloadFailedError('truncated', 'the file broke off or its encoding is damaged', { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function oneValue(header: string | string[] | undefined): string {
  return [header ?? ''].flat().join(', ').trim().toLowerCase();
}

/** Shortens the server's header text: enough to recognise it, not enough to flood. */
function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

export type OpenFile = {
  pieces: AsyncIterable<Buffer>;
  /** Ends the download. Does nothing once the pieces have been read to the end. */
  close(): Promise<void>;
};

/**
 * Opens the file of an operation. Resolves when its first piece has arrived. A server that never responds therefore holds only
 * a socket, not a session or another file's turn.
 *
 * @throws DownloadFailedError, or the signal's reason
 */
export async function openFile(
  { database, outgoing }: { database: Database; outgoing: OutgoingClient },
  { operation, signal }: { operation: ClaimedOperation; signal: AbortSignal },
): Promise<OpenFile> {
  const source =
    operation.fileUrl === null
      ? readPostedFile(database, operation.id)
      : downloadFile(outgoing, { url: operation.fileUrl, signal });
  const first = await source.next();
  async function* pieces(): AsyncGenerator<Buffer> {
    if (first.done) return;
    yield first.value;
    yield* source;
  }
  return {
    pieces: pieces(),
    async close() {
      await source.return(undefined);
    },
  };
}

/** Yields the pieces of an uploaded file, in order. */
export async function* readPostedFile(database: Database, operationId: string): AsyncGenerator<Buffer> {
  for (let number = 0; ; number += 1) {
    const piece = await findFilePiece(database, { operationId, number });
    if (!piece) return;
    yield piece;
  }
}

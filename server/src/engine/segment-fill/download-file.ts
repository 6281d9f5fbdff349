import { pipeline } from 'node:stream';
import type { Duplex, Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { OutgoingRefusedError, silenceCodes } from '../outgoing-http/outgoing-client.ts';
import type { OutgoingAnswer, OutgoingClient } from '../outgoing-http/outgoing-client.ts';
import { AddressBlockedError } from '../outgoing-http/resolve-allowed-address.ts';
import {
  fileRateSeconds,
  maxFileBytes,
  maxFileRedirects,
  minFileBytesPerSecond,
} from '../../domain/segments/limits.ts';

export type DownloadFault =
  | 'unreachable'
  | 'status'
  | 'too-large'
  | 'content-type'
  | 'encoding'
  | 'truncated'
  | 'stalled'
  | 'too-slow'
  | 'redirects'
  | 'refused';

export type FileToDownload = {
  url: string;
  /** Counted after decoding. */
  maxBytes?: number;
  /** Milliseconds of a monotonic clock: real time, whatever the sandbox's clock says. */
  readMilliseconds?: () => number;
  signal?: AbortSignal;
};

/**
 * Downloads a file from a URL chosen by somebody else and decodes it piece by piece: only what the consumer has not
 * taken yet is held, and leaving the loop closes the connection. The total time is not limited (decision D25), but a file
 * must not trickle.
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
    checkHeaders(answer, maxBytes);
    let bytes = 0;
    for await (const chunk of decodeBody(answer, readMilliseconds)) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw answer ? classifyBodyFault(error) : classifyOpenFault(error);
  } finally {
    answer?.body.destroy();
  }
}

const repeatable: ReadonlySet<DownloadFault> = new Set(['unreachable', 'status', 'truncated', 'stalled', 'too-slow']);

/**
 * A download that did not succeed. `detail` is for the owner of the segment and holds no address; `cause` is private.
 */
export class DownloadFailedError extends Error {
  override readonly name = 'DownloadFailedError';
  readonly kind: DownloadFault;
  readonly detail: string;
  /** Whether another try may end differently. */
  readonly isRepeatable: boolean;

  constructor(kind: DownloadFault, detail: string, options?: ErrorOptions) {
    super(`the download failed: ${detail}`, options);
    this.kind = kind;
    this.detail = detail;
    this.isRepeatable = repeatable.has(kind);
  }
}

export type RedirectDecision = { allowed: true; url: string } | { allowed: false; reason: string };

/**
 * Where a redirect leads. Whether that may be called is decided when it is opened, as for the first URL; what only a
 * hop can do wrong is to leave encryption behind.
 */
export function decideRedirect(from: URL, location: string | string[] | undefined): RedirectDecision {
  // Several `location` headers have no one meaning (RFC 9110 §5.3).
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

/** What servers send CSV as; a page of HTML is mostly a login form that answers 200 (fault F29). */
const acceptedTypes: ReadonlySet<string> = new Set([
  'text/csv',
  'application/csv',
  'application/vnd.ms-excel',
  'text/plain',
  'application/octet-stream',
  'binary/octet-stream',
  '',
]);

function checkHeaders({ status, headers }: OutgoingAnswer, maxBytes: number): void {
  if (status !== 200) throw new DownloadFailedError('status', `the answer was ${status}`);
  const type = oneValue(headers['content-type']).split(';', 1)[0]!.trim();
  if (!acceptedTypes.has(type)) throw new DownloadFailedError('content-type', `the content type is ${shorten(type)}`);
  if (encodingOf(headers) === undefined && Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
}

type Decoder = Duplex & { bytesWritten: number };

const chunkSize = 64 * 1024;
const makeGunzip = (): Decoder => createGunzip({ chunkSize });
const decoders: Readonly<Record<string, () => Decoder>> = {
  gzip: makeGunzip,
  'x-gzip': makeGunzip,
  br: () => createBrotliDecompress({ chunkSize }),
  // 8 MiB is the window that senders must keep to (RFC 9659 §3); the library would take 128 MiB of memory if asked.
  zstd: () => createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
  deflate: () => createInflate({ chunkSize }),
};

/**
 * Passes a body on and fails when it trickles: silence between two pieces is limited elsewhere, and a byte before each
 * limit would go on for ever. Only the time in which a piece is waited for counts.
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

async function* decodeBody(
  { body, headers }: OutgoingAnswer,
  readMilliseconds: () => number,
): AsyncGenerator<Buffer, void, undefined> {
  const encoding = encodingOf(headers);
  const steady = refuseTrickle(body, readMilliseconds);
  if (encoding === undefined) return yield* steady;
  // A chain of encodings is refused with the unknown ones: each link multiplies what a bomb can do (CVE-2026-22036).
  const makeDecoder = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (!makeDecoder) throw new DownloadFailedError('encoding', `the content encoding is ${shorten(encoding)}`);

  const decoder = makeDecoder();
  let encodedBytes = 0;
  const count = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      encodedBytes += chunk.length;
      yield chunk;
    }
  };
  // Faults of either end come out of the decoder, which `pipeline` destroys with them.
  pipeline(steady, count, decoder, () => {});
  yield* decoder as AsyncIterable<Buffer>;
  // zlib stops at the end of the first frame without a word; the rest of the file would be missing unnoticed.
  if (decoder.bytesWritten < encodedBytes)
    throw new DownloadFailedError('encoding', `data follows the end of the ${encoding} stream`);
}

function encodingOf(headers: OutgoingAnswer['headers']): string | undefined {
  const encoding = oneValue(headers['content-encoding']);
  return encoding === '' || encoding === 'identity' ? undefined : encoding;
}

function classifyOpenFault(error: unknown): unknown {
  if (error instanceof DownloadFailedError) return error;
  if (error instanceof OutgoingRefusedError || error instanceof AddressBlockedError)
    return new DownloadFailedError('refused', error.message, { cause: error });
  if (codeOf(error) === silenceCodes.headers)
    return new DownloadFailedError('stalled', 'no answer in time', { cause: error });
  // Only the code: the message contains the address.
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

function tooLarge(maxBytes: number): DownloadFailedError {
  return new DownloadFailedError('too-large', `the file has more than ${maxBytes} bytes`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function oneValue(header: string | string[] | undefined): string {
  return [header ?? ''].flat().join(', ').trim().toLowerCase();
}

/** A header is the other side's text: enough of it to recognise, not enough to flood. */
function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

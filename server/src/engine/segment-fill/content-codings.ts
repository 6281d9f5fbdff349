import { pipeline } from 'node:stream';
import type { Duplex } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { maxFileCodings } from '../../domain/limits/segments.ts';

type Pieces = AsyncIterable<Buffer>;

/**
 * Decodes the content codings of a file piece by piece. The output of each coding is limited, not only that of the last: each
 * link of a chain multiplies the effect of a decompression bomb (CVE-2026-22036).
 *
 * @throws DownloadFailedError, and the decoders' errors
 */
export function decodeContent(
  body: Pieces,
  { content: { codings, mayHaveFrames }, maxBytes }: { content: ContentCodings; maxBytes: number },
): AsyncGenerator<Buffer, void, undefined> {
  const encoded = mayHaveFrames ? refuseFrames(body) : body;
  if (codings.length === 0) return limitBytes(encoded, maxBytes);
  return codings.reduceRight(
    (pieces: Pieces, coding) => limitBytes(decode(pieces, coding), maxBytes),
    encoded,
  ) as AsyncGenerator<Buffer, void, undefined>;
}

export function tooLarge(maxBytes: number): DownloadFailedError {
  return new DownloadFailedError('too-large', `the file has more than ${maxBytes} bytes`);
}

async function* limitBytes(pieces: Pieces, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield piece;
  }
}

type Decoder = Duplex & { bytesWritten: number };

const chunkSize = 64 * 1024;
const makeDecoder: Readonly<Record<ContentCoding | 'raw deflate', () => Decoder>> = {
  gzip: () => createGunzip({ chunkSize }),
  br: () => createBrotliDecompress({ chunkSize }),
  // 8 MiB is the maximum window for senders (RFC 9659 §3). By default the library would allocate up to 128 MiB if a file asks
  // for it.
  zstd: () => createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
  deflate: () => createInflate({ chunkSize }),
  'raw deflate': () => createInflateRaw({ chunkSize }),
};

async function* decode(encoded: Pieces, coding: ContentCoding): AsyncGenerator<Buffer, void, undefined> {
  const { head, pieces } = await peek(encoded, 2);
  const decoder = makeDecoder[coding === 'deflate' && !isZlibHeader(head) ? 'raw deflate' : coding]();
  let encodedBytes = 0;
  const count = async function* (source: Pieces): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      encodedBytes += piece.length;
      yield piece;
    }
  };
  // Errors from either end surface in the decoder, which `pipeline` destroys with them.
  pipeline(pieces, count, decoder, () => {});
  yield* decoder as Pieces;
  // zlib silently stops at the end of the first frame; the rest of the file would be lost unnoticed.
  if (decoder.bytesWritten < encodedBytes)
    throw new DownloadFailedError('encoding', `data follows the end of the ${coding} stream`);
}

/**
 * True for the two bytes that begin a zlib stream (RFC 1950 §2.2): method 8, a window of up to 32 KiB, and a checksum.
 * `deflate` means such a stream (RFC 9110 §8.4.1.2), but some servers send only the compressed data. That never begins with
 * these bytes: its lowest four bits would be those of an uncompressed block with non-zero padding.
 */
function isZlibHeader([method = 0, flags = 0]: Buffer): boolean {
  return (method & 0x0f) === 8 && method >> 4 <= 7 && (method * 256 + flags) % 31 === 0;
}

const signedFrame = /^[0-9a-f]{1,16};chunk-signature=[0-9a-f]{64}\r\n/i;
const lastFrame =
  /(?:^|\r\n)0(;chunk-signature=[0-9a-f]{64})?\r\nx-amz-[a-z0-9-]+:[^\n]*\r\n(x-amz-[a-z0-9-]+:[^\n]*\r\n)*\r\n$/i;
const firstFrameBytes = 16 + ';chunk-signature='.length + 64 + 2;
const lastFrameBytes = 512;

/**
 * Passes a file on, and fails if it still has the frames of its upload (`aws-chunked`): frame sizes between the lines would be
 * read as values, and lines would be cut in two. S3 stores the file without them, and so do the stores that repeat the token
 * (decision 0061). Frames are detected by a signature or by the trailer that ends them; a size alone may be a value.
 *
 * @throws DownloadFailedError
 */
async function* refuseFrames(body: Pieces): AsyncGenerator<Buffer, void, undefined> {
  const framed = new DownloadFailedError('encoding', 'the file still has the aws-chunked frames of its upload');
  const { head, pieces } = await peek(body, firstFrameBytes);
  if (signedFrame.test(head.toString('latin1'))) throw framed;
  let tail = Buffer.alloc(0);
  for await (const piece of pieces) {
    tail = Buffer.concat([tail, piece.subarray(-lastFrameBytes)]).subarray(-lastFrameBytes);
    yield piece;
  }
  if (lastFrame.test(tail.toString('latin1'))) throw framed;
}

/** Returns the first bytes, fewer if the source ends earlier, and all pieces including these bytes. */
async function peek(source: Pieces, bytes: number): Promise<{ head: Buffer; pieces: Pieces }> {
  const rest = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < bytes) {
    const next = await rest.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const pieces = async function* (): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head;
      for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
    } finally {
      await rest.return?.();
    }
  };
  return { head, pieces: pieces() };
}

type ContentCoding = 'gzip' | 'br' | 'zstd' | 'deflate';

/** The encodings of a file, in the order in which they were applied (RFC 9110 §8.4). */
export type ContentCodings = {
  codings: readonly ContentCoding[];
  /** The file was uploaded to the store in frames (`aws-chunked`), and the store may have kept them. */
  mayHaveFrames: boolean;
};

const codingOf: ReadonlyMap<string, ContentCoding> = new Map([
  ['gzip', 'gzip'],
  // RFC 9110 §8.4.1.3
  ['x-gzip', 'gzip'],
  ['br', 'br'],
  ['zstd', 'zstd'],
  ['deflate', 'deflate'],
]);

/**
 * Values that stores copy from an upload to each download although they are not content codings: the framing of the upload
 * (`aws-chunked`, which S3 itself removes), a charset, and words for "none". Reports of S3-compatible stores that do so:
 * versitygw issue 2398, noobaa-core issue 9138, ceph pull request 64440.
 */
const notCodings: ReadonlySet<string> = new Set([
  ...['', 'identity', 'none', 'binary', '7bit', '8bit'],
  ...['utf-8', 'utf8', 'us-ascii'],
  'aws-chunked',
]);

/**
 * Parses the value of `Content-Encoding`, with several headers joined by commas.
 *
 * @throws DownloadFailedError for an unsupported coding, and for too many codings
 */
export function readContentCodings(header: string): ContentCodings {
  const tokens = header
    .toLowerCase()
    .split(',')
    .map((token) => token.trim());
  const codings = tokens
    .filter((token) => !notCodings.has(token))
    .map((token) => {
      const coding = codingOf.get(token);
      if (coding === undefined)
        throw new DownloadFailedError('encoding', `the content encoding ${quote(token)} is not supported`);
      return coding;
    });
  if (codings.length > maxFileCodings)
    throw new DownloadFailedError('encoding', `the file has more than ${maxFileCodings} content encodings`);
  return { codings, mayHaveFrames: tokens.includes('aws-chunked') };
}

/** Quotes text of the server for a callback and an email: only the characters of a token (RFC 9110 §5.6.2), and only a few. */
function quote(token: string): string {
  const letters = token.replaceAll(/[^a-z0-9.+_-]/g, '?');
  return letters.length > 40 ? `${letters.slice(0, 40)}…` : letters;
}

/** A failed download. `detail` is for the owner of the segment and contains no address; `cause` is private. */
export class DownloadFailedError extends Error {
  override readonly name = 'DownloadFailedError';
  readonly kind: DownloadFault;
  readonly detail: string;
  /** True if a retry may succeed. */
  readonly isRepeatable: boolean;

  constructor(kind: DownloadFault, detail: string, options?: ErrorOptions) {
    super(`the download failed: ${detail}`, options);
    this.kind = kind;
    this.detail = detail;
    this.isRepeatable = repeatable.has(kind);
  }
}

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

const repeatable: ReadonlySet<DownloadFault> = new Set(['unreachable', 'status', 'truncated', 'stalled', 'too-slow']);

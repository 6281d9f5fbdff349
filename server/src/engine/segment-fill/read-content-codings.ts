import { maxFileCodings } from '../../domain/segments/limits.ts';
import { DownloadFailedError } from './download-failed-error.ts';

export type ContentCoding = 'gzip' | 'br' | 'zstd' | 'deflate';

/** What a file was encoded with, in the order in which it was applied (RFC 9110 §8.4). */
export type ContentCodings = {
  codings: readonly ContentCoding[];
  /** The store was sent the file in frames (`aws-chunked`), and may have kept them. */
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
 * Values that stores keep from an upload and repeat on each download although they are not content codings: the framing
 * of the upload (`aws-chunked`, which S3 itself removes), a charset, and words for "none". Stores compatible with S3 were
 * reported to do so: versitygw issue 2398, noobaa-core issue 9138, ceph pull request 64440.
 */
const notCodings: ReadonlySet<string> = new Set([
  ...['', 'identity', 'none', 'binary', '7bit', '8bit'],
  ...['utf-8', 'utf8', 'us-ascii'],
  'aws-chunked',
]);

/**
 * Reads the value of `Content-Encoding`, several headers joined by commas.
 *
 * @throws DownloadFailedError for a coding that is not supported, and for too many
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

/** The server's own text goes into a callback and an email: the letters of a token (RFC 9110 §5.6.2), and few of them. */
function quote(token: string): string {
  const letters = token.replaceAll(/[^a-z0-9.+_-]/g, '?');
  return letters.length > 40 ? `${letters.slice(0, 40)}…` : letters;
}

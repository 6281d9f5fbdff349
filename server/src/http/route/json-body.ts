import { isUtf8 } from 'node:buffer';
import { Transform } from 'node:stream';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { maxJsonLevels, maxJsonMembers } from '../../domain/limits/access.ts';

/**
 * Makes the parser of bodies for Fastify: it keeps the text for signatures and rejects hostile JSON before it becomes objects. A body that is not
 * UTF-8 is rejected, whatever its charset is called (RFC 8259 §8.1): two names that differ in a replaced character would be one.
 */
export const makeReadJsonBody =
  (rules?: JsonRules) =>
  (request: FastifyRequest, bytes: Buffer, done: (error: Error | null, body?: unknown) => void): void => {
    const text = bytes.toString();
    request.rawBody = text;
    try {
      if (!isUtf8(bytes)) throw new ServiceError('BODY_MALFORMED', { detail: 'the body is not UTF-8' });
      done(null, parseJson(text, rules));
    } catch (error) {
      done(error as Error);
    }
  };

export const readJsonBody = makeReadJsonBody();

/**
 * Parses JSON with limits on levels and members; rejects repeated members, `__proto__` and `constructor` (prototype
 * pollution), and NUL (PostgreSQL cannot store it).
 *
 * @throws ServiceError BODY_EMPTY, BODY_MALFORMED
 */
export function parseJson(text: string, rules: JsonRules = strictRules): unknown {
  if (text.trim() === '') throw new ServiceError('BODY_EMPTY');
  let value: unknown;
  try {
    // Some clients begin with a byte order mark, which a parser may ignore (RFC 8259 §8.1).
    value = JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text);
  } catch (error) {
    throw new ServiceError('BODY_MALFORMED', { detail: describeFault(error as SyntaxError) });
  }
  assertHarmless(text, rules);
  return value;
}

export type JsonRules = {
  maxMembers: number;
  /** False: the caller itself rejects names and texts that are not allowed, in the part of the body that has them. */
  areTextsChecked: boolean;
};

const strictRules: JsonRules = { maxMembers: maxJsonMembers, areTextsChecked: true };

/**
 * Returns the parser's message without its quote of the text: the quote may contain a password, and the log stores this
 * message.
 */
function describeFault({ message }: SyntaxError): string {
  return message.replace(/(?:, )?(?:\.\.\.)?"[^]*" is not valid JSON$/, '') || 'not JSON';
}

const byteOrderMark = '\uFEFF';

/**
 * Decodes a body that was sent with gzip, before it is parsed; Fastify counts the decoded bytes against the limit of the
 * route. Runs after the credentials were checked. Other codings are refused with those that are accepted (RFC 9110 §12.5.3).
 *
 * @throws ServiceError MEDIA_TYPE_UNSUPPORTED
 */
export function decodeBody(request: FastifyRequest, reply: FastifyReply, payload: Readable): Readable {
  const sent = request.headers['content-encoding'];
  if (sent === undefined) return payload;
  const codings = sent.toLowerCase().split(',');
  const named = codings.map((coding) => coding.trim()).filter((coding) => coding !== '' && coding !== 'identity');
  if (named.length === 0 || !hasBody(request)) return payload;
  if (named.length === 1 && gzipNames.includes(named[0]!)) return gunzip(payload, request.routeOptions.bodyLimit);
  reply.header('accept-encoding', 'gzip');
  throw new ServiceError('MEDIA_TYPE_UNSUPPORTED', { reason: 'the body may be encoded with gzip, or not at all' });
}

/** RFC 9110 §8.4.1.3: the second is an older name for the first. */
const gzipNames = ['gzip', 'x-gzip'];

/** The body of a GET is never read. */
function hasBody({ method, headers }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * The decoder stops at the limit: a kilobyte of gzip may decode to a megabyte. What the caller still sends is then discarded
 * undecoded.
 */
function gunzip(payload: Readable, maxBytes: number): Readable {
  const decoder = createGunzip();
  let [encodedBytes, decodedBytes] = [0, 0];
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      decodedBytes += chunk.length;
      if (decodedBytes <= maxBytes) return done(null, chunk);
      end(new ServiceError('BODY_TOO_LARGE'));
    },
  });
  const end = (error: Error): void => {
    payload.unpipe(decoder);
    payload.resume();
    decoder.destroy();
    counted.destroy(error);
  };
  payload.on('data', (chunk: Buffer) => (encodedBytes += chunk.length));
  payload.on('error', end);
  decoder.on('error', () => end(malformed('the body is not gzip')));
  // Nothing reads the body of a request that was refused by its media type. An error without a listener ends the process.
  counted.on('error', ignoreUnread);
  payload.pipe(decoder).pipe(counted);
  // Fastify compares it with Content-Length.
  return Object.defineProperty(counted, 'receivedEncodedLength', { get: () => encodedBytes });
}

/** The reader of the body, if there is one, gets the error itself. */
function ignoreUnread(): void {}

// A member name may be as long as the body.
const maxShownCharacters = 100;

/** Makes one pass over text that is known to be JSON; a stack frame holds the member names of an open object. */
function assertHarmless(text: string, { maxMembers, areTextsChecked }: JsonRules): void {
  const open: (Set<string> | undefined)[] = [];
  let members = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === 0x22 /* " */) {
      const end = endOfString(text, { start: index, areTextsChecked });
      const names = open.at(-1);
      if (names && isMemberName(text, end + 1)) {
        const written = text.slice(index + 1, end);
        const name = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
        if ((members += 1) > maxMembers) throw malformed(`more than ${maxMembers} members`);
        if (!areTextsChecked) {
          index = end;
          continue;
        }
        if (name === '__proto__' || name === 'constructor') throw malformed(`member ${name} is not allowed`);
        if (names.has(name)) throw malformed(`member ${name.slice(0, maxShownCharacters)} appears twice`);
        names.add(name);
      }
      index = end;
    } else if (character === 0x7b /* { */ || character === 0x5b /* [ */) {
      if (open.push(character === 0x7b ? new Set() : undefined) > maxJsonLevels) {
        throw malformed(`deeper than ${maxJsonLevels} levels`);
      }
    } else if (character === 0x7d /* } */ || character === 0x5d /* ] */) {
      open.pop();
    }
  }
}

function endOfString(text: string, { start, areTextsChecked }: { start: number; areTextsChecked: boolean }): number {
  for (let index = start + 1; ; index += 1) {
    const character = text.charCodeAt(index);
    if (character === 0x5c /* \ */) {
      if (areTextsChecked && text.startsWith('u0000', index + 1)) throw malformed('NUL is not allowed');
      index += 1;
    } else if (character === 0x22) return index;
  }
}

function isMemberName(text: string, after: number): boolean {
  let index = after;
  while (' \t\r\n'.includes(text[index] ?? '#')) index += 1;
  return text[index] === ':';
}

function malformed(detail: string): ServiceError {
  return new ServiceError('BODY_MALFORMED', { detail, reason: detail });
}

/** True for null too: serializers write null for a member without a value, so it counts as not sent. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/**
 * Like isAbsent, but true for an empty text too: forms send it for a field that was left empty. Only for fields where it
 * cannot be a value.
 */
export function isBlank(value: unknown): value is undefined | null | '' {
  return isAbsent(value) || value === '';
}

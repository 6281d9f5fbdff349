import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { maxJsonLevels, maxJsonMembers } from '../../domain/limits/access.ts';

/** Parses a body for Fastify: keeps the text for signatures and rejects hostile JSON before it becomes objects. */
export function readJsonBody(
  request: FastifyRequest,
  text: string,
  done: (error: Error | null, body?: unknown) => void,
): void {
  request.rawBody = text;
  try {
    done(null, parseJson(text));
  } catch (error) {
    done(error as Error);
  }
}

/**
 * Parses JSON with limits on levels and members; rejects repeated members, `__proto__` and `constructor` (prototype
 * pollution), and NUL (PostgreSQL cannot store it).
 *
 * @throws ServiceError BODY_EMPTY, BODY_MALFORMED
 */
export function parseJson(text: string): unknown {
  if (text.trim() === '') throw new ServiceError('BODY_EMPTY');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ServiceError('BODY_MALFORMED', { detail: describeFault(error as SyntaxError) });
  }
  assertHarmless(text);
  return value;
}

/**
 * Returns the parser's message without its quote of the text: the quote may contain a password, and the log stores this
 * message.
 */
function describeFault({ message }: SyntaxError): string {
  return message.replace(/(?:, )?(?:\.\.\.)?"[^]*" is not valid JSON$/, '') || 'not JSON';
}

// A member name may be as long as the body.
const maxShownCharacters = 100;

/** Makes one pass over text that is known to be JSON; a stack frame holds the member names of an open object. */
function assertHarmless(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  let members = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === 0x22 /* " */) {
      const end = endOfString(text, index);
      const names = open.at(-1);
      if (names && isMemberName(text, end + 1)) {
        const name = JSON.parse(text.slice(index, end + 1)) as string;
        if (name === '__proto__' || name === 'constructor') throw malformed(`member ${name} is not allowed`);
        if (names.has(name)) throw malformed(`member ${name.slice(0, maxShownCharacters)} appears twice`);
        names.add(name);
        if ((members += 1) > maxJsonMembers) throw malformed(`more than ${maxJsonMembers} members`);
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

function endOfString(text: string, start: number): number {
  for (let index = start + 1; ; index += 1) {
    const character = text.charCodeAt(index);
    if (character === 0x5c /* \ */) {
      if (text.startsWith('u0000', index + 1)) throw malformed('NUL is not allowed');
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

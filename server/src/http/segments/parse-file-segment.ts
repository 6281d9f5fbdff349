import type { ChangeFileSegment, CreateFileSegment, FileSource } from '../../app/segments/request-file-operation.ts';
import { ServiceError } from '../../domain/errors.ts';
import { neutralName } from '../../domain/users/identifier.ts';
import {
  maxExpiryDays,
  maxReportEmails,
  maxSegmentNameCharacters,
  maxUrlCharacters,
  minExpiryDays,
} from '../../domain/segments/limits.ts';
import { isBlank } from '../is-absent.ts';

type Body = Record<string, unknown>;

const maxEmail = 254;

/** @throws ServiceError SEGMENT_FIELD_MISSING, SEGMENT_FIELD_INVALID */
export function parseCreate(body: Body, prefixes: readonly string[]): CreateFileSegment {
  requireFields(body, ['name', 'attribute_name', 'attribute_type', 'file_url', 'expiry_time']);
  const expiryDays = body.expiry_time;
  if (!Number.isInteger(expiryDays) || (expiryDays as number) < minExpiryDays || (expiryDays as number) > maxExpiryDays)
    throw invalid('expiry_time', `must be a whole number of days from ${minExpiryDays} to ${maxExpiryDays}`);
  return { kind: 'CREATE', ...parseFile(body, prefixes), expiryDays: expiryDays as number, source: 'API' };
}

/** @throws ServiceError SEGMENT_FIELD_MISSING, SEGMENT_FIELD_INVALID */
export function parseChange(
  body: Body,
  { kind, prefixes }: { kind: ChangeFileSegment['kind']; prefixes: readonly string[] },
): ChangeFileSegment {
  requireFields(body, ['name', 'attribute_name', 'attribute_type', 'file_url']);
  return { kind, ...parseFile(body, prefixes), segmentId: parseSegmentId(body) };
}

/** @throws ServiceError SEGMENT_FIELD_MISSING, SEGMENT_FIELD_INVALID */
export function parseNamed(body: Body): { name: string; segmentId: string | undefined } {
  if (isBlank(body.cs_id)) requireFields(body, ['name']);
  return { name: isBlank(body.name) ? '' : parseName(body.name), segmentId: parseSegmentId(body) };
}

function parseFile(
  body: Body,
  prefixes: readonly string[],
): FileSource & {
  name: string;
  attributeName: string;
  attributeType: 'string' | 'double';
} {
  const type = body.attribute_type;
  if (type !== 'string' && type !== 'double') throw invalid('attribute_type', 'must be string or double');
  return {
    name: parseName(body.name),
    attributeName: neutralName(parseText(body.attribute_name, 'attribute_name'), prefixes),
    attributeType: type,
    fileUrl: parseUrl(body.file_url, 'file_url'),
    callbackUrl: isBlank(body.callback_url) ? null : parseUrl(body.callback_url, 'callback_url'),
    emails: parseEmails(body.emails),
  };
}

function requireFields(body: Body, fields: readonly string[]): void {
  for (const field of fields) {
    if (isBlank(body[field])) throw new ServiceError('SEGMENT_FIELD_MISSING', { field });
  }
}

/** The name as it is stored: without blanks around it, one line, no markup (fact 2.3). @throws ServiceError */
export function parseName(value: unknown): string {
  const name = parseText(value, 'name').trim();
  if (name === '') throw invalid('name', 'must not be blank');
  if (/[<>]/.test(name)) throw invalid('name', 'must not contain HTML characters');
  return name;
}

function parseText(value: unknown, field: string): string {
  if (typeof value !== 'string') throw invalid(field, 'must be a text');
  if (value.length > maxSegmentNameCharacters)
    throw invalid(field, `must have at most ${maxSegmentNameCharacters} characters`);

  if (!value.isWellFormed() || /[\u0000-\u001f\u007f]/.test(value))
    throw invalid(field, 'must be one line of well-formed Unicode');
  return value;
}

function parseSegmentId(body: Body): string | undefined {
  if (isBlank(body.cs_id)) return undefined;
  if (typeof body.cs_id !== 'string' || !/^[0-9a-f]{24}$/.test(body.cs_id))
    throw invalid('cs_id', 'must be 24 hexadecimal characters');
  return body.cs_id;
}

/** Where an address leads is decided when it is connected to; here only its form is. */
function parseUrl(value: unknown, field: string): string {
  if (typeof value !== 'string' || value.length > maxUrlCharacters || !value.isWellFormed() || !URL.canParse(value))
    throw invalid(field, 'must be a URL');
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalid(field, 'must be a URL with http or https');
  if (url.username !== '' || url.password !== '') throw invalid(field, 'must not carry credentials');
  return url.href;
}

function parseEmails(value: unknown): string[] {
  if (isBlank(value)) return [];
  if (!Array.isArray(value) || value.length > maxReportEmails)
    throw invalid('emails', `must be a list of at most ${maxReportEmails} addresses`);
  for (const email of value as unknown[]) {
    // What mail servers take, without quoted local parts: no blanks, no line ends, one @, a domain with a dot.
    const isEmail =
      typeof email === 'string' &&
      email.length <= maxEmail &&
      /^[A-Za-z0-9.!#$%&*+/=?^_{|}~'`-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/.test(email);
    if (!isEmail) throw invalid('emails', 'must hold e-mail addresses');
  }
  return [...new Set(value as string[])];
}

function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('SEGMENT_FIELD_INVALID', { field, reason });
}

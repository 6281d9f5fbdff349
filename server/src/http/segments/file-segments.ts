import { requestFileOperation } from '../../app/segments/file-segments.ts';
import type { ChangeFileSegment, CreateFileSegment, FileSource } from '../../app/segments/file-segments.ts';
import { archiveNamedSegment, unarchiveNamedSegment } from '../../app/segments/segments.ts';
import { isWorkspaceNamed } from '../../app/workspaces.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  maxExpiryDays,
  maxReportEmails,
  maxSegmentNameCharacters,
  maxUrlCharacters,
  minExpiryDays,
} from '../../domain/limits/segments.ts';
import { neutralName } from '../../domain/users/users.ts';
import { requestHeaders } from '../openapi/shapes.ts';
import { keyCallerOf, makeRequireApiKey } from '../route/auth.ts';
import type { KeyCaller } from '../route/auth.ts';
import { isBlank } from '../route/json-body.ts';
import { addRoutes, route } from '../route/route.ts';
import type { Body, Call, Hook, Route, RouteDialect } from '../route/route.ts';
import type { RouteFamily } from '../server/build-server.ts';
import {
  clientNotFound,
  presentSegmentAccepted,
  presentSegmentError,
  segmentErrors,
  changeBody,
  createBody,
  nameBody,
  segmentAccepted,
  segmentError,
} from './answers.ts';
import type { SegmentRouteDependencies } from './answers.ts';

/** File segments, v2 (interface 4.3, fact 2.1): six operations, Basic with a data key or Bearer. */
export function fileSegmentRoutes(deps: SegmentRouteDependencies): RouteFamily {
  return async (server) => {
    const v2 = makeFileDialect(deps);
    await addRoutes(server, [createRoute(deps, v2), ...changeRoutes(deps, v2), ...archiveRoutes(deps, v2)]);
  };
}

function makeFileDialect(deps: SegmentRouteDependencies): RouteDialect<KeyCaller> {
  const requireKey = makeRequireApiKey(deps, 'segmentation', {
    missing: 'SEGMENT_CREDENTIALS_INVALID',
    invalid: 'SEGMENT_CREDENTIALS_INVALID',
    notCovering: 'SEGMENT_KEY_NOT_ALLOWED',
  });
  return {
    tag: 'Segments',
    credentials: ['dataKey', 'bearer'],
    headers: { '*-DBNAME': requestHeaders.dbName },
    refusals: { errors: segmentErrors, shape: segmentError },
    vendorHeaders: deps.vendorHeaders,
    onRequest: [requireKey, makeRequireDbName(deps)],
    callerOf: keyCallerOf,
    presentError: presentSegmentError,
  };
}

const base = '/v2/custom-segments';
const fileUrl = `${base}/file-segment`;
const refuses = [404, 409, 429] as const;
const operation = { isRepeatable: true, answers: { 202: segmentAccepted }, refuses } as const;

function createRoute(deps: SegmentRouteDependencies, v2: RouteDialect<KeyCaller>): Route {
  return route(v2, {
    method: 'POST',
    url: fileUrl,
    operationId: 'createFileSegment',
    summary: 'Create a segment from a file',
    body: createBody,
    ...operation,
    read: ({ body }) => parseCreate(body, deps.vendorHeaders.prefixes),
    handle: (call) => operate(deps, call),
  });
}

function changeRoutes(deps: SegmentRouteDependencies, v2: RouteDialect<KeyCaller>): Route[] {
  const { prefixes } = deps.vendorHeaders;
  const changes = [
    ['ADD', 'add-users', 'addUsersOfFile', 'Add the users of a file to a segment'],
    ['REMOVE', 'remove-users', 'removeUsersOfFile', 'Remove the users of a file from a segment'],
    ['REPLACE', 'replace', 'replaceUsersByFile', 'Replace the users of a segment by those of a file'],
  ] as const;
  return changes.map(([kind, path, operationId, summary]) =>
    route(v2, {
      method: 'PUT',
      url: `${fileUrl}/${path}`,
      operationId,
      summary,
      body: changeBody,
      ...operation,
      read: ({ body }) => parseChange(body, { kind, prefixes }),
      handle: (call) => operate(deps, call),
    }),
  );
}

function archiveRoutes(deps: SegmentRouteDependencies, v2: RouteDialect<KeyCaller>): Route[] {
  // Archiving is idempotent, so it needs no Idempotency-Key.
  const change = { method: 'PATCH', body: nameBody, answers: { 200: segmentAccepted }, refuses } as const;
  return [
    route(v2, {
      ...change,
      url: `${base}/archive`,
      operationId: 'archiveSegment',
      summary: 'Archive a segment',
      read: ({ body }) => parseNamed(body),
      handle: async ({ input, workspaceId, actor }) =>
        presentSegmentAccepted('ARCHIVE', await archiveNamedSegment(deps, { ...input, workspaceId, actor })),
    }),
    route(v2, {
      ...change,
      url: `${base}/unarchive`,
      operationId: 'unarchiveSegment',
      summary: 'Make an archived segment active again',
      read: ({ body }) => parseNamed(body),
      handle: async ({ input, workspaceId, actor }) =>
        presentSegmentAccepted('UNARCHIVE', await unarchiveNamedSegment(deps, { ...input, workspaceId, actor })),
    }),
  ];
}

type Operation = Call<KeyCaller> & { input: CreateFileSegment | ChangeFileSegment };

async function operate(deps: SegmentRouteDependencies, { input, workspaceId, actor, once }: Operation) {
  const accepted = await requestFileOperation(deps, {
    workspaceId,
    actor,
    idempotencyKey: once.key,
    rawBody: once.rawBody,
    command: input,
  });
  return presentSegmentAccepted(input.kind, { id: accepted.segmentId, name: accepted.segmentName });
}

/** Makes the hook that requires `SVC-DBNAME` to name the workspace of the credentials. */
function makeRequireDbName(deps: SegmentRouteDependencies): Hook {
  const { vendorHeaders } = deps;
  return async (request) => {
    const dbName = vendorHeaders.read(request.headers, '*-dbname');
    if (dbName === undefined || dbName === '')
      throw new ServiceError('SEGMENT_HEADER_MISSING', { field: vendorHeaders.nameOf('*-dbname').toUpperCase() });
    const { workspaceId } = keyCallerOf(request);
    if (!(await isWorkspaceNamed(deps, { workspaceId, dbName, appKey: undefined })))
      throw clientNotFound(vendorHeaders, 'another database name');
  };
}

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

/** Returns the name as stored: trimmed, one line, no markup (fact 2.3). @throws ServiceError */
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

/** Checks only the form of an address; the connection checks where it leads. */
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
    // The form that mail servers accept, without quoted local parts: no blanks, no line ends, one @, a domain with a dot.
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

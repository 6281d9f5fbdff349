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
import { choice, list, readWith, required, requiredText, text, whole } from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import { plainRulesOfForms } from '../../fields/reading-rules.ts';
import type { ReadingRules } from '../../fields/reading-rules.ts';
import { RequestReader } from '../../fields/request-reader.ts';
import { requestHeaders } from '../openapi/shapes.ts';
import { keyCallerOf, makeRequireApiKey } from '../route/auth.ts';
import type { KeyCaller } from '../route/auth.ts';
import { addRoutes, route } from '../route/route.ts';
import type { Body, Call, Hook, Route, RouteDialect } from '../route/route.ts';
import type { RouteFamily } from '../server/build-server.ts';
import {
  clientNotFound,
  presentSegmentAccepted,
  presentSegmentError,
  segmentErrors,
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

const file = {
  name: readWith(requiredText({ description: 'Segment name, unique in the workspace' }), readName),
  attribute_name: requiredText({ description: 'User attribute that the file holds; `uid` is the customer id' }),
  attribute_type: required(choice(['string', 'double'])),
  file_url: readWith(
    requiredText({ format: 'uri', description: 'Public address of a single-column CSV file of at most 150 MB' }),
    readUrl,
  ),
  callback_url: readWith(text({ format: 'uri', description: 'Receives the result (interface 2.7)' }), readUrl),
  emails: readWith(list(text({ format: 'email' }), { maxItems: maxReportEmails }), readEmails),
};

const createMembers = {
  ...file,
  expiry_time: readWith(
    required(whole(minExpiryDays, maxExpiryDays, 'Days until the segment is archived')),
    readExpiryDays,
  ),
};

const segmentId = readWith(text({ description: 'Takes precedence over the name' }), readSegmentId);
const changeMembers = { ...file, cs_id: segmentId };
const nameMembers = { name: readWith(requiredText(), readName), cs_id: segmentId };

const createBody = schemaOf(createMembers, { title: 'FileSegmentRequest' });
const changeBody = schemaOf(changeMembers, { title: 'FileSegmentChange' });
const nameBody = schemaOf(nameMembers, { title: 'SegmentName' });

const requiredInFile = ['name', 'attribute_name', 'attribute_type', 'file_url'] as const;

/** @throws ServiceError SEGMENT_FIELD_MISSING, SEGMENT_FIELD_INVALID */
export function parseCreate(body: Body, prefixes: readonly string[]): CreateFileSegment {
  return readSegment(body, (sent) => {
    for (const name of [...requiredInFile, 'expiry_time']) sent.requires(name);
    const expiryDays = createMembers.expiry_time.read(sent, 'expiry_time')!;
    return { kind: 'CREATE', ...readFile(sent, prefixes), expiryDays, source: 'API' };
  });
}

/** @throws ServiceError SEGMENT_FIELD_MISSING, SEGMENT_FIELD_INVALID */
export function parseChange(
  body: Body,
  { kind, prefixes }: { kind: ChangeFileSegment['kind']; prefixes: readonly string[] },
): ChangeFileSegment {
  return readSegment(body, (sent) => {
    for (const name of requiredInFile) sent.requires(name);
    return { kind, ...readFile(sent, prefixes), segmentId: changeMembers.cs_id.read(sent, 'cs_id') };
  });
}

/** The name is required if there is no id. @throws ServiceError SEGMENT_FIELD_MISSING, SEGMENT_FIELD_INVALID */
function parseNamed(body: Body): { name: string; segmentId: string | undefined } {
  return readSegment(body, (sent) => {
    const read = reading(sent, nameMembers);
    if (sent.isAbsent('cs_id')) sent.requires('name');
    return { name: read('name') ?? '', segmentId: read('cs_id') };
  });
}

type SentFile = FileSource & { name: string; attributeName: string; attributeType: 'string' | 'double' };

function readFile(sent: RequestReader, prefixes: readonly string[]): SentFile {
  const read = reading(sent, file);
  const attributeType = read('attribute_type')!;
  return {
    name: read('name')!,
    attributeName: neutralName(read('attribute_name'), prefixes),
    attributeType,
    fileUrl: read('file_url')!,
    callbackUrl: read('callback_url') ?? null,
    emails: read('emails') ?? [],
  };
}

/** Reads a body of v2, which reports the first fault only. */
function readSegment<Value>(body: Body, read: (sent: RequestReader) => Value): Value {
  const sent = new RequestReader(body, { rules });
  const value = read(sent);
  const [fault] = sent.faults;
  if (!fault) return value;
  const { field, reason } = fault;
  throw reason === rules.missing
    ? new ServiceError('SEGMENT_FIELD_MISSING', { field })
    : new ServiceError('SEGMENT_FIELD_INVALID', { field, reason });
}

const rules: ReadingRules = {
  ...plainRulesOfForms,
  maxTextCharacters: maxSegmentNameCharacters,
  textFault(text, maxCharacters) {
    if (text.length > maxCharacters) return `must have at most ${maxCharacters} characters`;
    const isOneLine = text.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(text);
    return isOneLine ? undefined : 'must be one line of well-formed Unicode';
  },
};

/** Reads the name as it is stored: trimmed, one line, no markup (fact 2.3). */
function readName(sent: RequestReader, field: string): string | undefined {
  const name = sent.text(field)?.trim();
  if (name === '') sent.invalid(field, 'must not be blank');
  else if (name !== undefined && /[<>]/.test(name)) sent.invalid(field, 'must not contain HTML characters');
  return name;
}

function readExpiryDays(sent: RequestReader, field: string): number | undefined {
  const days = sent.get(field);
  if (Number.isInteger(days) && (days as number) >= minExpiryDays && (days as number) <= maxExpiryDays)
    return days as number;
  sent.invalid(field, `must be a whole number of days from ${minExpiryDays} to ${maxExpiryDays}`);
  return undefined;
}

function readSegmentId(sent: RequestReader, field: string): string | undefined {
  const id = sent.get(field);
  if (id === undefined || (typeof id === 'string' && /^[0-9a-f]{24}$/.test(id))) return id;
  sent.invalid(field, 'must be 24 hexadecimal characters');
  return undefined;
}

/** Checks only the form of an address; the connection checks where it leads. */
function readUrl(sent: RequestReader, field: string): string | undefined {
  const value = sent.get(field);
  if (value === undefined) return undefined;
  const isUrl =
    typeof value === 'string' && value.length <= maxUrlCharacters && value.isWellFormed() && URL.canParse(value);
  const url = isUrl ? new URL(value) : undefined;
  if (!url) sent.invalid(field, 'must be a URL');
  else if (url.protocol !== 'http:' && url.protocol !== 'https:')
    sent.invalid(field, 'must be a URL with http or https');
  else if (url.username !== '' || url.password !== '') sent.invalid(field, 'must not carry credentials');
  return url?.href;
}

const maxEmailCharacters = 254;

function readEmails(sent: RequestReader, field: string): string[] | undefined {
  const emails = sent.get(field);
  if (emails === undefined) return undefined;
  if (!Array.isArray(emails) || emails.length > maxReportEmails) {
    sent.invalid(field, `must be a list of at most ${maxReportEmails} addresses`);
    return undefined;
  }
  if (!emails.every(isEmail)) sent.invalid(field, 'must hold e-mail addresses');
  return [...new Set(emails as string[])];
}

/** The form that mail servers accept, without quoted local parts: no blanks, no line ends, one @, a domain with a dot. */
function isEmail(email: unknown): boolean {
  return (
    typeof email === 'string' &&
    email.length <= maxEmailCharacters &&
    /^[A-Za-z0-9.!#$%&*+/=?^_{|}~'`-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/.test(email)
  );
}

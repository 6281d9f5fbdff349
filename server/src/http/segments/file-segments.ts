import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { TObject } from 'typebox';
import { requestFileOperation } from '../../app/segments/file-segments.ts';
import type { ChangeFileSegment, CreateFileSegment, FileSource } from '../../app/segments/file-segments.ts';
import type { SegmentCaller } from '../../app/segments/segment-limits.ts';
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
import { describeOperation } from '../openapi/operation.ts';
import type { Dialect } from '../openapi/operation.ts';
import { requestHeaders } from '../openapi/shapes.ts';
import { actorOf, makeRequireApiKey } from '../route/auth.ts';
import { toServiceError } from '../route/errors.ts';
import { isBlank } from '../route/json-body.ts';
import { refuseOtherMethods } from '../route/route.ts';
import { warnOfUnknownFields } from '../route/warnings.ts';
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

type SegmentBody = Record<string, unknown>;
type Answer = { status: number; body: unknown };
type Handle = (deps: SegmentRouteDependencies, request: FastifyRequest, body: SegmentBody) => Promise<Answer>;

type Route = {
  operationId: string;
  method: HTTPMethods;
  url: string;
  summary: string;
  shape: TObject;
  status: number;
  handle: Handle;
};

const dialect: Dialect = {
  tag: 'Segments',
  credentials: ['dataKey', 'bearer'],
  headers: { '*-DBNAME': requestHeaders.dbName },
  refusals: { errors: segmentErrors, shape: segmentError },
};

const base = '/v2/custom-segments';

const routes: Route[] = [
  {
    operationId: 'createFileSegment',
    method: 'POST',
    url: `${base}/file-segment`,
    summary: 'Create a segment from a file',
    shape: createBody,
    status: 202,
    handle: (deps, request, body) => operate(deps, request, parseCreate(body, deps.vendorHeaders.prefixes)),
  },
  ...(['ADD', 'REMOVE', 'REPLACE'] as const).map((kind): Route => {
    const [operationId, path, summary] = {
      ADD: ['addUsersOfFile', 'add-users', 'Add the users of a file to a segment'] as const,
      REMOVE: ['removeUsersOfFile', 'remove-users', 'Remove the users of a file from a segment'] as const,
      REPLACE: ['replaceUsersByFile', 'replace', 'Replace the users of a segment by those of a file'] as const,
    }[kind];
    return {
      operationId,
      method: 'PUT',
      url: `${base}/file-segment/${path}`,
      summary,
      shape: changeBody,
      status: 202,
      handle: (deps, request, body) =>
        operate(deps, request, parseChange(body, { kind, prefixes: deps.vendorHeaders.prefixes })),
    };
  }),
  {
    operationId: 'archiveSegment',
    method: 'PATCH',
    url: `${base}/archive`,
    summary: 'Archive a segment',
    shape: nameBody,
    status: 200,
    handle: async (deps, request, body) => {
      const named = { ...parseNamed(body), ...callerOf(request) };
      const segment = await archiveNamedSegment(deps, named);
      return { status: 200, body: presentSegmentAccepted('ARCHIVE', segment) };
    },
  },
  {
    operationId: 'unarchiveSegment',
    method: 'PATCH',
    url: `${base}/unarchive`,
    summary: 'Make an archived segment active again',
    shape: nameBody,
    status: 200,
    handle: async (deps, request, body) => {
      const named = { ...parseNamed(body), ...callerOf(request) };
      const segment = await unarchiveNamedSegment(deps, named);
      return { status: 200, body: presentSegmentAccepted('UNARCHIVE', segment) };
    },
  },
];

/** File segments, v2 (interface 4.3, fact 2.1): six operations, Basic with a data key or Bearer. */
export function fileSegmentRoutes(deps: SegmentRouteDependencies): RouteFamily {
  const requireKey = makeRequireApiKey(deps, 'segmentation', {
    missing: 'SEGMENT_CREDENTIALS_INVALID',
    invalid: 'SEGMENT_CREDENTIALS_INVALID',
    notCovering: 'SEGMENT_KEY_NOT_ALLOWED',
  });
  return async (server) => {
    // The shapes only document the routes; the parsers below report the family's own errors.
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentSegmentError(toServiceError(error, request), { request, reply }),
    );
    for (const route of routes) {
      addRoute(server, deps, { ...route, onRequest: [requireKey, makeRequireDbName(deps)] });
      refuseOtherMethods(server, route.url, [route.method]);
    }
  };
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

function addRoute(server: FastifyInstance, deps: SegmentRouteDependencies, route: Route & { onRequest: Hook[] }): void {
  server.route({
    method: route.method,
    url: route.url,
    schema: describeOperation(dialect, {
      operationId: route.operationId,
      summary: route.summary,
      body: route.shape,
      // Archiving is idempotent, so it needs no Idempotency-Key.
      ...(route.status === 202 ? { isRepeatable: true } : {}),
      answers: { [route.status]: segmentAccepted },
      refuses: [404, 409, 429],
    }),
    onRequest: route.onRequest,
    handler: async (request, reply) => {
      const body = readBody(request);
      const answer = await route.handle(deps, request, body);
      warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: route.shape });
      return reply.code(answer.status).send(answer.body);
    },
  });
}

function callerOf(request: FastifyRequest): SegmentCaller {
  return { workspaceId: request.facts.workspaceId!, actor: actorOf(request) };
}

async function operate(
  deps: SegmentRouteDependencies,
  request: FastifyRequest,
  command: ReturnType<typeof parseCreate> | ReturnType<typeof parseChange>,
): Promise<Answer> {
  const accepted = await requestFileOperation(deps, {
    ...callerOf(request),
    idempotencyKey: request.headers['idempotency-key'] as string | undefined,
    rawBody: request.rawBody,
    command,
  });
  const segment = { id: accepted.segmentId, name: accepted.segmentName };
  return { status: 202, body: presentSegmentAccepted(command.kind, segment) };
}

/** Makes the hook that requires `SVC-DBNAME` to name the workspace of the credentials. */
function makeRequireDbName(deps: SegmentRouteDependencies): Hook {
  const { vendorHeaders } = deps;
  return async (request) => {
    const dbName = vendorHeaders.read(request.headers, '*-dbname');
    if (dbName === undefined || dbName === '')
      throw new ServiceError('SEGMENT_HEADER_MISSING', { field: vendorHeaders.nameOf('*-dbname').toUpperCase() });
    const named = { workspaceId: request.facts.workspaceId!, dbName, appKey: undefined };
    if (!(await isWorkspaceNamed(deps, named))) throw clientNotFound(vendorHeaders, 'another database name');
  };
}

function readBody(request: FastifyRequest): SegmentBody {
  const { body } = request;
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return body as SegmentBody;
}

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

import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { TObject } from 'typebox';
import { archiveNamedSegment, unarchiveNamedSegment } from '../../app/segments/archive-segments.ts';
import { requestFileOperation } from '../../app/segments/request-file-operation.ts';
import { isWorkspaceNamed } from '../../app/workspaces/is-workspace-named.ts';
import { ServiceError } from '../../domain/errors.ts';
import { clientNotFound } from './client-not-found.ts';
import { makeRequireApiKey } from '../auth/api-key.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect } from '../openapi/describe-operation.ts';
import { requestHeaders } from '../openapi/document-headers.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import { parseChange, parseCreate, parseNamed } from './parse-file-segment.ts';
import { presentSegmentAccepted, presentSegmentError, segmentErrors } from './present.ts';
import type { SegmentRouteDependencies } from './segment-route-dependencies.ts';
import { changeBody, createBody, nameBody, segmentAccepted, segmentError } from './shapes.ts';

type Body = Record<string, unknown>;
type Answer = { status: number; body: unknown };
type Handle = (deps: SegmentRouteDependencies, request: FastifyRequest, body: Body) => Promise<Answer>;

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
      const named = { ...parseNamed(body), workspaceId: request.facts.workspaceId! };
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
      const named = { ...parseNamed(body), workspaceId: request.facts.workspaceId! };
      const segment = await unarchiveNamedSegment(deps, named);
      return { status: 200, body: presentSegmentAccepted('UNARCHIVE', segment) };
    },
  },
];

/** File segments, v2 (interface 4.3, fact 2.1): six operations, Basic with a Data key or Bearer. */
export function fileSegmentRoutes(deps: SegmentRouteDependencies): RouteFamily {
  const requireKey = makeRequireApiKey(deps, 'segmentation', {
    missing: 'SEGMENT_CREDENTIALS_INVALID',
    invalid: 'SEGMENT_CREDENTIALS_INVALID',
    notCovering: 'SEGMENT_KEY_NOT_ALLOWED',
  });
  return async (server) => {
    // The shapes document the routes; the family's own errors come from parse-file-segment.ts.
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
      // Archiving is the same however often it is asked for.
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

async function operate(
  deps: SegmentRouteDependencies,
  request: FastifyRequest,
  command: ReturnType<typeof parseCreate> | ReturnType<typeof parseChange>,
): Promise<Answer> {
  const accepted = await requestFileOperation(deps, {
    workspaceId: request.facts.workspaceId!,
    requestedBy: request.callerKey!.name,
    idempotencyKey: request.headers['idempotency-key'] as string | undefined,
    rawBody: request.rawBody,
    command,
  });
  const segment = { id: accepted.segmentId, name: accepted.segmentName };
  return { status: 202, body: presentSegmentAccepted(command.kind, segment) };
}

/** `SVC-DBNAME` is required and must name the workspace of the credentials. */
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

function readBody(request: FastifyRequest): Body {
  const { body } = request;
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return body as Body;
}

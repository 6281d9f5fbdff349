import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  changeFilterSegment,
  countFilterCall,
  createFilterSegment,
  getSegment,
  listShownSegments,
} from '../../app/segments/filter-segments.ts';
import { isWorkspaceNamed } from '../../app/workspaces/is-workspace-named.ts';
import { ServiceError } from '../../domain/errors.ts';
import { clientNotFound } from './client-not-found.ts';
import { isStorableText } from '../../domain/storable-text.ts';
import { makeRequireApiKey } from '../auth/api-key.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect } from '../openapi/describe-operation.ts';
import { requestHeaders } from '../openapi/document-headers.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields, warnOfUnknownNames } from '../unknown-fields.ts';
import { parseFilterChange, parseFilterSegment } from './parse-filter-segment.ts';
import {
  filterSegmentErrors,
  presentFilterSegmentError,
  presentSegment,
  presentSegmentList,
} from './present-filter-segment.ts';
import type { SegmentRouteDependencies } from './segment-route-dependencies.ts';
import { filterBody, filterChangeBody, filterSegmentError, segmentAnswer, segmentList } from './shapes.ts';

const url = '/v3/custom-segments';
const dialect: Dialect = {
  tag: 'Segments',
  credentials: ['dataKey', 'bearer'],
  // One of the two is enough.
  headers: { '*-APPKEY': Type.Optional(requestHeaders.appKey), '*-DBNAME': Type.Optional(requestHeaders.dbName) },
  refusals: {
    errors: filterSegmentErrors,
    shape: filterSegmentError,
    codeOf: (name) => filterSegmentErrors[name]?.code,
  },
};

/** Filter segments and the look-up of all segments, v3 (fact 2.3). */
export function filterSegmentRoutes(deps: SegmentRouteDependencies): RouteFamily {
  const requireKey = makeRequireApiKey(deps, 'segmentation', {
    missing: 'SEGMENT_CREDENTIALS_INVALID',
    invalid: 'SEGMENT_CREDENTIALS_INVALID',
    notCovering: 'SEGMENT_KEY_NOT_ALLOWED',
  });
  return async (server) => {
    // The shapes document the routes; the family's own errors come from parse-filter-segment.ts.
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentFilterSegmentError(toServiceError(error, request), { request, reply }),
    );
    server.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.schema?.hide) return;
      await requireKey(request, reply);
      if (!reply.sent) await requireWorkspaceHeader(deps, request);
    });
    addCollection(server, deps);
    addOne(server, deps);
    refuseOtherMethods(server, url, ['GET', 'POST']);
    refuseOtherMethods(server, `${url}/:id`, ['GET', 'PATCH']);
  };
}

function addCollection(server: FastifyInstance, deps: SegmentRouteDependencies): void {
  server.get(
    url,
    {
      schema: describeOperation(dialect, {
        operationId: 'listSegments',
        summary: 'List segments, or find one by its exact name',
        querystring: Type.Object({ name: Type.Optional(Type.String({ description: 'The exact name' })) }),
        answers: { 200: segmentList },
        refuses: [429],
      }),
    },
    async (request) => {
      const workspaceId = request.facts.workspaceId!;
      await countFilterCall(deps, { operation: 'list', workspaceId });
      const { name } = request.query as { name?: unknown };
      if (name !== undefined && (typeof name !== 'string' || !isStorableText(name)))
        throw new ServiceError('PARAMETER_INVALID', { field: 'name', reason: 'must be given once' });
      return presentSegmentList(await listShownSegments(deps, { workspaceId, name }));
    },
  );
  server.post(
    url,
    {
      schema: describeOperation(dialect, {
        operationId: 'createFilterSegment',
        summary: 'Create a filter segment',
        body: filterBody,
        isRepeatable: true,
        answers: { 201: segmentAnswer },
        refuses: [404, 409, 412, 429],
      }),
    },
    async (request, reply) => {
      const workspaceId = request.facts.workspaceId!;
      await countFilterCall(deps, { operation: 'create', workspaceId });
      const body = readBody(request);
      const { command, unknownFields } = parseFilterSegment(body);
      const { id } = await createFilterSegment(deps, {
        workspaceId,
        requestedBy: request.callerKey!.name,
        idempotencyKey: request.headers['idempotency-key'] as string | undefined,
        rawBody: request.rawBody,
        command,
      });
      warn(deps, { request, reply, shape: filterBody, unknownFields });
      return reply.code(201).send(presentSegment(await getSegment(deps, { workspaceId, id })));
    },
  );
}

function addOne(server: FastifyInstance, deps: SegmentRouteDependencies): void {
  const params = Type.Object({ id: Type.String() });
  server.get(
    `${url}/:id`,
    {
      schema: describeOperation(dialect, {
        operationId: 'getSegment',
        summary: 'Get a segment',
        params,
        answers: { 200: segmentAnswer },
        refuses: [404, 429],
      }),
    },
    async (request) => {
      const workspaceId = request.facts.workspaceId!;
      await countFilterCall(deps, { operation: 'get', workspaceId });
      return presentSegment(await getSegment(deps, { workspaceId, id: readId(request) }));
    },
  );
  server.patch(
    `${url}/:id`,
    {
      schema: describeOperation(dialect, {
        operationId: 'changeFilterSegment',
        summary: 'Change a filter segment',
        params,
        body: filterChangeBody,
        answers: { 200: segmentAnswer },
        refuses: [404, 409, 412, 429],
      }),
    },
    async (request, reply) => {
      const workspaceId = request.facts.workspaceId!;
      await countFilterCall(deps, { operation: 'update', workspaceId });
      const id = readId(request);
      const { change, updatedBy, unknownFields } = parseFilterChange(readBody(request));
      await changeFilterSegment(deps, { workspaceId, id, change, updatedBy: updatedBy ?? request.callerKey!.name });
      warn(deps, { request, reply, shape: filterChangeBody, unknownFields });
      return presentSegment(await getSegment(deps, { workspaceId, id }));
    },
  );
}

/** `SVC-APPKEY` or `SVC-DBNAME` must be there and name the workspace of the credentials. */
async function requireWorkspaceHeader(deps: SegmentRouteDependencies, request: FastifyRequest): Promise<void> {
  const { vendorHeaders } = deps;
  const appKey = vendorHeaders.read(request.headers, '*-appkey');
  const dbName = vendorHeaders.read(request.headers, '*-dbname');
  const isNamed =
    (appKey !== undefined || dbName !== undefined) &&
    (await isWorkspaceNamed(deps, { workspaceId: request.facts.workspaceId!, appKey, dbName }));
  if (!isNamed) throw clientNotFound(vendorHeaders, 'headers name another workspace or none');
}

function readId(request: FastifyRequest): string {
  const { id } = request.params as { id: string };
  if (!/^[0-9a-f]{24}$/.test(id)) throw new ServiceError('SEGMENT_ID_INVALID');
  return id;
}

function readBody(request: FastifyRequest): Record<string, unknown> {
  const { body } = request;
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('SEGMENT_BODY_INVALID', { detail: 'no JSON object' });
  return body as Record<string, unknown>;
}

type Warning = { request: FastifyRequest; reply: FastifyReply; shape: object; unknownFields: string[] };

/** Unknown members of the body and of its filters, in one header (decision D5). */
function warn({ vendorHeaders }: SegmentRouteDependencies, { request, reply, shape, unknownFields }: Warning): void {
  warnOfUnknownFields(vendorHeaders, request.body, { request, reply, shape });
  warnOfUnknownNames(vendorHeaders, { request, reply }, unknownFields);
}

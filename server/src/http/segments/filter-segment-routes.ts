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
import { isStorableText } from '../../domain/storable-text.ts';
import { makeRequireApiKey } from '../auth/api-key.ts';
import { gatewayError } from '../auth/shapes.ts';
import type { RouteFamily } from '../build-server.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { unknownFieldsWarning, warnOfUnknownFields } from '../unknown-fields.ts';
import { parseFilterChange, parseFilterSegment } from './parse-filter-segment.ts';
import { presentFilterSegmentError, presentSegment, presentSegmentList } from './present-filter-segment.ts';
import type { SegmentRouteDependencies } from './segment-route-dependencies.ts';
import { filterBody, filterChangeBody, filterSegmentError, segmentAnswer, segmentList } from './shapes.ts';

const url = '/v3/custom-segments';
const tags = ['Segments'];
const security = [{ dataKey: [] }, { bearer: [] }];
const refusals = {
  400: filterSegmentError,
  401: Type.Union([filterSegmentError, gatewayError]),
  403: Type.Union([filterSegmentError, gatewayError]),
  404: filterSegmentError,
  409: filterSegmentError,
  412: filterSegmentError,
  413: filterSegmentError,
  429: filterSegmentError,
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
      schema: {
        tags,
        summary: 'List segments, or find one by its exact name',
        security,
        querystring: Type.Object({ name: Type.Optional(Type.String()) }),
        response: { 200: segmentList, ...refusals },
      },
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
      schema: {
        tags,
        summary: 'Create a filter segment',
        security,
        body: filterBody,
        response: { 201: segmentAnswer, ...refusals },
      },
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
      schema: { tags, summary: 'Get a segment', security, params, response: { 200: segmentAnswer, ...refusals } },
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
      schema: {
        tags,
        summary: 'Change a filter segment',
        security,
        params,
        body: filterChangeBody,
        response: { 200: segmentAnswer, ...refusals },
      },
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
  if (!isNamed)
    throw new ServiceError('SEGMENT_CLIENT_NOT_FOUND', { detail: 'headers name another workspace or none' });
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
  if (unknownFields.length === 0) return;
  const name = vendorHeaders.nameOf('x-*-warning');
  const warning = unknownFieldsWarning(unknownFields);
  request.facts.warnings.push(warning);
  const earlier = reply.getHeader(name);
  reply.header(name, earlier === undefined ? warning : `${String(earlier)}, ${warning}`);
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { SyncCohortCommand } from '../../app/segments/cohorts.ts';
import {
  changeFilterSegment,
  countFilterCall,
  createFilterSegment,
  getSegment,
  listShownSegments,
} from '../../app/segments/filter-segments.ts';
import type { FilterSegmentCommand, FilterTreesCommand, GivenFilters } from '../../app/segments/filter-segments.ts';
import { isWorkspaceNamed } from '../../app/workspaces.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ErrorName } from '../../domain/errors.ts';
import { maxSegmentNameCharacters } from '../../domain/limits/segments.ts';
import type { FilterFaultCode } from '../../domain/segments/filter-members.ts';
import { parseSegmentFilter, parseStoredFilters } from '../../domain/segments/filter-reader.ts';
import type { StoredFilters } from '../../domain/segments/filter-reader.ts';
import { isStorableText } from '../../domain/storable-text.ts';
import { describeOperation } from '../openapi/operation.ts';
import type { Dialect } from '../openapi/operation.ts';
import { requestHeaders } from '../openapi/shapes.ts';
import { actorOf, makeRequireApiKey } from '../route/auth.ts';
import { toServiceError } from '../route/errors.ts';
import { isAbsent, isBlank } from '../route/json-body.ts';
import { refuseOtherMethods } from '../route/route.ts';
import { warnOfUnknownFields, warnOfUnknownNames } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import {
  clientNotFound,
  filterSegmentErrors,
  presentFilterSegmentError,
  presentSegment,
  presentSegmentList,
  filterBody,
  filterChangeBody,
  filterSegmentError,
  segmentAnswer,
  segmentList,
} from './answers.ts';
import type { SegmentRouteDependencies } from './answers.ts';

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

/** Routes for filter segments and the look-up of all segments, v3 (fact 2.3). */
export function filterSegmentRoutes(deps: SegmentRouteDependencies): RouteFamily {
  const requireKey = makeRequireApiKey(deps, 'segmentation', {
    missing: 'SEGMENT_CREDENTIALS_INVALID',
    invalid: 'SEGMENT_CREDENTIALS_INVALID',
    notCovering: 'SEGMENT_KEY_NOT_ALLOWED',
  });
  return async (server) => {
    // The shapes only document the routes; the parsers below report the family's own errors.
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
        actor: actorOf(request),
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
      await changeFilterSegment(deps, { actor: actorOf(request), workspaceId, id, change, updatedBy });
      warn(deps, { request, reply, shape: filterChangeBody, unknownFields });
      return presentSegment(await getSegment(deps, { workspaceId, id }));
    },
  );
}

/** Requires `SVC-APPKEY` or `SVC-DBNAME`; the headers must name the workspace of the credentials. */
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

/** Warns of unknown members of the body and of its filters, in one header (decision D5). */
function warn({ vendorHeaders }: SegmentRouteDependencies, { request, reply, shape, unknownFields }: Warning): void {
  warnOfUnknownFields(vendorHeaders, request.body, { request, reply, shape });
  warnOfUnknownNames(vendorHeaders, { request, reply }, unknownFields);
}

type Body = Record<string, unknown>;

const faultNames: Record<FilterFaultCode, ErrorName> = {
  invalid: 'SEGMENT_FILTERS_INVALID',
  unavailable: 'SEGMENT_FILTERS_INVALID',
  'too-deep': 'SEGMENT_QUERY_TOO_DEEP',
  'too-many-segments': 'SEGMENT_QUERY_TOO_MANY_SEGMENTS',
  'too-long': 'SEGMENT_QUERY_TOO_LONG',
};

/** A command, and the unknown members of its filters (decision D5). */
export type ParsedFilterSegment = { command: FilterSegmentCommand; unknownFields: string[] };

/** @throws ServiceError SEGMENT_BODY_INVALID, SEGMENT_FILTERS_INVALID, SEGMENT_QUERY_… */
export function parseFilterSegment(body: Body): ParsedFilterSegment {
  const { unknownFields, ...trees } = parseFilterTrees(body);
  return { command: { name: parseFilterName(body.name), ...trees }, unknownFields };
}

/** Parses only the trees, for filters that have no name yet. @throws as above */
export function parseFilterTrees(body: Body): FilterTreesCommand & { unknownFields: string[] } {
  const unknownFields: string[] = [];
  const included = parseFilters(body.included_filters, 'included_filters', unknownFields);
  if (!included) throw new ServiceError('SEGMENT_BODY_INVALID', { detail: 'included_filters is missing' });
  const excluded = parseFilters(body.excluded_filters, 'excluded_filters', unknownFields);
  return { included, excluded, unknownFields };
}

/** Parses a change: members that are not sent keep their value. @throws as above */
export function parseFilterChange(body: Body): {
  change: (present: StoredFilters & { name: string }) => FilterSegmentCommand;
  updatedBy: string | undefined;
  unknownFields: string[];
} {
  const unknownFields: string[] = [];
  const name = isAbsent(body.name) ? undefined : parseFilterName(body.name);
  const included = parseFilters(body.included_filters, 'included_filters', unknownFields);
  const excluded = parseFilters(body.excluded_filters, 'excluded_filters', unknownFields);
  return {
    updatedBy: parseUpdatedBy(body.updated_by),
    unknownFields,
    change(present) {
      const trees = parseStoredFilters(present);
      const kept = trees.excluded && { sent: present.excludedFilters, filter: trees.excluded };
      return {
        name: name ?? present.name,
        included: included ?? { sent: present.includedFilters, filter: trees.included },
        excluded: body.excluded_filters === null ? undefined : (excluded ?? kept),
      };
    },
  };
}

function parseFilters(sent: unknown, field: string, unknownFields: string[]): GivenFilters | undefined {
  if (isAbsent(sent)) return undefined;
  const parsed = parseSegmentFilter(sent);
  if ('fault' in parsed)
    throw new ServiceError(faultNames[parsed.fault.code], {
      field,
      reason: parsed.fault.reason,
      detail: parsed.fault.reason,
    });
  unknownFields.push(...parsed.unknownFields.map((path) => `${field}.${path}`));
  return { sent, filter: parsed.filter };
}

function parseFilterName(value: unknown): string {
  const refuse = (detail: string): never => {
    throw new ServiceError('SEGMENT_FILTERS_INVALID', { field: 'name', reason: detail, detail });
  };
  if (typeof value !== 'string')
    throw new ServiceError('SEGMENT_BODY_INVALID', { detail: 'name is missing or no text' });

  if (!value.isWellFormed() || /[\u0000-\u001f\u007f<>]/.test(value))
    return refuse('the name holds markup or controls');
  const name = value.trim();
  if (name === '' || name.length > maxSegmentNameCharacters)
    return refuse(`the name is blank or longer than ${maxSegmentNameCharacters} characters`);
  return name;
}

function parseUpdatedBy(value: unknown): string | undefined {
  if (isBlank(value)) return undefined;
  if (typeof value === 'string' && /^[^\s@]+@[^\s@]+$/.test(value) && value.length <= 254) return value;
  throw new ServiceError('SEGMENT_BODY_INVALID', { detail: 'updated_by must be an e-mail address' });
}

const maxCohortText = 256;

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID (fact 2.4: the shape of the data family) */
export function parseCohort(body: Body): Omit<SyncCohortCommand, 'workspaceId' | 'actor'> {
  const { action, parameters } = body;
  if (isAbsent(action)) throw missing('action');
  if (action !== 'add_members' && action !== 'remove_members')
    throw wrong('action', "must be 'add_members' or 'remove_members'");
  if (isAbsent(parameters)) throw missing('parameters');
  if (typeof parameters !== 'object' || Array.isArray(parameters)) throw wrong('parameters', 'must be an object');
  const inner = parameters as Body;
  const cohortName = cohortText(inner.cohort_name, 'cohort_name').trim();
  if (cohortName === '' || cohortName.startsWith('.') || /[|*?\\:<>=$"]/.test(cohortName))
    throw wrong('cohort_name', 'must not start with . nor contain | * ? \\ : < > = $ "');
  if (!isBlank(inner.cohort_description)) cohortText(inner.cohort_description, 'cohort_description');
  return {
    action,
    partner: cohortText(body.partner, 'partner'),
    cohortId: cohortText(inner.cohort_id, 'cohort_id'),
    cohortName,
    members: cohortMembers(inner.members),
  };
}

function cohortMembers(value: unknown): string[] {
  if (isAbsent(value)) throw missing('members');
  if (!Array.isArray(value)) throw wrong('members', 'must be a list');
  return value.map((member: unknown) => {
    const uid = (member as { uid?: unknown } | null)?.uid;
    if (typeof uid !== 'string' || uid === '' || uid.length > 512 || !isStorableText(uid))
      throw wrong('members', "must hold objects with a text 'uid'");
    return uid;
  });
}

function cohortText(value: unknown, field: string): string {
  if (isBlank(value)) throw missing(field);
  if (typeof value !== 'string' || value.length > maxCohortText)
    throw wrong(field, `must be a text of at most ${maxCohortText} characters`);

  if (!value.isWellFormed() || /[\u0000-\u001f\u007f]/.test(value))
    throw wrong(field, 'must be one line of well-formed Unicode');
  return value;
}

function missing(field: string): ServiceError {
  return new ServiceError('DATA_ATTRIBUTE_MISSING', { field });
}

function wrong(field: string, reason: string): ServiceError {
  return new ServiceError('DATA_VALUE_INVALID', { field, reason });
}

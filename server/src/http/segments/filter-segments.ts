import type { FastifyRequest } from 'fastify';
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
import { requestHeaders } from '../openapi/shapes.ts';
import { keyCallerOf, makeRequireApiKey } from '../route/auth.ts';
import type { KeyCaller } from '../route/auth.ts';
import { isAbsent, isBlank } from '../route/json-body.ts';
import { addRoutes, route } from '../route/route.ts';
import type { Body, Hook, Route, RouteDialect } from '../route/route.ts';
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

/** Routes for filter segments and the look-up of all segments, v3 (fact 2.3). */
export function filterSegmentRoutes(deps: SegmentRouteDependencies): RouteFamily {
  return async (server) => {
    const v3 = makeFilterDialect(deps);
    await addRoutes(server, [...collectionRoutes(deps, v3), ...segmentRoutes(deps, v3)]);
  };
}

function makeFilterDialect(deps: SegmentRouteDependencies): RouteDialect<KeyCaller> {
  const requireKey = makeRequireApiKey(deps, 'segmentation', {
    missing: 'SEGMENT_CREDENTIALS_INVALID',
    invalid: 'SEGMENT_CREDENTIALS_INVALID',
    notCovering: 'SEGMENT_KEY_NOT_ALLOWED',
  });
  return {
    tag: 'Segments',
    credentials: ['dataKey', 'bearer'],
    // One of the two is enough.
    headers: { '*-APPKEY': Type.Optional(requestHeaders.appKey), '*-DBNAME': Type.Optional(requestHeaders.dbName) },
    refusals: {
      errors: filterSegmentErrors,
      shape: filterSegmentError,
      codeOf: (name) => filterSegmentErrors[name]?.code,
    },
    vendorHeaders: deps.vendorHeaders,
    onRequest: [requireKey, makeRequireWorkspaceHeader(deps)],
    callerOf: keyCallerOf,
    readBody: readFilterBody,
    presentError: presentFilterSegmentError,
  };
}

const url = '/v3/custom-segments';

function collectionRoutes(deps: SegmentRouteDependencies, v3: RouteDialect<KeyCaller>): Route[] {
  return [
    route(v3, {
      method: 'GET',
      url,
      operationId: 'listSegments',
      summary: 'List segments, or find one by its exact name',
      querystring: Type.Object({ name: Type.Optional(Type.String({ description: 'The exact name' })) }),
      answers: { 200: segmentList },
      refuses: [429],
      admit: ({ workspaceId }) => countFilterCall(deps, { operation: 'list', workspaceId }),
      read: ({ query }) => parseListedName(query.name),
      handle: async ({ input: name, workspaceId }) =>
        presentSegmentList(await listShownSegments(deps, { workspaceId, name })),
    }),
    route(v3, {
      method: 'POST',
      url,
      operationId: 'createFilterSegment',
      summary: 'Create a filter segment',
      body: filterBody,
      isRepeatable: true,
      answers: { 201: segmentAnswer },
      refuses: [404, 409, 412, 429],
      admit: ({ workspaceId }) => countFilterCall(deps, { operation: 'create', workspaceId }),
      read: ({ body }) => parseFilterSegment(body),
      findUnknown: ({ input }) => input.unknownFields,
      async handle({ input: { command }, workspaceId, actor, once }) {
        const repeat = { idempotencyKey: once.key, rawBody: once.rawBody };
        const { id } = await createFilterSegment(deps, { workspaceId, actor, ...repeat, command });
        return presentSegment(await getSegment(deps, { workspaceId, id }));
      },
    }),
  ];
}

function segmentRoutes(deps: SegmentRouteDependencies, v3: RouteDialect<KeyCaller>): Route[] {
  const one = { url: `${url}/:id`, params: Type.Object({ id: Type.String() }), answers: { 200: segmentAnswer } };
  return [
    route(v3, {
      method: 'GET',
      ...one,
      operationId: 'getSegment',
      summary: 'Get a segment',
      refuses: [404, 429],
      admit: ({ workspaceId }) => countFilterCall(deps, { operation: 'get', workspaceId }),
      read: ({ params }) => parseId(params.id),
      handle: async ({ input: id, workspaceId }) => presentSegment(await getSegment(deps, { workspaceId, id })),
    }),
    route(v3, {
      method: 'PATCH',
      ...one,
      operationId: 'changeFilterSegment',
      summary: 'Change a filter segment',
      body: filterChangeBody,
      refuses: [404, 409, 412, 429],
      async admit({ workspaceId, params }) {
        await countFilterCall(deps, { operation: 'update', workspaceId });
        // An invalid id is reported before a missing body.
        parseId(params.id);
      },
      read: ({ body }) => parseFilterChange(body),
      findUnknown: ({ input }) => input.unknownFields,
      async handle({ input: { change, updatedBy }, workspaceId, actor, params: { id } }) {
        await changeFilterSegment(deps, { actor, workspaceId, id, change, updatedBy });
        return presentSegment(await getSegment(deps, { workspaceId, id }));
      },
    }),
  ];
}

/** Requires `SVC-APPKEY` or `SVC-DBNAME`; the headers must name the workspace of the credentials. */
function makeRequireWorkspaceHeader(deps: SegmentRouteDependencies): Hook {
  const { vendorHeaders } = deps;
  return async (request) => {
    const appKey = vendorHeaders.read(request.headers, '*-appkey');
    const dbName = vendorHeaders.read(request.headers, '*-dbname');
    const { workspaceId } = keyCallerOf(request);
    const isNamed =
      (appKey !== undefined || dbName !== undefined) && (await isWorkspaceNamed(deps, { workspaceId, appKey, dbName }));
    if (!isNamed) throw clientNotFound(vendorHeaders, 'headers name another workspace or none');
  };
}

function parseId(id: string): string {
  if (!/^[0-9a-f]{24}$/.test(id)) throw new ServiceError('SEGMENT_ID_INVALID');
  return id;
}

/** @throws ServiceError PARAMETER_INVALID */
function parseListedName(name: unknown): string | undefined {
  if (name === undefined || (typeof name === 'string' && isStorableText(name))) return name;
  throw new ServiceError('PARAMETER_INVALID', { field: 'name', reason: 'must be given once' });
}

/** This family reports a body that is not an object as an invalid one. @throws ServiceError BODY_EMPTY, SEGMENT_BODY_INVALID */
function readFilterBody({ body }: Pick<FastifyRequest, 'body'>): Body {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('SEGMENT_BODY_INVALID', { detail: 'no JSON object' });
  return body as Body;
}

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

import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
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
import { readWith, required, requiredText, text } from '../../fields/combinators.ts';
import { optionalSchemaOf, reading, schemaOf } from '../../fields/field.ts';
import type { Field } from '../../fields/field.ts';
import { plainRules } from '../../fields/reading-rules.ts';
import { RequestReader } from '../../fields/request-reader.ts';
import { named, requestHeaders } from '../openapi/shapes.ts';
import { keyCallerOf, makeRequireApiKey } from '../route/auth.ts';
import type { KeyCaller } from '../route/auth.ts';
import { addRoutes, route } from '../route/route.ts';
import type { Body, Hook, Route, RouteDialect } from '../route/route.ts';
import type { RouteFamily } from '../server/build-server.ts';
import {
  clientNotFound,
  filterSegmentErrors,
  presentFilterSegmentError,
  presentSegment,
  presentSegmentList,
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

type ReadFilters = { given: GivenFilters; unknownFields: string[] };

/** A tree of filters, which the domain parses. */
const filters: Field<ReadFilters> = {
  schema: named(
    'Filters',
    Type.Unsafe<unknown>({
      type: 'object',
      description:
        '{"filter_operator": "and" | "or", "filters": [...]}: filters of user attributes and of other segments, nested up to 10 levels',
    }),
  ),
  read(body, field) {
    const sent = body.get(field);
    if (sent === undefined) return undefined;
    const parsed = parseSegmentFilter(sent);
    if (!('fault' in parsed))
      return {
        given: { sent, filter: parsed.filter },
        unknownFields: parsed.unknownFields.map((path) => `${field}.${path}`),
      };
    const { code, reason } = parsed.fault;
    body.reject(new ServiceError(faultNames[code], { field, reason, detail: reason }));
    return undefined;
  },
};

const members = {
  name: readWith(requiredText(), readFilterName),
  included_filters: required(filters),
  excluded_filters: filters,
};

const changeMembers = { ...members, updated_by: readWith(text({ format: 'email' }), readUpdatedBy) };

const filterBody = schemaOf(members, { title: 'FilterSegmentRequest' });
const filterChangeBody = optionalSchemaOf(changeMembers, { title: 'FilterSegmentChange' });

/** A command, and the unknown members of its filters (decision D5). */
type ParsedFilterSegment = { command: FilterSegmentCommand; unknownFields: string[] };

/** @throws ServiceError SEGMENT_BODY_INVALID, SEGMENT_FILTERS_INVALID, SEGMENT_QUERY_… */
export function parseFilterSegment(body: Body): ParsedFilterSegment {
  return readFilterSegment(body, (sent) => {
    const { unknownFields, ...trees } = readTrees(sent);
    return { command: { name: members.name.read(sent, 'name')!, ...trees }, unknownFields };
  });
}

/** Parses only the trees, for filters that have no name yet. @throws as above */
export function parseFilterTrees(body: Body): FilterTreesCommand & { unknownFields: string[] } {
  return readFilterSegment(body, readTrees);
}

function readTrees(sent: RequestReader): FilterTreesCommand & { unknownFields: string[] } {
  const read = reading(sent, members);
  if (sent.isAbsent('included_filters')) sent.reject(invalidBody('included_filters is missing'));
  const included = read('included_filters');
  const excluded = read('excluded_filters');
  refuseFaults(sent);
  return { included: included!.given, excluded: excluded?.given, unknownFields: unknownFieldsOf(included, excluded) };
}

function unknownFieldsOf(...trees: (ReadFilters | undefined)[]): string[] {
  return trees.flatMap((tree) => tree?.unknownFields ?? []);
}

/** Parses a change: members that are not sent keep their value. @throws as above */
function parseFilterChange(body: Body): {
  change: (present: StoredFilters & { name: string }) => FilterSegmentCommand;
  updatedBy: string | undefined;
  unknownFields: string[];
} {
  return readFilterSegment(body, (sent) => {
    const name = sent.isAbsent('name') ? undefined : changeMembers.name.read(sent, 'name');
    const included = filters.read(sent, 'included_filters');
    const excluded = filters.read(sent, 'excluded_filters');
    return {
      updatedBy: changeMembers.updated_by.read(sent, 'updated_by'),
      unknownFields: unknownFieldsOf(included, excluded),
      change(present) {
        const trees = parseStoredFilters(present);
        const kept = trees.excluded && { sent: present.excludedFilters, filter: trees.excluded };
        return {
          name: name ?? present.name,
          included: included?.given ?? { sent: present.includedFilters, filter: trees.included },
          excluded: body.excluded_filters === null ? undefined : (excluded?.given ?? kept),
        };
      },
    };
  });
}

/** Reads a body of v3, which reports the first fault only. */
function readFilterSegment<Value>(body: Body, read: (sent: RequestReader) => Value): Value {
  const sent = new RequestReader(body, { rules: plainRules });
  const value = read(sent);
  refuseFaults(sent);
  return value;
}

/** Throws the error that the first fault was noted with. */
function refuseFaults({ faults: [fault] }: RequestReader): void {
  if (fault) throw fault.error ?? invalidBody(`${fault.field} ${fault.reason}`);
}

function invalidBody(detail: string): ServiceError {
  return new ServiceError('SEGMENT_BODY_INVALID', { detail });
}

function readFilterName(sent: RequestReader, field: string): string {
  const value = sent.get(field);
  const reject = (detail: string): string => {
    sent.reject(new ServiceError('SEGMENT_FILTERS_INVALID', { field, reason: detail, detail }));
    return '';
  };
  if (typeof value !== 'string') {
    sent.reject(invalidBody('name is missing or no text'));
    return '';
  }
  if (!value.isWellFormed() || /[\u0000-\u001f\u007f<>]/.test(value))
    return reject('the name holds markup or controls');
  const name = value.trim();
  if (name === '' || name.length > maxSegmentNameCharacters)
    return reject(`the name is blank or longer than ${maxSegmentNameCharacters} characters`);
  return name;
}

function readUpdatedBy(sent: RequestReader, field: string): string | undefined {
  const value = sent.get(field);
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string' && /^[^\s@]+@[^\s@]+$/.test(value) && value.length <= 254) return value;
  sent.reject(invalidBody('updated_by must be an e-mail address'));
  return undefined;
}

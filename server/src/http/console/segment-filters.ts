import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import {
  countAttributeTypes,
  countFilters,
  describeFilters,
  findUnmatchedValues,
  listFilterAttributes,
  listFilterEvents,
  sampleFilters,
  suggestValues,
} from '../../app/segments/build-filter.ts';
import type { FilterCount as CountAnswer, FilterSample as SampleAnswer } from '../../app/segments/build-filter.ts';
import { changeFilterSegment, createFilterSegment } from '../../app/segments/filter-segments.ts';
import type { FilterTreesCommand } from '../../app/segments/filter-segments.ts';
import type { SegmentDependencies } from '../../app/segments/segment-limits.ts';
import { ServiceError } from '../../domain/errors.ts';
import { valueMeaningOf } from '../../domain/segments/file-operations.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { parseFilterSegment, parseFilterTrees } from '../segments/filter-segments.ts';
import { consoleApi as api } from './access.ts';
import { changeOf, id, Id, idOf, Workspace, workspaceId } from './requests.ts';
import { AttributeTypes, FilterCount, FilterSample, FilterWords, KnownAttribute } from './segment-answers.ts';

/** `id`: the segment that the filters will change. */
const Built = Type.Object({ workspaceId, id: Type.Optional(id) });
const Count = Type.Object({ ...Built.properties, exact: Type.Optional(Type.Literal('true')) });
const Suggestion = Type.Object({
  workspaceId,
  attribute: Type.String({ minLength: 1, maxLength: 256 }),
  prefix: Type.String({ minLength: 1, maxLength: 256 }),
});
const OfAttribute = Type.Object({ workspaceId, attribute: Type.String({ minLength: 1, maxLength: 256 }) });
/** The API's parser reads the trees and the name, and reports what is wrong with them. */
const Filters = Type.Record(Type.String(), Type.Unknown());
const Values = Type.Object(
  {
    attributeName: Type.String({ minLength: 1, maxLength: 256 }),
    attributeType: Type.Union([Type.Literal('string'), Type.Literal('double')]),
    values: Type.Array(Type.String({ maxLength: 1_024 }), { maxItems: 5_000 }),
  },
  { additionalProperties: false },
);

type Fault = { state: 'UNUSABLE'; field: 'included_filters' | 'excluded_filters' | null; reason: string };

/**
 * Routes for building filter segments on the console: describe, count and sample the filters, and suggest attributes and
 * values.
 */
export function segmentFilterRoutes(server: FastifyInstance, { segments }: { segments: SegmentDependencies }): void {
  const building = (answer: TSchema, querystring: TSchema = Built) => ({
    schema: { hide: true, querystring, body: Filters, response: { 200: answer } },
    config: { permission: 'segments.write' as const },
  });
  // The responses contain users and their attributes.
  const showing = { permission: 'people.read' as const };

  server.post(`${api}/segments/filter/words`, building(FilterWords), (request) =>
    whenReadable(request, async (filters) => {
      const answer = await describeFilters(segments, { ...builtOf(request), filters });
      return answer.kind === 'readable' ? { state: 'READABLE', words: answer.words } : presentUnusable(answer);
    }),
  );
  server.post(`${api}/segments/filter/count`, building(FilterCount, Count), (request) =>
    whenReadable(request, async (filters) => {
      const isExact = (request.query as Static<typeof Count>).exact === 'true';
      return presentCount(await countFilters(segments, { ...builtOf(request), filters, isExact }));
    }),
  );
  server.post(`${api}/segments/filter/sample`, { ...building(FilterSample), config: showing }, (request) =>
    whenReadable(request, async (filters) =>
      presentSample(await sampleFilters(segments, { ...builtOf(request), filters })),
    ),
  );
  server.get(
    `${api}/segments/attributes`,
    {
      schema: {
        hide: true,
        querystring: Workspace,
        response: { 200: Type.Object({ attributes: Type.Array(KnownAttribute) }) },
      },
      config: showing,
    },
    async (request) => ({ attributes: await listFilterAttributes(segments, builtOf(request).workspaceId) }),
  );
  server.get(
    `${api}/segments/event-names`,
    {
      schema: {
        hide: true,
        querystring: Workspace,
        response: { 200: Type.Object({ names: Type.Array(Type.String()) }) },
      },
      config: showing,
    },
    async (request) => ({ names: await listFilterEvents(segments, builtOf(request).workspaceId) }),
  );
  server.get(
    `${api}/segments/attribute-values`,
    {
      schema: {
        hide: true,
        querystring: Suggestion,
        response: { 200: Type.Object({ values: Type.Array(Type.String()) }) },
      },
      config: showing,
    },
    async (request) => ({ values: await suggestValues(segments, request.query as Static<typeof Suggestion>) }),
  );
  server.get(
    `${api}/segments/attribute-types`,
    { schema: { hide: true, querystring: OfAttribute, response: { 200: AttributeTypes } }, config: showing },
    async (request) => {
      const answer = await countAttributeTypes(segments, request.query as Static<typeof OfAttribute>);
      return answer.kind === 'counted'
        ? { state: 'COUNTED', texts: answer.texts, numbers: answer.numbers }
        : { state: 'TOO_SLOW', afterSeconds: answer.afterSeconds };
    },
  );
  server.post(
    `${api}/segments/unmatched`,
    {
      schema: {
        hide: true,
        querystring: Workspace,
        body: Values,
        response: { 200: Type.Object({ unmatched: Type.Array(Type.Number()) }) },
      },
      config: showing,
    },
    async (request) => {
      const { workspaceId } = builtOf(request);
      const { values, ...named } = request.body as Static<typeof Values>;
      const meaning = valueMeaningOf(named);
      return { unmatched: await findUnmatchedValues(segments, { workspaceId, meaning, values }) };
    },
  );
  addChanges(server, segments);
}

function addChanges(server: FastifyInstance, segments: SegmentDependencies): void {
  const config = { permission: 'segments.write' as const };
  const Made = Type.Object({ id: Type.String() });
  const schema = { hide: true, querystring: Workspace, body: Filters };
  server.post(
    `${api}/segments/filter`,
    { schema: { ...schema, response: { 201: Made } }, config },
    async (request, reply) => {
      const { command } = parseFilterSegment(request.body as Record<string, unknown>);
      const once = { idempotencyKey: undefined, rawBody: '' };
      return reply.code(201).send(await createFilterSegment(segments, { ...changeOf(request), ...once, command }));
    },
  );
  server.put(
    `${api}/segments/:id/filter`,
    { schema: { ...schema, params: Id, response: { 200: Made } }, config },
    async (request) => {
      const { command } = parseFilterSegment(request.body as Record<string, unknown>);
      const id = idOf(request);
      await changeFilterSegment(segments, { ...changeOf(request), id, change: () => command });
      return { id };
    },
  );
}

function builtOf(request: FastifyRequest): { workspaceId: string; ownId: string | undefined } {
  const { workspaceId, id } = request.query as Static<typeof Built>;
  return { workspaceId, ownId: id };
}

/** Incomplete filters are not an error: the response reports what is missing. */
async function whenReadable<Answer>(
  request: FastifyRequest,
  work: (filters: FilterTreesCommand) => Promise<Answer>,
): Promise<Answer | Fault> {
  let filters: FilterTreesCommand;
  try {
    filters = parseFilterTrees(request.body as Record<string, unknown>);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { field, reason, detail } = error.context;
    const tree = field === 'excluded_filters' ? field : 'included_filters';
    return { state: 'UNUSABLE', field: tree, reason: reason ?? detail ?? error.message };
  }
  return work(filters);
}

function presentUnusable({ reason }: { reason: string }): Fault {
  return { state: 'UNUSABLE', field: null, reason };
}

function presentCount(answer: CountAnswer) {
  switch (answer.kind) {
    case 'counted':
      return { state: 'COUNTED', users: answer.users, of: answer.of, isEstimate: answer.isEstimate };
    case 'too slow':
      return { state: 'TOO_SLOW', afterSeconds: answer.afterSeconds };
    case 'unusable':
      return presentUnusable(answer);
    default:
      return unknownCase(answer);
  }
}

function presentSample(answer: SampleAnswer) {
  switch (answer.kind) {
    case 'found':
      return { state: 'FOUND', users: answer.users };
    case 'too slow':
      return { state: 'TOO_SLOW', afterSeconds: answer.afterSeconds };
    case 'unusable':
      return presentUnusable(answer);
    default:
      return unknownCase(answer);
  }
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import {
  changeEventStream,
  createEventStream,
  findStream,
  listDeadBatches,
  listEventStreams,
  removeEventStream,
  resendDeadBatches,
} from '../app/event-streams.ts';
import type { EventStreamDependencies, EventStreamSettings, DeadBatch, EventStream } from '../app/event-streams.ts';
import { streamedDeviceAttributes, streamedKinds } from '../domain/events/event-streams.ts';
import { maxStreamedAttributes } from '../domain/limits/event-streams.ts';
import type { RequestReader } from '../domain/request-reader.ts';
import { isStorableText } from '../domain/storable-text.ts';
import { makeRequireCampaignAccess } from './campaigns/call.ts';
import type { CampaignAccessDependencies } from './campaigns/call.ts';
import { makeCampaignReader, optionalText, refuseFaults } from './campaigns/campaign-reader.ts';
import type { Body } from './campaigns/campaign-reader.ts';
import { readBody } from './campaigns/search.ts';
import { presentV5Error } from './campaigns/v5-answers.ts';
import { v5Dialect } from './campaigns/v5.ts';
import { describeOperation } from './openapi/operation.ts';
import type { Dialect, Operation } from './openapi/operation.ts';
import { codeShape, named } from './openapi/shapes.ts';
import { toServiceError } from './route/errors.ts';
import { refuseOtherMethods, makeRequestId } from './route/route.ts';
import { warnOfUnknownFields } from './route/warnings.ts';
import type { RouteFamily } from './server/build-server.ts';

/* Bodies and responses of event streams. They document the fields; the parser implements the rules. */
const kind = named('EventStreamKind', codeShape(streamedKinds, 'What happened to a message'));
const settings = {
  url: Type.String({ description: 'Where batches are posted; a public address, http or https' }),
  events: Type.Array(kind, { description: 'Default: all of them' }),
  user_attributes: Type.Array(Type.String(), {
    maxItems: maxStreamedAttributes,
    description: 'Attributes of the user that each event says; default: none',
  }),
  device_attributes: Type.Array(Type.String(), {
    description: `What each event says of the device: ${streamedDeviceAttributes.join(', ')}; default: nothing`,
  }),
};
const { url, ...optional } = settings;
const mayBeLeft = Object.fromEntries(Object.entries(optional).map(([name, shape]) => [name, Type.Optional(shape)]));

const createStreamBody = named('EventStreamCreate', Type.Object({ url, ...mayBeLeft }));
const changeStreamBody = named(
  'EventStreamChange',
  Type.Object({ url: Type.Optional(url), ...mayBeLeft }, { description: 'What is not named stays' }),
);
const resendBody = named(
  'EventBatchResend',
  Type.Object({ batch_id: Type.Optional(Type.String({ description: 'One batch; default: all that were given up' })) }),
);

const time = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);
const stream = named(
  'EventStream',
  Type.Object({
    id: Type.String(),
    ...settings,
    created_at: Type.String({ description: 'ISO 8601' }),
    updated_at: Type.String(),
    delivered_events: Type.Integer({ description: 'In batches that the receiver took' }),
    last_delivered_at: time('ISO 8601; null: none yet'),
    pending_batches: Type.Integer({ description: 'To be posted, or posted again' }),
    dead_batches: Type.Integer({ description: 'Given up; they can be sent again' }),
    unanswered_since: time('ISO 8601; null: the receiver answered the last attempt, whatever it said'),
    paused_until: time('ISO 8601; nothing is posted before then, because three attempts in a row had no answer'),
  }),
);
const answer = (data: TProperties) =>
  Type.Object({ response_id: Type.String(), type: Type.Literal('event_stream'), data: Type.Object(data) });

const streamAnswer = named('EventStreamAnswer', answer({ event_stream: stream }));
const streamCreatedAnswer = named(
  'EventStreamCreated',
  answer({
    event_stream: stream,
    secret: Type.String({ description: 'Signs what is posted (Standard Webhooks); answered this once' }),
  }),
);
const streamsAnswer = named('EventStreams', answer({ event_streams: Type.Array(stream) }));
const removedAnswer = named('EventStreamRemoved', answer({ removed: Type.Boolean() }));
const deadBatchesQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default 100' })),
  before: Type.Optional(Type.String({ description: 'The id of the last batch of the page before' })),
});
const deadBatchesAnswer = named(
  'DeadEventBatches',
  answer({
    dead_batches: Type.Array(
      Type.Object({
        id: Type.String({ description: 'webhook-id of its attempts' }),
        events: Type.Integer(),
        first_event_time: Type.String({ description: 'ISO 8601' }),
        attempts: Type.Integer({ description: 'Since it was made or sent again' }),
        last_status: Type.Union([Type.Integer({ description: 'What the receiver replied' }), Type.Null()]),
        last_error: time('timeout, unreachable, refused; null: there was a reply'),
        given_up_at: Type.String({ description: 'ISO 8601' }),
      }),
    ),
  }),
);
const resentAnswer = named('EventBatchesResent', answer({ batches: Type.Integer({ description: 'Due now' }) }));

export type EventStreamRouteDependencies = EventStreamDependencies & CampaignAccessDependencies;

const base = '/v1/event-streams';
const dialect: Dialect = { ...v5Dialect, tag: 'Event streams', credentials: ['dataKey', 'bearer'] };
const describe = (operation: Operation) => describeOperation(dialect, operation);
const params = Type.Object({ id: Type.String({ description: 'The id of the stream' }) });

/**
 * Routes for the addresses that receive events of messages: an addition, with the limits and errors of V5. The events
 * contain user data, so the routes require the data key.
 */
export function eventStreamRoutes(deps: EventStreamRouteDependencies): RouteFamily {
  return async (server) => {
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentV5Error(toServiceError(error, request), { request, reply }),
    );
    server.addHook('onRequest', makeRequireCampaignAccess(deps, { appKey: 'optional', scope: 'data' }));
    const scope = server as unknown as FastifyInstance;
    addStreams(scope, deps);
    addStream(scope, deps);
    addDeadBatches(scope, deps);
  };
}

/** Returns the stream in the path, in the caller's workspace. */
function streamOf(request: FastifyRequest): { workspaceId: string; id: string } {
  return { workspaceId: request.facts.workspaceId!, id: (request.params as { id: string }).id };
}

/** Returns the data that identifies a repeat of this call (decision D4). */
function onceOf(request: FastifyRequest): { key: string | undefined; rawBody: string } {
  return { key: request.headers['idempotency-key'] as string | undefined, rawBody: request.rawBody };
}

function addStreams(server: FastifyInstance, deps: EventStreamRouteDependencies): void {
  const listed = describe({
    operationId: 'listEventStreams',
    summary: 'List the event streams of the workspace',
    answers: { 200: streamsAnswer },
  });
  server.get(base, { schema: listed }, async (request) => {
    const streams = await listEventStreams(deps, request.facts.workspaceId!);
    return presentStreamAnswer({ event_streams: streams.map(presentStream) });
  });
  const created = describe({
    operationId: 'createEventStream',
    summary: 'Have events of messages posted to an address',
    body: createStreamBody,
    isRepeatable: true,
    answers: { 201: streamCreatedAnswer },
    refuses: [409],
  });
  server.post(base, { schema: created, config: { isAnswerSecret: true } }, async (request, reply) => {
    const body = readBody(request);
    const asked = { workspaceId: request.facts.workspaceId!, ...parseStream(body), once: onceOf(request) };
    const { stream, secret } = await createEventStream(deps, asked);
    warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: createStreamBody });
    return reply.code(201).send(presentStreamAnswer({ event_stream: presentStream(stream), secret }));
  });
  refuseOtherMethods(server, base, ['GET', 'POST']);
}

function addStream(server: FastifyInstance, deps: EventStreamRouteDependencies): void {
  const url = `${base}/:id`;
  const answered = { params, answers: { 200: streamAnswer }, refuses: [404] };
  const found = describe({ operationId: 'getEventStream', summary: 'Get an event stream', ...answered });
  server.get(url, { schema: found }, async (request) =>
    presentStreamAnswer({ event_stream: presentStream(await findStream(deps, streamOf(request))) }),
  );
  const summary = 'Change the address of an event stream, or what it is told';
  const changed = describe({ operationId: 'changeEventStream', summary, body: changeStreamBody, ...answered });
  server.patch(url, { schema: changed }, async (request, reply: FastifyReply) => {
    const body = readBody(request);
    const stream = await changeEventStream(deps, { ...streamOf(request), ...parseStreamChange(body) });
    warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: changeStreamBody });
    return presentStreamAnswer({ event_stream: presentStream(stream) });
  });
  const removed = describe({
    operationId: 'removeEventStream',
    summary: 'End an event stream; what was not delivered is dropped',
    ...answered,
    answers: { 200: removedAnswer },
    refuses: [404, 413, 415],
  });
  server.delete(url, { schema: removed }, async (request) => {
    await removeEventStream(deps, streamOf(request));
    return presentStreamAnswer({ removed: true });
  });
  refuseOtherMethods(server, url, ['GET', 'PATCH', 'DELETE']);
}

function addDeadBatches(server: FastifyInstance, deps: EventStreamRouteDependencies): void {
  const url = `${base}/:id/dead-batches`;
  const listed = describe({
    operationId: 'listDeadEventBatches',
    summary: 'List the batches of events that the receiver did not take',
    params,
    querystring: deadBatchesQuery,
    answers: { 200: deadBatchesAnswer },
    refuses: [404],
  });
  server.get(url, { schema: listed }, async (request) => {
    const page = parseDeadBatches(request.query as Record<string, unknown>);
    const batches = await listDeadBatches(deps, { ...streamOf(request), ...page });
    return presentStreamAnswer({ dead_batches: batches.map(presentDeadBatch) });
  });
  refuseOtherMethods(server, url, ['GET']);
  const resent = describe({
    operationId: 'resendDeadEventBatches',
    summary: 'Send such batches again, one or all',
    params,
    body: resendBody,
    isRepeatable: true,
    answers: { 200: resentAnswer },
    refuses: [404],
  });
  server.post(`${url}/resend`, { schema: resent }, async (request, reply) => {
    const body = readBody(request);
    const batches = await resendDeadBatches(deps, {
      ...streamOf(request),
      ...parseResend(body),
      once: onceOf(request),
    });
    warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: resendBody });
    return presentStreamAnswer({ batches });
  });
  refuseOtherMethods(server, `${url}/resend`, ['POST']);
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
function parseStream(body: Body): EventStreamSettings {
  const reader = makeCampaignReader(body);
  reader.requires('url');
  const sent = readSettings(reader);
  refuseFaults(reader);
  return { events: [...streamedKinds], userAttributes: [], deviceAttributes: [], url: '', ...sent };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
function parseStreamChange(body: Body): Partial<EventStreamSettings> {
  const reader = makeCampaignReader(body);
  const sent = readSettings(reader);
  refuseFaults(reader);
  return sent;
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
function parseResend(body: Body): { batchId: string | undefined } {
  const reader = makeCampaignReader(body);
  const batchId = optionalText(reader, 'batch_id');
  refuseFaults(reader);
  return { batchId };
}

const maxPage = 100;

/** Parses the query, where all values are text. @throws ServiceError CAMPAIGN_REQUEST_INVALID */
function parseDeadBatches(query: Record<string, unknown>): { limit: number; before: string | undefined } {
  const limit = typeof query.limit === 'string' && /^\d{1,3}$/.test(query.limit) ? Number(query.limit) : query.limit;
  const reader = makeCampaignReader({ ...query, limit });
  const page = {
    limit: reader.integer('limit', { minimum: 1, maximum: maxPage }) ?? maxPage,
    before: optionalText(reader, 'before'),
  };
  refuseFaults(reader);
  return page;
}

const maxUrlCharacters = 2_048;

function readSettings(reader: RequestReader): Partial<EventStreamSettings> {
  const url = reader.isAbsent('url') ? undefined : reader.text('url', maxUrlCharacters);
  if (url !== undefined && !isWebAddress(url))
    reader.invalid('url', 'must be an http or https URL without credentials');
  const events = readWords(reader, { name: 'events', words: streamedKinds, minimum: 1 });
  const deviceAttributes = readWords(reader, {
    name: 'device_attributes',
    words: streamedDeviceAttributes,
    minimum: 0,
  });
  const userAttributes = readNames(reader);
  return {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events }),
    ...(userAttributes === undefined ? {} : { userAttributes }),
    ...(deviceAttributes === undefined ? {} : { deviceAttributes }),
  };
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

type Words<Word extends string> = { name: string; words: readonly Word[]; minimum: 0 | 1 };

function readWords<Word extends string>(reader: RequestReader, { name, words, minimum }: Words<Word>) {
  const sent = reader.get(name);
  if (sent === undefined) return undefined;
  const isGood =
    Array.isArray(sent) && sent.length >= minimum && sent.every((word) => words.some((known) => known === word));
  if (!isGood) reader.invalid(name, `must be a list of ${minimum === 1 ? 'at least one of ' : ''}${words.join(', ')}`);
  return isGood ? [...new Set(sent as Word[])] : undefined;
}

function readNames(reader: RequestReader): string[] | undefined {
  const sent = reader.get('user_attributes');
  if (sent === undefined) return undefined;
  const isGood =
    Array.isArray(sent) &&
    sent.length <= maxStreamedAttributes &&
    sent.every((name) => typeof name === 'string' && name !== '' && name.length <= 256 && isStorableText(name));
  if (!isGood)
    reader.invalid('user_attributes', `must be a list of up to ${maxStreamedAttributes} texts of 1 to 256 characters`);
  return isGood ? [...new Set(sent as string[])] : undefined;
}

function presentStream(stream: EventStream) {
  return {
    id: stream.id,
    url: stream.url,
    events: stream.events,
    user_attributes: stream.userAttributes,
    device_attributes: stream.deviceAttributes,
    created_at: stream.createdAt.toISOString(),
    updated_at: stream.updatedAt.toISOString(),
    delivered_events: stream.deliveredEvents,
    last_delivered_at: stream.lastDeliveredAt?.toISOString() ?? null,
    pending_batches: stream.pendingBatches,
    dead_batches: stream.deadBatches,
    unanswered_since: stream.silentSince?.toISOString() ?? null,
    paused_until: stream.pausedUntil?.toISOString() ?? null,
  };
}

function presentDeadBatch(batch: DeadBatch) {
  return {
    id: batch.id,
    events: batch.events,
    first_event_time: batch.firstEventAt,
    attempts: batch.attempts,
    last_status: batch.lastStatus,
    last_error: batch.lastError,
    given_up_at: batch.endedAt.toISOString(),
  };
}

function presentStreamAnswer<Data>(data: Data) {
  return { response_id: makeRequestId(), type: 'event_stream' as const, data };
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  changeEventStream,
  createEventStream,
  findStream,
  listDeadBatches,
  listEventStreams,
  removeEventStream,
  resendDeadBatches,
} from '../../app/event-streams/manage-event-streams.ts';
import type { EventStreamDependencies } from '../../app/event-streams/manage-event-streams.ts';
import type { RouteFamily } from '../build-server.ts';
import { makeRequireCampaignAccess } from '../campaigns/campaign-access.ts';
import type { CampaignAccessDependencies } from '../campaigns/campaign-route-dependencies.ts';
import { readBody } from '../campaigns/parse-search.ts';
import { presentV5Error } from '../campaigns/present-v5.ts';
import { v5Dialect } from '../campaigns/v5-call.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect, Operation } from '../openapi/describe-operation.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import { parseDeadBatches, parseResend, parseStream, parseStreamChange } from './parse-event-stream.ts';
import { presentDeadBatch, presentStream, presentStreamAnswer } from './present.ts';
import {
  changeStreamBody,
  createStreamBody,
  deadBatchesAnswer,
  deadBatchesQuery,
  removedAnswer,
  resendBody,
  resentAnswer,
  streamAnswer,
  streamCreatedAnswer,
  streamsAnswer,
} from './shapes.ts';

export type EventStreamRouteDependencies = EventStreamDependencies & CampaignAccessDependencies;

const base = '/v1/event-streams';
const dialect: Dialect = { ...v5Dialect, tag: 'Event streams', credentials: ['dataKey', 'bearer'] };
const describe = (operation: Operation) => describeOperation(dialect, operation);
const params = Type.Object({ id: Type.String({ description: 'The id of the stream' }) });

/**
 * Where the events of messages are posted: an addition, with the limits and errors of V5. What leaves are data of users, so
 * it takes the data key.
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

/** The stream that the path names, of the caller's workspace. */
function streamOf(request: FastifyRequest): { workspaceId: string; id: string } {
  return { workspaceId: request.facts.workspaceId!, id: (request.params as { id: string }).id };
}

/** What makes a repeat of this call known (decision D4). */
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

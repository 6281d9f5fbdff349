import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { TProperties, TSchema } from 'typebox';
import {
  changeEventStream,
  createEventStream,
  findStream,
  listDeadBatches,
  listEventStreams,
  removeEventStream,
  resendDeadBatches,
} from '../app/event-streams.ts';
import type {
  EventStreamDependencies,
  EventStreamSettings,
  DeadBatch,
  EventStream,
  ObjectStoreAccess,
} from '../app/event-streams.ts';
import { streamedDeviceAttributes, streamedKinds } from '../domain/events/event-streams.ts';
import type { StreamedKind } from '../domain/events/event-streams.ts';
import { maxStreamedAttributes } from '../domain/limits/delivery.ts';
import type { RequestReader } from '../fields/request-reader.ts';
import { isStorableText } from '../domain/storable-text.ts';
import {
  anything,
  checked,
  mapped,
  matching,
  part,
  passing,
  required,
  text,
  unlessEmpty,
  whole,
} from '../fields/combinators.ts';
import { readMembers, reading, schemaOf, schemaRequiring, withoutAbsent } from '../fields/field.ts';
import type { ReadMember } from '../fields/field.ts';
import { makeV5Dialect } from './campaigns/dialects.ts';
import type { CampaignAccessDependencies } from './campaigns/dialects.ts';
import { makeCampaignQueryReader, makeCampaignReader, refuseFaults } from './campaigns/campaign-reader.ts';
import type { Body } from './campaigns/campaign-reader.ts';
import { codeShape, named } from './openapi/shapes.ts';
import type { KeyCaller } from './route/auth.ts';
import { addRoutes, makeRequestId, route } from './route/route.ts';
import type { Route, RouteDialect } from './route/route.ts';
import type { RouteFamily } from './server/build-server.ts';

const maxUrlCharacters = 2_048;
const maxNameCharacters = 256;
const maxPage = 100;

const kind = named('EventStreamKind', codeShape(streamedKinds, 'What happened to a message'));

/** A list without duplicates. `reason` is the fault of every other value. */
const distinct = <Item>(schema: TSchema, check: { is: (sent: unknown) => sent is Item[]; reason: string }) =>
  mapped(passing<Item[]>({ ...anything, schema }, check), (sent) => [...new Set(sent)]);

const settings = {
  url: unlessEmpty(
    checked(text({ max: maxUrlCharacters, description: 'Receiver of the batches; a public address, http or https' }), {
      is: isWebAddress,
      reason: 'must be an http or https URL without credentials',
    }),
  ),
  events: distinct(Type.Array(kind, { description: 'Default: all of them' }), {
    is: (sent): sent is StreamedKind[] => isListOf(streamedKinds, sent) && sent.length > 0,
    reason: `must be a list of at least one of ${streamedKinds.join(', ')}`,
  }),
  user_attributes: distinct(
    Type.Array(Type.String(), {
      maxItems: maxStreamedAttributes,
      description: 'User attributes included in each event; default: none',
    }),
    {
      is: areAttributeNames,
      reason: `must be a list of up to ${maxStreamedAttributes} texts of 1 to ${maxNameCharacters} characters`,
    },
  ),
  device_attributes: distinct(
    Type.Array(Type.String(), {
      description: `Device attributes included in each event: ${streamedDeviceAttributes.join(', ')}; default: none`,
    }),
    {
      is: (sent) => isListOf(streamedDeviceAttributes, sent),
      reason: `must be a list of ${streamedDeviceAttributes.join(', ')}`,
    },
  ),
};
const objectStore = part(
  {
    region: required(
      matching({
        pattern: /^[a-z0-9-]{1,64}$/,
        reason: 'must be a region such as eu-central-1',
        description: 'Of the bucket',
      }),
    ),
    access_key_id: required(
      matching({
        pattern: /^[\x21-\x2b\x2d\x2e\x30-\x7e]{1,128}$/,
        reason: 'must be an access key id',
        description: 'May put objects into the bucket, and needs no other right',
      }),
    ),
    secret_access_key: required(text({ max: 256, description: 'Stored encrypted, and never shown' })),
  },
  {
    title: 'EventStreamObjectStore',
    description: 'The stream stores objects in an S3 bucket, and url is its address. Absent: batches are posted to url',
  },
);
const sentMembers = { ...settings, object_store: objectStore };
const createMembers = { ...sentMembers, url: required(settings.url) };
const resendMembers = {
  batch_id: unlessEmpty(text({ description: 'A single batch; default: all batches that were given up' })),
};

const createStreamBody = schemaOf(createMembers, { title: 'EventStreamCreate' });
const changeStreamBody = schemaOf(sentMembers, {
  title: 'EventStreamChange',
  description: 'Members that are absent stay as they are',
});
const resendBody = schemaOf(resendMembers, { title: 'EventBatchResend' });

const time = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);
const stream = named(
  'EventStream',
  Type.Object({
    id: Type.String(),
    ...schemaRequiring(settings, { names: Object.keys(settings) }).properties,
    object_store: Type.Union(
      [
        Type.Object({
          region: Type.String({ description: 'Of the bucket' }),
          access_key_id: Type.String({ description: 'The access key, without its secret' }),
        }),
        Type.Null(),
      ],
      { description: 'Null: batches are posted to url' },
    ),
    created_at: Type.String({ description: 'ISO 8601' }),
    updated_at: Type.String(),
    delivered_events: Type.Integer({ description: 'In batches that the receiver accepted' }),
    last_delivered_at: time('ISO 8601; null: none yet'),
    pending_batches: Type.Integer({ description: 'Waiting to be sent or resent' }),
    dead_batches: Type.Integer({ description: 'Batches that were given up; they can be sent again' }),
    unanswered_since: time('ISO 8601; null if the receiver responded to the last attempt, with any status'),
    paused_until: time('ISO 8601; no request is sent before then, because three attempts in a row got no response'),
  }),
);
const answer = (data: TProperties) =>
  Type.Object({ response_id: Type.String(), type: Type.Literal('event_stream'), data: Type.Object(data) });

const streamAnswer = named('EventStreamAnswer', answer({ event_stream: stream }));
const streamCreatedAnswer = named(
  'EventStreamCreated',
  answer({
    event_stream: stream,
    secret: Type.Optional(
      Type.String({ description: 'Signs the requests (Standard Webhooks); returned only once. Absent for a bucket' }),
    ),
  }),
);
const streamsAnswer = named('EventStreams', answer({ event_streams: Type.Array(stream) }));
const removedAnswer = named('EventStreamRemoved', answer({ removed: Type.Boolean() }));
const pageMembers = {
  limit: whole(1, maxPage, `Default ${maxPage}`),
  before: unlessEmpty(text({ description: 'The id of the last batch on the previous page' })),
};
const deadBatchesQuery = schemaOf(pageMembers);
const deadBatchesAnswer = named(
  'DeadEventBatches',
  answer({
    dead_batches: Type.Array(
      Type.Object({
        id: Type.String({ description: "webhook-id of the batch's attempts" }),
        events: Type.Integer(),
        first_event_time: Type.String({ description: 'ISO 8601' }),
        attempts: Type.Integer({ description: 'Seconds since the batch was made or resent' }),
        last_status: Type.Union([Type.Integer({ description: "The receiver's response" }), Type.Null()]),
        last_error: time('timeout, unreachable or refused; null if the receiver responded'),
        given_up_at: Type.String({ description: 'ISO 8601' }),
      }),
    ),
  }),
);
const resentAnswer = named('EventBatchesResent', answer({ batches: Type.Integer({ description: 'Due now' }) }));

export type EventStreamRouteDependencies = EventStreamDependencies & CampaignAccessDependencies;

/**
 * Routes for the addresses that receive events of messages: an addition, with the limits and errors of V5. The events
 * contain user data, so the routes require the data key.
 */
export function eventStreamRoutes(deps: EventStreamRouteDependencies): RouteFamily {
  return async (server) => {
    const v5 = makeV5Dialect(deps, { tag: 'Event streams', credentials: ['dataKey', 'bearer'], scope: 'data' });
    addRoutes(server, [...streamRoutes(deps, v5), ...oneStreamRoutes(deps, v5), ...deadBatchRoutes(deps, v5)]);
  };
}

const base = '/v1/event-streams';

function streamRoutes(deps: EventStreamRouteDependencies, v5: RouteDialect<KeyCaller>): Route[] {
  return [
    route(v5, {
      method: 'GET',
      url: base,
      operationId: 'listEventStreams',
      summary: 'List the event streams of the workspace',
      answers: { 200: streamsAnswer },
      async handle({ workspaceId }) {
        const streams = await listEventStreams(deps, workspaceId);
        return presentStreamAnswer({ event_streams: streams.map(presentStream) });
      },
    }),
    route(v5, {
      method: 'POST',
      url: base,
      operationId: 'createEventStream',
      summary: 'Create an event stream, which posts events of messages to an address',
      body: createStreamBody,
      isRepeatable: true,
      answers: { 201: streamCreatedAnswer },
      refuses: [409],
      config: { isAnswerSecret: true, keptBody: withoutAccessKey },
      read: ({ body }) => parseStream(body),
      async handle({ input, actor, workspaceId, once }) {
        const { stream, secret } = await createEventStream(deps, { actor, workspaceId, ...input, once });
        return presentStreamAnswer({
          event_stream: presentStream(stream),
          ...(secret === undefined ? {} : { secret }),
        });
      },
    }),
  ];
}

const params = Type.Object({ id: Type.String({ description: 'The id of the stream' }) });

function oneStreamRoutes(deps: EventStreamRouteDependencies, v5: RouteDialect<KeyCaller>): Route[] {
  const one = { url: `${base}/:id`, params };
  return [
    route(v5, {
      method: 'GET',
      ...one,
      operationId: 'getEventStream',
      summary: 'Get an event stream',
      answers: { 200: streamAnswer },
      refuses: [404],
      async handle({ workspaceId, params: { id } }) {
        return presentStreamAnswer({ event_stream: presentStream(await findStream(deps, { workspaceId, id })) });
      },
    }),
    route(v5, {
      method: 'PATCH',
      ...one,
      operationId: 'changeEventStream',
      summary: 'Change the address or the events of an event stream',
      body: changeStreamBody,
      config: { keptBody: withoutAccessKey },
      answers: { 200: streamAnswer },
      refuses: [404],
      read: ({ body }) => parseStreamChange(body),
      async handle({ input, actor, workspaceId, params: { id } }) {
        const stream = await changeEventStream(deps, { actor, workspaceId, id, ...input });
        return presentStreamAnswer({ event_stream: presentStream(stream) });
      },
    }),
    route(v5, {
      method: 'DELETE',
      ...one,
      operationId: 'removeEventStream',
      summary: 'Delete an event stream and its undelivered events',
      answers: { 200: removedAnswer },
      refuses: [404, 413, 415],
      async handle({ actor, workspaceId, params: { id } }) {
        await removeEventStream(deps, { actor, workspaceId, id });
        return presentStreamAnswer({ removed: true });
      },
    }),
  ];
}

function deadBatchRoutes(deps: EventStreamRouteDependencies, v5: RouteDialect<KeyCaller>): Route[] {
  return [
    route(v5, {
      method: 'GET',
      url: `${base}/:id/dead-batches`,
      operationId: 'listDeadEventBatches',
      summary: 'List the batches of events that the receiver did not accept',
      params,
      querystring: deadBatchesQuery,
      answers: { 200: deadBatchesAnswer },
      refuses: [404],
      read: ({ query }) => parseDeadBatches(query),
      async handle({ input: page, workspaceId, params: { id } }) {
        const batches = await listDeadBatches(deps, { workspaceId, id, ...page });
        return presentStreamAnswer({ dead_batches: batches.map(presentDeadBatch) });
      },
    }),
    route(v5, {
      method: 'POST',
      url: `${base}/:id/dead-batches/resend`,
      operationId: 'resendDeadEventBatches',
      summary: 'Send failed batches again, one or all',
      params,
      body: resendBody,
      isRepeatable: true,
      answers: { 200: resentAnswer },
      refuses: [404],
      read: ({ body }) => parseResend(body),
      async handle({ input, actor, workspaceId, params: { id }, once }) {
        const batches = await resendDeadBatches(deps, { actor, workspaceId, id, ...input, once });
        return presentStreamAnswer({ batches });
      },
    }),
  ];
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
function parseStream(body: Body): EventStreamSettings & Pick<SentSettings, 'objectStore'> {
  const reader = makeCampaignReader(body);
  const sent = readSettings(reader, reading(reader, createMembers));
  refuseFaults(reader);
  return { events: [...streamedKinds], userAttributes: [], deviceAttributes: [], url: '', ...sent };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
function parseStreamChange(body: Body): SentSettings {
  const reader = makeCampaignReader(body);
  const sent = readSettings(reader, reading(reader, sentMembers));
  refuseFaults(reader);
  return sent;
}

type SentSettings = Partial<EventStreamSettings> & { objectStore?: ObjectStoreAccess };

function readSettings(reader: RequestReader, read: ReadMember<typeof sentMembers>): SentSettings {
  const [url, events, deviceAttributes] = [read('url'), read('events'), read('device_attributes')];
  const { region, access_key_id: keyId, secret_access_key: secret } = read('object_store') ?? {};
  const objectStore = region === undefined || keyId === undefined || !secret ? undefined : { region, keyId, secret };
  if (objectStore && url !== undefined && /[?#]/.test(url))
    reader.invalid('url', 'must be the address of a bucket, without a query');
  return withoutAbsent<SentSettings>({
    ...{ url, events, userAttributes: read('user_attributes') },
    ...{ deviceAttributes, objectStore },
  });
}

/** The API log keeps bodies without the secret of an access key. */
function withoutAccessKey({ body }: FastifyRequest): string {
  return JSON.stringify(body, (name, value: unknown) => (name === 'secret_access_key' ? '[redacted]' : value)) ?? '';
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
function parseResend(body: Body): { batchId: string | undefined } {
  const reader = makeCampaignReader(body);
  const { batch_id: batchId } = readMembers(reader, resendMembers);
  refuseFaults(reader);
  return { batchId };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
function parseDeadBatches(query: Record<string, unknown>): { limit: number; before: string | undefined } {
  const reader = makeCampaignQueryReader(query);
  const { limit = maxPage, before } = readMembers(reader, pageMembers);
  refuseFaults(reader);
  return { limit, before };
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

function isListOf<Word extends string>(words: readonly Word[], sent: unknown): sent is Word[] {
  return Array.isArray(sent) && sent.every((item) => words.some((word) => word === item));
}

function areAttributeNames(sent: unknown): sent is string[] {
  const isName = (item: unknown) =>
    typeof item === 'string' && item !== '' && item.length <= maxNameCharacters && isStorableText(item);
  return Array.isArray(sent) && sent.length <= maxStreamedAttributes && sent.every(isName);
}

function presentStream(stream: EventStream) {
  return {
    id: stream.id,
    url: stream.url,
    object_store: stream.objectStore && {
      region: stream.objectStore.region,
      access_key_id: stream.objectStore.keyId,
    },
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

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { listDeadBatches, listEventStreams, resendDeadBatches } from '../../app/event-streams.ts';
import type { EventStream, EventStreamDependencies } from '../../app/event-streams.ts';
import { streamedDeviceAttributes, streamedKinds } from '../../domain/events/event-streams.ts';
import { consoleApi as api } from './access.ts';
import { closed, Id, id, idOf, keyOf, Workspace, workspaceOf } from './requests.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const ConsoleEventStream = Type.Object({
  id: Type.String(),
  url: Type.String(),
  objectStore: described(
    orNull(Type.Object({ region: Type.String(), keyId: Type.String() })),
    'Null: batches are posted to `url`. Otherwise `url` is a bucket.',
  ),
  events: Type.Array(oneOf(streamedKinds)),
  userAttributes: Type.Array(Type.String()),
  deviceAttributes: Type.Array(oneOf(streamedDeviceAttributes)),
  deliveredEvents: Type.Number({ description: 'Events in batches that the receiver accepted.' }),
  lastDeliveredAt: orNull(Type.String()),
  pendingBatches: Type.Number(),
  deadBatches: Type.Number({ description: 'Batches without further attempts; they can be sent again.' }),
  silentSince: described(orNull(Type.String()), 'The time since which the receiver has not responded.'),
  pausedUntil: described(
    orNull(Type.String()),
    'The time until which nothing is posted, because the receiver does not respond.',
  ),
  createdAt: Type.String(),
});

export const DeadEventBatch = Type.Object({
  id: Type.String(),
  events: Type.Number(),
  firstEventAt: Type.String(),
  attempts: Type.Number({ description: 'The number of attempts since the batch was created or last sent again.' }),
  lastStatus: described(orNull(Type.Number()), 'Null if there was no response.'),
  lastError: orNull(Type.String()),
  endedAt: Type.String(),
});

export const EventStreamList = Type.Object({ streams: Type.Array(ConsoleEventStream) });
export const DeadEventBatchList = Type.Object({
  batches: Type.Array(DeadEventBatch),
  next: described(orNull(Type.String()), 'The value of `after` for the next page.'),
});

const Page = Type.Object({ ...Workspace.properties, after: Type.Optional(id) });
const Resend = Type.Object({ batchId: Type.Optional(id) }, closed);

const maxBatches = 50;

/** Routes for event streams on the console: whether receivers accept the batches, and which batches they did not accept. */
export function consoleStreamRoutes(server: FastifyInstance, { streams }: { streams: EventStreamDependencies }): void {
  server.get(
    `${api}/event-streams`,
    {
      schema: { hide: true, querystring: Workspace, response: { 200: EventStreamList } },
      config: { permission: 'log.read' },
    },
    async (request) => {
      const workspaceId = workspaceOf(request);
      return { streams: (await listEventStreams(streams, workspaceId)).map(presentStream) };
    },
  );
  server.get(
    `${api}/event-streams/:id/dead-batches`,
    {
      schema: { hide: true, querystring: Page, params: Id, response: { 200: DeadEventBatchList } },
      config: { permission: 'log.read' },
    },
    async (request) => {
      const { workspaceId, after } = request.query as Static<typeof Page>;
      const of = { workspaceId, id: idOf(request) };
      const batches = await listDeadBatches(streams, { ...of, limit: maxBatches, before: after });
      return {
        batches: batches.map((batch) => ({ ...batch, endedAt: batch.endedAt.toISOString() })),
        next: batches.length < maxBatches ? null : batches.at(-1)!.id,
      };
    },
  );
  server.post(
    `${api}/event-streams/:id/resend`,
    {
      schema: {
        hide: true,
        querystring: Workspace,
        params: Id,
        body: Resend,
        response: { 202: Type.Object({ batches: Type.Number({ description: 'Due now.' }) }) },
      },
      config: { permission: 'log.resend' },
    },
    async (request, reply) => {
      const of = keyOf(request);
      const body = request.body as Static<typeof Resend>;
      return reply
        .code(202)
        .send({ batches: await resendDeadBatches(streams, { ...of, ...body, actor: request.signedIn }) });
    },
  );
}

function presentStream({ workspaceId: _workspaceId, updatedAt: _updatedAt, ...stream }: EventStream) {
  return {
    ...stream,
    createdAt: stream.createdAt.toISOString(),
    lastDeliveredAt: stream.lastDeliveredAt?.toISOString() ?? null,
    silentSince: stream.silentSince?.toISOString() ?? null,
    pausedUntil: stream.pausedUntil?.toISOString() ?? null,
  };
}

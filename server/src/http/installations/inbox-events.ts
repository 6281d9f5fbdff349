import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { InboxStreams, InboxUpdate } from '../../app/installations/inbox-streams.ts';
import { hiddenRoute } from '../route/route.ts';
import type { Route, RouteDialect } from '../route/route.ts';
import { nameInstallation } from './dialect.ts';
import type { InstallationCaller } from './dialect.ts';
import { presentMessage } from './inbox.ts';

type StreamRouteContext = {
  server: FastifyInstance;
  dialect: RouteDialect<InstallationCaller>;
  url: string;
};

/**
 * The route on which an app follows the inbox of its signed-in user as server-sent events: `inbox` with what changed and the number of
 * unread messages, and a comment every 20 seconds. The id of an event is its time: a client that sends it as Last-Event-ID gets
 * everything that changed since. OpenAPI cannot describe a stream.
 */
export function inboxEventRoute(
  { streams }: { streams: InboxStreams },
  { server, dialect, url }: StreamRouteContext,
): Route {
  const closing = new AbortController();
  server.addHook('preClose', async () => closing.abort());

  return hiddenRoute(dialect, {
    method: 'GET',
    url,
    config: { isAnswerSecret: true },
    async handle({ request, reply, app, secret }) {
      const ended = new AbortController();
      reply.raw.once('close', () => ended.abort());
      const signal = AbortSignal.any([closing.signal, ended.signal]);
      const named = nameInstallation({ app, secret }, (request.params as { id?: unknown }).id);
      const updates = await streams.open({ ...named, since: lastEventTime(request), signal });

      async function* write(): AsyncGenerator<string> {
        try {
          yield 'retry: 3000\n\n';
          for await (const update of updates) yield update ? presentUpdate(update) : ': still here\n\n';
        } catch {
          // The database is unavailable: the client reconnects and gets the error.
        }
      }

      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .send(Readable.from(write(), { objectMode: false }));
    },
  });
}

function presentUpdate({ messages, unread, isComplete, at }: InboxUpdate): string {
  const data = { unread_count: unread, messages: messages.map(presentMessage), complete: isComplete };
  return `event: inbox\nid: ${at.getTime()}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Returns when the last event that the client received was sent; undefined for a first connection. */
function lastEventTime({ headers }: FastifyRequest): Date | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && /^\d{1,14}$/.test(id) ? new Date(Number(id)) : undefined;
}

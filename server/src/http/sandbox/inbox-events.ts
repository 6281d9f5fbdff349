import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { findNewestMessage, readInbox } from '../../app/sandbox/control-sandbox.ts';
import type { SandboxDependencies } from '../../app/sandbox/control-sandbox.ts';
import { ServiceError } from '../../domain/errors.ts';
import { presentMessage } from './present-message.ts';
import { inboxEventsQuery } from './shapes.ts';

/** Each open stream asks the database four times a second. */
const maxStreams = 50;
// A proxy sees that the line lives.
const waitMilliseconds = 15_000;
const maxAtOnce = 1_000;

/** The inbox as server-sent events: each message once, oldest first, under its id, from which a reader goes on. */
export function addInboxEvents(server: FastifyInstance, deps: SandboxDependencies): void {
  let isClosing = false;
  server.addHook('preClose', async () => {
    isClosing = true;
  });
  let streams = 0;

  server.get(
    '/sandbox/inbox/events',
    {
      // OpenAPI has no words for a stream.
      schema: { hide: true, querystring: inboxEventsQuery },
    },
    async (request, reply) => {
      if (streams >= maxStreams) throw new ServiceError('OVERLOADED', { retryAfterSeconds: 5 });
      const query = request.query as Static<typeof inboxEventsQuery>;
      const scope = query.workspaceId === undefined ? {} : { workspaceId: query.workspaceId };
      let after = lastEventId(request) ?? query.after ?? (await findNewestMessage(deps, scope));

      async function* follow(): AsyncGenerator<string> {
        streams += 1;
        try {
          yield ': the inbox\n\n';
          while (!isClosing) {
            const wait = { limit: maxAtOnce, waitMilliseconds, isOver: () => isClosing || reply.raw.destroyed };
            const messages = await readInbox(deps, { ...scope, ...wait, after });
            for (const message of messages.toReversed())
              yield `event: message\nid: ${message.id}\ndata: ${JSON.stringify(presentMessage(message))}\n\n`;
            after = messages[0]?.id ?? after;
            if (messages.length === 0) yield ': still here\n\n';
          }
        } catch {
          // The database is unavailable: the reader reconnects and learns so.
        } finally {
          streams -= 1;
        }
      }

      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .send(Readable.from(follow(), { objectMode: false }));
    },
  );
}

/** What a browser that lost its line saw last. */
function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && /^[0-9a-f]{24}$/.test(id) ? id : undefined;
}

import type { FastifyInstance } from 'fastify';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { Type } from 'typebox';
import { authorizeSession } from '../../app/accounts/authorize-session.ts';
import { ServiceError } from '../../domain/errors.ts';
import { keyOf } from './campaign-routes.ts';
import type { ConsoleCampaignRouteDependencies } from './campaign-routes.ts';
import { consoleApi as api } from './console-access.ts';
import type { ConsoleCookies } from './console-cookies.ts';

const Params = Type.Object({ id: Type.String({ pattern: '^[0-9a-f]{24}$' }) });
const Query = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });

const lookMilliseconds = 1000;
// A session that has ended is noticed so soon, and a proxy sees that the line lives.
const looksPerCheck = 15;
// Each open report asks the database each second.
const maxStreams = 200;

/**
 * The progress of a campaign as server-sent events: `progress` when a number changed, `end` when none will change any
 * more.
 */
export function campaignEventRoutes(
  server: FastifyInstance,
  { campaigns, accounts, cookies }: ConsoleCampaignRouteDependencies & { cookies: ConsoleCookies },
): void {
  const closing = new AbortController();
  server.addHook('preClose', async () => closing.abort());
  let streams = 0;

  server.get(
    `${api}/campaigns/:id/progress/events`,
    { schema: { hide: true, querystring: Query, params: Params }, config: { permission: 'overview.read' } },
    async (request, reply) => {
      const key = keyOf(request);
      if (streams >= maxStreams) throw new ServiceError('OVERLOADED', { retryAfterSeconds: 5 });
      let progress = await campaigns.report.progress(key);

      async function* follow(): AsyncGenerator<string> {
        streams += 1;
        try {
          let said = '';
          for (let look = 1; ; look += 1) {
            const { at: _at, ...numbers } = progress;
            const text = JSON.stringify(numbers);
            if (text !== said) yield `event: progress\ndata: ${JSON.stringify(progress)}\n\n`;
            said = text;
            if (progress.openRuns === 0 && progress.actions.length === 0) return yield 'event: end\ndata: {}\n\n';
            await setTimeout(lookMilliseconds, undefined, { signal: closing.signal });
            if (look % looksPerCheck === 0) {
              const token = request.cookies[cookies.session.name];
              await authorizeSession(accounts, { token, permission: 'overview.read' });
              yield ': still here\n\n';
            }
            progress = await campaigns.report.progress(key);
          }
        } catch {
          // The node is stopping, the session has ended or the database is unavailable: the reader reconnects and
          // learns which.
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

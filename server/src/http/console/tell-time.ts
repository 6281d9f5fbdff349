import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../clock.ts';
import { consoleApi } from './console-access.ts';

/**
 * Each reply to the console says what time it is here, when it leaves: "3 minutes ago" is reckoned from it, since a sandbox's
 * clock is moved and a browser's may be wrong.
 */
export function tellTime(server: FastifyInstance, clock: Clock): void {
  server.addHook('onSend', async (request, reply) => {
    if (request.routeOptions.url?.startsWith(consoleApi)) reply.header('carillon-time', clock.now().toISOString());
  });
}

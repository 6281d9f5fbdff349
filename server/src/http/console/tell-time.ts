import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../clock.ts';
import { consoleApi } from './console-access.ts';

/**
 * Each reply to the console carries the time of the service and real time, from which the console calculates "3 minutes
 * ago": a sandbox's clock may be moved, which accounts and the audit log do not follow, and a browser's may be wrong.
 */
export function tellTime(server: FastifyInstance, clock: Clock): void {
  server.addHook('onSend', async (request, reply) => {
    if (!request.routeOptions.url?.startsWith(consoleApi)) return;
    reply.header('carillon-time', clock.now().toISOString());
    reply.header('carillon-real-time', clock.realNow().toISOString());
  });
}

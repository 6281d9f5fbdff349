import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { ApiFaults } from '../../app/sandbox/api-faults.ts';
import type { RouteFamily } from '../build-server.ts';

/** What is never struck: the switches themselves, the console that shows them, and whoever asks whether the node lives. */
const spared = /^\/(?:sandbox|console|livez|readyz|healthz|metrics|openapi|docs)(?:[/.]|$)/;

/** Fails requests as the sandbox was told. Stands before all other families, so that theirs are struck as well. */
export function apiFaultHook({ apiFaults }: { apiFaults: ApiFaults }): RouteFamily {
  const family: RouteFamily = async (server: FastifyInstance) => {
    server.addHook('onRequest', async (request, reply) => {
      const path = request.url.split('?', 1)[0]!;
      if (spared.test(path)) return undefined;
      const fault = apiFaults.strike({ method: request.method, path });
      if (!fault) return undefined;
      if (fault.delayMilliseconds !== undefined) await setTimeout(fault.delayMilliseconds);
      if (fault.reset === true) {
        reply.hijack();
        request.raw.destroy();
        return undefined;
      }
      if (fault.status === undefined) return undefined;
      request.facts.errorDetail = 'failed as the sandbox was told';
      return reply
        .code(fault.status)
        .headers(fault.headers ?? {})
        .send(fault.body ?? '');
    });
  };
  // Fastify keeps the hooks of a plugin to the routes inside it, unless it is told to share them.
  return Object.assign(family, { [Symbol.for('skip-override')]: true });
}

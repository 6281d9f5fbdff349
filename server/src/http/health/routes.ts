import { Type } from 'typebox';
import type { RouteFamily } from '../build-server.ts';

export type HealthDependencies = {
  /** Names what is not ready; empty when everything is. Bounded in time. */
  findTroubles: () => Promise<string[]>;
};

const Answer = Type.Object({ status: Type.String(), troubles: Type.Optional(Type.Array(Type.String())) });

/**
 * `/livez`: the process answers. `/readyz`: it can do its work, or what it lacks; `?verbose` lists what is missing also
 * when that is nothing.
 */
export function healthRoutes({ findTroubles }: HealthDependencies): RouteFamily {
  return async (server) => {
    server.get(
      '/livez',
      { schema: { tags: ['Health'], summary: 'The process answers', response: { 200: Answer } } },
      async () => ({
        status: 'ok',
      }),
    );
    server.get(
      '/readyz',
      { schema: { tags: ['Health'], summary: 'The service can do its work', response: { 200: Answer, 503: Answer } } },
      async (request, reply) => {
        const troubles = await findTroubles();
        const isVerbose = Object.hasOwn(request.query as object, 'verbose');
        return reply.code(troubles.length === 0 ? 200 : 503).send({
          status: troubles.length === 0 ? 'ok' : 'not ready',
          ...(isVerbose || troubles.length > 0 ? { troubles } : {}),
        });
      },
    );
  };
}

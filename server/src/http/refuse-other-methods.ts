import type { FastifyInstance, HTTPMethods } from 'fastify';
import { ServiceError } from '../domain/errors.ts';

/** Answers 405 in the family's own shape to every method that a path does not take. */
export function refuseOtherMethods(server: FastifyInstance, url: string, taken: readonly HTTPMethods[]): void {
  // A route that takes GET takes HEAD by itself.
  const isTaken = (method: HTTPMethods): boolean => taken.includes(method === 'HEAD' ? 'GET' : method);
  server.route({
    method: server.supportedMethods.filter((method) => !isTaken(method)),
    url,
    schema: { hide: true },
    exposeHeadRoute: false,
    handler: async () => {
      throw new ServiceError('METHOD_NOT_ALLOWED', { members: { allow: taken.join(', ') } });
    },
  });
}

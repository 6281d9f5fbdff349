import type { FastifyInstance, HTTPMethods } from 'fastify';
import { ServiceError } from '../domain/errors.ts';

const methods: HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Answers 405 in the family's own shape to every method that a path does not take. */
export function refuseOtherMethods(server: FastifyInstance, url: string, taken: readonly HTTPMethods[]): void {
  server.route({
    method: methods.filter((method) => !taken.includes(method)),
    url,
    schema: { hide: true },
    exposeHeadRoute: false,
    handler: async () => {
      throw new ServiceError('METHOD_NOT_ALLOWED', { members: { allow: taken.join(', ') } });
    },
  });
}

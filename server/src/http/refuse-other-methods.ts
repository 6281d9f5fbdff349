import type { FastifyInstance, HTTPMethods } from 'fastify';
import { ServiceError } from '../domain/errors.ts';

/** Answers 405 in the family's own shape to every method that a path does not take. */
export function refuseOtherMethods(server: FastifyInstance, url: string, taken: readonly HTTPMethods[]): void {
  // A route that takes GET takes HEAD by itself.
  const isTaken = (method: HTTPMethods): boolean => taken.includes(method === 'HEAD' ? 'GET' : method);
  const refuse = async (): Promise<never> => {
    throw new ServiceError('METHOD_NOT_ALLOWED', { members: { allow: taken.join(', ') } });
  };
  server.route({
    method: server.supportedMethods.filter((method) => !isTaken(method)),
    url,
    schema: { hide: true },
    exposeHeadRoute: false,
    // Before the body: what a method that is not taken would have in it, or lacks, is not looked at (QUERY wants a type).
    onRequest: refuse,
    handler: refuse,
  });
}

import { randomInt } from 'node:crypto';
import type { FastifyInstance, HTTPMethods, FastifyReply } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';

/** Responds with 405, in the family's own shape, to every method that a path does not accept. */
export function refuseOtherMethods(server: FastifyInstance, url: string, taken: readonly HTTPMethods[]): void {
  // Fastify adds HEAD to a route that accepts GET.
  const isTaken = (method: HTTPMethods): boolean => taken.includes(method === 'HEAD' ? 'GET' : method);
  const refuse = async (): Promise<never> => {
    throw new ServiceError('METHOD_NOT_ALLOWED', { members: { allow: taken.join(', ') } });
  };
  server.route({
    method: server.supportedMethods.filter((method) => !isTaken(method)),
    url,
    schema: { hide: true },
    exposeHeadRoute: false,
    // Runs before the body is parsed: a rejected method's body, or its absence, must not matter (QUERY requires a content
    // type).
    onRequest: refuse,
    handler: refuse,
  });
}

/** The calls allowed per minute, the calls that are left, and the seconds until more are available. */
export type RateLimitState = { limit: number; remaining: number; resetSeconds: number };

/** Sets the headers. The reset is in seconds, not an epoch: the sources differ (fact 0.1), and a caller needs the wait. */
export function setRateLimitHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: RateLimitState): void {
  reply.headers({
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetSeconds),
  });
}

/** Returns eight letters, as callers of these families expect. With this id, an operator finds the call in the API log. */
export function makeRequestId(): string {
  return Array.from({ length: 8 }, () => String.fromCharCode(97 + randomInt(26))).join('');
}

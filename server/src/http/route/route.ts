import { randomInt } from 'node:crypto';
import type { FastifyInstance, HTTPMethods, FastifyReply } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';

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

/** How many calls a minute, how many of them are left, and after how many seconds there are more. */
export type RateLimitState = { limit: number; remaining: number; resetSeconds: number };

/** Seconds, not an epoch: the sources differ (fact 0.1), and a wait is what a caller needs. */
export function setRateLimitHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: RateLimitState): void {
  reply.headers({
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetSeconds),
  });
}

/** Eight letters, as callers of these families know them; it finds the call in the API log of a person who reads it out. */
export function makeRequestId(): string {
  return Array.from({ length: 8 }, () => String.fromCharCode(97 + randomInt(26))).join('');
}

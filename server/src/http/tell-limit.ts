import type { FastifyReply } from 'fastify';

/** How many calls a minute, how many of them are left, and after how many seconds there are more. */
export type ToldLimit = { limit: number; remaining: number; resetSeconds: number };

/** Seconds, not an epoch: the sources differ (fact 0.1), and a wait is what a caller needs. */
export function tellLimit(reply: FastifyReply, { limit, remaining, resetSeconds }: ToldLimit): void {
  reply.headers({
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetSeconds),
  });
}

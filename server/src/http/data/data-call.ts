import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LimitGrant } from '../../app/data/data-use-cases.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeRequestId } from '../request-id.ts';

export type DataCall = { request: FastifyRequest; reply: FastifyReply };
export type DataBody = Record<string, unknown>;

/** The body as an object. @throws ServiceError BODY_EMPTY, BODY_MALFORMED */
export function readDataBody({ body }: FastifyRequest): DataBody {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return body as DataBody;
}

/** The workspace of the path must be that of the credentials. @throws ServiceError DATA_WORKSPACE_MISMATCH */
export function checkDataWorkspace(request: FastifyRequest, named: string): void {
  if (named !== request.facts.workspaceId) throw new ServiceError('DATA_WORKSPACE_MISMATCH');
}

/** Answers with the state of a limit, per minute. @throws ServiceError DATA_RATE_LIMITED when nothing was granted */
export function answerLimit(reply: FastifyReply, { grant, limit }: { grant: LimitGrant; limit: number }): void {
  reply.headers({
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(grant.remaining),
    // Seconds, not an epoch: the sources differ (facts 0.1), and a wait is what a caller needs.
    'x-ratelimit-reset': String(grant.granted > 0 ? 60 : grant.retryAfterSeconds),
  });
  if (grant.granted === 0) throw new ServiceError('DATA_RATE_LIMITED', { retryAfterSeconds: grant.retryAfterSeconds });
}

/** What makes a repeat of this call known (decisions D4). */
export function onceOf(request: FastifyRequest) {
  return {
    key: request.headers['idempotency-key'] as string | undefined,
    rawBody: request.rawBody,
    requestId: makeRequestId(),
  };
}

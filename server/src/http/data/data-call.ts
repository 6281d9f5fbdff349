import type { FastifyReply, FastifyRequest } from 'fastify';
import type { UseGrant } from '../../app/data/count-uses.ts';
import type { DataOperation } from '../../app/data/data-limits.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isWorkspaceId } from '../../domain/tokens/workspace-id.ts';
import { makeRequestId } from '../request-id.ts';
import { tellLimit } from '../tell-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit that a route of the data family shows on its refusals. */
    dataOperation?: DataOperation;
  }
}

export type DataBody = Record<string, unknown>;

/** The body as an object. @throws ServiceError BODY_EMPTY, BODY_MALFORMED */
export function readDataBody({ body }: FastifyRequest): DataBody {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return body as DataBody;
}

/**
 * The workspace that the path or the query names must be that of the credentials.
 *
 * @throws ServiceError DATA_WORKSPACE_MISSING, DATA_WORKSPACE_INVALID, DATA_WORKSPACE_MISMATCH
 */
export function checkDataWorkspace(request: FastifyRequest, named: unknown): void {
  if (named === undefined || named === '') throw new ServiceError('DATA_WORKSPACE_MISSING');
  if (typeof named !== 'string' || !isWorkspaceId(named)) throw new ServiceError('DATA_WORKSPACE_INVALID');
  if (named !== request.facts.workspaceId) throw new ServiceError('DATA_WORKSPACE_MISMATCH');
}

/** Answers with the state of a limit, per minute. @throws ServiceError DATA_RATE_LIMITED when nothing was granted */
export function answerLimit(reply: FastifyReply, grant: UseGrant): void {
  showLimit(reply, grant);
  if (grant.granted === 0) throw new ServiceError('DATA_RATE_LIMITED', { retryAfterSeconds: grant.retryAfterSeconds });
}

export function showLimit(reply: FastifyReply, { limit, remaining, retryAfterSeconds }: UseGrant): void {
  tellLimit(reply, { limit, remaining, resetSeconds: retryAfterSeconds > 0 ? retryAfterSeconds : 60 });
}

/** What makes a repeat of this call known (decision D4). */
export function onceOf(request: FastifyRequest) {
  return {
    key: request.headers['idempotency-key'] as string | undefined,
    rawBody: request.rawBody,
    requestId: makeRequestId(),
  };
}

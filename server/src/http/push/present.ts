import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { AcceptedPush } from '../../app/push/store-pushes.ts';
import { errorRegistry } from '../../domain/errors.ts';
import type { ErrorName, ServiceError } from '../../domain/errors.ts';

/**
 * HTTP statuses of push refusals. What the contract names is a business failure and answers 200 with `Fail`
 * (decision D31); the message is the registry's text.
 */
export const pushErrorStatuses: Partial<Record<ErrorName, number>> = {
  PUSH_REQUEST_TYPE_INVALID: 200,
  PUSH_APP_ID_INVALID: 200,
  PUSH_APP_ID_MISSING: 200,
  PUSH_NAME_MISSING: 200,
  PUSH_NAME_TOO_SHORT: 200,
  PUSH_RATE_LIMITED: 429,
  PUSH_SIGNATURE_MISSING: 200,
  PUSH_SIGNATURE_INVALID: 200,
  PUSH_NAME_DUPLICATE: 200,
  PUSH_VALUE_NOT_ALLOWED: 200,
  PUSH_PARAMETER_INVALID: 200,
  BODY_MALFORMED: 400,
  BODY_EMPTY: 400,
  BODY_TOO_LARGE: 413,
  MEDIA_TYPE_UNSUPPORTED: 415,
  REQUEST_MALFORMED: 400,
  HOST_NOT_SERVED: 421,
  METHOD_NOT_ALLOWED: 405,
  IDEMPOTENCY_KEY_INVALID: 400,
  IDEMPOTENCY_CONFLICT: 409,
  OVERLOADED: 503,
  STORAGE_UNAVAILABLE: 503,
  STORAGE_REFUSES_WRITES: 503,
};

/** What `Error_Message` says; a field and a reason stand where the registry has a mark. */
export const pushFailureTexts = Object.keys(pushErrorStatuses).map((name) => errorRegistry[name as ErrorName]);

export function presentAcceptedPush({ requestId, responseId, campaignId }: AcceptedPush) {
  return { status: 'Success', requestId, responseId, cid: campaignId };
}

/** The body of interface 2.11 with `Fail`; a fault of ours has the shape of fact 3.6. */
export function presentPushError(error: ServiceError, reply: FastifyReply): FastifyReply {
  const { retryAfterSeconds } = error.context;
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  const status = pushErrorStatuses[error.code];
  const responseId = randomUUID();
  if (status === undefined) {
    return reply.code(500).send({ code: 500, status: 'error', reason: error.message, reference: responseId });
  }
  if (status === 405) reply.header('allow', 'POST');
  return reply.code(status).send({ status: 'Fail', requestId: '', responseId, Error_Message: error.message });
}

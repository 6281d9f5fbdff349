import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IssuedTokens } from '../../app/tokens/issue-access-token.ts';
import type { ErrorName, ServiceError } from '../../domain/errors.ts';

/** Table 2.2 of the interface with the members of RFC 6749 §5.1 next to the envelope (decision D18). */
export function presentIssuedTokens(issued: IssuedTokens) {
  const members = {
    access_token: issued.accessToken,
    ...(issued.refreshToken === undefined ? {} : { refresh_token: issued.refreshToken }),
    token_type: 'Bearer' as const,
    expires_in: issued.expiresInSeconds,
  };
  return { status: 'SUCCESS' as const, data: members, ...members };
}

type Refusal = {
  status: number;
  /** Interface 7; words where it names no code. */
  errorType: string;
  /** RFC 6749 §5.2. */
  error: string;
};

/** Every error that a token endpoint can answer with. */
export const tokenErrors: Partial<Record<ErrorName, Refusal>> = {
  TOKEN_GRANT_TYPE_INVALID: { status: 400, errorType: 'ER018', error: 'unsupported_grant_type' },
  TOKEN_CLIENT_ID_MISSING: { status: 400, errorType: 'ER019', error: 'invalid_request' },
  TOKEN_CLIENT_SECRET_MISSING: { status: 400, errorType: 'ER020', error: 'invalid_request' },
  TOKEN_REFRESH_MISSING: { status: 400, errorType: 'ER021', error: 'invalid_request' },
  TOKEN_TO_REVOKE_MISSING: { status: 400, errorType: 'INVALID_REQUEST', error: 'invalid_request' },
  TOKEN_CREDENTIALS_INVALID: { status: 401, errorType: 'ER011', error: 'invalid_client' },
  TOKEN_KEY_NOT_OAUTH: { status: 401, errorType: 'ER012', error: 'unauthorized_client' },
  // Statuses of refresh errors: interface 7 gives none, see decision D12.
  TOKEN_REFRESH_INVALID: { status: 401, errorType: 'ER010', error: 'invalid_grant' },
  TOKEN_CLIENT_MISMATCH: { status: 401, errorType: 'ER013', error: 'invalid_grant' },
  // These two carry the code of their field, see fieldCodes.
  TOKEN_FIELD_REPEATED: { status: 400, errorType: 'INVALID_REQUEST', error: 'invalid_request' },
  TOKEN_CREDENTIALS_IN_QUERY: { status: 400, errorType: 'INVALID_REQUEST', error: 'invalid_request' },
  TOKEN_RATE_LIMITED: { status: 429, errorType: 'RATE_LIMIT_EXCEEDED', error: 'temporarily_unavailable' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, errorType: 'UNSUPPORTED_MEDIA_TYPE', error: 'invalid_request' },
  BODY_TOO_LARGE: { status: 413, errorType: 'PAYLOAD_TOO_LARGE', error: 'invalid_request' },
  BODY_MALFORMED: { status: 400, errorType: 'INVALID_REQUEST', error: 'invalid_request' },
  REQUEST_MALFORMED: { status: 400, errorType: 'INVALID_REQUEST', error: 'invalid_request' },
  HOST_NOT_SERVED: { status: 421, errorType: 'HOST_NOT_SERVED', error: 'invalid_request' },
  METHOD_NOT_ALLOWED: { status: 405, errorType: 'METHOD_NOT_ALLOWED', error: 'invalid_request' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, errorType: 'INVALID_REQUEST', error: 'invalid_request' },
  IDEMPOTENCY_CONFLICT: { status: 409, errorType: 'IDEMPOTENCY_CONFLICT', error: 'invalid_request' },
  OVERLOADED: { status: 503, errorType: 'SERVICE_UNAVAILABLE', error: 'temporarily_unavailable' },
  STORAGE_UNAVAILABLE: { status: 503, errorType: 'SERVICE_UNAVAILABLE', error: 'temporarily_unavailable' },
  STORAGE_REFUSES_WRITES: { status: 503, errorType: 'SERVICE_UNAVAILABLE', error: 'temporarily_unavailable' },
  INTERNAL: { status: 500, errorType: 'INTERNAL_ERROR', error: 'server_error' },
};

const fieldCodes: Record<string, string> = {
  grant_type: 'ER018',
  client_id: 'ER019',
  client_secret: 'ER020',
  refresh_token: 'ER021',
};

/** Answers in the shape of table 2.3, whatever went wrong. */
export function presentTokenError(
  error: ServiceError,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const { status, errorType, error: standardError } = tokenErrors[error.code] ?? tokenErrors.INTERNAL!;
  const { field, reason, retryAfterSeconds } = error.context;
  if (status === 401) reply.header('www-authenticate', challengeFor(request));
  if (status === 405) reply.header('allow', 'POST');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  const text = field === undefined ? error.message : `${error.message} (${field})`;
  const isMissingGrantType = error.code === 'TOKEN_GRANT_TYPE_INVALID' && reason === 'missing';
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send({
      status: 'FAILURE',
      error_type: (field === undefined ? undefined : fieldCodes[field]) ?? errorType,
      reason: text,
      error: isMissingGrantType ? 'invalid_request' : standardError,
      error_description: text,
    });
}

/**
 * RFC 9110 asks every 401 for a challenge. Basic is named to who used it (RFC 6749 §5.2); to others it would make a
 * browser open its password window.
 */
function challengeFor(request: FastifyRequest): string {
  const usedBasic = /^basic /i.test(request.headers.authorization ?? '');
  return usedBasic ? 'Basic realm="Carillon", charset="UTF-8"' : 'Bearer realm="Carillon"';
}

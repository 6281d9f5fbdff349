import type { FastifyReply } from 'fastify';
import { errorRegistry } from '../../domain/errors.ts';
import type { ErrorName, ServiceError } from '../../domain/errors.ts';

type Status = 200 | (typeof errorRegistry)[ErrorName]['status'];
type Rows<Wire> = Partial<Record<ErrorName, Wire & { status?: Status }>>;

/** The errors of a dialect by name: the status, and what the dialect sends in addition to the public text. */
export type DialectErrors<Wire> = Partial<Record<ErrorName, Wire & { status: Status }>>;

type Rest<Wire> = {
  /** Errors that the dialect shares with others, in addition to its own. */
  shared: readonly ErrorName[];
  /** Returns what the dialect sends with a status; a row contains only what differs from it. */
  wireOf: (status: Status) => Wire;
};

/** Declares the errors of a dialect. The status is the registry's unless a row names another one. */
export function declareErrors<Wire extends object>(own: Rows<Wire>): DialectErrors<Wire>;
export function declareErrors<Wire extends object>(own: Rows<Partial<Wire>>, rest: Rest<Wire>): DialectErrors<Wire>;
export function declareErrors<Wire extends object>(
  own: Rows<Partial<Wire>>,
  { shared, wireOf }: Partial<Rest<Wire>> = {},
): DialectErrors<Wire> {
  const names = new Set([...(Object.keys(own) as ErrorName[]), ...(shared ?? [])]);
  return Object.fromEntries(
    [...names].map((name) => {
      const status = own[name]?.status ?? errorRegistry[name].status;
      return [name, { ...wireOf?.(status), ...own[name], status }];
    }),
  ) as DialectErrors<Wire>;
}

/** The errors of a request line or a Host header. */
export const addressErrors = ['REQUEST_MALFORMED', 'HOST_NOT_SERVED', 'METHOD_NOT_ALLOWED'] as const;

/** The errors of a service that cannot process the request now. */
export const busyErrors = ['OVERLOADED', 'STORAGE_UNAVAILABLE', 'STORAGE_REFUSES_WRITES'] as const;

/** The errors of every route. */
export const routeErrors = [...addressErrors, ...busyErrors] as const;

/** The errors of a route with a body. */
export const bodyErrors = ['BODY_MALFORMED', 'BODY_EMPTY', 'BODY_TOO_LARGE', 'MEDIA_TYPE_UNSUPPORTED'] as const;

/** The errors of a route that accepts an Idempotency-Key (decision D4). */
export const repeatErrors = ['IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_CONFLICT'] as const;

/**
 * The reason phrases that most dialects derive their codes from. They are part of the wire format, so they do not follow the
 * names that newer RFCs and newer versions of Node use.
 */
export const statusPhrases: Record<Status, string> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  421: 'Misdirected Request',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

/** Returns the phrase of a status as a constant: `METHOD_NOT_ALLOWED`. */
export function statusConstant(status: Status): string {
  return statusPhrases[status].toUpperCase().replaceAll(' ', '_');
}

/** Sets the headers that the status of an error requires. */
export function setErrorHeaders(error: ServiceError, { reply, status }: { reply: FastifyReply; status: number }): void {
  const { retryAfterSeconds, members } = error.context;
  if (status === 401) reply.header('www-authenticate', 'Basic realm="carillon", charset="UTF-8"');
  // RFC 9110 §15.5.6
  if (status === 405) reply.header('allow', String(members?.allow ?? ''));
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
}

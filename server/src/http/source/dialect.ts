import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { DataDependencies } from '../../app/data.ts';
import { authenticateWriteKey } from '../../app/keys/authenticate-key.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxSourceMembers } from '../../domain/limits/source.ts';
import { isObject } from '../../fields/request-reader.ts';
import { named } from '../openapi/shapes.ts';
import { acrossOf, keyCallerOf, readBasic } from '../route/auth.ts';
import type { BearerDependencies, KeyCaller } from '../route/auth.ts';
import { declareErrors, routeErrors, setErrorHeaders } from '../route/dialect-errors.ts';
import { makeReadJsonBody } from '../route/json-body.ts';
import type { RouteDialect } from '../route/route.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import type { AnsweredCall } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { calledDataCenter } from '../server/call-origin.ts';

export type SourceRouteDependencies = DataDependencies & BearerDependencies & { vendorHeaders: VendorHeaders };

/**
 * Statuses of Segment's API: 400 for a body that is malformed or too large. Its libraries give up after 400, 401 and 403, and repeat
 * after 429 and 5xx.
 */
const sourceErrors = declareErrors<object>({
  DATA_CREDENTIALS_MISSING: {},
  DATA_CREDENTIALS_INVALID: {},
  SCOPE_MISSING: {},
  DATA_RATE_LIMITED: {},
  DATA_ATTRIBUTE_MISSING: { status: 400 },
  DATA_VALUE_INVALID: { status: 400 },
  BODY_MALFORMED: {},
  BODY_EMPTY: {},
  BODY_TOO_LARGE: { status: 400 },
  MEDIA_TYPE_UNSUPPORTED: {},
  ...declareErrors<object>({}, { shared: [...routeErrors, 'INTERNAL'], wireOf: () => ({}) }),
});

const sourceError = named(
  'SourceError',
  Type.Object({
    success: Type.Literal(false),
    message: Type.String({ description: 'What is wrong, for people' }),
  }),
);

/** Makes the dialect of the routes that Segment's libraries call with a write key, which is a data key (decision 0099). */
export function makeSourceDialect(deps: SourceRouteDependencies): RouteDialect<KeyCaller> {
  return {
    tag: 'Segment source',
    credentials: ['writeKey'],
    refusals: { errors: sourceErrors, shape: sourceError },
    refuses: [401, 403, 429],
    // The body has the key as well, as Segment's libraries send it.
    config: { keptBody: withoutWriteKey },
    onRequest: [(request) => checkHeader(deps, request)],
    preHandler: [(request) => checkBody(deps, request)],
    callerOf: keyCallerOf,
    presentError: presentSourceError,
  };
}

/** Libraries for browsers send text/plain, in the way of a customer's own proxy too. */
export function acceptSourceBodies(server: Parameters<RouteFamily>[0]): void {
  server.removeContentTypeParser('application/json');
  const types = ['application/json', 'text/plain'];
  const rules = { maxMembers: maxSourceMembers, areTextsChecked: false };
  server.addContentTypeParser(types, { parseAs: 'buffer' }, makeReadJsonBody(rules) as never);
}

/** @throws ServiceError DATA_CREDENTIALS_INVALID, SCOPE_MISSING */
async function checkHeader(deps: SourceRouteDependencies, request: FastifyRequest): Promise<void> {
  if (request.headers.authorization === undefined) return;
  // The name is the key and the password is empty.
  const key = readBasic(request.headers)?.username;
  if (key === undefined || key === '')
    throw new ServiceError('DATA_CREDENTIALS_INVALID', { detail: 'not Basic with the write key as the name' });
  await authenticate(deps, request, key);
}

/** Reads the key of a call without the header. @throws ServiceError DATA_CREDENTIALS_MISSING, DATA_CREDENTIALS_INVALID, SCOPE_MISSING */
async function checkBody(deps: SourceRouteDependencies, request: FastifyRequest): Promise<void> {
  if (request.callerKey) return;
  const key = isObject(request.body) ? request.body.writeKey : undefined;
  if (typeof key !== 'string' || key === '') throw new ServiceError('DATA_CREDENTIALS_MISSING');
  await authenticate(deps, request, key);
}

async function authenticate(deps: SourceRouteDependencies, request: FastifyRequest, secret: string): Promise<void> {
  const dataCenter = calledDataCenter(request, deps.serviceDomain);
  const found = await authenticateWriteKey(acrossOf(deps), { secret, dataCenter, at: deps.clock.now() });
  if (found.outcome !== 'ok') throw new ServiceError('DATA_CREDENTIALS_INVALID', { detail: 'unknown write key' });
  request.facts.workspaceId = found.key.workspaceId;
  request.facts.keyId = found.key.id;
  if (!found.key.scopes.includes('data'))
    throw new ServiceError('SCOPE_MISSING', { detail: 'the key does not cover data' });
  request.callerKey = found.key;
  request.boundWorkspaceId = found.key.workspaceId;
}

function presentSourceError(error: ServiceError, { reply }: AnsweredCall): FastifyReply {
  const status = sourceErrors[error.code]?.status ?? 500;
  setErrorHeaders(error, { reply, status });
  const { field, reason } = error.context;
  const detail = [field, reason].filter((part) => part !== undefined).join(' ');
  return reply
    .code(status)
    .send({ success: false, message: detail === '' ? error.message : `${error.message} ${detail}` });
}

function withoutWriteKey({ body }: FastifyRequest): string {
  return JSON.stringify(body, (name, value: unknown) => (name === 'writeKey' ? '[redacted]' : value)) ?? '';
}

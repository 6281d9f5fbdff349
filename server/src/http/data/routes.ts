import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { TObject } from 'typebox';
import type { DataUseCases } from '../../app/data/data-use-cases.ts';
import { dataRequestsPerMinute } from '../../app/data/data-use-cases.ts';
import type { TokenUseCases } from '../../app/tokens/token-use-cases.ts';
import { ServiceError } from '../../domain/errors.ts';
import { dataCenterOfHost } from '../../domain/tokens/data-center.ts';
import { readBasic } from '../auth/basic.ts';
import { isBearer, makeRequireBearer } from '../auth/bearer.ts';
import { gatewayError } from '../auth/shapes.ts';
import type { RouteFamily } from '../build-server.ts';
import { toServiceError } from '../to-service-error.ts';
import { findUnknownFields, unknownFieldsWarning } from '../unknown-fields.ts';
import type { VendorHeaders } from '../vendor-headers.ts';
import { parseCustomer, parseDevice } from './parse-data.ts';
import { makeRequestId, presentAccepted, presentDataError } from './present.ts';
import { customerBody, dataAnswer, dataError, deviceBody } from './shapes.ts';

export type DataRouteDependencies = {
  data: DataUseCases;
  tokens: TokenUseCases;
  vendorHeaders: VendorHeaders;
  serviceDomain?: string | undefined;
};

const mostBodyBytes = 128 * 1024;

/** POST /v1/customer/{app_id} and /v1/device/{app_id} (facts 5): people and their devices in. */
export function dataRoutes(deps: DataRouteDependencies): RouteFamily {
  const requireDataScope = makeRequireBearer(deps)('data');
  const { prefixes } = deps.vendorHeaders;
  const families = [
    {
      name: 'customer',
      operation: 'data-customer',
      summary: 'Create or update a user',
      shape: customerBody,
      handle: upsertCustomer,
    },
    {
      name: 'device',
      operation: 'data-device',
      summary: 'Create or update a device of a user',
      shape: deviceBody(prefixes),
      handle: registerDevice,
    },
  ] as const;

  return async (server) => {
    // The shapes document the routes; the family's own errors come from parse-data.ts.
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentDataError(toServiceError(error, request), { request, reply }),
    );
    for (const { name, operation, summary, shape, handle } of families) {
      const url = `/v1/${name}/:app_id`;
      server.post(url, {
        bodyLimit: mostBodyBytes,
        schema: {
          tags: ['Data'],
          summary,
          security: [{ dataKey: [] }, { bearer: [] }],
          body: shape,
          response: {
            200: dataAnswer,
            400: dataError,
            401: Type.Union([dataError, gatewayError]),
            403: gatewayError,
            409: dataError,
            413: dataError,
            415: dataError,
            429: dataError,
          },
        },
        onRequest: async (request, reply) => {
          if (request.headers['content-type'] === undefined) throw new ServiceError('MEDIA_TYPE_MISSING');
          if (isBearer(request)) await requireDataScope(request, reply);
          else await authenticate(deps, request);
        },
        handler: async (request, reply) => {
          checkWorkspace(request);
          await countCall(deps, operation, { request, reply });
          const body = readBody(request);
          const answer = await handle(deps, request, body);
          warnOfUnknownFields(deps, { request, reply }, findUnknownFields(shape as TObject, body));
          return presentAccepted(answer);
        },
      });
      server.route({
        method: ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        url,
        schema: { hide: true },
        handler: async () => {
          throw new ServiceError('METHOD_NOT_ALLOWED');
        },
      });
    }
  };
}

type Body = Record<string, unknown>;
type Call = { request: FastifyRequest; reply: FastifyReply };

function upsertCustomer(deps: DataRouteDependencies, request: FastifyRequest, body: Body) {
  const command = parseCustomer(body, deps.vendorHeaders.prefixes);
  return deps.data.upsertUser({ ...command, workspaceId: request.facts.workspaceId! }, onceOf(request));
}

function registerDevice(deps: DataRouteDependencies, request: FastifyRequest, body: Body) {
  const command = parseDevice(body, deps.vendorHeaders.prefixes);
  return deps.data.registerDevice({ ...command, workspaceId: request.facts.workspaceId! }, onceOf(request));
}

function onceOf(request: FastifyRequest) {
  return {
    key: request.headers['idempotency-key'] as string | undefined,
    rawBody: request.rawBody,
    requestId: makeRequestId(),
  };
}

/** Basic: workspace id and Data key (interface 5). */
async function authenticate({ data, serviceDomain }: DataRouteDependencies, request: FastifyRequest): Promise<void> {
  if (request.headers.authorization === undefined) throw new ServiceError('DATA_CREDENTIALS_MISSING');
  const basic = readBasic(request.headers);
  if (!basic) throw new ServiceError('DATA_CREDENTIALS_INVALID', { detail: 'the header is no Basic authentication' });
  const dataCenter = dataCenterOfHost(request.hostname, serviceDomain);
  const found = await data.authenticate({ workspaceId: basic.username, secret: basic.password, dataCenter });
  if (found.outcome !== 'ok')
    throw new ServiceError('DATA_CREDENTIALS_INVALID', { detail: 'unknown workspace or key' });
  request.facts.workspaceId = found.key.workspaceId;
  request.facts.keyId = found.key.id;
  if (!found.key.scopes.includes('data'))
    throw new ServiceError('SCOPE_MISSING', { detail: `a key of kind ${found.key.kind}` });
}

function checkWorkspace(request: FastifyRequest): void {
  const { app_id: appId } = request.params as { app_id: string };
  if (appId !== request.facts.workspaceId) throw new ServiceError('DATA_WORKSPACE_MISMATCH');
}

async function countCall(
  { data }: DataRouteDependencies,
  operation: 'data-customer' | 'data-device',
  { request, reply }: Call,
): Promise<void> {
  const grant = await data.count(operation, request.facts.workspaceId!);
  reply.headers({
    'x-ratelimit-limit': String(dataRequestsPerMinute),
    'x-ratelimit-remaining': String(grant.remaining),
    // Seconds, not an epoch: the sources differ (facts 0.1), and a wait is what a caller needs.
    'x-ratelimit-reset': String(grant.granted === 1 ? 60 : grant.retryAfterSeconds),
  });
  if (grant.granted === 0) throw new ServiceError('DATA_RATE_LIMITED', { retryAfterSeconds: grant.retryAfterSeconds });
}

function readBody(request: FastifyRequest): Body {
  const { body } = request;
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return body as Body;
}

function warnOfUnknownFields(
  { vendorHeaders }: DataRouteDependencies,
  { request, reply }: Call,
  paths: string[],
): void {
  if (paths.length === 0) return;
  const warning = unknownFieldsWarning(paths);
  request.facts.warnings.push(warning);
  reply.header(vendorHeaders.nameOf('x-*-warning'), warning);
}

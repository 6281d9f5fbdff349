import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { DataUseCases } from '../../app/data/data-use-cases.ts';
import { dataRequestsPerMinute } from '../../app/data/data-use-cases.ts';
import type { TokenUseCases } from '../../app/tokens/token-use-cases.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeRequireApiKey } from '../auth/api-key.ts';
import { gatewayError } from '../auth/shapes.ts';
import type { RouteFamily } from '../build-server.ts';
import { toServiceError } from '../to-service-error.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import type { VendorHeaders } from '../vendor-headers.ts';
import { answerLimit, checkDataWorkspace, onceOf, readDataBody } from './data-call.ts';
import type { DataBody, DataCall } from './data-call.ts';
import { addEventRoute } from './event-routes.ts';
import { parseCustomer, parseDevice } from './parse-data.ts';
import { presentAccepted, presentDataError } from './present.ts';
import { customerBody, dataAnswer, dataError, deviceBody } from './shapes.ts';

export type DataRouteDependencies = {
  data: DataUseCases;
  tokens: TokenUseCases;
  vendorHeaders: VendorHeaders;
  serviceDomain?: string | undefined;
};

const mostBodyBytes = 128 * 1024;

/** POST /v1/customer/{app_id}, /v1/device/{app_id} and /v1/event/{workspace_id} (facts 5): people, devices, events in. */
export function dataRoutes(deps: DataRouteDependencies): RouteFamily {
  const requireKey = makeRequireApiKey({ ...deps, authenticate: deps.data.authenticate }, 'data', {
    missing: 'DATA_CREDENTIALS_MISSING',
    invalid: 'DATA_CREDENTIALS_INVALID',
    notCovering: 'SCOPE_MISSING',
  });
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
          await requireKey(request, reply);
        },
        handler: async (request, reply) => {
          checkDataWorkspace(request, (request.params as { app_id: string }).app_id);
          await countCall(deps, operation, { request, reply });
          const body = readDataBody(request);
          const answer = await handle(deps, request, body);
          warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape });
          return presentAccepted(answer);
        },
      });
      refuseOtherMethods(server, url, ['POST']);
    }
    addEventRoute(server, { ...deps, requireKey });
  };
}

function upsertCustomer(deps: DataRouteDependencies, request: FastifyRequest, body: DataBody) {
  const command = parseCustomer(body, deps.vendorHeaders.prefixes);
  return deps.data.upsertUser({ ...command, workspaceId: request.facts.workspaceId! }, onceOf(request));
}

function registerDevice(deps: DataRouteDependencies, request: FastifyRequest, body: DataBody) {
  const command = parseDevice(body, deps.vendorHeaders.prefixes);
  return deps.data.registerDevice({ ...command, workspaceId: request.facts.workspaceId! }, onceOf(request));
}

async function countCall(
  { data }: DataRouteDependencies,
  operation: 'data-customer' | 'data-device',
  { request, reply }: DataCall,
): Promise<void> {
  const grant = await data.count(operation, request.facts.workspaceId!);
  answerLimit(reply, { grant, limit: dataRequestsPerMinute });
}

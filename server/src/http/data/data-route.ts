import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import type { DataOperation, DataUse } from '../../app/data/data-limits.ts';
import { countDataCall } from '../../app/data/count-data-call.ts';
import type { DataDependencies } from '../../app/data/data-dependencies.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeRequireApiKey } from '../auth/api-key.ts';
import type { BearerDependencies } from '../auth/bearer.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect } from '../openapi/describe-operation.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import type { VendorHeaders } from '../vendor-headers.ts';
import { checkIdentity } from './check-identity.ts';
import { answerLimit, checkDataWorkspace, readDataBody } from './data-call.ts';
import type { DataBody } from './data-call.ts';
import { dataErrors } from './present.ts';
import { dataAnswer, dataError } from './shapes.ts';
import { maxDataBodyBytes } from '../../domain/users/limits.ts';

export type DataRouteDependencies = DataDependencies & BearerDependencies & { vendorHeaders: VendorHeaders };

export type HandledCall = { request: FastifyRequest; body: DataBody; workspaceId: string };

/** What every route of the family shares. */
export const dataDialect: Dialect = {
  tag: 'Data',
  credentials: ['dataKey', 'bearer'],
  refusals: { errors: dataErrors, shape: dataError, codeOf: (name) => dataErrors[name]?.type },
  isLimited: true,
};

export type DataRoute = {
  operationId: string;
  url: string;
  summary: string;
  /** Where the workspace is named in addition to the credentials. */
  workspaceIn: { path: string } | { query: string };
  shape: TSchema;
  answer?: TSchema;
  /** Takes Idempotency-Key. */
  isRepeatable?: true;
  /** It is what is known of people, which the API log does not keep. */
  isAnswerSecret?: true;
  maxBodyBytes?: number;
  /** The limits that a request is counted in, always in one order. The first is shown when nothing was counted. */
  operations: readonly [DataOperation, ...DataOperation[]];
  /** What a body asks to be counted; it may be anything, and what counts nothing counts as one of the first. */
  countUses?: (body: unknown) => DataUse[];
  handle(deps: DataRouteDependencies, call: HandledCall): Promise<object>;
};

/** Adds one route of the data family (fact 5), which all have the same checks in the same order. */
export function addDataRoute(server: FastifyInstance, deps: DataRouteDependencies, route: DataRoute): void {
  const { url, shape, workspaceIn } = route;
  const requireKey = makeRequireApiKey(deps, 'data', {
    missing: 'DATA_CREDENTIALS_MISSING',
    invalid: 'DATA_CREDENTIALS_INVALID',
    notCovering: 'SCOPE_MISSING',
  });
  server.post(url, {
    bodyLimit: route.maxBodyBytes ?? maxDataBodyBytes,
    config: { dataOperation: route.operations[0], isAnswerSecret: route.isAnswerSecret === true },
    schema: describeOperation(dataDialect, {
      operationId: route.operationId,
      summary: route.summary,
      ...describeWorkspace(workspaceIn),
      body: shape,
      ...(route.isRepeatable ? { isRepeatable: true } : {}),
      answers: { 200: route.answer ?? dataAnswer },
      // Another workspace's id.
      refuses: [409],
    }),
    onRequest: async (request, reply) => {
      if (request.headers['content-type'] === undefined) throw new ServiceError('MEDIA_TYPE_MISSING');
      checkIdentity(request);
      await requireKey(request, reply);
    },
    handler: async (request, reply) => {
      checkDataWorkspace(request, readNamedWorkspace(request, workspaceIn));
      const workspaceId = request.facts.workspaceId!;
      // Counted before it is parsed, so that parsing is limited too.
      answerLimit(reply, await countDataCall(deps, { workspaceId, uses: usesOf(route, request.body) }));
      const body = readDataBody(request);
      const answer = await route.handle(deps, { request, body, workspaceId });
      warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape });
      return answer;
    },
  });
  refuseOtherMethods(server, url, ['POST']);
}

const workspaceNamed = Type.String({ description: 'The Workspace ID; the same as in the credentials' });

function describeWorkspace(workspaceIn: DataRoute['workspaceIn']) {
  if ('path' in workspaceIn) return { params: Type.Object({ [workspaceIn.path]: workspaceNamed }) };
  return { querystring: Type.Object({ [workspaceIn.query]: workspaceNamed }) };
}

function readNamedWorkspace(request: FastifyRequest, workspaceIn: DataRoute['workspaceIn']): unknown {
  if ('path' in workspaceIn) return (request.params as DataBody)[workspaceIn.path];
  return (request.query as DataBody)[workspaceIn.query];
}

function usesOf({ operations, countUses }: DataRoute, body: unknown): DataUse[] {
  const uses = countUses?.(body).filter(({ wanted }) => wanted > 0) ?? [];
  return uses.length > 0 ? uses : [{ operation: operations[0], wanted: 1 }];
}

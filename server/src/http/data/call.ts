import type { FastifyInstance, FastifyRequest, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { countDataCall } from '../../app/data.ts';
import type { DataOperation, DataUse, DataDependencies, UseGrant } from '../../app/data.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isWorkspaceId } from '../../domain/ids.ts';
import { maxDataBodyBytes } from '../../domain/limits/users.ts';
import { describeOperation } from '../openapi/operation.ts';
import type { Dialect } from '../openapi/operation.ts';
import { makeRequireApiKey, readBasic, isBearer } from '../route/auth.ts';
import type { BearerDependencies } from '../route/auth.ts';
import { refuseOtherMethods, makeRequestId, setRateLimitHeaders } from '../route/route.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import { warnOfUnknownFields } from '../route/warnings.ts';
import { dataErrors } from './answers.ts';
import { dataAnswer, dataError } from './shapes.ts';

export type DataRouteDependencies = DataDependencies & BearerDependencies & { vendorHeaders: VendorHeaders };

export type HandledCall = { request: FastifyRequest; body: DataBody; workspaceId: string };

/** The settings that all routes of the family share. */
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
  /** The part of the address that names the workspace, in addition to the credentials. */
  workspaceIn: { path: string } | { query: string };
  shape: TSchema;
  answer?: TSchema;
  /** Accepts Idempotency-Key. */
  isRepeatable?: true;
  /** The response contains user data, which the API log does not store. */
  isAnswerSecret?: true;
  maxBodyBytes?: number;
  /** The limits that a request counts against, always in the same order. The first is shown when nothing was counted. */
  operations: readonly [DataOperation, ...DataOperation[]];
  /**
   * Returns the uses to count for a body, which may be any value. If there are none, the request counts as one of the
   * first.
   */
  countUses?: (body: unknown) => DataUse[];
  handle(deps: DataRouteDependencies, call: HandledCall): Promise<object>;
};

/** Adds one route of the data family (fact 5). All routes have the same checks in the same order. */
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
      // The id of another workspace.
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
      // Counted before it is parsed, so that the limit also covers parsing.
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

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit that a route of the data family shows on its error responses. */
    dataOperation?: DataOperation;
  }
}

export type DataBody = Record<string, unknown>;

/** Returns the body as an object. @throws ServiceError BODY_EMPTY, BODY_MALFORMED */
export function readDataBody({ body }: FastifyRequest): DataBody {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return body as DataBody;
}

/**
 * Checks that the path or the query names the workspace of the credentials.
 *
 * @throws ServiceError DATA_WORKSPACE_MISSING, DATA_WORKSPACE_INVALID, DATA_WORKSPACE_MISMATCH
 */
function checkDataWorkspace(request: FastifyRequest, named: unknown): void {
  if (named === undefined || named === '') throw new ServiceError('DATA_WORKSPACE_MISSING');
  if (typeof named !== 'string' || !isWorkspaceId(named)) throw new ServiceError('DATA_WORKSPACE_INVALID');
  if (named !== request.facts.workspaceId) throw new ServiceError('DATA_WORKSPACE_MISMATCH');
}

/** Sets the headers for a limit, per minute. @throws ServiceError DATA_RATE_LIMITED when nothing was granted */
export function answerLimit(reply: FastifyReply, grant: UseGrant): void {
  showLimit(reply, grant);
  if (grant.granted === 0) throw new ServiceError('DATA_RATE_LIMITED', { retryAfterSeconds: grant.retryAfterSeconds });
}

export function showLimit(reply: FastifyReply, { limit, remaining, retryAfterSeconds }: UseGrant): void {
  setRateLimitHeaders(reply, { limit, remaining, resetSeconds: retryAfterSeconds > 0 ? retryAfterSeconds : 60 });
}

/** Returns the data that identifies a repeat of this call (decision D4). */
export function onceOf(request: FastifyRequest) {
  return {
    key: request.headers['idempotency-key'] as string | undefined,
    rawBody: request.rawBody,
    requestId: makeRequestId(),
  };
}

/**
 * Rejects a header without an identity, with the texts of fact 5. Does not disclose whether a workspace exists: only a
 * malformed id is distinguished from a wrong secret.
 *
 * @throws ServiceError DATA_IDENTITY_MISSING, DATA_IDENTITY_INVALID, DATA_APP_KEY_MISSING, DATA_APP_SECRET_MISSING,
 * DATA_APP_ID_INVALID
 */
function checkIdentity(request: FastifyRequest): void {
  const { authorization } = request.headers;
  // Without the header the family's own check rejects the call.
  if (authorization === undefined || isBearer(request)) return;
  if (/^(basic)?\s*$/i.test(authorization)) throw new ServiceError('DATA_IDENTITY_MISSING');
  const basic = readBasic(request.headers);
  if (!basic) throw new ServiceError('DATA_IDENTITY_INVALID');
  if (basic.username === '') throw new ServiceError('DATA_APP_KEY_MISSING');
  if (basic.password === '') throw new ServiceError('DATA_APP_SECRET_MISSING');
  if (!isWorkspaceId(basic.username)) throw new ServiceError('DATA_APP_ID_INVALID');
}

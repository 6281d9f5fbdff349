import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { Type } from 'typebox';
import type { TObject, TSchema } from 'typebox';
import { countDataCall, peekDataCall } from '../../app/data.ts';
import type { DataDependencies, DataOperation, DataUse, UseGrant } from '../../app/data.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isWorkspaceId } from '../../domain/ids.ts';
import { maxDataBodyBytes } from '../../domain/limits/users.ts';
import { acrossOf, isBearer, keyCallerOf, makeRequireApiKey, readBasic } from '../route/auth.ts';
import type { BearerDependencies, KeyCaller } from '../route/auth.ts';
import { makeRequestId, route, setRateLimitHeaders } from '../route/route.ts';
import type { Call, Route, RouteDeclaration, RouteDialect } from '../route/route.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import type { AnsweredCall } from '../route/warnings.ts';
import { dataAnswer, dataError, dataErrors, presentDataError } from './answers.ts';

export type DataRouteDependencies = DataDependencies & BearerDependencies & { vendorHeaders: VendorHeaders };

/** Makes the dialect of the data family (fact 5): Basic with the workspace and its data key, or Bearer. */
export function makeDataDialect(deps: DataRouteDependencies): RouteDialect<KeyCaller> {
  const requireKey = makeRequireApiKey(deps, 'data', {
    missing: 'DATA_CREDENTIALS_MISSING',
    invalid: 'DATA_CREDENTIALS_INVALID',
    notCovering: 'SCOPE_MISSING',
  });
  return {
    tag: 'Data',
    credentials: ['dataKey', 'bearer'],
    refusals: { errors: dataErrors, shape: dataError, codeOf: (name) => dataErrors[name]?.type },
    isLimited: true,
    vendorHeaders: deps.vendorHeaders,
    onRequest: [requireMediaType, checkIdentity, requireKey],
    callerOf: keyCallerOf,
    async presentError(error, call) {
      await showLimitOfRefusal(deps, call);
      return presentDataError(error, call);
    },
  };
}

type DataRoute<Params extends TObject, Input> = Omit<
  RouteDeclaration<KeyCaller, Params, Input>,
  'method' | 'answers' | 'refuses' | 'config' | 'admit' | 'params' | 'querystring'
> & {
  /** The part of the address that names the workspace, in addition to the credentials. */
  workspaceIn: { path: string } | { query: string };
  answer?: TSchema;
  /** The response contains user data, which the API log does not store. */
  isAnswerSecret?: true;
  /** The limits that a request counts against, always in the same order. The first is shown when nothing was counted. */
  operations: readonly [DataOperation, ...DataOperation[]];
  /**
   * Returns the uses to count for a body, which may be any value. If there are none, the request counts as one of the
   * first.
   */
  countUses?: (body: unknown) => DataUse[];
};

export type DeclareDataRoute = <Input = undefined>(declared: DataRoute<TObject, Input>) => Route;

/** Makes the function that declares a route which names its workspace in the address. */
export function makeDataRoute(deps: DataRouteDependencies): DeclareDataRoute {
  const dialect = makeDataDialect(deps);
  return ({ workspaceIn, answer = dataAnswer, isAnswerSecret, operations, countUses, ...declared }) =>
    route(dialect, {
      maxBodyBytes: maxDataBodyBytes,
      ...declared,
      method: 'POST',
      ...describeWorkspace(workspaceIn),
      answers: { 200: answer },
      // The id of another workspace.
      refuses: [409],
      config: { dataOperation: operations[0], ...(isAnswerSecret && { isAnswerSecret }) },
      async admit({ request, reply, params, query, workspaceId }) {
        const named = 'path' in workspaceIn ? (params as Body)[workspaceIn.path] : undefined;
        checkDataWorkspace(workspaceId, named ?? namedInQuery(query));
        // Counted before it is parsed, so that the limit also covers parsing.
        const uses = usesOf({ operations, countUses }, request.body);
        setLimitHeaders(reply, await countDataCall(deps, { workspaceId, uses }));
      },
    });
}

/** Returns the same route with the workspace in the query instead of the path, as some clients send it. */
export function inQuery(declared: Route): Route {
  const { params: _params, ...schema } = declared.options.schema as FastifySchema & { operationId: string };
  const url = declared.options.url.replace(/\/:\w+$/, '');
  const described = {
    ...schema,
    operationId: `${schema.operationId}ByQuery`,
    ...describeWorkspace({ query: 'app_id' }),
  };
  return { ...declared, options: { ...declared.options, url, schema: described } };
}

function namedInQuery(query: Body): unknown {
  return query.app_id ?? query.workspace_id;
}

type Body = Record<string, unknown>;

const workspaceNamed = Type.String({ description: 'The Workspace ID; the same as in the credentials' });

function describeWorkspace(workspaceIn: { path: string } | { query: string }) {
  if ('path' in workspaceIn) return { params: Type.Object({ [workspaceIn.path]: workspaceNamed }) };
  return { querystring: Type.Object({ [workspaceIn.query]: workspaceNamed }) };
}

type Counted = {
  operations: readonly [DataOperation, ...DataOperation[]];
  countUses: ((body: unknown) => DataUse[]) | undefined;
};

function usesOf({ operations, countUses }: Counted, body: unknown): DataUse[] {
  const uses = countUses?.(body).filter(({ wanted }) => wanted > 0) ?? [];
  return uses.length > 0 ? uses : [{ operation: operations[0], wanted: 1 }];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit that a route of the data family shows on its error responses. */
    dataOperation?: DataOperation;
  }
}

/** Requires a media type, also of a call without a body. */
export async function requireMediaType({ headers }: FastifyRequest): Promise<void> {
  if (headers['content-type'] === undefined) throw new ServiceError('MEDIA_TYPE_MISSING');
}

/**
 * Checks that the path or the query names the workspace of the credentials.
 *
 * @throws ServiceError DATA_WORKSPACE_MISSING, DATA_WORKSPACE_INVALID, DATA_WORKSPACE_MISMATCH
 */
function checkDataWorkspace(workspaceId: string, named: unknown): void {
  if (named === undefined || named === '') throw new ServiceError('DATA_WORKSPACE_MISSING');
  if (typeof named !== 'string' || !isWorkspaceId(named)) throw new ServiceError('DATA_WORKSPACE_INVALID');
  if (named !== workspaceId) throw new ServiceError('DATA_WORKSPACE_MISMATCH');
}

/** Sets the headers for a limit, per minute. @throws ServiceError DATA_RATE_LIMITED when nothing was granted */
export function setLimitHeaders(reply: FastifyReply, grant: UseGrant): void {
  showLimit(reply, grant);
  if (grant.granted === 0) throw new ServiceError('DATA_RATE_LIMITED', { retryAfterSeconds: grant.retryAfterSeconds });
}

function showLimit(reply: FastifyReply, { limit, remaining, retryAfterSeconds }: UseGrant): void {
  setRateLimitHeaders(reply, { limit, remaining, resetSeconds: retryAfterSeconds > 0 ? retryAfterSeconds : 60 });
}

/**
 * Adds the state of the limit to every response to a known caller (fact 0.1), even if the call was rejected before it was
 * counted.
 */
async function showLimitOfRefusal(deps: DataRouteDependencies, { request, reply }: AnsweredCall): Promise<void> {
  const operation = request.routeOptions.config.dataOperation;
  const { workspaceId } = request.facts;
  if (operation === undefined || workspaceId === undefined || reply.hasHeader('x-ratelimit-limit')) return;
  // Outside of the handler the call is not bound to a workspace. If the limit cannot be read, the error response is still sent.
  const grant = await peekDataCall(acrossOf(deps), { workspaceId, operation }).catch(() => undefined);
  if (grant) showLimit(reply, grant);
}

/** Returns the data that identifies a repeat of this call (decision D4), and the id of its response. */
export function onceOf({ once }: Pick<Call, 'once'>) {
  return { ...once, requestId: makeRequestId() };
}

/**
 * Rejects a header without an identity, with the texts of fact 5. Does not disclose whether a workspace exists: only a
 * malformed id is distinguished from a wrong secret.
 *
 * @throws ServiceError DATA_IDENTITY_MISSING, DATA_IDENTITY_INVALID, DATA_APP_KEY_MISSING, DATA_APP_SECRET_MISSING,
 * DATA_APP_ID_INVALID
 */
async function checkIdentity(request: FastifyRequest): Promise<void> {
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

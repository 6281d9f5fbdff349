import { randomInt } from 'node:crypto';
import type {
  FastifyContextConfig,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify';
import type { Static, TObject } from 'typebox';
import { ServiceError } from '../../domain/errors.ts';
import { describeOperation } from '../openapi/operation.ts';
import type { Dialect, Operation } from '../openapi/operation.ts';
import { toServiceError } from './errors.ts';
import type { VendorHeaders } from './vendor-headers.ts';
import { warnOfUnknownFields, warnOfUnknownNames } from './warnings.ts';
import type { AnsweredCall } from './warnings.ts';

/**
 * Declares one route. A call passes these steps in order: `onEveryCall`, `onRequest`, media type and syntax of the body,
 * `preHandler`, `admit`, the check that the body is an object, `read`, `handle`, warnings of unknown fields.
 */
export function route<Caller extends object, Params extends TObject = TObject, Input = undefined>(
  dialect: RouteDialect<Caller>,
  declared: RouteDeclaration<Caller, Params, Input>,
): Route {
  const { method, url, maxBodyBytes, config, isHeadRefused } = declared;
  const status = findOnlyStatus(declared);
  const options: RouteOptions = {
    method,
    url,
    schema: describeOperation(dialect, declared),
    ...(maxBodyBytes === undefined ? {} : { bodyLimit: maxBodyBytes }),
    config: { ...dialect.config, ...config },
    ...(isHeadRefused ? { exposeHeadRoute: false } : {}),
    ...(dialect.areShapesChecked ? {} : { validatorCompiler: () => () => true }),
    onRequest: [...hooksOfEveryCall(dialect), ...(dialect.onRequest ?? [])].map(makeRouteHook),
    ...(dialect.preHandler === undefined ? {} : { preHandler: dialect.preHandler.map(makeRouteHook) }),
    errorHandler: makeErrorHandler(dialect),
    async handler(request, reply) {
      const call = toCall(dialect, { request, reply }) as Call<Caller, Static<Params>>;
      if (declared.admit) await declared.admit(call);
      if (declared.body) call.body = (dialect.readBody ?? readObject)(request);
      const read = declared.read?.(call) as Input | Promise<Input>;
      const input = read instanceof Promise ? await read : read;
      const parsed: HandledCall<Caller, Params, Input> = {
        ...call,
        input,
        isWarned: false,
        warn: () => warnOnce(dialect, declared, parsed),
      };
      const answer = await declared.handle(parsed);
      parsed.warn();
      if (answer === reply) return reply;
      if (status !== undefined) reply.code(status);
      return status === 204 ? reply.send() : answer;
    },
  };
  return { rules: dialect, options, isBodyIgnored: declared.isBodyIgnored === true };
}

export type Route = { rules: RouteRules; options: RouteOptions; isBodyIgnored: boolean };

/** Declares a route that the OpenAPI document omits. */
export function hiddenRoute<Caller extends object>(rules: RouteRules<Caller>, hidden: HiddenRoute<Caller>): Route {
  const { method, url, querystring, config, handle } = hidden;
  const options: RouteOptions = {
    method,
    url,
    schema: { hide: true, ...(querystring === undefined ? {} : { querystring }) },
    config: { ...rules.config, ...config },
    onRequest: [...hooksOfEveryCall(rules), ...(rules.onRequest ?? [])].map(makeRouteHook),
    errorHandler: makeErrorHandler(rules),
    handler: async (request, reply) => handle(toCall(rules, { request, reply }) as Call<Caller>),
  };
  return { rules, options, isBodyIgnored: false };
}

export type HiddenRoute<Caller extends object> = {
  method: HTTPMethods;
  url: string;
  querystring?: TObject;
  config?: FastifyContextConfig;
  /** Sends the response, or returns its body. */
  handle: (call: Call<Caller>) => unknown;
};

/** The rules that all routes of a family share: documentation, credentials, and the shape of errors. */
export type RouteDialect<Caller extends object = object> = Dialect &
  RouteRules<Caller> & {
    /** Names the header of warnings; left out if shapes reject unknown fields. */
    vendorHeaders?: Pick<VendorHeaders, 'nameOf'>;
    /** Fastify validates requests by their shapes. Otherwise shapes only document, and parsers report the family's errors. */
    areShapesChecked?: true;
    /** Checks of credentials that come after the syntax of the body; `handle` runs for the workspace that they find. */
    preHandler?: readonly Hook[];
    /** Returns the body as an object; `readObject` unless given. */
    readBody?: (request: FastifyRequest) => Body;
  };

/** How a route treats its callers. */
export type RouteRules<Caller extends object = object> = {
  /** Runs first, also for methods that the address does not accept. */
  onEveryCall?: Hook;
  /** Checks before the body is read: credentials, limits, headers. A hook that sends the response ends the call. */
  onRequest?: readonly Hook[];
  /** Returns the caller that `onRequest` has authenticated. */
  callerOf: (request: FastifyRequest) => Caller;
  /** Of every route, also for methods that the address does not accept. */
  config?: FastifyContextConfig;
  /** Other methods are refused with 405 unless given. */
  otherMethods?: 'not found';
  presentError: (error: ServiceError, call: AnsweredCall) => FastifyReply | Promise<FastifyReply>;
};

/** Throws, or rejects, to refuse the call. */
export type Hook = (request: FastifyRequest, reply: FastifyReply) => void | Promise<void>;

export type Body = Record<string, unknown>;

export type RouteDeclaration<Caller extends object, Params extends TObject, Input> = Omit<Operation, 'params'> & {
  method: HTTPMethods;
  url: string;
  params?: Params;
  maxBodyBytes?: number;
  config?: FastifyContextConfig;
  /** A GET whose HEAD is refused; otherwise Fastify answers HEAD as GET without the body. */
  isHeadRefused?: true;
  /** Accepts any body of any media type, as clients send a content type with an empty body. */
  isBodyIgnored?: true;
  /** Checks that need the database of the workspace or the path, before the body is examined; counts limits. */
  admit?: (call: Call<Caller, Static<Params>>) => Promise<void>;
  /** Parses the request into what `handle` gets as `input`. */
  read?: (call: Call<Caller, Static<Params>>) => Input | Promise<Input>;
  /**
   * Returns the body of the response, which is sent with the status in `answers`. If `answers` has several, it sets the
   * status. It returns `reply` if it has sent the response itself.
   */
  handle: (call: ParsedCall<Caller, Params, Input>) => unknown;
  /** The shape whose fields are known, if it is not `body` for every call. */
  shapeOf?: (input: Input) => object;
  /** Returns the paths of unknown fields that the parser found, reported after those of the shape. */
  findUnknown?: (call: ParsedCall<Caller, Params, Input>) => string[];
};

/** A call that has passed the checks of `onRequest`. */
export type Call<Caller extends object = object, Params = unknown> = Caller &
  AnsweredCall & {
    params: Params;
    query: Record<string, unknown>;
    /** Empty in `admit`, and for an operation without a body. */
    body: Body;
    /** Identifies a repeat of the call (decision D4). */
    once: { key: string | undefined; rawBody: string };
  };

type ParsedCall<Caller extends object, Params extends TObject, Input> = Call<Caller, Static<Params>> & {
  input: Input;
  /** Warns of unknown fields now, so that a refusal reports them too. Otherwise only a success reports them. */
  warn: () => void;
};

type HandledCall<Caller extends object, Params extends TObject, Input> = ParsedCall<Caller, Params, Input> & {
  isWarned: boolean;
};

/** Adds routes. Every other method of their addresses is answered with 405, in the dialect of the address. */
export async function addRoutes(server: RouteScope, routes: readonly Route[]): Promise<void> {
  for (const { options, isBodyIgnored } of routes) {
    if (isBodyIgnored) await server.register(async (scope) => ignoreBodies(scope).route(options));
    else server.route(options);
  }
  for (const [url, declared] of Map.groupBy(routes, ({ options }) => options.url))
    if (declared[0]!.rules.otherMethods !== 'not found') refuseOthers(server, url, declared);
}

type RouteScope = Parameters<FastifyPluginAsync>[0];

function ignoreBodies(scope: RouteScope): RouteScope {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null));
  return scope;
}

/** The order in which `Allow` lists methods. */
const listedMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

function refuseOthers(server: RouteScope, url: string, declared: readonly Route[]): void {
  const { rules } = declared[0]!;
  const taken = new Set(declared.map(({ options }) => options.method as string));
  const allow = listedMethods.filter((method) => taken.has(method)).join(', ');
  // Fastify adds HEAD to a route that accepts GET.
  if (declared.some(({ options }) => options.method === 'GET' && options.exposeHeadRoute !== false)) taken.add('HEAD');
  const refuse = (): never => {
    throw new ServiceError('METHOD_NOT_ALLOWED', { members: { allow } });
  };
  server.route({
    method: server.supportedMethods.filter((method) => !taken.has(method)),
    url,
    schema: { hide: true },
    exposeHeadRoute: false,
    ...(rules.config === undefined ? {} : { config: rules.config }),
    // Runs before the body is parsed: a rejected method's body, or its absence, must not matter (QUERY requires a content
    // type).
    onRequest: [...hooksOfEveryCall(rules), refuse].map(makeRouteHook),
    errorHandler: makeErrorHandler(rules),
    handler: refuse,
  });
}

/** Most hooks only look at headers: a promise for each of them, for every call, would cost more than what they do. */
function makeRouteHook(hook: Hook): onRequestHookHandler {
  return (request, reply, done) => {
    const pending = hook(request, reply);
    if (pending === undefined) done();
    else pending.then(() => done(), done);
  };
}

function hooksOfEveryCall({ onEveryCall }: RouteRules): Hook[] {
  return onEveryCall ? [onEveryCall] : [];
}

function makeErrorHandler({ presentError }: RouteRules): NonNullable<RouteOptions['errorHandler']> {
  return (error, request, reply) => presentError(toServiceError(error, request), { request, reply });
}

/** Returns the status of a successful response, or undefined if the operation has several. */
function findOnlyStatus({ answers }: Operation): number | undefined {
  const statuses = Object.keys(answers).map(Number);
  return statuses.length === 1 ? statuses[0] : undefined;
}

function toCall({ callerOf }: RouteRules, { request, reply }: AnsweredCall): Call {
  return {
    ...callerOf(request),
    request,
    reply,
    params: request.params,
    query: request.query as Record<string, unknown>,
    body: {},
    once: { key: request.headers['idempotency-key'] as string | undefined, rawBody: request.rawBody },
  };
}

/** @throws ServiceError BODY_EMPTY, BODY_MALFORMED */
export function readObject({ body }: Pick<FastifyRequest, 'body'>): Body {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'the body must be a JSON object' });
  return body as Body;
}

function warnOnce<Caller extends object, Params extends TObject, Input>(
  { vendorHeaders }: RouteDialect<Caller>,
  { body: shape, shapeOf, findUnknown }: RouteDeclaration<Caller, Params, Input>,
  call: HandledCall<Caller, Params, Input>,
): void {
  if (call.isWarned) return;
  call.isWarned = true;
  if (!vendorHeaders) return;
  const { request, reply } = call;
  if (shape) warnOfUnknownFields(vendorHeaders, call.body, { request, reply, shape: shapeOf?.(call.input) ?? shape });
  if (findUnknown) warnOfUnknownNames(vendorHeaders, call, findUnknown(call));
}

/** The calls allowed per minute, the calls that are left, and the seconds until more are available. */
export type RateLimitState = { limit: number; remaining: number; resetSeconds: number };

/** Sets the headers. The reset is in seconds, not an epoch: the sources differ (fact 0.1), and a caller needs the wait. */
export function setRateLimitHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: RateLimitState): void {
  reply.headers({
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetSeconds),
  });
}

/** Returns eight letters, as callers of these families expect. With this id, an operator finds the call in the API log. */
export function makeRequestId(): string {
  return Array.from({ length: 8 }, () => String.fromCharCode(97 + randomInt(26))).join('');
}

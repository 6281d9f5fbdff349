import type { IncomingHttpHeaders } from 'node:http';
import AjvCompiler from '@fastify/ajv-compiler';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import type { Clock } from '../../clock.ts';
import { namesUnknownDataCenter } from '../../domain/access/data-centers.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxBodyBytes } from '../../domain/limits/access.ts';
import { maxCustomerIdBytes } from '../../domain/limits/users.ts';
import type { Tracing } from '../../domain/operations/tracing.ts';
import type { Logger } from '../../log.ts';
import { describeRoutes } from '../openapi/document.ts';
import type { Description } from '../openapi/document.ts';
import { toServiceError, presentDefaultError } from '../route/errors.ts';
import { decodeBody, readJsonBody } from '../route/json-body.ts';
import { restrictBrowser } from './browser-headers.ts';
import { callerAddress, makeTrustProxy } from './call-origin.ts';
import type { TrustedProxies } from './call-origin.ts';
import { beginCallTrace, endCallTrace } from './call-traces.ts';
import type { CallTrace } from './call-traces.ts';
import { answerUnroutable, makeListener } from './listener.ts';
import type { ServedCertificate } from './listener.ts';

/** Facts about a call that are collected while it is handled, for the log and the API log. */
export type CallFacts = {
  workspaceId?: string;
  keyId?: string;
  /** The campaign that the call created or joined. */
  campaignId?: string;
  /** Public warnings, sent as X-SVC-Warning (decision D5). */
  warnings: string[];
  errorName?: string;
  /** Private: the reason for the rejection. */
  errorDetail?: string;
} & CallTrace;

declare module 'fastify' {
  interface FastifyRequest {
    facts: CallFacts;
    /** The body as sent; signatures and idempotency cover these bytes. */
    rawBody: string;
    /** The response body, if it is text. */
    answerText: string | undefined;
    /** The only workspace whose rows this call may access; undefined until a credential or a console user names it. */
    boundWorkspaceId: string | undefined;
  }
  interface FastifyContextConfig {
    /** The API log omits calls of this route. */
    isUnrecorded?: boolean;
    /** The body contains a credential, so it is never logged. */
    isBodySecret?: boolean;
    /** Returns the part of the body that the API log stores, if not all of it. */
    keptBody?: (request: FastifyRequest) => string;
    /** A successful response contains a credential or user data, so the API log does not store it either. */
    isAnswerSecret?: boolean;
  }
}

export type CompletedCall = Call & {
  /** Undefined for calls with credentials in the body. */
  requestBody?: string;
  /** Undefined for responses with credentials, and for files. */
  responseBody?: string;
  /** JSON of the listed headers of both request and response. */
  headers: string;
  /** See `callerAddress`. */
  callerAddress: string;
};

type Call = {
  receivedAt: Date;
  method: string;
  /** Path without the query, which may contain secrets that a caller put there by mistake. */
  path: string;
  route: string;
  status: number;
  durationMilliseconds: number;
  facts: CallFacts;
};

export type ServerOptions = {
  log: Logger;
  clock: Clock;
  /** The proxies that are trusted to send X-Forwarded-For. */
  trustProxy: TrustedProxies;
  /** Domain with the hosts that name a data center (decision D1). */
  serviceDomain?: string | undefined;
  /** With a certificate, callers are served by https only. */
  certificate?: ServedCertificate | undefined;
  /** True if callers reach this server by https, also through a proxy. */
  isSecure?: boolean;
  /** Further data for the OpenAPI document: the address of the node, its version, the abbreviation in header names. */
  described?: Partial<Description>;
  /** Receives each finished call, for the API log. */
  onCall?: (call: CompletedCall) => void;
  /** Makes each call a step of a trace. */
  tracing?: Tracing | undefined;
  /** Runs the handler of a call for this workspace: the database gives it access to no other. */
  inWorkspace?: InWorkspace;
};

export type InWorkspace = <Result>(workspaceId: string, work: () => Result) => Result;

export type RouteFamily = FastifyPluginAsync;

/**
 * Builds the HTTP server from route families; each has its own scope with its own body parsers and error shape. The server
 * does not listen yet, so tests call it with `inject`.
 */
export async function buildServer(options: ServerOptions, families: RouteFamily[]): Promise<FastifyInstance> {
  const server = Fastify({
    // We log one line per call, see below; Fastify's two lines would log URLs with their query.
    logger: false,
    trustProxy: makeTrustProxy(options.trustProxy),
    // Unless a route sets a lower limit (fault 3.5).
    bodyLimit: maxBodyBytes,
    serverFactory: (handle) => makeListener(handle, options.certificate),
    // `makeListener` installs its own handler, which each of its addresses needs.
    clientErrorHandler: () => undefined,
    forceCloseConnections: 'idle',
    // A request that arrives while the node stops is handled as usual: everything behind the server stops later.
    return503OnClosing: false,
    rewriteUrl: ({ url = '' }) => withoutLastSlash(url),
    // Paths of users have their customer id.
    routerOptions: { maxParamLength: maxCustomerIdBytes },

    frameworkErrors: (error, request, reply) => {
      // No hook runs for these answers.
      restrictBrowser(reply, { isSecure: options.isSecure === true });
      answerUnroutable(error, request, reply);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  server.decorateRequest('facts', null as unknown as CallFacts);
  server.decorateRequest('rawBody', '');
  server.decorateRequest('answerText', undefined);
  server.decorateRequest('boundWorkspaceId', undefined);
  if (options.inWorkspace) bindHandlers(server as unknown as FastifyInstance, options.inWorkspace);
  // The hooks of every call return no promise: one for each of them would cost more than most of what they do.
  server.addHook('onRequest', (request, reply, done) => {
    request.facts = { warnings: [], ...beginCallTrace(options.tracing, { request, reply }) };
    done();
  });
  refuseMalformedRequests(server as unknown as FastifyInstance, { serviceDomain: options.serviceDomain });
  // Response schemas only describe; the presenters alone decide what is sent. A serializer built from a schema would drop
  // members it does not list, or turn an error of the gateway into a 500.
  server.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  server.setValidatorCompiler(makeLazyValidators());
  // eslint-disable-next-line max-params -- Fastify's signature
  server.addHook('preParsing', (request, reply, payload, done) => done(null, decodeBody(request, reply, payload)));
  server.removeContentTypeParser(['application/json', 'text/plain']);
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, readJsonBody);
  server.setErrorHandler((error, request, reply) => presentDefaultError(toServiceError(error, request), reply));
  server.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ code: 404, status: 'error', reason: 'Page not found. Please recheck the URL' }),
  );
  // eslint-disable-next-line max-params -- Fastify's signature
  server.addHook('onSend', (request, reply, payload, done) => {
    restrictBrowser(reply, { isSecure: options.isSecure === true });
    if (typeof payload === 'string') request.answerText = payload;
    done(null, payload);
  });
  server.addHook('onResponse', (request, reply, done) => {
    const call = toCall(request, { reply, now: options.clock.now() });
    logCall(options.log, call);
    const { workspaceId, errorName } = call.facts;
    endCallTrace(call.facts, { ...call, ...call.facts, workspaceId, errorName });
    if (request.routeOptions.config.isUnrecorded !== true) options.onCall?.(withBothSides(call, { request, reply }));
    done();
  });
  const { serviceDomain } = options;
  const described = { headerPrefix: 'SVC', version: '0.0.0', serviceDomain, ...options.described };
  await describeRoutes(server as unknown as FastifyInstance, described);
  for (const family of families) await server.register(family);
  return server as unknown as FastifyInstance;
}

/** Pages, whose relative links need the slash. */
const pages = /^\/(?:$|\?|console\/|docs\/)/;

/** Some clients of the interface end a path with a slash: it is the same route. Paths of pages stay. */
function withoutLastSlash(url: string): string {
  const end = url.indexOf('?') === -1 ? url.length : url.indexOf('?');
  if (url[end - 1] !== '/' || pages.test(url)) return url;
  return url.slice(0, end - 1) + url.slice(end);
}

/**
 * Runs every handler, present and future, for the workspace of its caller. A handler without a workspace runs for none; a
 * use case that was not given a wider database then finds nothing.
 */
function bindHandlers(server: FastifyInstance, inWorkspace: InWorkspace): void {
  server.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function bound(request, reply) {
      const { boundWorkspaceId } = request;
      if (boundWorkspaceId === undefined) return handler.call(this, request, reply);
      return inWorkspace(boundWorkspaceId, () => handler.call(this, request, reply));
    };
  });
}

function toCall(request: FastifyRequest, { reply, now }: { reply: FastifyReply; now: Date }): Call {
  const milliseconds = reply.elapsedTime;
  return {
    receivedAt: new Date(now.getTime() - milliseconds),
    method: request.method,
    path: request.url.split('?', 1)[0]!,
    route: request.routeOptions.url ?? '(unknown)',
    status: reply.statusCode,
    durationMilliseconds: milliseconds,
    facts: request.facts ?? { warnings: [] },
  };
}

type Sides = { request: FastifyRequest; reply: FastifyReply };

function withBothSides(call: Call, { request, reply }: Sides): CompletedCall {
  const { answerText } = request;
  const { config } = request.routeOptions;
  const keptBody = bodyToKeep(request);
  const isAnswerSecret = config.isAnswerSecret === true && reply.statusCode < 400;
  return {
    ...call,
    ...(keptBody === '' ? {} : { requestBody: keptBody }),
    ...(answerText === undefined || isAnswerSecret ? {} : { responseBody: answerText }),
    headers: selectHeaders({ request: request.headers, response: reply.getHeaders() }),
    callerAddress: callerAddress(request),
  };
}

/** The body of an unknown path is not stored: it may have been meant for a path that accepts credentials. */
function bodyToKeep(request: FastifyRequest): string {
  const { isBodySecret, keptBody } = request.routeOptions.config;
  if (request.is404 || isBodySecret === true) return '';
  return keptBody?.(request) ?? request.rawBody;
}

/**
 * Without the error's detail, which may repeat what the caller sent: an erased user stays in a file that nobody can search. The
 * API log has it.
 */
function logCall(log: Logger, call: Call): void {
  const line = {
    method: call.method,
    route: call.route,
    status: call.status,
    ms: Math.round(call.durationMilliseconds * 10) / 10,
    workspace: call.facts.workspaceId,
    campaign: call.facts.campaignId,
    error: call.facts.errorName,
    requestId: call.facts.requestId,
    traceId: call.facts.trace?.traceId,
  };
  if (call.status >= 500) log.error(line, 'call failed');
  else log.info(line, 'call answered');
}

/**
 * Rejects requests that no route should have to handle, before authentication and in the shape of the called route: a host
 * that two parties may read differently, a data center that does not exist, and NUL in the address, which the database
 * cannot store.
 */
function refuseMalformedRequests(
  server: FastifyInstance,
  { serviceDomain }: { serviceDomain: string | undefined },
): void {
  server.addHook('onRequest', (request, _reply, done) => {
    refuseUnclearHost(request);
    if (serviceDomain !== undefined && namesUnknownDataCenter(request.hostname, serviceDomain))
      throw new ServiceError('HOST_NOT_SERVED', { detail: 'no such data center' });
    // In a path or a query NUL can only be written like this: the address is ASCII (RFC 3986 §2.1).
    if (request.url.includes('%00')) throw malformed('the address holds NUL');
    done();
  });
}

const host = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+;=-]*)(?::\d{0,5})?$/;

/** RFC 9112 §3.2: exactly one Host of the right form, or 400; a proxy may have used another Host than we would. */
function refuseUnclearHost({ raw }: FastifyRequest): void {
  let hosts = 0;
  for (let index = 0; index < raw.rawHeaders.length; index += 2) {
    const name = raw.rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) throw malformed('there are two Host headers');
  if (hosts === 0 && raw.httpVersion !== '1.0') throw malformed('the Host header is missing');
  if (!host.test(raw.headers.host ?? '')) throw malformed('the Host header is not a valid host name');
}

function malformed(reason: string): ServiceError {
  return new ServiceError('REQUEST_MALFORMED', { reason });
}

type Validate = ReturnType<FastifySchemaCompiler<unknown>>;

/**
 * Makes the validators of the routes, each compiled by the first request that needs it. If compiled with their routes, as
 * Fastify does, they take an eighth of the processor time of a start (1.15 s of 1.31 s remain). A test checks that each
 * compiles.
 */
export function makeLazyValidators(): FastifySchemaCompiler<unknown> {
  // The defaults would turn "ANDROID" into ["ANDROID"], drop unknown members and fill in values (decision 0007).
  const customOptions = { coerceTypes: false, useDefaults: false, removeAdditional: false, allErrors: false };
  const compile = AjvCompiler()({}, { customOptions }) as FastifySchemaCompiler<unknown>;
  return (route) => {
    let compiled: Validate | undefined;
    const validate: Validate = (value) => {
      compiled ??= compile(route);
      const result = compiled(value);
      // Fastify reads the errors from the function, immediately afterwards.
      validate.errors = compiled.errors ?? null;
      return result;
    };
    return validate;
  };
}

/**
 * Headers that describe how a call was made; all others may contain anything and are omitted. Those with an abbreviation have
 * any in their names: `x-svc-appkey`, `svc-appkey`. One expression for all names, as every call is compared with it.
 */
const loggedRequestHeaders =
  /^(?:content-type|accept|user-agent|idempotency-key|webhook-id|webhook-timestamp|x-request-id|traceparent)$|^(?:x-)?[a-z0-9]+-(?:appkey|dbname|query-type|warning|next-sends)$/;
const loggedResponseHeaders =
  /^(?:content-type|retry-after|location|www-authenticate|deprecation|sunset)$|^(?:x-)?[a-z0-9]+-(?:appkey|dbname|query-type|warning|next-sends)$|^x-ratelimit-/;
/** Headers that prove the caller: the log stores only that they were sent, and for `Authorization` its scheme. */
const proving = /^(x-)?[a-z0-9]+-pushapi-signature(-v2)?$/;
const maxCharacters = 200;

/**
 * Returns the headers of a call that the API log stores, as JSON: the listed headers, truncated, and for headers that prove
 * the caller only that they were sent. Pure.
 */
export function selectHeaders({
  request,
  response,
}: {
  request: IncomingHttpHeaders;
  response: Readonly<Record<string, unknown>>;
}): string {
  const told: { request: Record<string, string>; response: Record<string, string> } = { request: {}, response: {} };
  for (const name in request) {
    if (name === 'authorization') told.request[name] = `${schemeOf(request[name]!)}[redacted]`;
    else if (proving.test(name)) told.request[name] = '[redacted]';
    else if (loggedRequestHeaders.test(name)) told.request[name] = cut(request[name]);
  }
  for (const name in response) if (loggedResponseHeaders.test(name)) told.response[name] = cut(response[name]);
  return JSON.stringify(told);
}

/** Returns only `Basic ` and `Bearer `: any other word may be a credential that was sent without a scheme. */
function schemeOf(authorization: string): string {
  const [, scheme] = /^(basic|bearer) /i.exec(authorization) ?? [];
  return scheme === undefined ? '' : `${scheme} `;
}

function cut(value: unknown): string {
  return String(value).slice(0, maxCharacters);
}

import Fastify from 'fastify';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { maxBodyBytes } from '../domain/requests/limits.ts';
import { callerAddress, makeTrustProxy } from './caller-address.ts';
import type { TrustedProxies } from './caller-address.ts';
import { describeRoutes } from './describe-routes.ts';
import type { Description } from './describe-routes.ts';
import { readJsonBody } from './json-body.ts';
import { toServiceError } from './to-service-error.ts';
import { answerUnroutable } from './answer-protocol-errors.ts';
import { makeListener } from './make-listener.ts';
import { makeLazyValidators } from './lazy-validators.ts';
import { presentDefaultError } from './present-default-error.ts';
import { refuseMalformedRequests } from './refuse-malformed-requests.ts';
import { beginCallTrace, endCallTrace } from './call-traces.ts';
import type { CallTrace } from './call-traces.ts';
import type { Tracing } from '../domain/tracing/tracing.ts';
import type { ServedCertificate } from './served-certificate.ts';
import { tellHeaders } from './tell-headers.ts';

/** What a call turned out to be, gathered while it is handled; ends in the log and the API log. */
export type CallFacts = {
  workspaceId?: string;
  keyId?: string;
  /** That it created or joined. */
  campaignId?: string;
  /** Public warnings, sent as X-SVC-Warning (decision D5). */
  warnings: string[];
  errorName?: string;
  /** Private: why it was refused. */
  errorDetail?: string;
} & CallTrace;

declare module 'fastify' {
  interface FastifyRequest {
    facts: CallFacts;
    /** The body as it was sent; signatures and idempotency are over these bytes. */
    rawBody: string;
    /** What was answered, as far as it is a text. */
    answerText: string | undefined;
    /** The one workspace whose rows this call may reach; undefined until a credential or a console user named it. */
    boundWorkspaceId: string | undefined;
  }
  interface FastifyContextConfig {
    /** Calls of this route stay out of the API log. */
    isUnrecorded?: boolean;
    /** The body carries a credential: it is never logged. */
    isBodySecret?: boolean;
    /** What the API log keeps of the body, where that is not all of it. */
    keptBody?: (request: FastifyRequest) => string;
    /** The answer of a call that succeeds carries a credential, or what is known of people: it is not kept either. */
    isAnswerSecret?: boolean;
  }
}

export type CompletedCall = Call & {
  /** Undefined for calls that carry credentials in the body. */
  requestBody?: string;
  /** Undefined for answers that carry credentials, and for files. */
  responseBody?: string;
  /** JSON of those of both sides that are on a list. */
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
  /** Whose X-Forwarded-For is believed. */
  trustProxy: TrustedProxies;
  /** Domain whose hosts name a data center (decision D1). */
  serviceDomain?: string | undefined;
  /** With it callers are served by https alone. */
  certificate?: ServedCertificate | undefined;
  /** What the OpenAPI document says besides: where the node is reached, its version, the abbreviation in header names. */
  described?: Partial<Description>;
  /** Receives each finished call, for the API log. */
  onCall?: (call: CompletedCall) => void;
  /** Makes each call a step of a trace. */
  tracing?: Tracing | undefined;
  /** Does the work of a call for this workspace: the database lets it reach no other. */
  inWorkspace?: InWorkspace;
};

export type InWorkspace = <Result>(workspaceId: string, work: () => Result) => Result;

export type RouteFamily = FastifyPluginAsync;

/**
 * Builds the HTTP server from route families; each has its own scope with its own body parsers and error shape.
 * Nothing listens yet, so tests call it with `inject`.
 */
export async function buildServer(options: ServerOptions, families: RouteFamily[]): Promise<FastifyInstance> {
  const server = Fastify({
    // Our own line per call below; Fastify's two lines would log URLs with their query.
    logger: false,
    trustProxy: makeTrustProxy(options.trustProxy),
    // Unless a route says less (fault 3.5).
    bodyLimit: maxBodyBytes,
    serverFactory: (handle) => makeListener(handle, options.certificate),
    // What `makeListener` makes has its own, which each of its addresses needs.
    clientErrorHandler: () => undefined,
    forceCloseConnections: 'idle',
    // A request that comes while the node stops is answered as any other: everything behind it stops later.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 256 },
    frameworkErrors: answerUnroutable,
  }).withTypeProvider<TypeBoxTypeProvider>();

  server.decorateRequest('facts', null as unknown as CallFacts);
  server.decorateRequest('rawBody', '');
  server.decorateRequest('answerText', undefined);
  server.decorateRequest('boundWorkspaceId', undefined);
  if (options.inWorkspace) bindHandlers(server as unknown as FastifyInstance, options.inWorkspace);
  server.addHook('onRequest', async (request, reply) => {
    request.facts = { warnings: [], ...beginCallTrace(options.tracing, { request, reply }) };
  });
  refuseMalformedRequests(server as unknown as FastifyInstance, { serviceDomain: options.serviceDomain });
  // Response schemas describe; present.ts alone decides what is sent. A serializer built from a schema would drop
  // members it does not list, or turn a refusal by the gateway into a 500.
  server.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  server.setValidatorCompiler(makeLazyValidators());
  server.removeContentTypeParser(['application/json', 'text/plain']);
  server.addContentTypeParser('application/json', { parseAs: 'string' }, readJsonBody);
  server.setErrorHandler((error, request, reply) => presentDefaultError(toServiceError(error, request), reply));
  server.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ code: 404, status: 'error', reason: 'Page not found. Please recheck the URL' }),
  );
  server.addHook('onSend', async (request, _reply, payload) => {
    if (typeof payload === 'string') request.answerText = payload;
    return payload;
  });
  server.addHook('onResponse', async (request, reply) => {
    const call = toCall(request, { reply, now: options.clock.now() });
    logCall(options.log, call);
    endCallTrace(call.facts, {
      ...call,
      ...call.facts,
      workspaceId: call.facts.workspaceId,
      errorName: call.facts.errorName,
    });
    if (request.routeOptions.config.isUnrecorded !== true) options.onCall?.(withBothSides(call, { request, reply }));
  });
  const { serviceDomain } = options;
  const described = { headerPrefix: 'SVC', version: '0.0.0', serviceDomain, ...options.described };
  await describeRoutes(server as unknown as FastifyInstance, described);
  for (const family of families) await server.register(family);
  return server as unknown as FastifyInstance;
}

/**
 * Every handler, present and future, runs for the workspace of its caller. One that has none runs for none, and a use case
 * that was not given a wider database then finds nothing.
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
    headers: tellHeaders({ request: request.headers, response: reply.getHeaders() }),
    callerAddress: callerAddress(request),
  };
}

/** Of a path that nobody serves nobody knows what is in it: it may have been meant for one that takes credentials. */
function bodyToKeep(request: FastifyRequest): string {
  const { isBodySecret, keptBody } = request.routeOptions.config;
  if (request.is404 || isBodySecret === true) return '';
  return keptBody?.(request) ?? request.rawBody;
}

function logCall(log: Logger, call: Call): void {
  const line = {
    method: call.method,
    route: call.route,
    status: call.status,
    ms: Math.round(call.durationMilliseconds * 10) / 10,
    workspace: call.facts.workspaceId,
    campaign: call.facts.campaignId,
    error: call.facts.errorName,
    detail: call.facts.errorDetail,
    requestId: call.facts.requestId,
    traceId: call.facts.trace?.traceId,
  };
  if (call.status >= 500) log.error(line, 'call failed');
  else log.info(line, 'call answered');
}

import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { Actor } from '../../app/accounts/audit.ts';
import {
  clearInbox,
  listRefusals,
  moveClock,
  readCounters,
  readInbox,
  readSandboxClock,
  resetSandbox,
  setFaults,
  findNewestMessage,
} from '../../app/sandbox/sandbox.ts';
import type {
  ApiFaults,
  InboxQuery,
  SandboxClock,
  SandboxDependencies,
  SandboxMessage,
} from '../../app/sandbox/sandbox.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Fault } from '../../domain/sandbox/faults.ts';
import { problemRefusals, withoutCredentials } from '../route/own-dialect.ts';
import { addRoutes, hiddenRoute, route } from '../route/route.ts';
import type { Body, Call, Hook, Route, RouteDialect } from '../route/route.ts';
import type { AnsweredCall } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { isLocalCaller, isNavigation, refuseCrossSite } from '../server/call-origin.ts';
import {
  clock,
  clockMove,
  counters,
  demo,
  faults,
  inbox,
  inboxQuery,
  refusals,
  refusalsQuery,
  inboxEventsQuery,
} from './shapes.ts';

/**
 * The sandbox's own routes: the phones' inbox, the clock, fault switches. They exist in sandbox mode only and need no
 * credentials, because they reach no real users or devices. Pages of other sites are rejected.
 */
export function sandboxRoutes(deps: SandboxDependencies & SandboxGuard): RouteFamily {
  const unchecked = makeSandboxRules(deps);
  const dialect: RouteDialect<SandboxCaller> = { ...unchecked, areShapesChecked: true };
  return async (server) =>
    addRoutes(server, [
      ...inboxRoutes({ server, dialect }, deps),
      route(dialect, {
        method: 'POST',
        url: '/sandbox/reset',
        operationId: 'resetSandbox',
        summary: 'Reset the demo workspace, the counters and the faults to the state of the first start',
        answers: { 200: demo },
        refuses: bodyAnyway,
        handle: ({ actor }) => resetSandbox(deps, { actor }),
      }),
      route(dialect, {
        method: 'GET',
        url: '/sandbox/counters',
        operationId: 'readCounters',
        summary: 'Get the counters of the simulators, per platform',
        answers: { 200: counters },
        handle: () => readCounters(deps),
      }),
      route(dialect, {
        method: 'GET',
        url: '/sandbox/refusals',
        operationId: 'listRefusals',
        summary: 'List the requests that the simulated providers refused, with the reason, newest first',
        querystring: refusalsQuery,
        answers: { 200: refusals },
        read: ({ query }) => Number((query as Static<typeof refusalsQuery>).limit ?? '100'),
        handle: async ({ input: limit }) => ({ refusals: await listRefusals(deps, { limit }) }),
      }),
      ...clockRoutes(deps, dialect),
      // The simulators report an invalid switch.
      route(
        { ...unchecked, readBody: readSwitches },
        {
          method: 'POST',
          url: '/sandbox/faults',
          operationId: 'setFaults',
          summary: 'Make the simulated providers fail; {} ends all faults',
          body: faults,
          answers: noContent,
          handle: ({ actor, body }) => setFaults(deps, { actor, faults: body }),
        },
      ),
    ]);
}

function inboxRoutes(
  { server, dialect }: { server: FastifyInstance; dialect: RouteDialect<SandboxCaller> },
  deps: SandboxDependencies,
): Route[] {
  return [
    route(dialect, {
      method: 'GET',
      url: '/sandbox/inbox',
      operationId: 'readInbox',
      summary: 'Messages the simulated devices received, newest first',
      querystring: inboxQuery,
      answers: { 200: inbox },
      read: ({ query }) => readInboxQuery(query),
      handle: async ({ input }) => ({ messages: (await readInbox(deps, input)).map(presentMessage) }),
    }),
    hiddenRoute(dialect, {
      method: 'GET',
      // OpenAPI cannot describe a stream.
      url: '/sandbox/inbox/events',
      querystring: inboxEventsQuery,
      handle: makeStreamInbox(server, deps),
    }),
    route(dialect, {
      method: 'DELETE',
      url: '/sandbox/inbox',
      operationId: 'clearInbox',
      summary: 'Empty the inbox, the counters and the fault switches',
      answers: noContent,
      refuses: bodyAnyway,
      handle: ({ actor }) => clearInbox(deps, { actor }),
    }),
  ];
}

function clockRoutes(deps: SandboxDependencies, dialect: RouteDialect<SandboxCaller>): Route[] {
  const url = '/sandbox/clock';
  return [
    route(dialect, {
      method: 'GET',
      url,
      operationId: 'readClock',
      summary: 'The time of this installation',
      answers: { 200: clock },
      handle: () => presentClock(readSandboxClock(deps)),
    }),
    route(dialect, {
      method: 'POST',
      url,
      operationId: 'moveClock',
      summary:
        'Move the clock forward, stopping where something is due, or until nothing is; let it stand, or run; or back to real time',
      body: clockMove,
      answers: { 200: clock },
      refuses: [409],
      read: ({ body }) => body as Static<typeof clockMove>,
      handle: async ({ actor, input: move }) => presentClock(await moveClock(deps, { actor, move })),
    }),
  ];
}

/** The routes require no credentials, so every caller is the same. */
export type SandboxCaller = { actor: Actor };

/** Makes the rules of the sandbox's routes: each rejects callers on other machines and pages of other sites. */
export function makeSandboxRules(guard: SandboxGuard): RouteDialect<SandboxCaller> {
  return {
    tag: 'Sandbox',
    // These routes reach no real users or devices.
    ...withoutCredentials,
    refusals: problemRefusals(['SCOPE_MISSING', 'SANDBOX_NOT_LOCAL', 'CLOCK_ADVANCING']),
    refuses: [403],
    onEveryCall: makeRefuseStrangers(guard),
    callerOf: () => ({ actor: { kind: 'program', name: 'a caller of the sandbox' } }),
    otherMethods: 'not found',
  };
}

const noContent = { 204: Type.Null() };
/** These routes use no body, but reject one that is too large or of an unsupported type. */
const bodyAnyway = [413, 415];

/** @throws ServiceError PARAMETER_INVALID */
function readInboxQuery(query: Static<typeof inboxQuery>): InboxQuery {
  const limit = Number(query.limit ?? '100');
  if (limit < 1 || limit > 1000)
    throw new ServiceError('PARAMETER_INVALID', { field: 'limit', reason: 'must be 1 to 1000' });
  return {
    ...(query.workspaceId === undefined ? {} : { workspaceId: query.workspaceId }),
    after: query.after ?? '',
    limit,
    waitMilliseconds: Math.min(Number(query.wait ?? '0'), 30_000),
  };
}

/** @throws ServiceError PARAMETER_INVALID */
function readSwitches({ body }: FastifyRequest): Body {
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('PARAMETER_INVALID', { field: 'body', reason: 'must be an object' });
  return body as Body;
}

function presentClock({ now, offsetMilliseconds, isFrozen, advancing }: SandboxClock) {
  return { now: now.toISOString(), offsetSeconds: offsetMilliseconds / 1000, frozen: isFrozen, advancing };
}

/** Each open stream queries the database four times a second. */
const maxStreams = 50;
// At this interval a proxy sees that the connection is alive.
const waitMilliseconds = 15_000;
const maxAtOnce = 1_000;

/**
 * Makes the handler that sends the inbox as server-sent events: each message once, oldest first, with its id, from which a
 * client resumes.
 */
function makeStreamInbox(server: FastifyInstance, deps: SandboxDependencies) {
  let isClosing = false;
  server.addHook('preClose', async () => {
    isClosing = true;
  });
  let streams = 0;

  return async ({ request, reply, query: given }: Call): Promise<FastifyReply> => {
    if (streams >= maxStreams) throw new ServiceError('OVERLOADED', { retryAfterSeconds: 5 });
    const query = given as Static<typeof inboxEventsQuery>;
    const scope = query.workspaceId === undefined ? {} : { workspaceId: query.workspaceId };
    let after = lastEventId(request) ?? query.after ?? (await findNewestMessage(deps, scope));

    async function* follow(): AsyncGenerator<string> {
      streams += 1;
      try {
        yield ': the inbox\n\n';
        while (!isClosing) {
          const wait = { limit: maxAtOnce, waitMilliseconds, isOver: () => isClosing || reply.raw.destroyed };
          const messages = await readInbox(deps, { ...scope, ...wait, after });
          for (const message of messages.toReversed())
            yield `event: message\nid: ${message.id}\ndata: ${JSON.stringify(presentMessage(message))}\n\n`;
          after = messages[0]?.id ?? after;
          if (messages.length === 0) yield ': still here\n\n';
        }
      } catch {
        // The database is unavailable: the client reconnects and gets the error.
      } finally {
        streams -= 1;
      }
    }

    return reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      .send(Readable.from(follow(), { objectMode: false }));
  };
}

/** Returns the last event that a reconnecting browser received. */
function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && /^[0-9a-f]{24}$/.test(id) ? id : undefined;
}

export type SandboxGuard = {
  /** Allowed callers: programs on this machine, or everyone who can reach the port. */
  access: 'local' | 'network';
  /** Host names allowed for the sandbox in addition to those of this machine and its neighbours; `*.` allows subdomains. */
  allowedHosts: readonly string[];
};

/**
 * Makes the hook that keeps strangers out of the sandbox's own routes, which require no credentials so that curl and tests work
 * unchanged. Callers on other machines are rejected unless the setting allows them. Web pages that are open in a browser on
 * this machine are rejected too: by their origin, and by a host name of their own that points at this machine (DNS rebinding),
 * which would make the browser treat such a page as one of ours.
 */
function makeRefuseStrangers({ access, allowedHosts }: SandboxGuard): Hook {
  const allowed = allowedHosts.map((name) => name.toLowerCase());
  return async (request) => {
    if (access === 'local' && !isLocalCaller(request))
      throw new ServiceError('SANDBOX_NOT_LOCAL', {
        reason:
          'set CARILLON_SANDBOX_ACCESS=network on the server to open these routes to every caller that reaches its port',
      });
    // The header as the browser sent it, not as a proxy changed it: a page may send any X-Forwarded-Host.
    const name = (request.headers.host ?? '').replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
    if (!isUnpublished(name) && !isListed(name, allowed))
      throw new ServiceError('HOST_NOT_SERVED', {
        reason: 'a sandbox answers to names that CARILLON_ALLOWED_HOSTS lists, to addresses and to local names',
      });
    if (!isNavigation(request)) refuseCrossSite(request);
  };
}

/**
 * True for hosts that a stranger cannot point at this machine, so that they need no list: an address, which is not a name;
 * a name of one label, as in containers and search domains; names that are reserved from the public DNS (RFC 6761 §6;
 * ICANN's `internal`).
 */
function isUnpublished(name: string): boolean {
  const address = name.replace(/^\[(.*)\]$/, '$1');
  return isIP(address) !== 0 || /^[a-z0-9_-]+$/.test(name) || /\.(?:localhost|test|internal)$/.test(name);
}

function isListed(name: string, allowed: readonly string[]): boolean {
  return allowed.some((one) => (one.startsWith('*.') ? name.endsWith(one.slice(1)) : name === one));
}

/** Paths that never get faults: the switches themselves, the console that shows them, and health checks. */
const spared = /^\/(?:sandbox|console|livez|readyz|healthz|metrics|openapi|docs)(?:[/.]|$)/;

/** Fails requests as configured in the sandbox. Registered before all other families, so that it affects their routes too. */
export function apiFaultHook({ apiFaults }: { apiFaults: ApiFaults }): RouteFamily {
  const family: RouteFamily = async (server: FastifyInstance) => {
    server.addHook('onRequest', (request, reply, done) => {
      const path = request.url.split('?', 1)[0]!;
      const fault = spared.test(path) ? undefined : apiFaults.strike({ method: request.method, path });
      if (!fault) return done();
      failCall(fault, { request, reply }).then(() => done(), done);
    });
  };
  // Fastify limits the hooks of a plugin to the routes inside it, unless this symbol shares them.
  return Object.assign(family, { [Symbol.for('skip-override')]: true });
}

async function failCall(fault: Fault, { request, reply }: AnsweredCall): Promise<void> {
  if (fault.delayMilliseconds !== undefined) await setTimeout(fault.delayMilliseconds);
  if (fault.reset === true) {
    reply.hijack();
    request.raw.destroy();
  } else if (fault.status !== undefined) {
    request.facts.errorDetail = 'failed by a fault of the sandbox';
    await reply
      .code(fault.status)
      .headers(fault.headers ?? {})
      .send(fault.body ?? '');
  }
}

/** Presents a message of the inbox, the same in a list and in a stream. */
function presentMessage(message: SandboxMessage) {
  return { ...message, receivedAt: message.receivedAt.toISOString() };
}

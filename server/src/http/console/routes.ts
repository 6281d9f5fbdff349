import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ConsoleUseCases } from '../../app/console/console-use-cases.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RouteFamily } from '../build-server.ts';
import { presentCampaign, presentInboxMessage, presentKey } from './present.ts';
import { consoleSegmentRoutes } from './segment-routes.ts';
import type { ConsoleSegmentRouteDependencies } from './segment-routes.ts';
import { serveConsoleFiles } from './serve-console-files.ts';

export type ConsoleRouteDependencies = {
  console: ConsoleUseCases;
  segments: ConsoleSegmentRouteDependencies['segments'];
  /** Folder of the built console. */
  staticFolder: string;
  /** The service is reached over TLS: cookies travel there only. */
  isSecure: boolean;
};

const cookieName = 'carillon_session';
const SignIn = Type.Object({ code: Type.String({ minLength: 20, maxLength: 100 }) }, { additionalProperties: false });
const OverviewQuery = Type.Object({ workspaceId: Type.Optional(Type.String({ maxLength: 64 })) });
const InboxQuery = Type.Object({
  workspaceId: Type.String({ maxLength: 64 }),
  after: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$' })),
});

/** The console: its pages, and the answers they are made of. Sessions travel in a cookie no script can read. */
export function consoleRoutes(deps: ConsoleRouteDependencies): RouteFamily {
  return async (server) => {
    await server.register(cookie);
    await server.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: ["'self'"],
          // The component kit sets sizes and colours in style attributes; scripts stay strict.
          styleSrc: ["'self'", "'unsafe-inline'"],
          imgSrc: ["'self'", 'data:', 'https:'],
          fontSrc: ["'self'"],
          connectSrc: ["'self'"],
          frameAncestors: ["'none'"],
          formAction: ["'self'"],
          baseUri: ["'none'"],
        },
      },
      strictTransportSecurity: deps.isSecure,
      referrerPolicy: { policy: 'no-referrer' },
    });
    serveApi(server, deps);
    serveConsoleFiles(server, deps.staticFolder);
  };
}

function serveApi(server: FastifyInstance, deps: ConsoleRouteDependencies): void {
  const { console } = deps;
  const schema = { hide: true };
  const attributes = { path: '/console', httpOnly: true, sameSite: 'strict', secure: deps.isSecure } as const;
  const requireSession = async (request: FastifyRequest): Promise<void> =>
    console.requireSession(request.cookies[cookieName]);

  server.post(
    '/console/api/session',
    { schema: { ...schema, body: SignIn }, onRequest: refuseCrossSite },
    async (request, reply) => {
      // The code is a credential: it stays out of the API log.
      request.rawBody = '';
      const { token, maxAgeSeconds } = await console.openSession((request.body as Static<typeof SignIn>).code);
      return reply
        .setCookie(cookieName, token, { ...attributes, maxAge: maxAgeSeconds })
        .code(204)
        .send();
    },
  );
  server.delete(
    '/console/api/session',
    { schema, onRequest: [refuseCrossSite, requireSession] },
    async (request, reply) => {
      await console.closeSession(request.cookies[cookieName]!);
      return reply.clearCookie(cookieName, attributes).code(204).send();
    },
  );
  server.get('/console/api/session', { schema, onRequest: requireSession }, () => console.readInstallation());
  server.get(
    '/console/api/overview',
    { schema: { ...schema, querystring: OverviewQuery }, onRequest: requireSession },
    async (request) => {
      const { workspaceId } = request.query as Static<typeof OverviewQuery>;
      const url = `${request.protocol}://${request.host}`;
      const { campaigns, keys, now, ...overview } = await console.readOverview({ workspaceId, url });
      return {
        ...overview,
        now: now.toISOString(),
        campaigns: campaigns.map(presentCampaign),
        keys: keys.map(presentKey),
      };
    },
  );
  server.get(
    '/console/api/inbox',
    { schema: { ...schema, querystring: InboxQuery }, onRequest: requireSession },
    async (request) => {
      const { workspaceId, after } = request.query as Static<typeof InboxQuery>;
      return { messages: (await console.readInbox({ workspaceId, after: after ?? '' })).map(presentInboxMessage) };
    },
  );
  consoleSegmentRoutes(server, { segments: deps.segments, requireSession, refuseCrossSite });
}

/** Browsers say where a request comes from; another site's is refused, whatever cookies came along. */
async function refuseCrossSite(request: FastifyRequest): Promise<void> {
  const site = request.headers['sec-fetch-site'];
  const { origin } = request.headers;
  const isOwn = site === undefined || site === 'same-origin';
  const isOwnOrigin = origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.host);
  if (!isOwn || !isOwnOrigin) throw new ServiceError('SCOPE_MISSING', { detail: 'a request from another site' });
}

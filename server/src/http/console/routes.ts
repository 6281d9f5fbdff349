import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleAccountDependencies, SignedIn } from '../../app/accounts/audit.ts';
import type { ConsoleCalls } from '../../app/api-log.ts';
import type { AuthoringDependencies } from '../../app/campaigns/authoring.ts';
import type { CredentialDependencies } from '../../app/credentials.ts';
import type { ConsoleDeliveries } from '../../app/deliveries.ts';
import type { EventStreamDependencies } from '../../app/event-streams.ts';
import type { ExplainDependencies } from '../../app/explain.ts';
import type { FindPlacesDependencies } from '../../app/places.ts';
import type { ConsoleSandbox } from '../../app/sandbox/sandbox.ts';
import type { AlertDependencies } from '../../app/system/alerts.ts';
import type { ConsoleOverview, InstallationDependencies } from '../../app/system/overview.ts';
import type { ConsoleSystem, MetricsDependencies } from '../../app/system/system.ts';
import type { ConsoleUsers } from '../../app/users/manage-users.ts';
import type { ConsoleSettings } from '../../app/workspace-settings.ts';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { mcpRoutes } from '../mcp/routes.ts';
import { agentRoutes } from '../mcp/tools.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { guardConsole, makeConsoleCookies, consoleApi } from './access.ts';
import { accountRoutes, companyRoutes, sessionRoutes } from './accounts.ts';
import type { CompanyRouteDependencies } from './accounts.ts';
import { consoleAlertRoutes } from './alerts.ts';
import { consoleAppAccessRoutes } from './app-access.ts';
import type { ConsoleAppAccessDependencies } from './app-access.ts';
import { agentTokenRoutes } from './agent-tokens.ts';
import { auditRoutes } from './audit.ts';
import { consoleCallRoutes } from './calls.ts';
import { campaignEventRoutes, consoleCampaignRoutes } from './campaigns.ts';
import type { CampaignRouteDependencies } from './campaigns.ts';
import { consoleComposerRoutes } from './composer.ts';
import { consoleCredentialRoutes } from './credentials.ts';
import { consoleDeliveryRoutes } from './deliveries.ts';
import { consoleStreamRoutes } from './event-streams.ts';
import { consoleExplainRoutes } from './explain.ts';
import { consoleKeyRoutes } from './keys.ts';
import type { KeyRouteDependencies } from './keys.ts';
import { overviewRoutes } from './overview.ts';
import { consolePictureRoutes } from './pictures.ts';
import type { ConsolePictureRouteDependencies } from './pictures.ts';
import { consolePlaceRoutes } from './places.ts';
import { consolePreviewRoute } from './preview.ts';
import type { ConsolePreviewDependencies } from './preview.ts';
import { proposalRoutes } from './proposals.ts';
import { consoleSandboxRoutes } from './sandbox.ts';
import { secondFactorRoutes } from './second-factors.ts';
import { consoleSegmentRoutes } from './segments.ts';
import type { ConsoleSegmentRouteDependencies } from './segments.ts';
import { consoleSettingsRoutes } from './settings.ts';
import { consoleSystemRoutes } from './system.ts';
import { consoleTopicRoutes } from './topics.ts';
import { consoleUsersRoutes } from './users.ts';
import { viewRoutes } from './views.ts';

export type ConsoleRouteDependencies = {
  /** The clock of the service, which a sandbox can move. */
  clock: Clock;
  accounts: ConsoleAccountDependencies;
  overview: ConsoleOverview;
  composer: AuthoringDependencies;
  users: ConsoleUsers;
  vendorHeaders: VendorHeaders;
  settings: ConsoleSettings;
  system: ConsoleSystem;
  credentials: CredentialDependencies;
  /** Undefined in production. */
  sandbox: ConsoleSandbox | undefined;
  calls: ConsoleCalls;
  deliveries: ConsoleDeliveries;
  places: FindPlacesDependencies;
  alerts: AlertDependencies;
  streams: EventStreamDependencies;
  metrics: MetricsDependencies;
  /** `CARILLON_MCP`: whether the MCP endpoint exists. */
  mcp: 'on' | 'off';
  /** The version of the service, for MCP clients. */
  version: string;
  /** Folder of the built console. */
  staticFolder: string;
  /** The service worker of browsers that a user of the console makes test devices. */
  workerFile: string;
  /** True if the service is reached over TLS; then cookies are sent only over TLS. */
  isSecure: boolean;
  /** The secret of this installation, the same on all of its nodes. */
  installationSecret: Buffer;
} & InstallationDependencies &
  CampaignRouteDependencies &
  KeyRouteDependencies &
  ConsoleAppAccessDependencies &
  ConsoleSegmentRouteDependencies &
  ConsolePreviewDependencies &
  ConsolePictureRouteDependencies &
  ExplainDependencies &
  Omit<CompanyRouteDependencies, 'cookies'>;

/** The console: its pages and the routes that they use. */
export function consoleRoutes(deps: ConsoleRouteDependencies): RouteFamily {
  return async (server) => {
    await server.register(cookie);
    await server.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: ["'self'"],
          // The component kit sets sizes and colours in style attributes; scripts remain restricted.
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
    const cookies = makeConsoleCookies(deps);
    sendServerTime(server, deps.clock);
    const agentCaller = new AsyncLocalStorage<SignedIn>();
    const agents = { current: () => agentCaller.getStore(), routes: agentRoutes };
    guardConsole(server, { accounts: deps.accounts, cookies, agents });
    sessionRoutes(server, { ...deps, cookies });
    companyRoutes(server, { ...deps, cookies });
    secondFactorRoutes(server, { ...deps, cookies });
    accountRoutes(server, deps);
    agentTokenRoutes(server, deps);
    auditRoutes(server, deps);
    consoleAppAccessRoutes(server, deps);
    overviewRoutes(server, deps);
    consoleCampaignRoutes(server, deps);
    campaignEventRoutes(server, { ...deps, cookies });
    viewRoutes(server, deps.composer);
    consoleComposerRoutes(server, deps);
    proposalRoutes(server, deps);
    consolePreviewRoute(server, deps);
    consoleExplainRoutes(server, deps);
    consolePictureRoutes(server, deps);
    consoleKeyRoutes(server, deps);
    consolePlaceRoutes(server, deps);
    consoleAlertRoutes(server, deps);
    consoleStreamRoutes(server, deps);
    consoleUsersRoutes(server, deps);
    consoleTopicRoutes(server, deps.composer);
    consoleSettingsRoutes(server, deps);
    consoleSystemRoutes(server, deps);
    consoleCredentialRoutes(server, deps);
    if (deps.sandbox) consoleSandboxRoutes(server, deps.sandbox);
    consoleCallRoutes(server, deps);
    consoleDeliveryRoutes(server, deps);
    consoleSegmentRoutes(server, deps);
    mcpRoutes(server, { ...deps, agentCaller });
    server.get('/console/carillon-service-worker.js', hidden, async (_request, reply) =>
      reply
        .type('text/javascript; charset=utf-8')
        .header('cache-control', 'no-cache')
        .send(await readFile(deps.workerFile)),
    );
    serveConsoleFiles(server, deps.staticFolder);
  };
}

const hidden = { schema: { hide: true }, config: { isUnrecorded: true } };

/** Serves the built console. The address of a screen gets the page, which selects the screen itself. */
function serveConsoleFiles(server: FastifyInstance, folder: string): void {
  server.get('/console', hidden, (_request, reply) => reply.redirect('/console/'));
  if (!existsSync(join(folder, 'index.html'))) {
    server.get('/console/*', hidden, (_request: FastifyRequest, reply: FastifyReply) =>
      reply
        .code(503)
        .type('text/plain')
        .send('The console is not built: run "npm run build -w console" and start again.\n'),
    );
    return;
  }
  const files = new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/')),
  );
  server.register(fastifyStatic, {
    root: folder,
    prefix: '/console/',
    // A route for each of 300 files would take a tenth of the processor time of a start.
    serve: false,
    cacheControl: false,
    // The build writes each file as Brotli and gzip too: a quarter of the bytes, with no compression while a user waits.
    preCompressed: true,
    setHeaders: (response, path) => {
      // Asset names contain a hash of their content, so assets never change; the page itself is revalidated each time.
      response.header('cache-control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });
  server.get('/console/*', hidden, (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0]!;
    const file = path.slice('/console/'.length);
    if (files.has(file)) return reply.sendFile(file);
    // Addresses of screens contain neither dots nor escapes; a missing file must not get the page.
    if (!/^\/console\/(?!api\/|assets\/)[A-Za-z0-9_/-]*$/.test(path)) throw new ServiceError('ROUTE_NOT_FOUND');
    return reply.sendFile('index.html');
  });
}

/**
 * Adds the time of the service and the real time to each response for the console, which calculates "3 minutes ago" from
 * them. A sandbox's clock may be moved, which accounts and the audit log ignore, and a browser's clock may be wrong.
 */
function sendServerTime(server: FastifyInstance, clock: Clock): void {
  server.addHook('onSend', async (request, reply) => {
    if (!request.routeOptions.url?.startsWith(consoleApi)) return;
    // Answers have data of users, which must not stay in a cache of the browser (ASVS 14.3.2).
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    reply.header('carillon-time', clock.now().toISOString());
    reply.header('carillon-real-time', clock.realNow().toISOString());
  });
}

/** Redirects a browser that opens the address of the service to the console; other callers get 404. */
export const homeRoute: RouteFamily = async (server) => {
  server.get('/', { schema: { hide: true }, config: { isUnrecorded: true } }, (request, reply) => {
    const accepts = request.headers.accept ?? '';
    if (!/\btext\/html\b/i.test(accepts)) return reply.callNotFound();
    // The response depends on the Accept header.
    return reply.header('vary', 'Accept').redirect('/console/');
  });
};

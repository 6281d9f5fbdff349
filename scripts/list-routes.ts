import { join } from 'node:path';
import { makeManualClock } from '../server/src/clock.ts';
import { buildServer } from '../server/src/http/server/build-server.ts';
import type { RouteFamily } from '../server/src/http/server/build-server.ts';
import { appAccessRoutes } from '../server/src/http/app-access.ts';
import { appRoutes } from '../server/src/http/apps.ts';
import { businessEventRoutes } from '../server/src/http/business-events.ts';
import { campaignRoutes } from '../server/src/http/campaigns/routes.ts';
import { dataRoutes } from '../server/src/http/data/routes.ts';
import { eventStreamRoutes } from '../server/src/http/event-streams.ts';
import { journeyRoutes } from '../server/src/http/journeys/routes.ts';
import { inboxStatsRoutes } from '../server/src/http/campaigns/inbox-stats.ts';
import { explainRoutes } from '../server/src/http/explain.ts';
import { healthRoutes } from '../server/src/http/health.ts';
import { installationRoutes } from '../server/src/http/installations/routes.ts';
import { sourceRoutes } from '../server/src/http/source/routes.ts';
import { interactionRoutes } from '../server/src/http/interactions.ts';
import { liveActivityRoutes } from '../server/src/http/live-activities.ts';
import { pushRoutes } from '../server/src/http/push/routes.ts';
import { sandboxBrowserRoutes } from '../server/src/http/sandbox/browser-page.ts';
import { sandboxRoutes } from '../server/src/http/sandbox/routes.ts';
import { segmentRoutes } from '../server/src/http/segments/routes.ts';
import { reportRoutes } from '../server/src/http/stats/reports.ts';
import { statsRoutes } from '../server/src/http/stats/stats.ts';
import { tokenRoutes } from '../server/src/http/tokens.ts';
import { topicRoutes } from '../server/src/http/topics.ts';
import { makeVendorHeaders } from '../server/src/http/route/vendor-headers.ts';
import { makeLog } from '../server/src/log.ts';

export type ListedRoute = { method: string; path: string; summary: string };
type Described = {
  operationId?: string;
  summary?: string;
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};
type Content = Record<string, { schema: object }>;
export type OpenApiDocument = {
  paths: Record<string, Record<string, Described>>;
  webhooks: Record<string, unknown>;
  components: { schemas: Record<string, unknown> };
};
/** A registered route, as the document names it. */
export type RegisteredRoute = { method: string; path: string; isHidden: boolean };

/**
 * Returns the OpenAPI document of the public routes, including those of a sandbox, and every route that it was generated from.
 * Calls no use case, so it needs no dependencies.
 */
export async function describePublicRoutes({ headerPrefix = 'SVC' } = {}): Promise<{
  document: OpenApiDocument;
  routes: RegisteredRoute[];
}> {
  const routes: RegisteredRoute[] = [];
  const clock = makeManualClock(new Date(0));
  const edge = {
    vendorHeaders: makeVendorHeaders(headerPrefix),
    clock,
    allowedHosts: [],
  } as never;
  const server = await buildServer(
    { log: makeLog({ level: 'silent', pretty: false }), clock, trustProxy: false, described: { headerPrefix } },
    [
      collectInto(routes),
      tokenRoutes(edge),
      pushRoutes(edge),
      dataRoutes(edge),
      sourceRoutes(edge),
      segmentRoutes(edge),
      campaignRoutes(edge),
      businessEventRoutes(edge),
      appRoutes(edge),
      appAccessRoutes(edge),
      topicRoutes(edge),
      installationRoutes(edge),
      inboxStatsRoutes(edge),
      explainRoutes(edge),
      eventStreamRoutes(edge),
      journeyRoutes(edge),
      statsRoutes(edge),
      reportRoutes(edge),
      liveActivityRoutes(edge),
      interactionRoutes(edge),
      sandboxRoutes(edge),
      sandboxBrowserRoutes({ ...(edge as object), clientFolder: join(import.meta.dirname, '..', 'client') } as never),
      healthRoutes({ findTroubles: async () => [] }),
    ],
  );
  await server.ready();
  const document = server.swagger() as unknown as OpenApiDocument;
  await server.close();
  return { document, routes };
}

/** Registered in the scope of the server itself, so that it sees the routes of all other families. */
function collectInto(routes: RegisteredRoute[]): RouteFamily {
  const collect: RouteFamily = async (server) => {
    server.addHook('onRoute', ({ method, url, schema }) => {
      const path = url.replace(/:(\w+)/g, '{$1}');
      for (const one of [method].flat()) routes.push({ method: one, path, isHidden: schema?.hide === true });
    });
  };
  return Object.assign(collect, { [Symbol.for('skip-override')]: true });
}

/** Returns the public routes as the document names them. */
export async function listRoutes(): Promise<ListedRoute[]> {
  const { paths } = (await describePublicRoutes()).document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary }]) => {
      if (!summary) throw new Error(`${method} ${path} has no summary`);
      return { method: method.toUpperCase(), path, summary };
    }),
  );
}

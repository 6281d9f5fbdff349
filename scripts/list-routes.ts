import { join } from 'node:path';
import { makeManualClock } from '../server/src/clock.ts';
import { buildServer } from '../server/src/http/build-server.ts';
import { businessEventRoutes } from '../server/src/http/business-events/routes.ts';
import { campaignRoutes } from '../server/src/http/campaigns/routes.ts';
import { dataRoutes } from '../server/src/http/data/routes.ts';
import { explainRoutes } from '../server/src/http/explain/routes.ts';
import { healthRoutes } from '../server/src/http/health/routes.ts';
import { interactionRoutes } from '../server/src/http/interactions/routes.ts';
import { pushRoutes } from '../server/src/http/push/routes.ts';
import { sandboxBrowserRoutes } from '../server/src/http/sandbox/browser-page.ts';
import { sandboxRoutes } from '../server/src/http/sandbox/routes.ts';
import { segmentRoutes } from '../server/src/http/segments/routes.ts';
import { statsRoutes } from '../server/src/http/stats/routes.ts';
import { tokenRoutes } from '../server/src/http/tokens/routes.ts';
import { makeVendorHeaders } from '../server/src/http/vendor-headers.ts';
import { makeLog } from '../server/src/log.ts';

export type ListedRoute = { method: string; path: string; summary: string };

/** The public routes as the OpenAPI document names them. No use case is called, so none is given. */
export async function listRoutes(): Promise<ListedRoute[]> {
  const clock = makeManualClock(new Date(0));
  const edge = {
    vendorHeaders: makeVendorHeaders('SVC'),
    clock,
    allowedHosts: [],
  } as never;
  const server = await buildServer({ log: makeLog({ level: 'silent', pretty: false }), clock, trustProxy: false }, [
    tokenRoutes(edge),
    pushRoutes(edge),
    dataRoutes(edge),
    segmentRoutes(edge),
    campaignRoutes(edge),
    businessEventRoutes(edge),
    explainRoutes(edge),
    statsRoutes(edge),
    interactionRoutes(edge),
    sandboxRoutes(edge),
    sandboxBrowserRoutes({ ...(edge as object), clientFolder: join(import.meta.dirname, '..', 'client') } as never),
    healthRoutes({ findTroubles: async () => [] }),
  ]);
  await server.ready();
  const document = server.swagger() as { paths?: Record<string, Record<string, { summary?: string }>> };
  await server.close();
  return Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary }]) => {
      if (!summary) throw new Error(`${method} ${path} has no summary`);
      return { method: method.toUpperCase(), path, summary };
    }),
  );
}

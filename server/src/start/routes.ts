import { join } from 'node:path';
import { makeBusinessEventUseCases } from '../app/business-events/business-event-use-cases.ts';
import { makeCampaignUseCases } from '../app/campaigns/campaign-use-cases.ts';
import { makeDataUseCases } from '../app/data/data-use-cases.ts';
import { explainDelivery } from '../app/explain/explain-delivery.ts';
import type { ExplainRequest, Explanation } from '../app/explain/explain-delivery.ts';
import { makeInteractionUseCases } from '../app/interactions/interaction-use-cases.ts';
import { makePushUseCases } from '../app/push/push-use-cases.ts';
import { makeBrowserUseCases } from '../app/sandbox/browser-use-cases.ts';
import type { DemoWorkspace } from '../app/sandbox/seed-demo-workspace.ts';
import { documentedSegmentLimits } from '../app/segments/segment-dependencies.ts';
import { makeSegmentUseCases } from '../app/segments/segment-use-cases.ts';
import { makeStatsUseCases } from '../app/stats/stats-use-cases.ts';
import { makeTokenUseCases } from '../app/tokens/token-use-cases.ts';
import { makeInteractionTokens } from '../domain/interactions/interaction-token.ts';
import type { RouteFamily } from '../http/build-server.ts';
import { businessEventRoutes } from '../http/business-events/routes.ts';
import { campaignRoutes } from '../http/campaigns/routes.ts';
import { dataRoutes } from '../http/data/routes.ts';
import { explainRoutes } from '../http/explain/routes.ts';
import { healthRoutes } from '../http/health/routes.ts';
import { interactionRoutes } from '../http/interactions/routes.ts';
import { pushRoutes } from '../http/push/routes.ts';
import { sandboxBrowserRoutes } from '../http/sandbox/browser-page.ts';
import { sandboxRoutes } from '../http/sandbox/routes.ts';
import { segmentRoutes } from '../http/segments/routes.ts';
import { statsRoutes } from '../http/stats/routes.ts';
import { tokenRoutes } from '../http/tokens/routes.ts';
import { makeVendorHeaders } from '../http/vendor-headers.ts';
import type { Composition } from './composition.ts';
import { makeConsoleRoutes } from './console-routes.ts';
import type { ConsoleParts } from './console-routes.ts';
import { makeSandbox } from './sandbox.ts';

export type RouteParts = Pick<ConsoleParts, 'accounts' | 'phones' | 'readiness' | 'readyCurl'> & {
  demo: DemoWorkspace | undefined;
  onClockMoved: () => void;
};

const projectFolder = join(import.meta.dirname, '..', '..', '..');

/** The route families of this node, each with its use cases; a worker answers health checks only. */
export function makeRoutes(composition: Composition, parts: RouteParts): RouteFamily[] {
  const { config, clock, installation } = composition;
  const { database, encryption } = installation;
  const { phones, demo, readiness, onClockMoved } = parts;
  const health = healthRoutes(readiness);
  if (config.role === 'worker') return [health];

  const useCases = { database, clock, encryption };
  const vendorHeaders = makeVendorHeaders(config.headerPrefix);
  const edge = { tokens: makeTokenUseCases(useCases), vendorHeaders, clock, serviceDomain: config.serviceDomain };
  const limits = { ...documentedSegmentLimits, usersPerDay: config.segmentUsersPerDay };
  const campaigns = makeCampaignUseCases(useCases);
  const explain = (request: ExplainRequest): Promise<Explanation> => explainDelivery(useCases, request);
  const interactionTokens = makeInteractionTokens(installation.deriveSecret('interactions'));
  const interactions = makeInteractionUseCases({ database, clock, tokens: interactionTokens });
  const sandbox = phones && makeSandbox(composition, { phones, demo, onClockMoved });
  const families = [
    health,
    tokenRoutes(edge),
    pushRoutes({ ...edge, push: makePushUseCases(useCases) }),
    dataRoutes({ ...edge, data: makeDataUseCases({ ...useCases, erasureDelayHours: config.erasureDelayHours }) }),
    segmentRoutes({ ...edge, segments: makeSegmentUseCases({ ...useCases, limits }) }),
    campaignRoutes({ ...edge, campaigns, migrationGuideFile: join(projectFolder, 'docs', 'migration-v1-v5.md') }),
    businessEventRoutes({ ...edge, campaigns, businessEvents: makeBusinessEventUseCases(useCases) }),
    explainRoutes({ ...edge, campaigns, explain }),
    statsRoutes({ ...edge, stats: makeStatsUseCases({ database, clock }) }),
    interactionRoutes({ vendorHeaders, interactions }),
    makeConsoleRoutes(composition, { ...parts, vendorHeaders, limits, campaigns, explain, interactions, sandbox }),
  ];
  if (!sandbox) return families;
  const browser = makeBrowserUseCases({ database, clock, workspaceId: () => demo?.workspaceId });
  return [
    ...families,
    sandboxRoutes(sandbox),
    sandboxBrowserRoutes({ browser, clientFolder: join(projectFolder, 'client') }),
  ];
}

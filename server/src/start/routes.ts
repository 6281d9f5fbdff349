import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { documentedAuthoringLimits } from '../app/campaigns/authoring.ts';
import { makeCampaignTotals } from '../app/campaigns/search-campaigns.ts';
import { makeEnsureToday } from '../app/users/events.ts';
import { makeAppEvents } from '../app/installations/app-events.ts';
import { makeInboxStreams } from '../app/installations/inbox-streams.ts';
import { makeInstallationInbox } from '../app/installations/installation-inbox.ts';
import { makeInstallationTopics } from '../app/installations/installation-topics.ts';
import { makeInstallations } from '../app/installations/installations.ts';
import { makeReceipts } from '../app/installations/receipts.ts';
import { makeInteractionReports } from '../app/interactions.ts';
import { makeServePictures } from '../app/pictures/serve-pictures.ts';
import { makePreferencePages } from '../app/topics/preference-page.ts';
import { makeAcceptPush } from '../app/push/accept-push.ts';
import { makeAdmitPush } from '../app/push/admit-push.ts';
import type { CallRecorder } from '../app/api-log.ts';
import type { DemoWorkspace } from '../app/sandbox/find-demo-workspace.ts';
import type { ClockListener } from '../app/sandbox/clock-advance.ts';
import { documentedSegmentLimits } from '../app/segments/segment-limits.ts';
import { makeTokenBatches } from '../app/tokens/prove-clients.ts';
import { makeTokenAuthority } from '../app/tokens/token-authority.ts';
import type { Doorbell } from '../engine/doorbell.ts';
import type { OwnRuns } from '../storage/runs/named-runs.ts';
import type { NodeMeter } from '../engine/monitoring/node-meter.ts';
import { measureContent } from '../engine/fan-out/compose-message.ts';
import { makePreferenceLinks } from '../domain/preference-links.ts';
import { makeInteractionTokens } from '../domain/events/interactions.ts';
import type { RouteFamily } from '../http/server/build-server.ts';
import { appAccessRoutes } from '../http/app-access.ts';
import { appRoutes } from '../http/apps.ts';
import { businessEventRoutes } from '../http/business-events.ts';
import { campaignRoutes } from '../http/campaigns/routes.ts';
import { dataRoutes } from '../http/data/routes.ts';
import { docsRoutes } from '../http/docs.ts';
import { journeyRoutes } from '../http/journeys/routes.ts';
import { eventStreamRoutes } from '../http/event-streams.ts';
import { inboxStatsRoutes } from '../http/campaigns/inbox-stats.ts';
import { explainRoutes } from '../http/explain.ts';
import { healthRoutes } from '../http/health.ts';
import { installationRoutes } from '../http/installations/routes.ts';
import { sourceRoutes } from '../http/source/routes.ts';
import { interactionRoutes } from '../http/interactions.ts';
import { liveActivityRoutes } from '../http/live-activities.ts';
import { preferencePageRoutes } from '../http/preference-page.ts';
import { pictureRoutes } from '../http/pictures.ts';
import { pushRoutes } from '../http/push/routes.ts';
import { apiFaultHook, sandboxRoutes } from '../http/sandbox/routes.ts';
import { sandboxBrowserRoutes } from '../http/sandbox/browser-page.ts';
import { homeRoute } from '../http/console/routes.ts';
import { segmentRoutes } from '../http/segments/routes.ts';
import { reportRoutes } from '../http/stats/reports.ts';
import { statsRoutes } from '../http/stats/stats.ts';
import { tokenRoutes } from '../http/tokens.ts';
import { topicRoutes } from '../http/topics.ts';
import { makeVendorHeaders } from '../http/route/vendor-headers.ts';
import { openPictureStore } from './node/pictures.ts';
import type { Composition } from './node/composition.ts';
import { makeConsoleRoutes } from './console-routes.ts';
import type { ConsoleParts } from './console-routes.ts';
import { phoneDefaultsOf } from './config.ts';
import { makeSandbox } from './node/sandbox.ts';

export type RouteParts = Pick<ConsoleParts, 'accounts' | 'company' | 'phones' | 'readiness' | 'readyCurl'> & {
  /** Undefined until the demo is seeded, and in production. */
  findDemo: () => DemoWorkspace | undefined;
  clockListener: ClockListener;
  calls: CallRecorder;
  meter: Pick<NodeMeter, 'noteCommit'>;
  doorbell: Doorbell;
  /** Undefined on a node that does not send. */
  ownRuns: OwnRuns | undefined;
};

const projectFolder = join(import.meta.dirname, '..', '..', '..');

/**
 * Makes the route families of this node with the dependencies of their use cases. A worker serves health checks only. Objects
 * with memory (totals, limits of devices, group commits) are created once here.
 */
export function makeRoutes(composition: Composition, parts: RouteParts): RouteFamily[] {
  const { config, clock, installation } = composition;
  const { acrossWorkspaces, encryption } = installation;
  const { phones, findDemo, readiness, clockListener, calls, meter, doorbell } = parts;
  const health = healthRoutes({ ...readiness, proxyState: composition.proxy?.state });
  if (config.role === 'worker') return [health];

  const vendorHeaders = makeVendorHeaders(config.headerPrefix);
  const tokens = makeTokenAuthority({ database: acrossWorkspaces, clock, encryption });
  const shared = { acrossWorkspaces, clock, encryption, tokens, vendorHeaders, serviceDomain: config.serviceDomain };
  const deps = { ...shared, database: installation.callDatabase };
  // Across workspaces: the database shows the workspace of a credential, pushes of all workspaces are committed together, and a
  // day's partitions serve all workspaces.
  const across = { ...shared, database: acrossWorkspaces };
  const wait = (milliseconds: number): Promise<unknown> => setTimeout(milliseconds);
  const limits = { ...documentedSegmentLimits, usersPerDay: config.segmentUsersPerDay };
  const authoring = { ...deps, limits: documentedAuthoringLimits, totals: makeCampaignTotals(deps) };
  const interactionTokens = makeInteractionTokens(installation.secretFor('interactions'));
  const interactions = makeInteractionReports({
    ...{ database: acrossWorkspaces, clock, tokens: interactionTokens },
    keptDays: config.keepInteractionsDays,
  });
  const links = makePreferenceLinks(installation.secretFor('interactions'));
  const isSandbox = config.mode === 'sandbox';
  const pictureStore = openPictureStore(composition);
  const servedBy = { database: acrossWorkspaces, clock, log: composition.log, objects: pictureStore };
  const installations = makeInstallations(deps);
  const ensureToday = makeEnsureToday(across);
  const sandbox = phones && makeSandbox(composition, { phones, findDemo, clockListener, calls });
  const families = [
    homeRoute,
    docsRoutes(join(projectFolder, 'docs', 'dist')),
    health,
    tokenRoutes({ ...across, wait, batches: makeTokenBatches(across) }),
    pushRoutes({
      ...across,
      admitPush: makeAdmitPush(across),
      acceptPush: makeAcceptPush({ ...across, doorbell, ownRuns: parts.ownRuns, onCommit: meter.noteCommit }),
      measure: (shown) => measureContent(shown, phoneDefaultsOf(config)),
    }),
    dataRoutes({ ...deps, ensureToday, erasureDelayHours: config.erasureDelayHours }),
    sourceRoutes({ ...deps, ensureToday }),
    segmentRoutes({ ...deps, limits }),
    campaignRoutes({ ...authoring, migrationGuideFile: join(projectFolder, 'docs', 'migration-v1-v5.md') }),
    businessEventRoutes(deps),
    appRoutes(deps),
    appAccessRoutes(deps),
    topicRoutes({ ...deps, links, publicUrl: config.publicUrl }),
    preferencePageRoutes({ preferencePages: makePreferencePages({ database: acrossWorkspaces, clock, links }) }),
    installationRoutes({
      ...{ authentication: { database: acrossWorkspaces, clock, isSandbox }, vendorHeaders },
      ...{ serviceDomain: config.serviceDomain, identity: { ...deps, isSandbox }, installations },
      topics: makeInstallationTopics({ ...deps, installations }),
      inbox: makeInstallationInbox({ ...deps, installations }),
      streams: makeInboxStreams({ acrossWorkspaces, clock, installations, doorbell }),
      acceptEvents: makeAppEvents({ ...deps, ensureToday }),
      acceptReceipts: makeReceipts({ installations, interactions }),
    }),
    inboxStatsRoutes(deps),
    explainRoutes(deps),
    statsRoutes(deps),
    reportRoutes(deps),
    liveActivityRoutes(deps),
    eventStreamRoutes(deps),
    journeyRoutes({ ...deps, prefixes: vendorHeaders.prefixes }),
    interactionRoutes({ vendorHeaders, interactions }),
    pictureRoutes({ openPicture: makeServePictures(servedBy) }),
    makeConsoleRoutes(composition, {
      ...parts,
      tokens,
      vendorHeaders,
      limits,
      interactions,
      interactionTokens,
      pictureStore,
      sandbox,
    }),
  ];
  if (!sandbox) return families;
  const { publicUrl, serviceDomain, host, sandboxAccess: access } = config;
  const ownHosts = [publicUrl && new URL(publicUrl).hostname, serviceDomain && `*.${serviceDomain}`, host];
  const allowedHosts = [...config.allowedHosts, ...ownHosts.filter((name) => name !== undefined)];
  return [
    apiFaultHook(sandbox),
    ...families,
    sandboxRoutes({ ...sandbox, access, allowedHosts }),
    sandboxBrowserRoutes({ ...sandbox, access, allowedHosts, clientFolder: join(projectFolder, 'client') }),
  ];
}

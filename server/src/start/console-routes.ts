import { join } from 'node:path';
import type { ConsoleAccountDependencies } from '../app/accounts/audit.ts';
import type { CompanySignInUseCases } from '../app/accounts/company-sign-in.ts';
import { makeConsoleCalls } from '../app/api-log.ts';
import { documentedAuthoringLimits } from '../app/campaigns/authoring.ts';
import { makeCampaignReport } from '../app/campaigns/campaign-report.ts';
import { makeCampaignTotals } from '../app/campaigns/search-campaigns.ts';
import { makeConsoleDeliveries } from '../app/deliveries.ts';
import type { InteractionReports } from '../app/interactions.ts';
import type { ReadyCurl } from '../app/keys/key-curl.ts';
import { makeVirtualDevices } from '../app/sandbox/sandbox-devices.ts';
import type { SandboxDependencies } from '../app/sandbox/sandbox.ts';
import type { SegmentLimits } from '../app/segments/segment-limits.ts';
import { makeConsoleOverview } from '../app/system/overview.ts';
import { preferStandby, makeStandbyHealth } from '../app/system/standby.ts';
import { makeConsoleSystem } from '../app/system/system.ts';
import { makeConsoleUsers } from '../app/users/manage-users.ts';
import { makeConsoleSettings } from '../app/workspace-settings.ts';
import type { TokenAuthority } from '../app/tokens/token-authority.ts';
import type { InteractionTokens } from '../domain/events/interactions.ts';
import type { ObjectStore } from '../domain/pictures.ts';
import { makePreparePicture } from '../engine/pictures/prepare-picture.ts';
import { measureContent } from '../engine/fan-out/compose-message.ts';
import { startJob } from '../engine/jobs/job.ts';
import { ensureWebhookSecret } from '../engine/outbox/callbacks.ts';
import type { SandboxPhones } from '../engine/sandbox-phones.ts';
import { consoleRoutes } from '../http/console/routes.ts';
import type { VendorHeaders } from '../http/route/vendor-headers.ts';
import type { RouteFamily } from '../http/server/build-server.ts';
import { makeAskProvider } from '../providers/check-credential.ts';
import type { Queryable } from '../storage/database.ts';
import { carillonVersion } from './carillon-version.ts';
import { isServedByHttps, listChangedSettings, phoneDefaultsOf, retentionOf } from './config.ts';
import { makeSubscriptionsOf } from './node/composition.ts';
import type { Composition } from './node/composition.ts';
import { deliveryOptions } from './node/engine.ts';
import { makeWatchStandby } from './node/readiness.ts';
import type { Readiness } from './node/readiness.ts';
import { readMachine } from './read-machine.ts';

export type ConsoleParts = {
  accounts: ConsoleAccountDependencies;
  company: CompanySignInUseCases | undefined;
  phones: SandboxPhones | undefined;
  sandbox: SandboxDependencies | undefined;
  readiness: Readiness;
  readyCurl: ReadyCurl;
  tokens: TokenAuthority;
  vendorHeaders: VendorHeaders;
  limits: SegmentLimits;
  interactions: InteractionReports;
  interactionTokens: InteractionTokens;
  pictureStore: ObjectStore | undefined;
};

/** Returns the console's routes with their use cases. */
export function makeConsoleRoutes(composition: Composition, parts: ConsoleParts): RouteFamily {
  const { config, clock, log, installation } = composition;
  const { callDatabase, acrossWorkspaces, encryption } = installation;
  const { accounts, company, phones, sandbox, readyCurl, vendorHeaders, interactions } = parts;
  const { findTroubles } = parts.readiness;
  const isSandbox = config.mode === 'sandbox';
  const useCases = { database: callDatabase, clock, encryption };
  const limits = { segments: parts.limits, authoring: documentedAuthoringLimits };
  const makeSubscription = makeSubscriptionsOf(installation);
  const devices = makeVirtualDevices({ database: acrossWorkspaces, clock, makeSubscription, interactions });
  const webhookSecretOf = (tx: Queryable, workspaceId: string): Promise<string> =>
    ensureWebhookSecret({ database: tx, encryption }, workspaceId);
  return consoleRoutes({
    database: callDatabase,
    clock,
    isSandbox,
    accounts,
    company,
    passwordSignIn: config.passwordSignIn,
    publicUrl: config.publicUrl,
    log,
    overview: makeConsoleOverview({
      ...{ database: acrossWorkspaces, clock, readyCurl, findTroubles, isSandbox, limits },
      isEmbedded: installation.embedded !== undefined,
    }),
    measure: (shown) => measureContent(shown, phoneDefaultsOf(config)),
    composer: { ...useCases, limits: limits.authoring },
    campaigns: {
      ...{ ...useCases, limits: limits.authoring },
      totals: makeCampaignTotals(useCases),
      report: makeCampaignReport(useCases),
    },
    appAccess: useCases,
    pictures: {
      ...{ database: callDatabase, clock, log, isSandbox, publicUrl: config.publicUrl },
      prepare: makePreparePicture(),
      objects: parts.pictureStore,
      maxBytes: config.pictureMegabytes * 1_000_000,
    },
    keys: { ...useCases, tokens: parts.tokens, headerPrefix: config.headerPrefix },
    ...makeConsoleLists(composition),
    settings: makeConsoleSettings({ ...useCases, headerPrefix: config.headerPrefix, limits }),
    credentials: {
      ...useCases,
      ask: makeAskProvider(deliveryOptions(composition, phones)),
      isSandbox,
      onChanged: async () => phones?.refreshAccounts(),
    },
    sandbox: sandbox && { ...sandbox, devices },
    system: makeConsoleSystem({
      database: acrossWorkspaces,
      clock,
      findTroubles,
      readMachine: () => readMachine(installation.embedded && installation.dataFolder),
      installation: describeInstallation(composition),
    }),
    places: { ...useCases, totals: makeCampaignTotals(useCases), interactionTokens: parts.interactionTokens },
    alerts: {
      ...useCases,
      emailState: config.smtpUrl === undefined ? 'KEPT' : 'PENDING',
      consoleUrl: config.publicUrl,
    },
    streams: useCases,
    metrics: { database: acrossWorkspaces, clock },
    vendorHeaders,
    segments: { ...useCases, limits: limits.segments, webhookSecretOf },
    mcp: config.mcp,
    version: carillonVersion,
    staticFolder: join(import.meta.dirname, '..', '..', '..', 'console', 'dist'),
    workerFile: join(import.meta.dirname, '..', '..', '..', 'client', 'browser', 'carillon-service-worker.js'),
    isSecure: isServedByHttps(config),
    installationSecret: installation.secretFor('interactions'),
  });
}

function describeInstallation({ config, installation }: Composition) {
  return {
    version: carillonVersion,
    mode: config.mode,
    role: config.role,
    isEmbedded: installation.embedded !== undefined,
    changedSettings: listChangedSettings(config),
    retentionDays: retentionOf(config),
  };
}

/** Makes the use cases of the long lists: the ledger, the call log and the users. They read from a standby if one keeps up. */
function makeConsoleLists({ config, clock, log, installation, started }: Composition) {
  const { headerPrefix, erasureDelayHours } = config;
  const { callDatabase, acrossWorkspaces, standby } = installation;
  const deliveries = makeConsoleDeliveries({ database: callDatabase, clock });
  const calls = makeConsoleCalls({ database: callDatabase, acrossWorkspaces, headerPrefix });
  const users = makeConsoleUsers({ database: callDatabase, clock, erasureDelayHours });
  if (!standby) return { deliveries, calls, users };
  const health = makeStandbyHealth();
  started.push(startJob(makeWatchStandby({ standby, health, log }), { clock, log }));
  const there = { database: standby, clock };
  const callsThere = { ...there, acrossWorkspaces: standby.acrossWorkspaces(), headerPrefix };
  return {
    deliveries: preferStandby({
      ...{ health, primary: deliveries, standby: makeConsoleDeliveries(there), names: ['list', 'read'] },
    }),
    calls: preferStandby({ health, primary: calls, standby: makeConsoleCalls(callsThere), names: ['list', 'read'] }),
    users: preferStandby({
      ...{ health, primary: users, standby: makeConsoleUsers({ ...there, erasureDelayHours }) },
      names: ['search', 'list', 'listTimeline'],
    }),
  };
}

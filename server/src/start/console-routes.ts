import { join } from 'node:path';
import type { ConsoleAccountDependencies } from '../app/accounts/account-dependencies.ts';
import { documentedAuthoringLimits } from '../app/campaigns/authoring-dependencies.ts';
import { makeCampaignTotals } from '../app/campaigns/campaign-totals.ts';
import { makeConsoleCampaigns } from '../app/console/console-campaigns.ts';
import { makeConsoleKeys } from '../app/console/console-keys.ts';
import { makeConsoleOverview } from '../app/console/console-overview.ts';
import { makeConsoleSandbox } from '../app/console/console-sandbox.ts';
import { makeConsoleSegments } from '../app/console/console-segments.ts';
import { makeConsoleSettings } from '../app/console/console-settings.ts';
import { makeConsoleSystem } from '../app/console/console-system.ts';
import type { InteractionTokens } from '../domain/interactions/interaction-token.ts';
import type { InteractionReports } from '../app/interactions/interaction-reports.ts';
import type { ReadyCurl } from '../app/sandbox/make-ready-curl.ts';
import type { SandboxDependencies } from '../app/sandbox/control-sandbox.ts';
import { makeVirtualDevices } from '../app/sandbox/virtual-devices.ts';
import type { SegmentLimits } from '../app/segments/segment-dependencies.ts';
import { ensureWebhookSecret } from '../engine/callbacks/webhook-secret.ts';
import { makeAskProvider } from '../engine/credentials/ask-provider.ts';
import { measureContent } from '../engine/fan-out/measure-content.ts';
import type { SandboxPhones } from '../engine/sandbox/start-sandbox-phones.ts';
import type { CompanySignInUseCases } from '../app/accounts/company-sign-in.ts';
import type { RouteFamily } from '../http/build-server.ts';
import { consoleRoutes } from '../http/console/routes.ts';
import type { VendorHeaders } from '../http/vendor-headers.ts';
import { carillonVersion } from './carillon-version.ts';
import { makeSubscriptionsOf } from './composition.ts';
import type { Composition } from './composition.ts';
import { listChangedSettings, phoneDefaultsOf, retentionOf } from './config.ts';
import { makeConsoleLists } from './console-lists.ts';
import { deliveryOptions } from './engine.ts';
import { readMachine } from './read-machine.ts';
import type { Readiness } from './readiness.ts';
import type { Queryable } from '../storage/database.ts';

export type ConsoleParts = {
  accounts: ConsoleAccountDependencies;
  company: CompanySignInUseCases | undefined;
  phones: SandboxPhones | undefined;
  sandbox: SandboxDependencies | undefined;
  readiness: Readiness;
  readyCurl: ReadyCurl;
  vendorHeaders: VendorHeaders;
  limits: SegmentLimits;
  interactions: InteractionReports;
  interactionTokens: InteractionTokens;
};

/** The console's routes with what they show. */
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
    overview: makeConsoleOverview({ database: acrossWorkspaces, clock, readyCurl, findTroubles, isSandbox, limits }),
    measure: (shown) => measureContent(shown, phoneDefaultsOf(config)),
    composer: { ...useCases, limits: limits.authoring },
    campaigns: makeConsoleCampaigns({ ...useCases, limits: limits.authoring }),
    keys: makeConsoleKeys({ ...useCases, headerPrefix: config.headerPrefix }),
    ...makeConsoleLists(composition),
    settings: makeConsoleSettings({ ...useCases, headerPrefix: config.headerPrefix, limits }),
    credentials: {
      ...useCases,
      ask: makeAskProvider(deliveryOptions(composition, phones)),
      isSandbox,
      onChanged: async () => phones?.refreshAccounts(),
    },
    sandbox: sandbox && makeConsoleSandbox({ clock, sandbox, devices }),
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
    segments: makeConsoleSegments({ ...useCases, limits: limits.segments, webhookSecretOf }),
    staticFolder: join(import.meta.dirname, '..', '..', '..', 'console', 'dist'),
    isSecure: config.publicUrl?.startsWith('https:') ?? config.tlsCert !== undefined,
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

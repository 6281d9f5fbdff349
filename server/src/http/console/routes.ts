import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import type { Clock } from '../../clock.ts';
import type { ConsoleAccountDependencies } from '../../app/accounts/account-dependencies.ts';
import type { ConsoleCalls } from '../../app/console/console-calls.ts';
import type { ConsoleCampaigns } from '../../app/console/console-campaigns.ts';
import type { AuthoringDependencies } from '../../app/campaigns/authoring-dependencies.ts';
import type { ConsoleDeliveries } from '../../app/console/console-deliveries.ts';
import type { ConsoleKeys } from '../../app/console/console-keys.ts';
import type { ConsoleOverview } from '../../app/console/console-overview.ts';
import type { ConsoleUsers } from '../../app/console/console-users.ts';
import type { ConsoleSandbox } from '../../app/console/console-sandbox.ts';
import type { ConsoleSegments } from '../../app/console/console-segments.ts';
import type { ConsoleSettings } from '../../app/console/console-settings.ts';
import type { ConsoleSystem } from '../../app/console/console-system.ts';
import type { InstallationDependencies } from '../../app/console/read-installation.ts';
import type { AlertDependencies } from '../../app/alerts/manage-alerts.ts';
import type { MetricsDependencies } from '../../app/console/read-metrics.ts';
import type { FindPlacesDependencies } from '../../app/console/find-places.ts';
import type { CredentialDependencies } from '../../app/credentials/manage-credentials.ts';
import type { EventStreamDependencies } from '../../app/event-streams/manage-event-streams.ts';
import type { ExplainDependencies } from '../../app/explain/explain-delivery.ts';
import type { RouteFamily } from '../build-server.ts';
import type { VendorHeaders } from '../vendor-headers.ts';
import { auditRoutes } from './audit-routes.ts';
import { accountRoutes } from './account-routes.ts';
import { consoleCallRoutes } from './call-routes.ts';
import { consoleAlertRoutes } from './alert-routes.ts';
import { campaignEventRoutes } from './campaign-event-routes.ts';
import { consoleCampaignRoutes } from './campaign-routes.ts';
import { companyRoutes } from './company-routes.ts';
import type { CompanyRouteDependencies } from './company-routes.ts';
import { consoleComposerRoutes } from './composer-routes.ts';
import { guardConsole } from './console-access.ts';
import { makeConsoleCookies } from './console-cookies.ts';
import { consoleCredentialRoutes } from './credential-routes.ts';
import { consoleDeliveryRoutes } from './delivery-routes.ts';
import { consoleExplainRoutes } from './explain-routes.ts';
import { consoleKeyRoutes } from './key-routes.ts';
import { overviewRoutes } from './overview-routes.ts';
import { consolePlaceRoutes } from './place-routes.ts';
import { consoleUsersRoutes } from './user-routes.ts';
import { consoleSandboxRoutes } from './sandbox-routes.ts';
import { consolePreviewRoute } from './preview-route.ts';
import type { ConsolePreviewDependencies } from './preview-route.ts';
import { consoleSegmentRoutes } from './segment-routes.ts';
import { serveConsoleFiles } from './serve-console-files.ts';
import { consoleSettingsRoutes } from './settings-routes.ts';
import { consoleStreamRoutes } from './stream-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { consoleSystemRoutes } from './system-routes.ts';
import { tellTime } from './tell-time.ts';

export type ConsoleRouteDependencies = {
  /** The time of the service, which a sandbox moves. */
  clock: Clock;
  accounts: ConsoleAccountDependencies;
  overview: ConsoleOverview;
  campaigns: ConsoleCampaigns;
  composer: AuthoringDependencies;
  keys: ConsoleKeys;
  users: ConsoleUsers;
  vendorHeaders: VendorHeaders;
  settings: ConsoleSettings;
  system: ConsoleSystem;
  credentials: CredentialDependencies;
  /** Undefined in production. */
  sandbox: ConsoleSandbox | undefined;
  calls: ConsoleCalls;
  deliveries: ConsoleDeliveries;
  segments: ConsoleSegments;
  places: FindPlacesDependencies;
  alerts: AlertDependencies;
  streams: EventStreamDependencies;
  metrics: MetricsDependencies;
  /** Folder of the built console. */
  staticFolder: string;
  /** The service is reached over TLS: cookies travel there only. */
  isSecure: boolean;
  /** Of this installation, the same on all of its nodes. */
  installationSecret: Buffer;
} & InstallationDependencies &
  ConsolePreviewDependencies &
  ExplainDependencies &
  Omit<CompanyRouteDependencies, 'cookies'>;

/** The console: its pages and the routes they use. */
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
    const cookies = makeConsoleCookies(deps);
    tellTime(server, deps.clock);
    guardConsole(server, { accounts: deps.accounts, cookies });
    sessionRoutes(server, { ...deps, cookies });
    companyRoutes(server, { ...deps, cookies });
    accountRoutes(server, deps);
    auditRoutes(server, deps);
    overviewRoutes(server, deps);
    consoleCampaignRoutes(server, deps);
    campaignEventRoutes(server, { ...deps, cookies });
    consoleComposerRoutes(server, deps);
    consolePreviewRoute(server, deps);
    consoleExplainRoutes(server, deps);
    consoleKeyRoutes(server, deps);
    consolePlaceRoutes(server, deps);
    consoleAlertRoutes(server, deps);
    consoleStreamRoutes(server, deps);
    consoleUsersRoutes(server, deps);
    consoleSettingsRoutes(server, deps);
    consoleSystemRoutes(server, deps);
    consoleCredentialRoutes(server, deps);
    if (deps.sandbox) consoleSandboxRoutes(server, deps.sandbox);
    consoleCallRoutes(server, deps);
    consoleDeliveryRoutes(server, deps);
    consoleSegmentRoutes(server, deps);
    serveConsoleFiles(server, deps.staticFolder);
  };
}

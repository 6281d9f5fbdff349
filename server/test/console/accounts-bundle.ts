import { forAllProviders } from '../../src/domain/delivery/providers.ts';
import { makeApiFaults } from '../../src/app/sandbox/sandbox.ts';
import { randomBytes } from 'node:crypto';
import type { InjectOptions } from 'fastify';
import { audit } from '../../src/app/accounts/audit.ts';
import type { Actor, ConsoleAccountDependencies } from '../../src/app/accounts/audit.ts';
import { createStartLink } from '../../src/app/accounts/links.ts';
import type { CompanySignInUseCases } from '../../src/app/accounts/company-sign-in.ts';
import { makePasswordHash } from '../../src/app/accounts/password-hash.ts';
import { documentedAuthoringLimits } from '../../src/app/campaigns/authoring.ts';
import { makeCampaignTotals } from '../../src/app/campaigns/search-campaigns.ts';
import { makeConsoleCalls } from '../../src/app/api-log.ts';
import { makeCampaignReport } from '../../src/app/campaigns/campaign-report.ts';
import type { CredentialCheck } from '../../src/domain/credentials/checks.ts';
import { makeConsoleDeliveries } from '../../src/app/deliveries.ts';
import { makeConsoleOverview } from '../../src/app/system/overview.ts';
import { makeConsoleUsers } from '../../src/app/users/manage-users.ts';
import { setTimeout } from 'node:timers/promises';
import { makeClockAdvance } from '../../src/app/sandbox/clock-advance.ts';
import { makeConsoleSettings } from '../../src/app/workspace-settings.ts';
import { makeConsoleSystem } from '../../src/app/system/system.ts';
import { makeVirtualDevices } from '../../src/app/sandbox/sandbox-devices.ts';
import { documentedSegmentLimits } from '../../src/app/segments/segment-limits.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { Permission, Role } from '../../src/domain/access/accounts.ts';
import type { SecondFactorRule } from '../../src/domain/access/second-factor.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import type { CompletedCall } from '../../src/http/server/build-server.ts';
import { consoleRoutes } from '../../src/http/console/routes.ts';
import { readConfig, retentionOf } from '../../src/start/config.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { makeLog } from '../../src/log.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Shape } from '../http/body-arbitrary.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

export const start = new Date('2026-03-01T10:00:00Z');
export const goodPassword = 'nine green bottles';

export type ConsoleRoute = {
  method: string;
  url: string;
  permission: Permission | 'none' | undefined;
  shapes: { params?: Shape; querystring?: Shape; body?: Shape };
};
export type AccountsBundle = Awaited<ReturnType<typeof makeAccountsBundle>>;

type CompanyParts = Pick<ConsoleAccountDependencies, 'database' | 'clock' | 'encryption' | 'secondFactor'>;

export type BundleOptions = {
  passwordSignIn?: 'everyone' | 'owners';
  secondFactor?: SecondFactorRule;
  publicUrl?: string;
  installationSecret?: Buffer;
  mcp?: 'on' | 'off';
  company?: (parts: CompanyParts) => CompanySignInUseCases;
};

/** The console's routes as production has them, on a clock that stands, with a log of the calls that were recorded. */
export async function makeAccountsBundle(options: BundleOptions = {}) {
  const test = await createTestDatabase();
  const { database } = test;
  const clock = makeManualClock(start);
  const logLines: Record<string, unknown>[] = [];
  const write = (line: string): void => void logLines.push(JSON.parse(line) as Record<string, unknown>);
  const log = makeLog({ level: 'info', pretty: false }, { write });
  const encryption = makeEncryption(Buffer.alloc(32, 7));
  const accounts: ConsoleAccountDependencies = {
    database,
    clock,
    // Hundreds of sign-ins: the whole cost is tried once, in accounts.test.ts.
    passwords: makePasswordHash({ memoryKibibytes: 64 }),
    encryption,
    passwordSignIn: options.passwordSignIn ?? 'everyone',
    secondFactor: options.secondFactor ?? 'optional',
    publicUrl: options.publicUrl,
    isSandbox: false,
  };
  const workspaceId = await insertTestWorkspace(database, start);
  const routes: ConsoleRoute[] = [];
  const recorded: CompletedCall[] = [];
  const deps = {
    database,
    clock,
    isSandbox: false,
    accounts,
    overview: makeConsoleOverview({
      database,
      clock,
      isSandbox: false,
      isEmbedded: true,
      findTroubles: async () => [],
      readyCurl: async () => 'curl of a key',
      limits: { segments: documentedSegmentLimits, authoring: documentedAuthoringLimits },
    }),
    campaigns: {
      ...{ database, clock, encryption, limits: documentedAuthoringLimits },
      totals: makeCampaignTotals({ database, clock }),
      report: makeCampaignReport({ database, clock }),
    },
    measure: () => ({ bytes: 0, most: 4096, maxEverywhere: 4096 }),
    composer: { database, clock, encryption, limits: documentedAuthoringLimits },
    appAccess: { database, clock, encryption },
    keys: { database, clock, encryption, headerPrefix: 'Acme' },
    deliveries: makeConsoleDeliveries({ database, clock }),
    calls: makeConsoleCalls({ database, acrossWorkspaces: database, headerPrefix: 'Acme' }),
    sandbox: {
      database,
      clock,
      devices: makeVirtualDevices({
        database,
        clock,
        makeSubscription: (id) => JSON.stringify({ endpoint: `https://push.example/${id}` }),
        interactions: { report: async () => ({ workspaceId }) },
      }),
      demoWorkspaceId: () => undefined,
      apiFaults: makeApiFaults(),
      simulators: {
        counters: async () => ({}),
        refusals: async () => [],
        setFaults: async () => {},
        faultsLeft: async () => forAllProviders([]),
        reset: async () => {},
      },
      waitForMessage: async () => {},
      clockAdvance: makeClockAdvance({
        database,
        clock,
        log,
        onClockStopped: () => {},
        onClockMoved: () => {},
        pause: (time) => setTimeout(time),
      }),
      resetDemo: async ({ actor }: { actor: Actor }) => {
        await inTransaction(database, (tx) => audit(tx, { actor, action: 'sandbox.reset', at: clock.realNow() }));
        return { workspaceId };
      },
    },
    settings: makeConsoleSettings({
      database,
      clock,
      headerPrefix: 'SVC',
      limits: { segments: documentedSegmentLimits, authoring: documentedAuthoringLimits },
    }),
    credentials: {
      database,
      clock,
      encryption,
      ask: async (): Promise<CredentialCheck> => ({ verdict: 'ACCEPTED', words: 'yes' }),
      isSandbox: true,
      onChanged: async () => {},
    },
    system: makeConsoleSystem({
      database,
      clock,
      findTroubles: async () => [],
      readMachine: async () => ({ uptimeSeconds: 5, memoryBytes: 1, runtime: 'Node', platform: 'here', disk: null }),
      installation: {
        ...({ version: '1.2.3', mode: 'production', role: 'all', isEmbedded: false, changedSettings: [] } as const),
        retentionDays: retentionOf(readConfig({ environment: {}, arguments: [] })),
      },
    }),
    places: {
      database,
      totals: makeCampaignTotals({ database, clock }),
      interactionTokens: makeInteractionTokens(randomBytes(32)),
    },
    alerts: { database, clock, emailState: 'KEPT' as const, consoleUrl: undefined },
    pictures: {
      ...{ database, clock, log, objects: undefined, maxBytes: 1_000_000, publicUrl: undefined, isSandbox: true },
      prepare: async (bytes: Buffer) => ({ mediaType: 'image/png' as const, width: 2, height: 1, bytes }),
    },
    metrics: { database, clock },
    streams: { database, clock, encryption },
    vendorHeaders: makeVendorHeaders('SVC'),
    users: makeConsoleUsers({ database, clock, erasureDelayHours: 24 }),
    segments: {
      database,
      clock,
      encryption,
      limits: documentedSegmentLimits,
      webhookSecretOf: async () => 'whsec_test',
    },
    company: options.company?.(accounts),
    passwordSignIn: options.passwordSignIn ?? 'everyone',
    publicUrl: options.publicUrl,
    log,
    mcp: options.mcp ?? ('on' as const),
    version: '1.2.3',
    staticFolder: '/nowhere',
    workerFile: '/nowhere',
    isSecure: true,
    installationSecret: options.installationSecret ?? Buffer.alloc(32, 1),
  };
  const server = await buildServer(
    {
      log,
      clock,
      trustProxy: 1,
      onCall: (call) => recorded.push(call),
    },
    [
      async (scope) => {
        scope.addHook('onRoute', ({ method, url, config, schema }) => {
          if (url.startsWith('/console/api/') && method !== 'HEAD')
            routes.push({
              ...{ method: String(method), url, permission: config?.permission },
              shapes: (schema ?? {}) as ConsoleRoute['shapes'],
            });
        });
        await scope.register(consoleRoutes(deps));
      },
    ],
  );
  await server.ready();

  async function call(method: InjectOptions['method'], path: string, options: CallOptions = {}) {
    const { body, cookie, address = '198.51.100.7', headers = {} } = options;
    const answer = await server.inject({
      method: method!,
      url: `/console/api/${path}`,
      headers: { 'x-forwarded-for': address, ...(cookie === undefined ? {} : { cookie }), ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: /json/.test(String(answer.headers['content-type'])) ? (answer.json() as any) : answer.body || undefined,
      /** For the next call. */
      cookie: String(answer.headers['set-cookie'] ?? '').split(';', 1)[0]!,
    };
  }

  return {
    ...test,
    clock,
    accounts,
    workspaceId,
    routes,
    recorded,
    logLines,
    call,
    inject: (options: InjectOptions) => server.inject(options),
    createStartLink: () => createStartLink(accounts),
    /** Makes the first owner with the start's link. @returns the cookie */
    async createOwner(): Promise<string> {
      const { code } = (await createStartLink(accounts))!;
      const owner = { code, email: 'olga@example.com', name: 'Olga', password: goodPassword };
      return (await call('POST', 'first-owner', { body: owner })).cookie;
    },
    /** Invites a person and accepts. @returns the cookie */
    async join(owner: string, { email, ...offered }: Joining): Promise<string> {
      const { body } = await call('POST', 'invitations', { cookie: owner, body: { email, ...offered } });
      const code = String(body.link).split('#invitation=')[1]!;
      const acceptance = { code, name: email.split('@')[0]!, password: goodPassword };
      return (await call('POST', 'invitation/acceptance', { body: acceptance })).cookie;
    },
    async end() {
      await server.close();
      await test.drop();
    },
  };
}

type Joining = { email: string; role?: Role | null; workspaceRoles?: Record<string, Role> };

type CallOptions = { body?: unknown; cookie?: string; address?: string; headers?: Record<string, string> };

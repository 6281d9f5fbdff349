import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { makeAccountUseCases } from './app/accounts/account-use-cases.ts';
import { makeCompanySignIn } from './app/accounts/company-sign-in.ts';
import type { CompanySignInUseCases } from './app/accounts/company-sign-in.ts';
import { makePasswordHash } from './app/accounts/password-hash.ts';
import { recordCalls } from './app/api-log/record-calls.ts';
import type { CallRecorder } from './app/api-log/record-calls.ts';
import { makeBusinessEventUseCases } from './app/business-events/business-event-use-cases.ts';
import { documentedAuthoringLimits } from './app/campaigns/authoring-dependencies.ts';
import { makeCampaignUseCases } from './app/campaigns/campaign-use-cases.ts';
import { makeConsoleCalls } from './app/console/console-calls.ts';
import { makeConsoleCampaigns } from './app/console/console-campaigns.ts';
import { makeConsoleComposer } from './app/console/console-composer.ts';
import { makeConsoleDeliveries } from './app/console/console-deliveries.ts';
import { makeConsoleKeys } from './app/console/console-keys.ts';
import { makeConsoleOverview } from './app/console/console-overview.ts';
import { makeConsoleUsers } from './app/console/console-users.ts';
import { makeConsoleSandbox } from './app/console/console-sandbox.ts';
import { makeConsoleSegments } from './app/console/console-segments.ts';
import { makeConsoleSettings } from './app/console/console-settings.ts';
import { makeConsoleSystem } from './app/console/console-system.ts';
import { makeConsoleUseCases } from './app/console/console-use-cases.ts';
import { makeManageCredentials } from './app/credentials/manage-credentials.ts';
import { makeDataUseCases } from './app/data/data-use-cases.ts';
import { explainDelivery } from './app/explain/explain-delivery.ts';
import type { ExplainRequest, Explanation } from './app/explain/explain-delivery.ts';
import { makeInteractionUseCases } from './app/interactions/interaction-use-cases.ts';
import { makePushUseCases } from './app/push/push-use-cases.ts';
import { makeBrowserUseCases } from './app/sandbox/browser-use-cases.ts';
import { makeReadyCurl } from './app/sandbox/make-ready-curl.ts';
import { resetDemoWorkspace } from './app/sandbox/reset-demo-workspace.ts';
import { makeSandboxUseCases } from './app/sandbox/sandbox-use-cases.ts';
import { makeVirtualDevices } from './app/sandbox/virtual-devices.ts';
import { seedDemoWorkspace } from './app/sandbox/seed-demo-workspace.ts';
import type { DemoWorkspace } from './app/sandbox/seed-demo-workspace.ts';
import { documentedSegmentLimits } from './app/segments/segment-dependencies.ts';
import { makeSegmentUseCases } from './app/segments/segment-use-cases.ts';
import { makeStatsUseCases } from './app/stats/stats-use-cases.ts';
import { makeTokenUseCases } from './app/tokens/token-use-cases.ts';
import { carillonVersion } from './carillon-version.ts';
import { makeClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { listChangedSettings } from './config.ts';
import type { Config } from './config.ts';
import { makeInteractionTokens } from './domain/interactions/interaction-token.ts';
import { ensureWebhookSecret } from './engine/callbacks/webhook-secret.ts';
import { makeCompanyProvider } from './engine/company-account/make-company-provider.ts';
import { makeAskProvider } from './engine/credentials/ask-provider.ts';
import { makeShareProviderToken } from './engine/credentials/share-provider-token.ts';
import { makeDelivery, realProviderEndpoints } from './engine/delivery/deliver.ts';
import type { DeliveryEndpoints, DeliveryOptions } from './engine/delivery/deliver.ts';
import { makeSimulatedSubscription } from './engine/delivery/simulator/make-simulated-subscription.ts';
import { makeJobBook } from './engine/job-book.ts';
import type { JobBook } from './engine/job-book.ts';
import { startJob } from './engine/job.ts';
import type { RunningJob } from './engine/job.ts';
import { measureContent } from './engine/fan-out/measure-content.ts';
import { followDatabaseClock } from './engine/housekeeping/follow-database-clock.ts';
import { reportNode } from './engine/housekeeping/report-node.ts';
import { makeSmtpMailer } from './engine/email/smtp-mailer.ts';
import { startSandboxPhones } from './engine/sandbox/start-sandbox-phones.ts';
import type { SandboxPhones } from './engine/sandbox/start-sandbox-phones.ts';
import { startWorker } from './engine/start-worker.ts';
import type { Worker } from './engine/start-worker.ts';
import { buildServer } from './http/build-server.ts';
import type { CompletedCall, RouteFamily } from './http/build-server.ts';
import { businessEventRoutes } from './http/business-events/routes.ts';
import { campaignRoutes } from './http/campaigns/routes.ts';
import { consoleRoutes } from './http/console/routes.ts';
import { dataRoutes } from './http/data/routes.ts';
import { explainRoutes } from './http/explain/routes.ts';
import { healthRoutes } from './http/health/routes.ts';
import { interactionRoutes } from './http/interactions/routes.ts';
import { pushRoutes } from './http/push/routes.ts';
import { sandboxBrowserRoutes } from './http/sandbox/browser-page.ts';
import { sandboxRoutes } from './http/sandbox/routes.ts';
import { segmentRoutes } from './http/segments/routes.ts';
import { statsRoutes } from './http/stats/routes.ts';
import { tokenRoutes } from './http/tokens/routes.ts';
import { makeVendorHeaders } from './http/vendor-headers.ts';
import { makeLog } from './log.ts';
import type { Logger } from './log.ts';
import { openInstallation } from './open-installation.ts';
import type { OpenInstallation } from './open-installation.ts';
import { readMachine } from './read-machine.ts';
import { StartError } from './start-errors.ts';
import type { StartBlock } from './start-block.ts';
import type { Queryable } from './storage/pool.ts';
import { pingDatabase } from './storage/installation/database-clock.ts';
import { findInstallation } from './storage/installation/installation.ts';

export type Carillon = {
  /** What a person or a test needs to use it. */
  block: StartBlock;
  /** The embedded database ended by itself; undefined with a database of your own. */
  databaseExited: Promise<void> | undefined;
  log: Logger;
  /** One more address of the console with a one-time link, as the one of the block. */
  createConsoleLink(): Promise<string>;
  /** Ends everything in order: requests, windows, queue, simulators, pools, database. */
  stop(): Promise<void>;
};

export type StartOptions = {
  /** Where the providers are; a test puts stand-ins there. */
  providers?: Pick<DeliveryEndpoints, 'fcm' | 'apns'>;
};

/**
 * Composes one node: configuration → database, clock, seal → use cases → roles. The only place where all layers meet.
 *
 * @throws StartError and the errors that `toStartError` knows; what had started is stopped again
 */
export async function startCarillon(
  config: Config,
  { providers = realProviderEndpoints }: StartOptions = {},
): Promise<Carillon> {
  const clock = makeClock();
  const log = makeLog({ level: config.logLevel, pretty: process.stderr.isTTY === true });
  const started: { stop(): Promise<void> }[] = [];
  let stopped: Promise<void> | undefined;
  const stopParts = async (): Promise<void> => {
    for (const part of started.toReversed())
      await part.stop().catch((error: unknown) => log.error({ err: error }, 'stop failed'));
  };
  // A signal and a fault may both ask for it.
  const stopAll = (): Promise<void> => (stopped ??= stopParts());
  try {
    const installation = await openInstallation(config, { clock, log });
    started.push({ stop: installation.close });
    return await startRoles({ config, providers, clock, log, installation, started, stopAll });
  } catch (error) {
    await stopAll();
    throw error;
  }
}

type Composition = {
  config: Config;
  providers: Pick<DeliveryEndpoints, 'fcm' | 'apns'>;
  clock: Clock;
  log: Logger;
  installation: OpenInstallation;
  started: { stop(): Promise<void> }[];
  stopAll: () => Promise<void>;
};

async function startRoles(composition: Composition): Promise<Carillon> {
  const { config, clock, log, installation, started, stopAll } = composition;
  const { database, encryption } = installation;
  const demo = await prepareMode(composition);
  const phones = config.mode === 'sandbox' ? await startPhones(composition) : undefined;
  const book = makeJobBook();
  const nodeId = randomBytes(9).toString('base64url');
  const worker = config.role === 'api' ? undefined : await startEngine(composition, { phones, book, nodeId });
  const reporter = await startReporter(composition, { phones, book, nodeId });
  const onMoved = (): void => {
    onClockMoved(phones, worker);
    reporter.wake();
  };
  started.push(startJob(followDatabaseClock({ database, clock, onMoved }), { clock, log, book }));

  let isStopping = false;
  const findTroubles = async (): Promise<string[]> => {
    if (isStopping) return ['stopping'];
    const isAnswering = await Promise.race([
      pingDatabase(database).then(
        () => true,
        () => false,
      ),
      new Promise<false>((resolve) => setTimeout(resolve, 1000, false).unref()),
    ]);
    return isAnswering ? [] : ['database'];
  };
  const calls = recordCalls({ database, clock, log });
  started.push(calls);
  const families: RouteFamily[] = [healthRoutes({ findTroubles })];
  const readyCurl = makeReadyCurl({ database, encryption });
  const isSandbox = config.mode === 'sandbox';
  const { passwordSignIn } = config;
  const accounts = makeAccountUseCases({ database, clock, passwords: makePasswordHash(), passwordSignIn, isSandbox });
  if (config.role !== 'worker') {
    const vendorHeaders = makeVendorHeaders(config.headerPrefix);
    const useCases = { database, clock, encryption };
    const limits = { ...documentedSegmentLimits, usersPerDay: config.segmentUsersPerDay };
    const webhookSecretOf = (tx: Queryable, workspaceId: string): Promise<string> =>
      ensureWebhookSecret({ database: tx, encryption }, workspaceId);
    const explain = (request: ExplainRequest): Promise<Explanation> => explainDelivery(useCases, request);
    const interactions = makeInteractionUseCases({
      database,
      clock,
      tokens: makeInteractionTokens(installation.deriveSecret('interactions')),
    });
    const makeSubscription = subscriptionsOf(installation);
    const devices = makeVirtualDevices({ database, clock, makeSubscription, interactions });
    const sandbox = phones && makeSandbox(composition, { phones, demo, onMoved });
    const tokens = makeTokenUseCases(useCases);
    const edge = { tokens, vendorHeaders, clock, serviceDomain: config.serviceDomain };
    const campaigns = makeCampaignUseCases(useCases);
    families.push(
      tokenRoutes(edge),
      pushRoutes({ ...edge, push: makePushUseCases(useCases) }),
      dataRoutes({ ...edge, data: makeDataUseCases({ ...useCases, erasureDelayHours: config.erasureDelayHours }) }),
      segmentRoutes({ ...edge, segments: makeSegmentUseCases({ ...useCases, limits }) }),
      campaignRoutes({
        ...edge,
        campaigns,
        migrationGuideFile: join(import.meta.dirname, '..', '..', 'docs', 'migration-v1-v5.md'),
      }),
      businessEventRoutes({
        ...edge,
        campaigns,
        businessEvents: makeBusinessEventUseCases({ database, clock, encryption }),
      }),
      explainRoutes({ ...edge, campaigns: makeCampaignUseCases({ database, clock, encryption }), explain }),
      statsRoutes({ ...edge, stats: makeStatsUseCases({ database, clock }) }),
      interactionRoutes({
        vendorHeaders,
        interactions,
      }),
      consoleRoutes({
        accounts,
        company: startCompanySignIn(composition),
        passwordSignIn,
        publicUrl: config.publicUrl,
        console: makeConsoleUseCases({ database, isSandbox }),
        overview: makeConsoleOverview({
          database,
          clock,
          readyCurl,
          findTroubles,
          isSandbox,
          limits: { segments: limits, authoring: documentedAuthoringLimits },
        }),
        preview: campaigns.preview,
        measure: measureContent,
        composer: makeConsoleComposer({ ...useCases, limits: documentedAuthoringLimits }),
        campaigns: makeConsoleCampaigns({ ...useCases, limits: documentedAuthoringLimits }),
        keys: makeConsoleKeys(useCases),
        deliveries: makeConsoleDeliveries(useCases),
        calls: makeConsoleCalls(useCases),
        settings: makeConsoleSettings({
          ...useCases,
          headerPrefix: config.headerPrefix,
          limits: { segments: limits, authoring: documentedAuthoringLimits },
        }),
        credentials: makeManageCredentials({
          ...useCases,
          ask: makeAskProvider(deliveryOptions(composition, phones)),
          isSandbox,
          onChanged: async () => phones?.refreshAccounts(),
        }),
        sandbox: sandbox && makeConsoleSandbox({ clock, sandbox, devices }),
        system: makeConsoleSystem({
          database,
          clock,
          findTroubles,
          readMachine: () => readMachine(installation.embedded && installation.dataFolder),
          installation: {
            version: carillonVersion,
            mode: config.mode,
            role: config.role,
            isEmbedded: installation.embedded !== undefined,
            changedSettings: listChangedSettings(config),
          },
        }),
        vendorHeaders,
        people: makeConsoleUsers({ ...useCases, erasureDelayHours: config.erasureDelayHours }),
        segments: makeConsoleSegments({ ...useCases, limits, webhookSecretOf }),
        explain,
        staticFolder: join(import.meta.dirname, '..', '..', 'console', 'dist'),
        isSecure: config.publicUrl?.startsWith('https:') ?? false,
      }),
    );
    if (sandbox) {
      families.push(
        sandboxRoutes(sandbox),
        sandboxBrowserRoutes({
          browser: makeBrowserUseCases({ database, clock, workspaceId: () => demo?.workspaceId }),
          clientFolder: join(import.meta.dirname, '..', '..', 'client'),
        }),
      );
    }
  }
  const server = await buildServer(
    { log, clock, trustProxy: config.trustProxy, onCall: (call) => calls.record(toRecordedCall(call)) },
    families,
  );
  const url = config.publicUrl ?? (await listen(server, config));
  if (config.publicUrl) await listen(server, config);
  started.push({
    async stop() {
      isStopping = true;
      await new Promise((resolve) => setTimeout(resolve, config.shutdownDelaySeconds * 1000));
      await server.close();
    },
  });
  const createConsoleLink = async (): Promise<string> => {
    const link = await accounts.createStartLink();
    return `${url}/console/${link ? `#${link.kind}=${link.code}` : ''}`;
  };
  return {
    block: {
      url,
      console: await createConsoleLink(),
      workspaceId: demo?.workspaceId,
      dbName: demo?.dbName,
      keys: demo?.keys,
      inbox: phones ? `${url}/sandbox/inbox` : undefined,
      databaseUrl: installation.databaseUrl,
      databasePlace: installation.databasePlace,
      curl: demo && (await readyCurl({ workspaceId: demo.workspaceId, url })),
    },
    databaseExited: installation.embedded?.exited,
    log,
    createConsoleLink,
    stop: stopAll,
  };
}

/** Production refuses what belongs to the sandbox; the sandbox makes its demo workspace once. */
async function prepareMode({ config, clock, installation }: Composition): Promise<DemoWorkspace | undefined> {
  const { database, encryption } = installation;
  if (config.mode === 'sandbox') {
    const makeSubscription = subscriptionsOf(installation);
    return seedDemoWorkspace({ database, encryption, makeSubscription }, { at: clock.now(), seed: config.seed });
  }
  const demoWorkspaceId = (await findInstallation(database))?.demoWorkspaceId;
  if (demoWorkspaceId) {
    throw new StartError(
      'NOT_FOR_PRODUCTION',
      `This database holds the demo workspace ${demoWorkspaceId}; production mode wants one without.`,
    );
  }
  return undefined;
}

async function startPhones({ clock, log, installation, started }: Composition): Promise<SandboxPhones> {
  const phones = await startSandboxPhones({
    database: installation.database,
    encryption: installation.encryption,
    clock,
    log,
    secret: installation.deriveSecret('simulator'),
  });
  started.push(phones);
  return phones;
}

/** Signing in by the company's account, where one is set. */
function startCompanySignIn({ config, clock, installation, started }: Composition): CompanySignInUseCases | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcFirstRole } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  const provider = makeCompanyProvider({ issuer, clientId, clientSecret, name: config.oidcName });
  started.push({ stop: () => provider.close() });
  const rules = {
    domains: config.oidcDomains.map((domain) => domain.toLowerCase()),
    firstRole: oidcFirstRole === 'none' ? undefined : oidcFirstRole,
  };
  return makeCompanySignIn({
    database: installation.database,
    encryption: installation.encryption,
    clock,
    provider,
    rules,
  });
}

/** How this node reaches the providers, for messages and for questions about credentials. */
function deliveryOptions(composition: Composition, phones: SandboxPhones | undefined): DeliveryOptions {
  const { config, providers, clock, log, installation } = composition;
  return {
    clock,
    log,
    allowedNetworks: config.allowedNetworks,
    endpoints: { ...providers, ...(phones ? { simulators: phones.endpoints } : {}) },
    shareToken: makeShareProviderToken({ ...installation, log }),
  };
}

type NodeParts = { phones: SandboxPhones | undefined; book: JobBook; nodeId: string };

async function startEngine(composition: Composition, { phones, book, nodeId }: NodeParts): Promise<Worker> {
  const { config, clock, log, installation, started } = composition;
  const delivery = makeDelivery(deliveryOptions(composition, phones));
  started.push({ stop: () => delivery.close() });
  const worker = await startWorker({
    database: installation.database,
    databaseUrl: installation.databaseUrl,
    clock,
    log,
    encryption: installation.encryption,
    delivery,
    interactionTokens: makeInteractionTokens(installation.deriveSecret('interactions')),
    owner: nodeId,
    book,
    parallelChunks: config.workerChunks,
    windowDevices: config.windowDevices,
    lateSendMinutes: config.lateSendMinutes,
    inboxMessages: config.inboxMessages,
    allowedNetworks: allowedNetworksOf(config),
    mailer: config.smtpUrl === undefined ? undefined : makeSmtpMailer({ url: config.smtpUrl, from: config.mailFrom }),
    segmentUsersPerDay: config.segmentUsersPerDay,
  });
  started.push(worker);
  return worker;
}

/** Says that this node is there, at once and then every few seconds; a stop takes it back. */
async function startReporter(composition: Composition, { phones, book, nodeId }: NodeParts): Promise<RunningJob> {
  const { config, clock, log, installation, started } = composition;
  const { database } = installation;
  const simulators = phones && { fcm: phones.endpoints.fcm.messagesOrigin, apns: phones.endpoints.apns };
  const node = { id: nodeId, role: config.role, version: carillonVersion, simulators: simulators ?? null };
  const job = reportNode({ database, clock, node, book });
  await job.runOnce(clock.now());
  const reporter = startJob(job, { clock, log, book });
  started.push({
    async stop() {
      await reporter.stop();
      await job.leave();
    },
  });
  return reporter;
}

/** In the sandbox the callers' files and receivers run on this machine. */
function allowedNetworksOf(config: Config): readonly string[] {
  return config.mode === 'sandbox' ? [...config.allowedNetworks, '127.0.0.0/8', '::1/128'] : config.allowedNetworks;
}

type SandboxParts = { phones: SandboxPhones; demo: DemoWorkspace | undefined; onMoved: () => void };

function makeSandbox({ clock, installation }: Composition, { phones, demo, onMoved }: SandboxParts) {
  return makeSandboxUseCases({
    database: installation.database,
    clock,
    demoWorkspaceId: () => demo?.workspaceId,
    simulators: phones,
    waitForMessage: phones.waitForMessage,
    onClockMoved: onMoved,
    resetDemo: (note) =>
      resetDemoWorkspace({ ...installation, clock, makeSubscription: subscriptionsOf(installation) }, note),
  });
}

/** Makes browser subscriptions that the simulators can decrypt for. */
function subscriptionsOf(installation: OpenInstallation): (id: string) => string {
  const secret = installation.deriveSecret('simulator');
  return (id) => makeSimulatedSubscription({ secret, id });
}

/** The simulated providers judge the age of tokens by the same clock as the senders, from the same moment on. */
function onClockMoved(phones: SandboxPhones | undefined, worker: Worker | undefined): void {
  phones?.syncClock();
  worker?.wake();
}

async function listen(server: Awaited<ReturnType<typeof buildServer>>, config: Config): Promise<string> {
  try {
    const address = await server.listen({ host: config.host, port: config.port });
    // A wildcard address is no address to call.
    return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new StartError(
        'PORT_TAKEN',
        `Port ${config.port} on ${config.host} is taken; choose another with --port.`,
        error,
      );
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new StartError('PORT_TAKEN', `Port ${config.port} on ${config.host} cannot be used: ${message}.`, error);
    }
    throw error;
  }
}

function toRecordedCall(call: CompletedCall): Parameters<CallRecorder['record']>[0] {
  return {
    workspaceId: call.facts.workspaceId ?? null,
    receivedAt: call.receivedAt,
    method: call.method,
    path: call.path,
    route: call.route,
    status: call.status,
    durationMilliseconds: call.durationMilliseconds,
    keyId: call.facts.keyId ?? null,
    errorName: call.facts.errorName ?? null,
    errorDetail: call.facts.errorDetail ?? null,
    warnings: call.facts.warnings,
    requestBody: call.requestBody ?? null,
  };
}

import { randomBytes } from 'node:crypto';
import { makeCompanySignIn } from '../../app/accounts/company-sign-in.ts';
import type { CompanySignInUseCases } from '../../app/accounts/company-sign-in.ts';
import { createStartLink } from '../../app/accounts/links.ts';
import { makePasswordHash } from '../../app/accounts/password-hash.ts';
import { makeCallRecorder } from '../../app/api-log.ts';
import { makeReadyCurl } from '../../app/keys/key-curl.ts';
import type { ClockListener } from '../../app/sandbox/clock-advance.ts';
import type { DemoWorkspace } from '../../app/sandbox/find-demo-workspace.ts';
import { readConnectionBudget } from '../../app/system/nodes.ts';
import { pageChecksumsOff } from '../../domain/operations/conditions.ts';
import { makeDoorbell } from '../../engine/doorbell.ts';
import type { Doorbell } from '../../engine/doorbell.ts';
import { makeFollowDatabaseClock } from '../../engine/housekeeping/database-clock.ts';
import { startJob, makeJobBook } from '../../engine/jobs/job.ts';
import type { RunningJob } from '../../engine/jobs/job.ts';
import { makeNodeMeter } from '../../engine/monitoring/node-meter.ts';
import type { SandboxPhones } from '../../engine/sandbox-phones.ts';
import type { Worker } from '../../engine/start-worker.ts';
import { hasPageChecksums } from '../../storage/installation/installation.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import { groupRolesOf } from '../config.ts';
import { makeRoutes } from '../routes.ts';
import type { StartBlock } from '../start-block.ts';
import type { Composition } from './composition.ts';
import { startEngine, startReporter } from './engine.ts';
import { openCertificate, startHttpServer } from './http-server.ts';
import { startMetrics } from './metrics.ts';
import { findJobTroubles, makeReadiness } from './readiness.ts';
import { prepareDemo, refuseDemoData, startPhones, warnOfNetwork } from './sandbox.ts';
import { startScheduledBackups } from './scheduled-backups.ts';

export type RunningNode = {
  /** Values that a user or a test needs to use the node. */
  block: StartBlock;
  /** Returns a URL of the console with a new one-time link. The link signs in to a sandbox; in production it creates the first owner. */
  createConsoleLink(): Promise<string>;
};

/** Starts the parts for this node's role: the engine of a worker, the routes of an API, and the simulated providers of a sandbox. */
export async function startRoles(composition: Composition): Promise<RunningNode> {
  const { config, clock, log, installation, started, stopRequested } = composition;
  const { acrossWorkspaces: database, encryption } = installation;
  const isSandbox = config.mode === 'sandbox';
  if (!isSandbox) await refuseDemoData(composition);
  const phones = isSandbox ? await startPhones(composition) : undefined;
  const readiness = makeReadiness({ database, clock });
  /** Values that are known only once the node listens. */
  const begun: { url?: string; demo?: DemoWorkspace; isDone: boolean } = { isDone: false };
  readiness.watch(() => (begun.isDone ? [] : [{ name: 'starting' }]));
  const meter = makeNodeMeter({ clock });
  const book = makeJobBook({ onFailed: meter.noteFailedJob });
  const doorbell = makeDoorbell({ database });
  const parts = { phones, readiness, book, meter, nodeId: randomBytes(9).toString('base64url'), doorbell };
  readiness.watch(() => findJobTroubles(parts.book));
  const certificate = await openCertificate(composition);
  const finders = { findUrl: () => begun.url, findCertificateEnd: () => certificate?.endsAt() };
  // The node reports itself before the engine checks whether any node sends.
  const reporter = await startReporter(composition, { ...parts, ...finders });
  const worker = config.role === 'api' ? undefined : await startEngine(composition, parts);
  if (worker) startScheduledBackups(composition, book);
  else started.push(await listenForApps(composition, doorbell));
  stopRequested.throwIfAborted();
  const clockListener = makeClockListener({ phones, worker, reporter });
  composition.rest?.onWoken(() => worker?.wake());
  const followClock = makeFollowDatabaseClock({ database, clock, onMoved: clockListener.onClockMoved });
  started.push(startJob(followClock, { clock, log, book }));

  const readyCurl = makeReadyCurl({ database, encryption, headerPrefix: config.headerPrefix });
  const accounts = makeAccountDependencies(composition);
  const findDemo = (): DemoWorkspace | undefined => begun.demo;
  const company = config.role === 'worker' ? undefined : await startCompanySignIn(composition);
  const calls = makeCallRecorder({ database, clock, log });
  started.push(calls);
  const shown = { accounts, company, phones, findDemo, readiness, readyCurl, clockListener, calls };
  const metrics = await startMetrics(composition, { meter, book, readiness });
  const families = [
    ...makeRoutes(composition, { ...shown, meter, doorbell, ownRuns: worker?.ownRuns }),
    ...metrics.families,
  ];
  stopRequested.throwIfAborted();
  const url = await startHttpServer(composition, { families, readiness, calls, meter, certificate });
  const faults = { ...(await warnOfDatabase(composition)), sandboxFinding: warnOfNetwork(composition) };
  begun.url = url;
  // Demo data is created only after the node listens, so that a failed start creates none.
  const demo = phones && (await prepareDemo(composition, phones));
  if (demo) begun.demo = demo;
  await reporter.report();
  begun.isDone = true;
  const createConsoleLink = makeCreateConsoleLink(accounts, url);
  const { databaseUrl, databasePlace } = installation;
  return {
    block: {
      url,
      console: isSandbox ? await createConsoleLink() : `${url}/console/`,
      metrics: metrics.url,
      workspaceId: demo?.workspaceId,
      dbName: demo?.dbName,
      keys: demo?.keys,
      inbox: phones ? `${url}/sandbox/inbox` : undefined,
      databaseUrl: isSandbox ? databaseUrl : maskPassword(databaseUrl),
      databasePlace,
      ...faults,
      curl: demo && (await readyCurl({ workspaceId: demo.workspaceId, url })),
    },
    createConsoleLink,
  };
}

function makeAccountDependencies({ config, clock, installation }: Composition) {
  const { acrossWorkspaces: database, encryption } = installation;
  const { passwordSignIn, secondFactor, publicUrl } = config;
  const shared = { database, clock, encryption, secondFactor, publicUrl };
  return { ...shared, passwords: makePasswordHash(), passwordSignIn, isSandbox: config.mode === 'sandbox' };
}

const noWakes = { 'fan-out': () => {}, 'named-runs': () => {}, segments: () => {}, journeys: () => {} };

function makeCreateConsoleLink(accounts: ReturnType<typeof makeAccountDependencies>, url: string) {
  return async (): Promise<string> => {
    const link = await createStartLink(accounts);
    return `${url}/console/${link ? `#${link.kind}=${link.code}` : ''}`;
  };
}

/** A worker answers the doorbell itself. Without one, the node only listens for what concerns the streams of its apps. */
function listenForApps({ installation, log }: Composition, doorbell: Doorbell) {
  return doorbell.answer({ url: installation.sessionUrl, log, wakes: noWakes });
}

type ClockFollowers = {
  phones: Pick<SandboxPhones, 'syncClock'> | undefined;
  worker: Pick<Worker, 'wake' | 'wakeDue'> | undefined;
  reporter: Pick<RunningJob, 'wake'>;
};

function makeClockListener({ phones, worker, reporter }: ClockFollowers): ClockListener {
  return {
    onClockStopped() {
      // From this instant on, the inbox shows the time of the service.
      phones?.syncClock();
      worker?.wakeDue();
    },
    onClockMoved() {
      phones?.syncClock();
      worker?.wake();
      reporter.wake();
    },
  };
}

/** Logs faults of the database that the node can run with, and returns their texts. */
async function warnOfDatabase({
  clock,
  log,
  installation,
}: Composition): Promise<Pick<StartBlock, 'wallFault' | 'tooManyConnections'>> {
  const { acrossWorkspaces: database, wallFault } = installation;
  if (wallFault !== undefined) log.warn({ fault: wallFault }, 'row-level security does not separate the workspaces');
  if (installation.embedded && !(await hasPageChecksums(database)))
    log.warn({ fault: Object.values(pageChecksumsOff).join(' ') }, 'the embedded database has no page checksums');
  const { finding, ...budget } = await readConnectionBudget({ database, clock }, await listNodes(database));
  const tooManyConnections = finding && `${finding.what} ${finding.todo}`;
  if (finding) log.warn({ ...budget, fault: tooManyConnections }, 'the nodes may open more connections than there are');
  return { wallFault, tooManyConnections };
}

/** Masks the password, because the service manager stores standard output. */
function maskPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  if (url.password !== '') url.password = '***';
  for (const name of ['password', 'sslpassword']) if (url.searchParams.has(name)) url.searchParams.set(name, '***');
  return url.href;
}

/** Starts company sign-in, if it is configured. */
async function startCompanySignIn({
  config,
  proxy,
  clock,
  installation,
  started,
}: Composition): Promise<CompanySignInUseCases | undefined> {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcFirstRole } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  // Loaded lazily: few installations set an issuer, and a start need not wait for the protocol's library.
  const { makeCompanyProvider } = await import('../../engine/company-account.ts');
  const provider = makeCompanyProvider({
    issuer,
    clientId,
    clientSecret,
    name: config.oidcName,
    groupsClaim: config.oidcGroupsClaim,
    proxy,
  });
  started.push({ stop: () => provider.close() });
  const rules = {
    domains: config.oidcDomains.map((domain) => domain.toLowerCase()),
    firstRole: oidcFirstRole === 'none' ? undefined : oidcFirstRole,
    emailTrust: config.oidcEmailTrust,
    groupRoles: groupRolesOf(config),
  };
  return makeCompanySignIn({
    database: installation.acrossWorkspaces,
    encryption: installation.encryption,
    secondFactor: config.secondFactor,
    clock,
    provider,
    rules,
  });
}

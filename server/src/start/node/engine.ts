import { setTimeout } from 'node:timers/promises';
import { recheckCredentials } from '../../app/credentials.ts';
import { readReportFigures, readStatsForm } from '../../app/stats.ts';
import { makeReadAlertIssues } from '../../app/system/alerts.ts';
import { providerNames, providers } from '../../domain/delivery/providers.ts';
import { makeInteractionTokens } from '../../domain/events/interactions.ts';
import { conversionSettleSeconds, sandboxConversionSettleSeconds } from '../../domain/limits/campaigns.ts';
import { makeShareProviderToken } from '../../engine/credentials.ts';
import type { Doorbell } from '../../engine/doorbell.ts';
import { startJob } from '../../engine/jobs/job.ts';
import type { JobBook, RunningJob } from '../../engine/jobs/job.ts';
import { makeOutcomeBuffer } from '../../engine/jobs/outcome-buffer.ts';
import { measureDelivery, makeReportMinutes } from '../../engine/monitoring/node-meter.ts';
import type { NodeMeter } from '../../engine/monitoring/node-meter.ts';
import { makeReportNode } from '../../engine/monitoring/report-node.ts';
import type { ReportNodeDependencies } from '../../engine/monitoring/report-node.ts';
import { makeTraceSends } from '../../engine/monitoring/traces.ts';
import { makeSmtpClient } from '../../engine/outbox/emails.ts';
import type { ReadReport } from '../../engine/report-files.ts';
import type { SandboxPhones } from '../../engine/sandbox-phones.ts';
import { startWorker, workerSessions } from '../../engine/start-worker.ts';
import type { Worker } from '../../engine/start-worker.ts';
import { presentFigures } from '../../http/stats/figures.ts';
import { makeAskProvider } from '../../providers/check-credential.ts';
import { makeDelivery } from '../../providers/deliver.ts';
import type { DeliveryOptions } from '../../providers/deliver.ts';
import type { Database } from '../../storage/database.ts';
import type { SimulatorOrigins } from '../../storage/installation/nodes.ts';
import { listeningConnections } from '../../storage/notifications.ts';
import { carillonVersion } from '../carillon-version.ts';
import { phoneDefaultsOf, retentionOf } from '../config.ts';
import type { Config } from '../config.ts';
import type { Composition } from './composition.ts';
import { openPictureStore } from './pictures.ts';
import type { Readiness } from './readiness.ts';

export type NodeParts = {
  phones: SandboxPhones | undefined;
  readiness: Readiness;
  book: JobBook;
  meter: NodeMeter;
  nodeId: string;
  doorbell: Doorbell;
};

/** Starts the part of a node that sends. */
export async function startEngine(
  composition: Composition,
  { phones, readiness, book, meter, nodeId, doorbell }: NodeParts,
): Promise<Worker> {
  const { config, proxy, tracing, clock, log, installation, started } = composition;
  const measured = measureDelivery(makeDelivery(deliveryOptions(composition, phones)), meter);
  const traces = tracing && makeTraceSends(tracing);
  const delivery = traces?.traceDelivery(measured) ?? measured;
  started.push({ stop: () => delivery.close() });
  const outcomes = makeOutcomeBuffer({ log, pause: (milliseconds) => setTimeout(milliseconds) });
  readiness.watch(() => {
    const fault = outcomes.fault();
    return fault === undefined ? [] : [{ name: 'outcomes', detail: `${outcomes.waiting()} (${fault})` }];
  });
  const worker = await startWorker({
    outcomes,
    rest: composition.rest,
    meter,
    traceWindows: traces?.traceWindows,
    database: installation.acrossWorkspaces,
    sessionUrl: installation.sessionUrl,
    doorbell,
    clock,
    log,
    encryption: installation.encryption,
    delivery,
    interactionTokens: makeInteractionTokens(installation.secretFor('interactions')),
    phoneDefaults: phoneDefaultsOf(config),
    onApps: phones?.learnApps,
    owner: nodeId,
    book,
    parallelChunks: config.workerChunks,
    workspacePercent: config.workspacePercent,
    windowDevices: config.windowDevices,
    lateSendMinutes: config.lateSendMinutes,
    inboxMessages: config.inboxMessages,
    retention: retentionOf(config),
    allowedNetworks: allowedNetworksOf(config),
    proxy,
    smtpClient:
      config.smtpUrl === undefined ? undefined : makeSmtpClient({ url: config.smtpUrl, from: config.emailFrom }),
    segmentUsersPerDay: config.segmentUsersPerDay,
    pictures: { objects: openPictureStore(composition), keptDays: config.keepPicturesDays },
    abbreviation: config.headerPrefix,
    readReport: makeReadReport(installation.acrossWorkspaces),
    alerts: {
      readAlertIssues: makeReadAlertIssues({ database: installation.acrossWorkspaces, clock }),
      recheck: (of) =>
        recheckCredentials(
          {
            ...{ database: installation.acrossWorkspaces, clock, encryption: installation.encryption },
            ask: makeAskProvider(deliveryOptions(composition, phones)),
          },
          of,
        ),
      consoleUrl: config.publicUrl,
    },
    conversionSettleSeconds: config.mode === 'sandbox' ? sandboxConversionSettleSeconds : conversionSettleSeconds,
  });
  started.push(worker);
  return worker;
}

/** Returns the options for reaching the providers, for messages and for credential checks. */
export function deliveryOptions(composition: Composition, phones: SandboxPhones | undefined): DeliveryOptions {
  const { config, providers, proxy, clock, log, installation } = composition;
  return {
    clock,
    log,
    allowedNetworks: config.allowedNetworks,
    proxy,
    http2Client: config.http2Client,
    endpoints: { ...(phones ? { simulators: phones.endpoints } : {}), ...providers },
    shareToken: makeShareProviderToken({ ...installation, database: installation.acrossWorkspaces, log }),
  };
}

/** Reports this node immediately and then every few seconds; stopping removes the report. */
export async function startReporter(
  composition: Composition,
  {
    phones,
    book,
    meter,
    nodeId,
    ...finders
  }: NodeParts & Pick<ReportNodeDependencies, 'findUrl' | 'findCertificateEnd'>,
): Promise<RunningJob & { report(): Promise<unknown> }> {
  const { config, clock, log, installation, started } = composition;
  const { acrossWorkspaces: database, encryption } = installation;
  const simulators = phones && reportedOrigins(phones);
  const connections = countConnections(config);
  const node = { id: nodeId, role: config.role, version: carillonVersion, simulators: simulators ?? null, connections };
  const { findUrl, findCertificateEnd } = finders;
  const job = makeReportNode({ database, clock, encryption, node, book, findUrl, findCertificateEnd });
  await job.runOnce(clock.now());
  const reporter = startJob(job, { clock, log, book });
  const minutes = makeReportMinutes({ database, clock, meter, nodeId, seesQueues: config.role !== 'api' });
  started.push(startJob(minutes, { clock, log, book, rest: composition.rest }));
  started.push({
    async stop() {
      await reporter.stop();
      await job.leave();
    },
  });
  return { ...reporter, report: () => job.runOnce(clock.now()) };
}

/** In the sandbox the callers' files and receivers run on this machine, so loopback is allowed. */
function allowedNetworksOf(config: Config): readonly string[] {
  return config.mode === 'sandbox' ? [...config.allowedNetworks, '127.0.0.0/8', '::1/128'] : config.allowedNetworks;
}

/**
 * Returns the maximum number of connections that a node with these settings opens to the database itself, with full pools.
 * Behind a pooler in transaction mode the pooler limits the statements' connections; the doorbell's and those of the segment
 * files that the node reads remain. A posted file uses another connection while it is received.
 */
export function countConnections({
  role,
  databaseConnections,
  databasePooler,
}: Pick<Config, 'role' | 'databaseConnections' | 'databasePooler'>): number {
  const ofFiles = role === 'api' ? 0 : workerSessions;
  return listeningConnections + (databasePooler === 'transaction' ? ofFiles : databaseConnections);
}

/** Returns where commands of other processes find the simulators. None of them sends to browsers. */
function reportedOrigins({ origins }: SandboxPhones): SimulatorOrigins {
  const fixed = providerNames.filter((name) => providers[name].address !== 'subscription');
  return Object.fromEntries(fixed.map((name) => [name, origins[name]]));
}

/** Returns the reader of a report file's lines: the figures of each campaign, with the same members as the statistics API. */
export function makeReadReport(database: Database): ReadReport {
  return async function* readReport(asked) {
    const form = await readStatsForm({ database }, asked.workspaceId);
    for await (const campaign of readReportFigures({ database }, asked)) {
      const { id, name, deliveryType } = campaign;
      const named = { campaign_id: id, campaign_name: name, campaign_delivery_type: deliveryType };
      yield `${JSON.stringify({ ...named, ...presentFigures(campaign, { ...asked, form }) })}\n`;
    }
  };
}

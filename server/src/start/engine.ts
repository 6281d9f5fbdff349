import { setTimeout } from 'node:timers/promises';
import { makeReadConditions } from '../app/alerts/read-conditions.ts';
import { recheckCredentials } from '../app/credentials/recheck-credentials.ts';
import { conversionSettleSeconds, sandboxConversionSettleSeconds } from '../domain/campaigns/limits.ts';
import { makeInteractionTokens } from '../domain/interactions/interaction-token.ts';
import { makeAskProvider } from '../engine/credentials/ask-provider.ts';
import { makeShareProviderToken } from '../engine/credentials/share-provider-token.ts';
import { makeDelivery } from '../engine/delivery/deliver.ts';
import type { Doorbell } from '../engine/doorbell.ts';
import type { DeliveryOptions } from '../engine/delivery/deliver.ts';
import { makeSmtpClient } from '../engine/email/smtp-client.ts';
import { makeReportNode } from '../engine/housekeeping/report-node.ts';
import type { ReportNodeDependencies } from '../engine/housekeeping/report-node.ts';
import type { JobBook } from '../engine/job-book.ts';
import { measureDelivery } from '../engine/metrics/measure-delivery.ts';
import type { NodeMeter } from '../engine/metrics/node-meter.ts';
import { makeReportMinutes } from '../engine/metrics/report-minutes.ts';
import { makeKeptOutcomes } from '../engine/keep-outcomes.ts';
import { startJob } from '../engine/job.ts';
import type { RunningJob } from '../engine/job.ts';
import type { SandboxPhones } from '../engine/sandbox/start-sandbox-phones.ts';
import { makeTraceSends } from '../engine/tracing/make-trace-sends.ts';
import { startWorker } from '../engine/start-worker.ts';
import type { Worker } from '../engine/start-worker.ts';
import { carillonVersion } from './carillon-version.ts';
import type { Composition } from './composition.ts';
import { phoneDefaultsOf, retentionOf } from './config.ts';
import type { Config } from './config.ts';
import { countConnections } from './count-connections.ts';
import { makeReadReport } from './read-report.ts';
import type { Readiness } from './readiness.ts';

export type NodeParts = {
  phones: SandboxPhones | undefined;
  readiness: Readiness;
  book: JobBook;
  meter: NodeMeter;
  nodeId: string;
  doorbell: Doorbell;
};

/** The part of a node that sends. */
export async function startEngine(
  composition: Composition,
  { phones, readiness, book, meter, nodeId, doorbell }: NodeParts,
): Promise<Worker> {
  const { config, proxy, tracing, clock, log, installation, started } = composition;
  const measured = measureDelivery(makeDelivery(deliveryOptions(composition, phones)), meter);
  const traces = tracing && makeTraceSends(tracing);
  const delivery = traces?.traceDelivery(measured) ?? measured;
  started.push({ stop: () => delivery.close() });
  const outcomes = makeKeptOutcomes({ log, pause: (milliseconds) => setTimeout(milliseconds) });
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
    windowDevices: config.windowDevices,
    lateSendMinutes: config.lateSendMinutes,
    inboxMessages: config.inboxMessages,
    retention: retentionOf(config),
    allowedNetworks: allowedNetworksOf(config),
    proxy,
    smtpClient:
      config.smtpUrl === undefined ? undefined : makeSmtpClient({ url: config.smtpUrl, from: config.emailFrom }),
    segmentUsersPerDay: config.segmentUsersPerDay,
    abbreviation: config.headerPrefix,
    readReport: makeReadReport(installation.acrossWorkspaces),
    alerts: {
      readConditions: makeReadConditions({ database: installation.acrossWorkspaces, clock }),
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

/** How this node reaches the providers, for messages and for questions about credentials. */
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
  const { endpoints } = phones ?? {};
  const simulators = endpoints && {
    fcm: endpoints.fcm.messagesOrigin,
    apns: endpoints.apns,
    hms: endpoints.hms.messagesOrigin,
  };
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

/** In the sandbox the callers' files and receivers run on this machine. */
function allowedNetworksOf(config: Config): readonly string[] {
  return config.mode === 'sandbox' ? [...config.allowedNetworks, '127.0.0.0/8', '::1/128'] : config.allowedNetworks;
}

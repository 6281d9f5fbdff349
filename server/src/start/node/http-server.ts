import type { ServerResponse } from 'node:http';
import type { CallRecorder } from '../../app/api-log.ts';
import { startJob } from '../../engine/jobs/job.ts';
import type { NodeMeter } from '../../engine/monitoring/node-meter.ts';
import { buildServer } from '../../http/server/build-server.ts';
import type { CompletedCall, RouteFamily } from '../../http/server/build-server.ts';
import { makeCloseServer } from '../../http/server/close-server.ts';
import { requestMilliseconds } from '../../http/server/listener.ts';
import { carillonVersion } from '../carillon-version.ts';
import { isServedByHttps } from '../config.ts';
import type { Config } from '../config.ts';
import { toPortTaken } from '../start-errors.ts';
import type { Composition } from './composition.ts';
import type { Readiness } from './readiness.ts';
import { openServerCertificate } from './server-certificate.ts';
import type { ServerCertificate } from './server-certificate.ts';

type ServedParts = {
  families: RouteFamily[];
  readiness: Readiness;
  calls: CallRecorder;
  meter: Pick<NodeMeter, 'noteCall'>;
  /** Undefined: plain http only. */
  certificate: ServerCertificate | undefined;
};

/** Listens for requests and logs the calls; returns the URL to call. @throws StartError PORT_TAKEN */
export async function startHttpServer(
  { config, clock, log, rest, tracing, installation, started }: Composition,
  { families, readiness, calls, meter, certificate }: ServedParts,
): Promise<string> {
  const server = await buildServer(
    {
      ...{ log, clock, trustProxy: config.trustProxy, serviceDomain: config.serviceDomain, certificate },
      isSecure: isServedByHttps(config),
      described: { ...{ publicUrl: config.publicUrl, headerPrefix: config.headerPrefix }, version: carillonVersion },
      ...{ tracing, inWorkspace: installation.inWorkspace },
      onCall(call) {
        if (call.facts.errorName === 'STORAGE_REFUSES_WRITES') readiness.noteRefusedWrite();
        calls.record(toRecordedCall(call), { address: call.callerAddress });
        meter.noteCall({ ...call, errorName: call.facts.errorName });
      },
    },
    families,
  );
  if (rest) server.server.on('request', (_request, response: ServerResponse) => response.on('close', rest.beginCall()));
  const closeServer = makeCloseServer(server);
  const address = await listen(server, config);
  if (certificate) started.push(startJob(certificate.job, { clock, log }));
  started.push({
    async stop() {
      readiness.noteStopping();
      closeServer.endConnections();
      await new Promise((resolve) => setTimeout(resolve, config.shutdownDelaySeconds * 1000));
      await closeServer.close({ maxMilliseconds: requestMilliseconds });
    },
  });
  return config.publicUrl ?? (certificate ? address.replace('http:', 'https:') : address);
}

/** Opens this node's certificate if the settings name one. @throws StartError SETTING_INVALID */
export async function openCertificate({ config, log }: Composition): Promise<ServerCertificate | undefined> {
  const { tlsCert, tlsKey } = config;
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  return openServerCertificate({ certFile: tlsCert, keyFile: tlsKey }, log);
}

async function listen(server: Awaited<ReturnType<typeof buildServer>>, config: Config): Promise<string> {
  const { host, port } = config;
  try {
    const address = await server.listen({ host, port });
    // A wildcard address cannot be called.
    return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  } catch (error) {
    throw await toPortTaken(error, { host, port, flag: '--port' });
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
    responseBody: call.responseBody ?? null,
    headers: call.headers,
  };
}

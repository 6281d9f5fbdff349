import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { JobBook } from '../../engine/jobs/job.ts';
import { makeReadDatabaseSamples, readNodeSamples } from '../../engine/monitoring/metric-samples.ts';
import type { NodeMeter } from '../../engine/monitoring/node-meter.ts';
import type { RenderedMetrics } from '../../http/metrics.ts';
import type { RouteFamily } from '../../http/server/build-server.ts';
import { carillonVersion } from '../carillon-version.ts';
import { toPortTaken } from '../start-errors.ts';
import type { Composition } from './composition.ts';
import type { Readiness } from './readiness.ts';
import { backupIntervalOf } from './scheduled-backups.ts';

export type MetricsParts = { meter: NodeMeter; book: JobBook; readiness: Readiness };

/**
 * Serves `GET /metrics` if the settings enable it: as a route family on the API's port, and on a separate port, which listens
 * once this resolves. The library is loaded only then.
 */
export async function startMetrics(
  composition: Composition,
  parts: MetricsParts,
): Promise<{ families: RouteFamily[]; url: string | undefined }> {
  const { metricsPort, metricsToken: token } = composition.config;
  if (metricsPort === undefined && token === undefined) return { families: [], url: undefined };
  const render = await makeRender(composition, parts);
  const { metricsRoutes } = await import('../../http/metrics.ts');
  return {
    families: token === undefined ? [] : [metricsRoutes({ render, token })],
    url: metricsPort === undefined ? undefined : await listen(composition, { render, port: metricsPort }),
  };
}

async function makeRender(
  { config, clock, installation }: Composition,
  { meter, book, readiness }: MetricsParts,
): Promise<() => Promise<RenderedMetrics>> {
  const { makeRenderMetrics } = await import('../../http/metrics.ts');
  const readDatabaseSamples = makeReadDatabaseSamples({ database: installation.acrossWorkspaces, clock });
  const node = {
    ...{ meter, book, findTroubles: () => readiness.findTroubles() },
    pools: { across: installation.acrossWorkspaces, workspace: installation.callDatabase },
    build: { version: carillonVersion, role: config.role },
    backupIntervalSeconds: backupIntervalOf(config),
  };
  return makeRenderMetrics(async () => {
    const [ofNode, ofDatabase] = await Promise.all([readNodeSamples(node), readDatabaseSamples()]);
    return { ...ofNode, ...ofDatabase };
  });
}

async function listen(
  { config, log, started }: Composition,
  { render, port }: { render: () => Promise<RenderedMetrics>; port: number },
): Promise<string> {
  const { makeMetricsServer } = await import('../../http/metrics.ts');
  const onFault = (error: unknown): void => log.error({ err: error }, 'metrics could not be reported');
  const server = makeMetricsServer({ render, token: config.metricsToken, onFault });
  const host = config.metricsHost ?? config.host;
  try {
    await once(server.listen({ host, port }), 'listening');
  } catch (error) {
    throw await toPortTaken(error, { host, port, flag: '--metrics-port' });
  }
  started.push({
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  });
  const { address, port: taken } = server.address() as AddressInfo;
  const shown = address.includes(':') ? `[${address}]` : address;
  return `http://${shown}:${taken}/metrics`;
}

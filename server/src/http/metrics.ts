import { hash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Registry, collectDefaultMetrics } from 'prom-client';
import type { Metric } from 'prom-client';
import { ServiceError } from '../domain/errors.ts';
import { metricTable } from '../domain/operations/metrics.ts';
import type { MetricSample, MetricSamples, MetricEntry, MetricName } from '../domain/operations/metrics.ts';
import { presentOwnError } from './route/own-dialect.ts';
import { addRoutes, hiddenRoute } from './route/route.ts';
import type { RouteRules } from './route/route.ts';
import { dataHeaders } from './server/browser-headers.ts';
import type { RouteFamily } from './server/build-server.ts';

export type MetricsDependencies = { render: () => Promise<RenderedMetrics>; token: string };

/**
 * `GET /metrics` on the port of the API, for callers with the token (decision 0051). The OpenAPI document omits it, because
 * it is for the operator.
 */
export function metricsRoutes({ render, token }: MetricsDependencies): RouteFamily {
  const rules: RouteRules = { callerOf: () => ({}), presentError: presentOwnError };
  return async (server) =>
    addRoutes(server, [
      hiddenRoute(rules, {
        method: 'GET',
        url: '/metrics',
        config: { isUnrecorded: true },
        async handle({ request, reply }) {
          if (!isMetricsToken(token, request.headers.authorization)) {
            reply.header('www-authenticate', 'Bearer');
            throw new ServiceError('AUTHENTICATION_INVALID');
          }
          const { contentType, text } = await render();
          return reply.header('cache-control', 'no-store').type(contentType).send(text);
        },
      }),
    ]);
}

export type MetricsServerDependencies = {
  render: () => Promise<RenderedMetrics>;
  /** Undefined: any caller that reaches the port may read. */
  token: string | undefined;
  onFault: (error: unknown) => void;
};

// It serves one address to the operator's machines; no scrape needs more time.
const requestMilliseconds = 10_000;

/** Makes a server for `GET /metrics` only, for a separate port. It does not listen yet. */
export function makeMetricsServer(deps: MetricsServerDependencies): Server {
  const times = { requestTimeout: requestMilliseconds, headersTimeout: requestMilliseconds };
  return createServer(times, (request, response) => {
    answer(deps, { request, response }).catch((error: unknown) => {
      deps.onFault(error);
      if (!response.headersSent) end(response, 500);
    });
  });
}

async function answer(
  { render, token }: MetricsServerDependencies,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  for (const [name, value] of Object.entries(dataHeaders)) response.setHeader(name, value);
  if (request.url?.split('?', 1)[0] !== '/metrics') return end(response, 404);
  if (request.method !== 'GET' && request.method !== 'HEAD') return end(response.setHeader('allow', 'GET, HEAD'), 405);
  if (token !== undefined && !isMetricsToken(token, request.headers.authorization))
    return end(response.setHeader('www-authenticate', 'Bearer'), 401);
  const { contentType, text } = await render();
  response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text);
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end();
}

export type RenderedMetrics = { contentType: string; text: string };

/**
 * Makes a function that writes the metrics of this process in the text format of Prometheus. The library writes the text
 * and measures Node.js itself. Our own metrics are counted elsewhere, for the console too, and passed to the library on
 * each request.
 */
export function makeRenderMetrics(readSamples: () => Promise<MetricSamples>): () => Promise<RenderedMetrics> {
  const process = new Registry();
  collectDefaultMetrics({ register: process });
  return async () => {
    const samples = await readSamples();
    const own = new Registry();
    for (const name of Object.keys(metricTable) as MetricName[])
      own.registerMetric(asMetric(name, samples[name] ?? []));
    return { contentType: own.contentType, text: (await own.metrics()) + (await process.metrics()) };
  };
}

/** Makes the object that the library expects of a metric; the library's own classes would count a second time. */
function asMetric(name: MetricName, samples: MetricSample[]): Metric {
  const { kind, meaning }: MetricEntry = metricTable[name];
  const values = samples.flatMap((sample) => lay(name, sample));
  const metric = { name, help: meaning.replaceAll('`', ''), type: kind, values };
  return { name, get: async () => metric } as unknown as Metric;
}

type Line = { metricName: string; labels: Record<string, string>; value: number };

function lay(name: MetricName, { labels, value }: MetricSample): Line[] {
  if (typeof value === 'number') return [{ metricName: name, labels, value }];
  const bucket = (upTo: string, count: number): Line => ({
    ...{ metricName: `${name}_bucket`, labels: { ...labels, le: upTo }, value: count },
  });
  return [
    ...value.buckets.map(({ upTo, count }) => bucket(String(upTo), count)),
    bucket('+Inf', value.count),
    { metricName: `${name}_sum`, labels, value: value.sum },
    { metricName: `${name}_count`, labels, value: value.count },
  ];
}

/** True if the header is `Bearer` and the token. The comparison does not reveal the token's length. */
function isMetricsToken(token: string, authorization: string | undefined): boolean {
  const given = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isMetricsToken } from './metrics-token.ts';
import type { RenderedMetrics } from './render-metrics.ts';

export type MetricsServerDependencies = {
  render: () => Promise<RenderedMetrics>;
  /** Undefined: whoever reaches the port may read. */
  token: string | undefined;
  onFault: (error: unknown) => void;
};

// It answers one address to machines of the operator; more than the time of a scrape is nobody's need.
const requestMilliseconds = 10_000;

/** A server for `GET /metrics` alone, for a port of its own. Nothing listens yet. */
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

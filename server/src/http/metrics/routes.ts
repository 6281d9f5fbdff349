import { ServiceError } from '../../domain/errors.ts';
import type { RouteFamily } from '../build-server.ts';
import { presentOwnErrors } from '../own-routes.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import type { RenderedMetrics } from './render-metrics.ts';
import { isMetricsToken } from './metrics-token.ts';

export type MetricsDependencies = { render: () => Promise<RenderedMetrics>; token: string };

/** `GET /metrics` beside the API, for whoever has the token (decision 0051). Not of the API's description: it is the operator's. */
export function metricsRoutes({ render, token }: MetricsDependencies): RouteFamily {
  return async (server) => {
    presentOwnErrors(server);
    server.get('/metrics', { schema: { hide: true }, config: { isUnrecorded: true } }, async (request, reply) => {
      if (!isMetricsToken(token, request.headers.authorization)) {
        reply.header('www-authenticate', 'Bearer');
        throw new ServiceError('AUTHENTICATION_INVALID');
      }
      const { contentType, text } = await render();
      return reply.header('cache-control', 'no-store').type(contentType).send(text);
    });
    refuseOtherMethods(server, '/metrics', ['GET']);
  };
}

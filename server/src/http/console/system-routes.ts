import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleSystem } from '../../app/console/console-system.ts';
import { metricSpans, readMetrics } from '../../app/console/read-metrics.ts';
import type { MetricSpan, MetricsDependencies } from '../../app/console/read-metrics.ts';
import { consoleApi as api } from './console-access.ts';
import { Metrics } from './metric-shapes.ts';
import { oneOf } from './shape-parts.ts';
import { SystemState } from './system-shapes.ts';

const workspaceId = Type.String({ maxLength: 64 });
const Workspace = Type.Object({ workspaceId });
const Span = Type.Object({ workspaceId, span: oneOf(Object.keys(metricSpans) as MetricSpan[]) });

type SystemRouteDependencies = { system: ConsoleSystem; metrics: MetricsDependencies };

/** The installation as a whole; the answer is what "Copy diagnostics" copies. */
export function consoleSystemRoutes(server: FastifyInstance, { system, metrics }: SystemRouteDependencies): void {
  const options = {
    schema: { hide: true, querystring: Workspace, response: { 200: SystemState } },
    config: { permission: 'system.read' as const },
  };
  server.get(`${api}/system`, options, (request) =>
    system.read((request.query as Static<typeof Workspace>).workspaceId),
  );
  server.get(
    `${api}/metrics`,
    {
      schema: { hide: true, querystring: Span, response: { 200: Metrics } },
      config: { permission: 'system.read' as const },
    },
    (request) => readMetrics(metrics, (request.query as Static<typeof Span>).span),
  );
}

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { metricSpans, readMetrics } from '../../app/system/system.ts';
import type { ConsoleSystem, MetricSpan, MetricsDependencies } from '../../app/system/system.ts';
import { consoleApi as api } from './access.ts';
import { ProviderName } from './overview.ts';
import { Workspace, workspaceId, workspaceOf } from './requests.ts';
import { described, orNull, oneOf } from './shape-parts.ts';

export const MetricSeries = described(
  Type.Object({ name: Type.String(), values: Type.Array(orNull(Type.Number())) }),
  'One value for each step; null if no value was reported.',
);

export const Metrics = described(
  Type.Object({
    stepSeconds: Type.Number(),
    steps: Type.Array(Type.String()),
    series: Type.Array(MetricSeries),
  }),
  'What the nodes of the installation counted, over all workspaces.',
);

export const QueueState = Type.Object({
  name: Type.String(),
  waiting: Type.Number({ description: 'Items that can be processed now.' }),
  running: Type.Number(),
  later: Type.Number({ description: 'Items that are due later.' }),
  failed: Type.Number({ description: 'Items that failed in the last 24 hours.' }),
  oldestAt: orNull(Type.String()),
});

export const JobNote = Type.Object({
  name: Type.String(),
  doneAt: orNull(Type.String()),
  done: Type.Number(),
  failedAt: orNull(Type.String()),
  fault: orNull(Type.String()),
});

export const SystemNode = Type.Object({
  id: Type.String(),
  host: Type.String(),
  processId: Type.Number(),
  role: oneOf(['all', 'api', 'worker']),
  version: Type.String(),
  startedAt: Type.String(),
  seenAt: Type.String(),
  memoryBytes: Type.Number(),
  connections: Type.Number(),
  certificateEndsAt: described(orNull(Type.String()), 'The end of the certificate that the node itself serves.'),
  jobs: Type.Array(JobNote),
  isAlive: Type.Boolean(),
});

export const SystemState = described(
  Type.Object({
    now: Type.String(),
    clockOffsetSeconds: Type.Number(),
    troubles: Type.Array(Type.String()),
    version: Type.String(),
    mode: oneOf(['sandbox', 'production']),
    role: Type.String(),
    changedSettings: Type.Array(Type.String()),
    retentionDays: described(
      Type.Object({
        ledger: Type.Number(),
        events: Type.Number(),
        runs: Type.Number(),
        interactions: Type.Number(),
        pushRequests: Type.Number(),
        messages: Type.Number(),
        operations: Type.Number(),
        audit: Type.Number(),
        apiLog: Type.Number(),
      }),
      'How long each kind of record is kept.',
    ),
    machine: Type.Object({
      uptimeSeconds: Type.Number(),
      memoryBytes: Type.Number(),
      runtime: Type.String(),
      platform: Type.String(),
      disk: orNull(Type.Object({ freeBytes: Type.Number(), totalBytes: Type.Number() })),
    }),
    database: Type.Object({
      version: Type.String(),
      sizeBytes: Type.Number(),
      connections: Type.Number(),
      maxConnections: Type.Number(),
      nodesMayOpen: Type.Number(),
      openToNodes: Type.Number(),
      startedAt: Type.String(),
      hasPageChecksums: described(
        Type.Boolean(),
        'True if each page of the database has a checksum, so that a page that the disk changed is an error.',
      ),
      isEmbedded: Type.Boolean(),
      replicas: Type.Array(Type.Object({ state: Type.String(), lagBytes: orNull(Type.Number()) })),
      days: described(
        Type.Array(
          Type.Object({
            table: oneOf(['deliveries', 'events']),
            days: Type.Number(),
            oldest: Type.String(),
            newest: Type.String(),
          }),
        ),
        'The partitions of the tables that are kept by day.',
      ),
      backupMadeAt: described(
        orNull(Type.String()),
        'The time of the newest backup that Carillon made; null if none is known.',
      ),
      backupHours: described(orNull(Type.Number()), 'The interval of automatic backups; null if no node makes them.'),
      isBackupLate: Type.Boolean(),
      migrations: Type.Object({
        count: Type.Number(),
        newest: orNull(Type.Object({ name: Type.String(), appliedAt: Type.String() })),
      }),
    }),
    nodes: Type.Array(SystemNode),
    queues: Type.Array(QueueState),
    providers: Type.Array(
      Type.Object({
        provider: ProviderName,
        name: Type.String(),
        isConnected: Type.Boolean(),
        isSimulated: Type.Boolean(),
        checkedAt: orNull(Type.String()),
        verdict: orNull(oneOf(['ACCEPTED', 'REFUSED', 'UNKNOWN'])),
        silentUntil: orNull(Type.String()),
        noisyUntil: orNull(Type.String()),
      }),
    ),
  }),
  'The state of the installation: numbers, names of its parts, and hosts, but no secrets and no data of users.',
);

const Span = Type.Object({ workspaceId, span: oneOf(Object.keys(metricSpans) as MetricSpan[]) });

type SystemRouteDependencies = { system: ConsoleSystem; metrics: MetricsDependencies };

/** Routes for the state of the whole installation; "Copy diagnostics" copies the response. */
export function consoleSystemRoutes(server: FastifyInstance, { system, metrics }: SystemRouteDependencies): void {
  const options = {
    schema: { hide: true, querystring: Workspace, response: { 200: SystemState } },
    config: { permission: 'system.read' as const },
  };
  server.get(`${api}/system`, options, (request) => system.read(workspaceOf(request)));
  server.get(
    `${api}/metrics`,
    {
      schema: { hide: true, querystring: Span, response: { 200: Metrics } },
      config: { permission: 'system.read' as const },
    },
    (request) => readMetrics(metrics, (request.query as Static<typeof Span>).span),
  );
}

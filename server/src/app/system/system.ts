import { distanceMilliseconds, shownAt } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import { findLateBackup } from '../../domain/operations/backup.ts';
import type { RetentionDays } from '../../domain/operations/retention.ts';
import { findNewestBackup } from '../../storage/backup.ts';
import type { Database } from '../../storage/database.ts';
import { listDaySpans } from '../../storage/day-partitions.ts';
import { listAppliedMigrations, listReplicas, readDatabaseFacts } from '../../storage/installation/installation.ts';
import { sumFigures } from '../../storage/installation/metrics.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import { readQueues } from '../../storage/installation/queues.ts';
import { isAlive, showReport, readConnectionBudget } from './nodes.ts';
import { readProviderHealth } from './provider-health.ts';

/** Facts about this process and its machine. */
export type MachineFacts = {
  uptimeSeconds: number;
  memoryBytes: number;
  runtime: string;
  platform: string;
  /** Disk of the embedded database's folder; null for an external database. */
  disk: { freeBytes: number; totalBytes: number } | null;
};

export type SystemDependencies = {
  database: Database;
  clock: Clock;
  findTroubles: () => Promise<string[]>;
  readMachine: () => Promise<MachineFacts>;
  installation: {
    version: string;
    mode: 'sandbox' | 'production';
    role: string;
    isEmbedded: boolean;
    /** Names of the settings that were changed, never their values. */
    changedSettings: string[];
    retentionDays: RetentionDays;
  };
};

export type ConsoleSystem = ReturnType<typeof makeConsoleSystem>;

/**
 * The installation as an operator and a helper need to know it. Every member may leave this machine: numbers, names of our own
 * parts and hosts, no address, no key, no text that a user wrote. A test checks that.
 */
export function makeConsoleSystem(deps: SystemDependencies) {
  const { database, clock } = deps;
  return {
    async read(workspaceId: string) {
      const at = clock.now();
      const [troubles, machine, facts, replicas, migrations, nodes, queues, providers, days, backup] =
        await Promise.all([
          deps.findTroubles(),
          deps.readMachine(),
          readDatabaseFacts(database),
          listReplicas(database),
          listAppliedMigrations(database),
          listNodes(database),
          readQueues(database, at),
          readProviderHealth(database, { workspaceId, at }),
          listDaySpans(database),
          findNewestBackup(database),
        ]);
      const { mayOpen, available } = await readConnectionBudget(deps, nodes);
      const { isEmbedded, ...installation } = deps.installation;
      return {
        now: at,
        clockOffsetSeconds: distanceMilliseconds(clock) / 1000,
        troubles,
        ...installation,
        machine,
        database: {
          ...facts,
          nodesMayOpen: mayOpen,
          openToNodes: available,
          isEmbedded,
          replicas,
          days,
          backupMadeAt: backup.madeAt && shownAt(clock, backup.madeAt),
          backupHours: backup.schedule?.everyHours ?? null,
          isBackupLate: findLateBackup(backup, clock.realNow()) !== undefined,
          migrations: { count: migrations.length, newest: migrations[0] ?? null },
        },
        nodes: nodes.map(({ simulators: _simulators, masterKeyIds: _masterKeyIds, url: _url, ...node }) => ({
          ...showReport(node, clock),
          isAlive: isAlive(node, clock),
        })),
        queues,
        providers: providers.map(({ provider, name, isConnected, isSimulated, check, silent, noisyUntil }) => ({
          provider,
          name,
          isConnected,
          isSimulated,
          checkedAt: check?.at ?? null,
          verdict: check?.verdict ?? null,
          silentUntil: silent?.until ?? null,
          noisyUntil,
        })),
      };
    },
  };
}

/** Length of a chart, and its steps: as many as fit on a screen. */
export const metricSpans = {
  hour: { seconds: 3_600, stepSeconds: 60 },
  day: { seconds: 86_400, stepSeconds: 900 },
  week: { seconds: 604_800, stepSeconds: 7_200 },
} as const;
export type MetricSpan = keyof typeof metricSpans;

export type MetricsDependencies = { database: Database; clock: Clock };

/** Returns what the nodes of the installation counted, over all workspaces; each series has a value for each step. */
export async function readMetrics({ database, clock }: MetricsDependencies, span: MetricSpan) {
  const { seconds, stepSeconds } = metricSpans[span];
  const now = clock.realNow().getTime();
  const step = stepSeconds * 1000;
  const first = Math.floor((now - seconds * 1000) / step) * step + step;
  const count = Math.floor((now - first) / step) + 1;
  const rows = await sumFigures(database, { since: new Date(first), stepSeconds });
  const series = new Map<string, (number | null)[]>();
  for (const { at, name, value } of rows) {
    const values = series.get(name) ?? new Array<number | null>(count).fill(null);
    values[Math.round((at.getTime() - first) / step)] = value;
    series.set(name, values);
  }
  return {
    stepSeconds,
    steps: Array.from({ length: count }, (_, index) => shownAt(clock, new Date(first + index * step))),
    series: [...series].map(([name, values]) => ({ name, values })),
  };
}

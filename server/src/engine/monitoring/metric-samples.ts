import type { Clock } from '../../clock.ts';
import { providerNames } from '../../domain/delivery/providers.ts';
import { alertKinds, aliveSeconds } from '../../domain/operations/conditions.ts';
import { laneNames, metricTable, sendOutcomes, connectionStates } from '../../domain/operations/metrics.ts';
import type { MetricSample, MetricSamples, MetricName, connectionPools } from '../../domain/operations/metrics.ts';
import { troubleMeanings } from '../../domain/operations/readiness.ts';
import { withinTime, readPoolUse } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { readMetricFigures, readMetricSizes } from '../../storage/installation/metrics.ts';
import type { Figure, FigureName, TableSize } from '../../storage/installation/metrics.ts';
import { readQueues } from '../../storage/installation/queues.ts';
import type { QueueState } from '../../storage/installation/queues.ts';
import type { JobBook } from '../jobs/job.ts';
import type { CallTotals, NodeMeter, NodeTotals } from './node-meter.ts';

// A scrape usually has 10 s; readings that take longer than this are skipped.
const usualReadMilliseconds = 2_000;
const figuresMilliseconds = 10_000;
/** Table sizes change slowly, and reading them accesses every file. */
const sizesMilliseconds = 60_000;

type Sources = {
  database: Database;
  clock: Clock;
  /** The time limit of each reading. A slower reading is left out. */
  readMilliseconds?: number;
};

/**
 * Reads the metrics that all nodes share. Each of the three readings has a time limit and is cached, however often it is
 * requested. A failed reading is left out and reported as failed.
 */
export function makeReadDatabaseSamples(sources: Sources): () => Promise<MetricSamples> {
  const { database, clock, readMilliseconds: milliseconds = usualReadMilliseconds } = sources;
  const inTime =
    <Found>(read: (tx: Transaction, at: Date) => Promise<Found>, plans: 'by values' | 'once' = 'by values') =>
    async (): Promise<Found> => {
      const at = clock.now();
      const reading = withinTime(database, { milliseconds, work: (tx) => read(tx, at), plans });
      const found = await Promise.race([reading, endsLate(milliseconds)]);
      if (found === 'too slow') throw new Error('the figures of the database were not read in time');
      return found.result;
    };
  const real = (): { realAt: Date; aliveSince: Date } => {
    const realAt = clock.realNow();
    return { realAt, aliveSince: new Date(realAt.getTime() - aliveSeconds * 1000) };
  };
  const readings = {
    queues: makeRemembered(
      // Forty counts: planning them takes longer than counting.
      inTime(async (tx, at) => sampleQueues(await readQueues(tx, at), at), 'once'),
      { clock, milliseconds: figuresMilliseconds },
    ),
    installation: makeRemembered(
      inTime(async (tx, at) => sampleFigures(await readMetricFigures(tx, { at, ...real() }))),
      { clock, milliseconds: figuresMilliseconds },
    ),
    sizes: makeRemembered(
      inTime(async (tx) => sampleSizes(await readMetricSizes(tx))),
      { clock, milliseconds: sizesMilliseconds },
    ),
  };
  return async () => {
    const names = Object.keys(readings) as (keyof typeof readings)[];
    const read = await Promise.allSettled(names.map((name) => readings[name]()));
    const success = names.map((name, place) => sampleOf(read[place]!.status === 'fulfilled' ? 1 : 0, { read: name }));
    const found = read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    return Object.assign({ carillon_database_read_success: success }, ...found) as MetricSamples;
  };
}

/**
 * The database enforces a statement timeout. This limits the wait for a connection, or for a database that does not respond.
 */
function endsLate(milliseconds: number): Promise<'too slow'> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds * 1.5, 'too slow').unref());
}

function sampleOf(value: number, labels: Record<string, string> = {}): MetricSample {
  return { labels, value };
}

function sampleQueues(queues: QueueState[], at: Date): MetricSamples {
  const each = (value: (queue: QueueState) => number): MetricSample[] =>
    queues.map((queue) => sampleOf(value(queue), { queue: queue.name }));
  return {
    carillon_queue_waiting: each(({ waiting }) => waiting),
    carillon_queue_running: each(({ running }) => running),
    carillon_queue_later: each(({ later }) => later),
    carillon_queue_failed: each(({ failed }) => failed),
    carillon_queue_age_seconds: each(({ oldestAt }) => ageSeconds(oldestAt, at)),
  };
}

function ageSeconds(since: Date | null, at: Date): number {
  return since === null ? 0 : Math.max(0, (at.getTime() - since.getTime()) / 1000);
}

function sampleFigures(figures: Figure[]): MetricSamples {
  const valueOf = (name: FigureName, of = ''): number =>
    Math.max(0, figures.find((figure) => figure.name === name && figure.of === of)?.value ?? 0);
  /** Samples every possible value of the label: a series that comes and goes cannot be compared over time. */
  const each = (name: FigureName, { label, values }: { label: string; values: readonly string[] }): MetricSample[] =>
    values.map((of) => sampleOf(valueOf(name, of), { [label]: of }));
  const tables = { label: 'table', values: figures.flatMap(({ name, of }) => (name === 'partitions' ? [of] : [])) };
  return {
    carillon_send_age_seconds: laneNames.map((lane, number) => sampleOf(valueOf('send-age', String(number)), { lane })),
    carillon_window_age_seconds: [sampleOf(valueOf('window-age'))],
    carillon_runs_paused: [sampleOf(valueOf('runs-paused'))],
    carillon_receivers_paused: each('receivers-paused', {
      label: 'receiver',
      values: valuesOf('carillon_receivers_paused', 'receiver'),
    }),
    carillon_nodes: each('nodes', { label: 'role', values: valuesOf('carillon_nodes', 'role') }),
    carillon_alerts_open: each('alerts-open', { label: 'kind', values: alertKinds }),
    carillon_partitions: each('partitions', tables),
    carillon_partitions_ahead_days: each('partitions-ahead-days', tables),
    carillon_backup_age_seconds: [sampleOf(valueOf('backup-age'))],
  };
}

function valuesOf(name: MetricName, label: string): readonly string[] {
  return (metricTable[name].labels as Record<string, readonly string[]>)[label]!;
}

function sampleSizes(sizes: TableSize[]): MetricSamples {
  return {
    carillon_partitioned_table_bytes: sizes
      .filter(({ table }) => table !== '')
      .map(({ table, bytes }) => sampleOf(bytes, { table })),
    carillon_database_bytes: sizes.filter(({ table }) => table === '').map(({ bytes }) => sampleOf(bytes)),
  };
}

export type NodeSources = {
  meter: Pick<NodeMeter, 'readTotals'>;
  book: Pick<JobBook, 'countFailures'>;
  pools: Record<(typeof connectionPools)[number], Database>;
  build: { version: string; role: string };
  findTroubles: () => Promise<string[]>;
  /** The interval between this node's backups. Undefined if it makes none. */
  backupIntervalSeconds: number | undefined;
};

/** Returns the metrics of this process. Only the readiness check queries the database. */
export async function readNodeSamples(sources: NodeSources): Promise<MetricSamples> {
  const { meter, book, pools, build, backupIntervalSeconds } = sources;
  const totals = meter.readTotals();
  const { calls, accepts, commits, callbacks, fills } = totals;
  const failures = book.countFailures();
  return {
    carillon_build_info: [{ labels: build, value: 1 }],
    ...sampleReadiness(await sources.findTroubles()),
    ...sampleCalls([...calls]),
    ...sampleSends(totals),
    carillon_push_accept_duration_seconds: [{ labels: {}, value: accepts.read() }],
    carillon_push_commit_batch_size: [{ labels: {}, value: commits.read() }],
    carillon_callbacks_total: [...callbacks].map(([result, value]) => ({ labels: { result }, value })),
    carillon_segment_fills_total: [...fills].map(([result, value]) => ({ labels: { result }, value })),
    carillon_job_failures_total: failures.map(({ name, total }) => ({ labels: { job_name: name }, value: total })),
    carillon_job_consecutive_failures: failures.map(({ name, inARow }) => ({
      labels: { job_name: name },
      value: inARow,
    })),
    ...samplePools(pools),
    carillon_backup_interval_seconds:
      backupIntervalSeconds === undefined ? [] : [{ labels: {}, value: backupIntervalSeconds }],
  };
}

function sampleReadiness(troubles: string[]): MetricSamples {
  const named = new Set(troubles.map((trouble) => trouble.split(':', 1)[0]));
  return {
    carillon_ready: [{ labels: {}, value: troubles.length === 0 ? 1 : 0 }],
    carillon_trouble: Object.keys(troubleMeanings).map((trouble) => ({
      labels: { trouble },
      value: named.has(trouble) ? 1 : 0,
    })),
  };
}

function sampleCalls(calls: CallTotals[]): MetricSamples {
  return {
    carillon_http_requests_total: calls.flatMap(({ method, route, statuses }) =>
      [...statuses].map(([status, value]) => ({ labels: { method, route, status: String(status) }, value })),
    ),
    carillon_http_request_duration_seconds: calls.map(({ method, route, durations }) => ({
      labels: { method, route },
      value: durations.read(),
    })),
  };
}

/** Returns all combinations, including those that have not occurred yet, so that the first occurrence shows as an increase. */
function sampleSends({ counts, providers }: NodeTotals): MetricSamples {
  return {
    carillon_provider_sends_total: providerNames.flatMap((provider) =>
      sendOutcomes.map((outcome): MetricSample => ({
        labels: { provider, outcome },
        value: counts[`sends.${provider}.${outcome}`] ?? 0,
      })),
    ),
    carillon_provider_request_duration_seconds: [...providers].map(([provider, durations]) => ({
      labels: { provider },
      value: durations.read(),
    })),
  };
}

function samplePools(pools: NodeSources['pools']): MetricSamples {
  const uses = Object.entries(pools).map(([pool, database]) => ({ pool, use: readPoolUse(database) }));
  return {
    carillon_database_connections: uses.flatMap(({ pool, use }) =>
      connectionStates.map((state) => ({ labels: { pool, state }, value: use[state] })),
    ),
    carillon_database_connections_max: uses.map(({ pool, use }) => ({ labels: { pool }, value: use.max })),
  };
}

/**
 * Returns a function that caches its result for a while. Concurrent callers, and callers within that time, share one reading. A
 * failed reading is repeated at the next call.
 */
export function makeRemembered<Found>(
  read: () => Promise<Found>,
  { clock, milliseconds }: { clock: Clock; milliseconds: number },
): () => Promise<Found> {
  let last: { until: number; answer: Promise<Found> } | undefined;
  return () => {
    const now = clock.realNow().getTime();
    if (last === undefined || last.until <= now) {
      const asked = { until: now + milliseconds, answer: read() };
      last = asked;
      asked.answer.catch(() => {
        if (last === asked) last = undefined;
      });
    }
    return last.answer;
  };
}

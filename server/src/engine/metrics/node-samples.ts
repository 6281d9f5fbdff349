import { providerNames } from '../../domain/delivery/provider-name.ts';
import { sendOutcomes } from '../../domain/metrics/minute-figures.ts';
import type { MetricSample, MetricSamples } from '../../domain/metrics/metric-samples.ts';
import { connectionStates } from '../../domain/metrics/metric-table.ts';
import type { connectionPools } from '../../domain/metrics/metric-table.ts';
import { troubleMeanings } from '../../domain/readiness/troubles.ts';
import { readPoolUse } from '../../storage/pool-use.ts';
import type { Database } from '../../storage/database.ts';
import type { JobBook } from '../job-book.ts';
import type { CallTotals, NodeMeter, NodeTotals } from './node-meter.ts';

export type NodeSources = {
  meter: Pick<NodeMeter, 'readTotals'>;
  book: Pick<JobBook, 'countFailures'>;
  pools: Record<(typeof connectionPools)[number], Database>;
  build: { version: string; role: string };
  findTroubles: () => Promise<string[]>;
  /** How old the newest backup becomes before this node makes the next; undefined where it makes none. */
  backupIntervalSeconds: number | undefined;
};

/** What this process did and is. Nothing of it asks the database, but whether it answers. */
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

/** All of them, also those that did not happen yet: the first of a kind is then an increase. */
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

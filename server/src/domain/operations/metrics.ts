import { providerNames } from '../delivery/providers.ts';
import type { ProviderName } from '../delivery/providers.ts';
import { aliveSeconds } from './conditions.ts';
import { troubleMeanings } from './readiness.ts';

/** The outcomes of messages at providers, as charts show them. */
export const sendOutcomes = ['accepted', 'gone', 'waits', 'rejected', 'stopped'] as const;
export type SendOutcome = (typeof sendOutcomes)[number];

/** Names of counters; they can be summed over nodes and minutes. */
export type CountName =
  | 'pushes'
  | 'calls'
  | 'calls.refused'
  | 'calls.failed'
  | 'jobs.failed'
  | `sends.${ProviderName}.${SendOutcome}`
  | `latency.${ProviderName}.${'answers' | 'milliseconds'}`;

/** Names of gauges; several values combine to the greatest. */
export type GaugeName = 'queue.waiting' | 'queue.ageSeconds' | 'retries.waiting' | `latency.${ProviderName}.most`;

export type MinuteFigures = {
  counts: Partial<Record<CountName, number>>;
  gauges: Partial<Record<GaugeName, number>>;
};

/** Returns the start of the minute that contains an instant. */
export function minuteOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 60_000) * 60_000);
}

export type MetricEntry = {
  kind: 'counter' | 'gauge' | 'histogram';
  /** The labels of each series, with the set of their values: the values themselves, or a description. */
  labels: Record<string, readonly string[] | string>;
  /** `node`: about this process, to be summed over nodes. `database`: the same from every node, never to be summed. */
  of: 'node' | 'database';
  meaning: string;
};

export const callbackResults = ['received', 'refused', 'unreached'] as const;
export type CallbackResult = (typeof callbackResults)[number];

export const fillResults = ['applied', 'failed'] as const;
export type FillResult = (typeof fillResults)[number];

/** The kinds of receivers that messages are posted to. */
export const receiverKinds = ['callbacks', 'event-stream'] as const;
/** The kinds of recipients, by the lane of the work. */
export const laneNames = ['named', 'audience'] as const;

export const connectionStates = ['held', 'idle', 'awaited'] as const;
export const connectionPools = ['across', 'workspace'] as const;

const queue = { queue: 'kinds of work, as on the system page' };
const dayTable = { table: ['deliveries', 'events'] };
const route = { method: 'HTTP methods', route: 'templates of the routes, and `(unknown)`' };

/**
 * The single table of the metrics in the response of `GET /metrics`, except those that the Node.js library adds.
 * docs/metrics.md is generated from it, and a test checks that it matches the rules and the dashboard in deploy/. No
 * label value is chosen by a caller, and none names a workspace, so the number of series does not depend on how much is
 * stored.
 */
export const metricTable = {
  carillon_build_info: {
    ...{ kind: 'gauge', of: 'node', labels: { version: 'one', role: ['all', 'api', 'worker'] } },
    meaning: 'Always 1. The labels are the version and the role of the node.',
  },
  carillon_ready: {
    ...{ kind: 'gauge', of: 'node', labels: {} },
    meaning: '1 while `/readyz` returns 200, otherwise 0.',
  },
  carillon_trouble: {
    ...{ kind: 'gauge', of: 'node', labels: { trouble: Object.keys(troubleMeanings) } },
    meaning: '1 for each trouble that `/readyz` names now, 0 for the others.',
  },
  carillon_http_requests_total: {
    ...{ kind: 'counter', of: 'node', labels: { ...route, status: 'HTTP statuses' } },
    meaning: 'Completed calls, except those of the console and of `/metrics`.',
  },
  carillon_http_request_duration_seconds: {
    ...{ kind: 'histogram', of: 'node', labels: route },
    meaning: 'Time from the head of a request to the end of its response, for the same calls.',
  },
  carillon_push_accept_duration_seconds: {
    ...{ kind: 'histogram', of: 'node', labels: {} },
    meaning: 'The same for accepted push requests, each durably stored before its response.',
  },
  carillon_push_commit_batch_size: {
    ...{ kind: 'histogram', of: 'node', labels: {} },
    meaning: 'Number of push requests stored by one commit.',
  },
  carillon_provider_sends_total: {
    ...{ kind: 'counter', of: 'node', labels: { provider: providerNames, outcome: sendOutcomes } },
    meaning:
      'Messages by the result of an attempt, including events of Live Activities. `waits` is retried, `gone` dropped the device or the token, `stopped` means that the credential was rejected.',
  },
  carillon_provider_request_duration_seconds: {
    ...{ kind: 'histogram', of: 'node', labels: { provider: providerNames } },
    meaning: 'Time from sending a message to the response of its provider.',
  },
  carillon_callbacks_total: {
    ...{ kind: 'counter', of: 'node', labels: { result: callbackResults } },
    meaning: 'Attempts to post a callback; only HTTP 200 is `received`.',
  },
  carillon_segment_fills_total: {
    ...{ kind: 'counter', of: 'node', labels: { result: fillResults } },
    meaning: 'Segment file operations that ended on this node.',
  },
  carillon_job_failures_total: {
    ...{ kind: 'counter', of: 'node', labels: { job_name: 'names of jobs' } },
    meaning: 'Failed runs of jobs. The node retries jobs automatically.',
  },
  carillon_job_consecutive_failures: {
    ...{ kind: 'gauge', of: 'node', labels: { job_name: 'names of jobs' } },
    meaning: 'Number of consecutive failures of a job.',
  },
  carillon_database_connections: {
    ...{ kind: 'gauge', of: 'node', labels: { pool: connectionPools, state: connectionStates } },
    meaning: 'Connections of the pools of this node that are in use or idle, and the number of waiting callers.',
  },
  carillon_database_connections_max: {
    ...{ kind: 'gauge', of: 'node', labels: { pool: connectionPools } },
    meaning: 'Maximum number of connections of the pool.',
  },
  carillon_backup_interval_seconds: {
    ...{ kind: 'gauge', of: 'node', labels: {} },
    meaning:
      'Age of the newest backup at which this node makes the next one (`CARILLON_BACKUP_HOURS`); absent if it makes none.',
  },
  carillon_database_read_success: {
    ...{ kind: 'gauge', of: 'node', labels: { read: ['queues', 'installation', 'sizes'] } },
    meaning: '1 if the figures of the database were read in time, otherwise 0; the others are absent.',
  },
  carillon_queue_waiting: {
    ...{ kind: 'gauge', of: 'database', labels: queue },
    meaning: 'Work that is ready; counted up to 100,000.',
  },
  carillon_queue_running: {
    ...{ kind: 'gauge', of: 'database', labels: queue },
    meaning: 'Work in progress.',
  },
  carillon_queue_later: {
    ...{ kind: 'gauge', of: 'database', labels: queue },
    meaning: 'Work that is due later, such as `retries` of messages; counted up to 100,000.',
  },
  carillon_queue_failed: {
    ...{ kind: 'gauge', of: 'database', labels: queue },
    meaning: 'Work that was given up within the last 24 hours; counted up to 100,000.',
  },
  carillon_queue_age_seconds: {
    ...{ kind: 'gauge', of: 'database', labels: queue },
    meaning: 'Waiting time of the oldest work that is ready.',
  },
  carillon_send_age_seconds: {
    ...{ kind: 'gauge', of: 'database', labels: { lane: laneNames } },
    meaning:
      'Time that the oldest ready part of a run has been waiting for a worker, for runs to named users and to audiences.',
  },
  carillon_window_age_seconds: {
    ...{ kind: 'gauge', of: 'database', labels: {} },
    meaning: 'Age of the oldest window whose outcomes are not stored yet.',
  },
  carillon_runs_paused: {
    ...{ kind: 'gauge', of: 'database', labels: {} },
    meaning: 'Runs that are paused, by a user or because a provider rejects the credential; counted up to 100,000.',
  },
  carillon_receivers_paused: {
    ...{ kind: 'gauge', of: 'database', labels: { receiver: receiverKinds } },
    meaning:
      'Receivers that do not respond and are probed at most once a minute: callback hosts of a workspace, and event streams.',
  },
  carillon_nodes: {
    ...{ kind: 'gauge', of: 'database', labels: { role: ['all', 'api', 'worker'] } },
    meaning: `Nodes that reported themselves within the last ${aliveSeconds} seconds.`,
  },
  carillon_alerts_open: {
    ...{ kind: 'gauge', of: 'database', labels: { kind: 'kinds of [alerts](console.md#alerts)' } },
    meaning: "Open alerts of workspaces, as the console's page shows them.",
  },
  carillon_partitions: {
    ...{ kind: 'gauge', of: 'database', labels: dayTable },
    meaning: 'Number of days for which the table has partitions.',
  },
  carillon_partitions_ahead_days: {
    ...{ kind: 'gauge', of: 'database', labels: dayTable },
    meaning: 'Number of days after today that have partitions; normally 1.',
  },
  carillon_partitioned_table_bytes: {
    ...{ kind: 'gauge', of: 'database', labels: dayTable },
    meaning: 'Bytes of the table with its indexes; `deliveries` is the ledger.',
  },
  carillon_backup_age_seconds: {
    ...{ kind: 'gauge', of: 'database', labels: {} },
    meaning:
      'Age of the newest complete backup, made by a node or by `carillon backup`; without any, the age of the installation.',
  },
  carillon_database_bytes: {
    ...{ kind: 'gauge', of: 'database', labels: {} },
    meaning: 'Bytes of the whole database; on a cluster, of the coordinator.',
  },
} as const satisfies Record<string, MetricEntry>;

export type MetricName = keyof typeof metricTable;

/** One series of a metric with its current value. */
export type MetricSample = {
  labels: Record<string, string>;
  value: number | ReturnType<BucketCounts['read']>;
};

/** Metrics that are missing here are returned without a value. */
export type MetricSamples = Partial<Record<MetricName, MetricSample[]>>;

/** The number of values seen, and the number that are less than or equal to each bound. */
export type BucketCounts = {
  note(value: number): void;
  read(): { count: number; sum: number; buckets: { upTo: number; count: number }[] };
};

/** Bounds in seconds: from a response on the same machine to a provider that hangs. */
export const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
/** Bounds of batch sizes; the greatest is the maximum of one commit. */
export const batchBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500] as const;

/**
 * Creates the counts of a histogram. Noting a value costs a few comparisons and two additions; the sums are computed
 * when the counts are read.
 */
export function makeBucketCounts(bounds: readonly number[]): BucketCounts {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    note(value) {
      let place = 0;
      while (place < bounds.length && value > bounds[place]!) place += 1;
      counts[place]! += 1;
      sum += value;
    },
    read() {
      let count = 0;
      const buckets = bounds.map((upTo, place) => ({ upTo, count: (count += counts[place]!) }));
      return { count: count + counts[bounds.length]!, sum, buckets };
    },
  };
}

/**
 * Metrics that `prom-client` adds about the process, with its descriptions shortened. Those marked Linux are missing
 * elsewhere. A test compares the names with a scrape.
 */
export const libraryMetrics = {
  process_cpu_user_seconds_total: 'User CPU time.',
  process_cpu_system_seconds_total: 'System CPU time.',
  process_cpu_seconds_total: 'Both.',
  process_start_time_seconds: 'Start of the process, since the epoch.',
  process_resident_memory_bytes: 'Resident memory.',
  process_virtual_memory_bytes: 'Virtual memory (Linux).',
  process_heap_bytes: 'Size of the data segment (Linux).',
  process_open_fds: 'Open file descriptors (Linux).',
  process_max_fds: 'Most file descriptors (Linux).',
  nodejs_eventloop_lag_seconds: 'How late a turn of the event loop came when it was scraped.',
  nodejs_eventloop_lag_min_seconds: 'Least delay of the event loop since the last scrape.',
  nodejs_eventloop_lag_max_seconds: 'Greatest delay since the last scrape.',
  nodejs_eventloop_lag_mean_seconds: 'Mean delay since the last scrape.',
  nodejs_eventloop_lag_stddev_seconds: 'Standard deviation of the delays since the last scrape.',
  nodejs_eventloop_lag_p50_seconds: 'Median delay since the last scrape.',
  nodejs_eventloop_lag_p90_seconds: '90th percentile of the delays since the last scrape.',
  nodejs_eventloop_lag_p99_seconds: '99th percentile of the delays since the last scrape.',
  nodejs_active_resources: 'What keeps the event loop alive, by `type`.',
  nodejs_active_resources_total: 'All of it.',
  nodejs_active_handles: 'Handles of libuv, by `type`.',
  nodejs_active_handles_total: 'All of them.',
  nodejs_active_requests: 'Requests of libuv, by `type`.',
  nodejs_active_requests_total: 'All of them.',
  nodejs_heap_size_total_bytes: 'Heap of JavaScript.',
  nodejs_heap_size_used_bytes: 'Used part of it.',
  nodejs_external_memory_bytes: 'Memory of buffers and other objects outside the heap.',
  nodejs_heap_space_size_total_bytes: 'The heap, by `space`.',
  nodejs_heap_space_size_used_bytes: 'Used part of each space.',
  nodejs_heap_space_size_available_bytes: 'Free part of each space.',
  nodejs_version_info: 'Always 1; the version of Node.js.',
  nodejs_gc_duration_seconds: 'Histogram of garbage collections, by `kind`.',
} as const;

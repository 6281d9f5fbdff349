import type { BucketCounts } from './bucket-counts.ts';
import type { MetricName } from './metric-table.ts';

/** One series of a metric, as it is now. */
export type MetricSample = {
  labels: Record<string, string>;
  value: number | ReturnType<BucketCounts['read']>;
};

/** Metrics that are missing here are answered without a value. */
export type MetricSamples = Partial<Record<MetricName, MetricSample[]>>;

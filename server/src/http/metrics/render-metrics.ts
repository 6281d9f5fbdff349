import { Registry, collectDefaultMetrics } from 'prom-client';
import type { Metric } from 'prom-client';
import { metricTable } from '../../domain/metrics/metric-table.ts';
import type { MetricSample, MetricSamples } from '../../domain/metrics/metric-samples.ts';
import type { MetricEntry, MetricName } from '../../domain/metrics/metric-table.ts';

export type RenderedMetrics = { contentType: string; text: string };

/**
 * Makes a function that writes the metrics of this process in the text format of Prometheus. The library writes the text and
 * tells of Node.js itself; what is ours is counted elsewhere, for the console too, and handed to it when somebody asks.
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

/** What the library asks a metric for; its own classes would count a second time. */
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

export type ReadMetric = {
  name: string;
  kind: string;
  series: { name: string; labels: Record<string, string>; value: number }[];
};

/** Reads the text format of Prometheus (0.0.4), as far as we write it. @throws Error for a line that is not of it */
export function readMetricsText(text: string): ReadMetric[] {
  const metrics: ReadMetric[] = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    if (type) metrics.push({ name: type[1]!, kind: type[2]!, series: [] });
    if (line.startsWith('#')) continue;
    const found = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    const last = metrics.at(-1);
    if (!found || !last || !found[1]!.startsWith(last.name)) throw new Error(`not a line of metrics: ${line}`);
    const labels = [...(found[2] ?? '').matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]);
    last.series.push({ name: found[1]!, labels: Object.fromEntries(labels), value: Number(found[3]) });
  }
  return metrics;
}

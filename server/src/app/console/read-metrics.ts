import { shownAt } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { sumFigures } from '../../storage/installation/node-minutes.ts';

/** How long a chart is, and its steps: as many as a screen has room for. */
export const metricSpans = {
  hour: { seconds: 3_600, stepSeconds: 60 },
  day: { seconds: 86_400, stepSeconds: 900 },
  week: { seconds: 604_800, stepSeconds: 7_200 },
} as const;
export type MetricSpan = keyof typeof metricSpans;

export type MetricsDependencies = { database: Database; clock: Clock };

/** What the nodes of the installation counted, over all workspaces; each series has a value for each step. */
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

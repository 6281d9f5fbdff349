import type { SoakAudit } from './audit-soak.ts';
import { judgeFlat } from './judge-flat.ts';
import type { SoakSample } from './soak.ts';
import type { SoakBundle } from './soak-bundle.ts';
import { percentile } from './soak-tally.ts';

export type SoakReport = { text: string; broken: string[] };

type Series = {
  label: string;
  read: (sample: SoakSample) => number;
  smallest: number;
  judge: 'flat' | 'bounded' | 'none';
};

/**
 * A connection learns each text that it is asked, the rare ones late: no leak as long as they are texts of the code. Those are
 * below 800, and of the ones that are put together 200 at most are kept.
 */
const maxDistinctStatements = 1_000;

/** Memory is in megabytes, the rest are counts. */
const series: Series[] = [
  { label: 'rss, MB', read: (sample) => sample.rssMegabytes, smallest: 0, judge: 'flat' },
  { label: 'heap, MB', read: (sample) => sample.heapMegabytes, smallest: 0, judge: 'flat' },
  { label: 'external, MB', read: (sample) => sample.externalMegabytes, smallest: 1, judge: 'flat' },
  { label: 'file descriptors', read: (sample) => sample.fileDescriptors, smallest: 1, judge: 'flat' },
  { label: 'threads', read: (sample) => sample.threads, smallest: 1, judge: 'flat' },
  { label: 'connections of callers', read: (sample) => sample.callerConnections, smallest: 1, judge: 'flat' },
  { label: 'connections to the database', read: (sample) => sample.databaseConnections, smallest: 1, judge: 'flat' },
  { label: 'sessions in the database', read: (sample) => sample.sessions, smallest: 1, judge: 'flat' },
  { label: 'distinct prepared statements', read: (sample) => sample.distinctStatements, smallest: 1, judge: 'bounded' },
  {
    label: 'prepared statements, of all connections',
    read: (sample) => sample.preparedStatements,
    smallest: 1,
    judge: 'none',
  },
  { label: 'longest transaction, s', read: (sample) => sample.maxTransactionSeconds, smallest: 1, judge: 'none' },
  { label: 'timers', read: (sample) => sample.timers, smallest: 1, judge: 'none' },
];

export type SoakOutcome = {
  minutes: number;
  seed: number;
  samples: SoakSample[];
  /** Since when it is judged, and until when there was load. */
  from: number;
  endAt: number;
  /** What waited when everything should have been done. */
  open: Record<string, number>;
  audit: SoakAudit;
  bundle: Pick<SoakBundle, 'tally' | 'nodeErrors' | 'receiver' | 'hasEnded'>;
};

/** The numbers of a run, as a page, and the promises that it broke. */
export function reportSoak(outcome: SoakOutcome): SoakReport {
  const { from, open, audit, bundle } = outcome;
  const { tally } = bundle;
  const samples = outcome.samples.filter(({ at }) => at >= from);
  const trends = series.map((one) => ({ ...one, trend: judgeFlat(samples.map(one.read), one) }));
  const overdue = Object.keys(samples[0]!.tables).map((table) => ({
    table,
    most: Math.max(...samples.map((sample) => sample.tables[table]!.rows)),
    overdue: Math.max(...samples.map((sample) => sample.tables[table]!.overdue)),
  }));
  const broken = [
    ...trends
      .filter(({ judge, trend }) => judge === 'flat' && !trend.isFlat)
      .map(({ label, trend }) => `${label}: ${percent(trend.change)} between the first and the last quarter`),
    ...trends
      .filter(
        ({ judge, read }) => judge === 'bounded' && samples.some((sample) => read(sample) > maxDistinctStatements),
      )
      .map(({ label }) => `${label}: more than ${maxDistinctStatements}`),
    ...overdue.filter((row) => row.overdue > 0).map((row) => `${row.table}: ${row.overdue} rows are kept too long`),
    ...Object.entries(open).map(([what, rows]) => `${what} at the end: ${rows}`),
    ...(bundle.hasEnded() ? ['the node ended by itself'] : []),
    ...(tally.serverFaults() === 0 ? [] : [`${tally.serverFaults()} answers are 5xx`]),
    ...tally.broken(),
    ...audit.broken,
    ...errorsOf(bundle.nodeErrors),
  ];
  const rows = [
    `${outcome.minutes} minutes, seed ${outcome.seed}: ${tally.requests()} requests, ${tally.serverFaults()} × 5xx, ` +
      `${bundle.receiver.callbacks()} callbacks received.`,
    '',
    '| | First quarter | Last quarter | Change | Least | Most |',
    '|---|--:|--:|--:|--:|--:|',
    ...trends.map(({ label, read, trend }) => {
      const values = samples.map(read);
      const cells = [trend.first, trend.last].map((value) => value.toFixed(1));
      const bounds = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(1));
      return `| ${label} | ${cells.join(' | ')} | ${percent(trend.change)} | ${bounds.join(' | ')} |`;
    }),
    '',
    '| Milliseconds of all requests | First quarter | Second | Third | Last |',
    '|---|--:|--:|--:|--:|',
    ...[0.5, 0.99].map((part) => `| p${part * 100} | ${latencies(outcome, part).join(' | ')} |`),
    '',
    '| Rows kept for a time | Most | Kept too long |',
    '|---|--:|--:|',
    ...overdue.map((row) => `| ${row.table} | ${row.most} | ${row.overdue} |`),
    '',
    '| At the end | |',
    '|---|---|',
    ...Object.entries(audit.numbers).map(([label, number]) => `| ${label} | ${number} |`),
    '',
    '| Request | Answers by status |',
    '|---|---|',
    ...[...tally.statuses()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([kind, counted]) => {
        const cells = [...counted].sort(([a], [b]) => a - b).map(([status, times]) => `${status} × ${times}`);
        return `| ${kind} | ${cells.join(', ')} |`;
      }),
  ];
  return { text: `${rows.join('\n')}\n`, broken };
}

function latencies({ bundle, from, endAt }: SoakOutcome, part: number): string[] {
  const quarter = (endAt - from) / 4;
  return [0, 1, 2, 3].map((index) => {
    const times = bundle.tally.timesBetween(from + index * quarter, from + (index + 1) * quarter);
    return percentile(times, part).toFixed(1);
  });
}

function percent(change: number): string {
  return `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`;
}

/** Equal messages of the node's log, once each. */
function errorsOf(lines: readonly string[]): string[] {
  const counted = new Map<string, number>();
  for (const line of lines) {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
    const text = `the node logged: ${msg}${err?.message ? ` (${err.message})` : ''}`;
    counted.set(text, (counted.get(text) ?? 0) + 1);
  }
  return [...counted].map(([text, times]) => (times === 1 ? text : `${text} (${times} times)`));
}

import type { SoakAudit } from './audit.ts';
import type { SoakBundle } from './bundle.ts';
import type { SoakSample } from './run.ts';

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

type SoakOutcome = {
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
    ...errorsOf(bundle.nodeErrors()),
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

/** What a series of samples did between the first and the last quarter of the time in which it was taken. */
type Trend = { first: number; last: number; change: number; isFlat: boolean };

/** The part by which the means of the two quarters may differ. */
const maxChange = 0.05;

/**
 * Compares the mean of the first quarter of the samples with the mean of the last. Flat is what differs by at most 5 %,
 * up or down; a count of few things (connections, threads) also when the means differ by less than one whole thing.
 */
function judgeFlat(samples: readonly number[], { smallest }: { smallest: number }): Trend {
  const quarter = Math.floor(samples.length / 4);
  if (quarter === 0) throw new Error('fewer than four samples cannot be judged');
  const first = mean(samples.slice(0, quarter));
  const last = mean(samples.slice(-quarter));
  const difference = Math.abs(last - first);
  const change = first === 0 ? (last === 0 ? 0 : Number.POSITIVE_INFINITY) : (last - first) / first;
  return { first, last, change, isFlat: difference < smallest || Math.abs(change) <= maxChange };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

/** What was asked of the node and what came of it: per kind of request its times, and everything that should not be. */
export type SoakTally = ReturnType<typeof makeSoakTally>;

type Answered = { kind: string; at: number; milliseconds: number };

export function makeSoakTally() {
  const answered: Answered[] = [];
  const statuses = new Map<string, Map<number, number>>();
  const broken = new Map<string, number>();
  let serverFaults = 0;

  return {
    /** A request that was answered, as it may or as it may not. */
    answer({ kind, milliseconds, status, isExpected, text }: AnswerOf): void {
      answered.push({ kind, at: performance.now(), milliseconds });
      const counted = statuses.get(kind) ?? new Map<number, number>();
      statuses.set(kind, counted.set(status, (counted.get(status) ?? 0) + 1));
      if (status >= 500) serverFaults += 1;
      if (!isExpected) this.fault(`${kind}: ${status} ${text.slice(0, 200)}`);
    },
    /** What breaks a promise; equal sentences are counted. */
    fault(sentence: string): void {
      broken.set(sentence, (broken.get(sentence) ?? 0) + 1);
    },
    serverFaults: () => serverFaults,
    requests: () => answered.length,
    statuses: () => statuses,
    broken: () => [...broken].map(([sentence, times]) => (times === 1 ? sentence : `${sentence} (${times} times)`)),
    /** Milliseconds of all requests between two instants, ascending. */
    timesBetween: (from: number, to: number): number[] =>
      answered
        .filter(({ at }) => at >= from && at < to)
        .map(({ milliseconds }) => milliseconds)
        .sort((a, b) => a - b),
  };
}

type AnswerOf = { kind: string; milliseconds: number; status: number; isExpected: boolean; text: string };

/** The time that this part of all requests did not exceed. */
function percentile(ascending: readonly number[], part: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? Number.NaN;
}

import { appendFileSync } from 'node:fs';

/** One row of the table that `npm run bench` prints and `docs/performance.md` shows. */
export type Comparison = {
  /** The number of the budget: P1 to P16. */
  budget: `P${number}`;
  work: string;
  ours: string;
  /** The peer in the same run; a dash if the goal is an absolute limit. */
  peer: string;
  /** Our result divided by the peer's, so that more is better; null without a peer. */
  ratio: number | null;
  goal: string;
  isMet: boolean;
};

/**
 * Prints a comparison, and passes it to the run of all cases that started this one (BENCH_COMPARISONS: the file in which each
 * is a line of JSON).
 */
export function tellComparison(comparison: Comparison): void {
  const { budget, work, ours, peer, ratio, goal, isMet } = comparison;
  const file = process.env.BENCH_COMPARISONS;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(comparison)}\n`);
  const times = ratio === null ? '' : `, ${ratio.toFixed(2)} ×`;
  process.stdout.write(`${budget} ${work}: ${ours}; ${peer}${times}; goal ${goal}: ${isMet ? 'met' : 'MISSED'}\n`);
}

/** The latest measurement of each budget. */
export type Results = Record<string, { measured: string; comparisons: Comparison[] }>;

/** Returns a Markdown table with a row per comparison. Pure. */
export function presentComparisons(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(({ budget, work, ours, peer, ratio, goal, isMet }) => [
    ...[budget, work, ours, peer, ratio === null ? '–' : `${ratio.toFixed(2)} ×`, goal],
    isMet ? 'met' : '**missed**',
  ]);
  const head = ['', 'Work', 'Ours', 'Peer, same run', 'Ratio', 'Goal', 'Verdict'];
  const table = [head, head.map(() => '---'), ...rows];
  return table.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const [begin, end] = ['<!-- measured -->', '<!-- measured end -->'];

/**
 * Returns the page with the table between its marks generated again, and the date of each budget's measurement. Pure.
 *
 * @throws without marks
 */
export function documentResults(page: string, results: Results): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no ${begin} … ${end}`);
  const inOrder = Object.entries(results).sort(([one], [other]) => Number(one.slice(1)) - Number(other.slice(1)));
  const table = presentComparisons(inOrder.flatMap(([, { comparisons }]) => comparisons));
  const dates = inOrder.map(([budget, { measured }]) => `- ${budget}: ${measured}`);
  const shown = [begin, '', table, '', 'Measured:', '', ...dates, '', ''].join('\n');
  return `${page.slice(0, from)}${shown}${page.slice(to)}`;
}

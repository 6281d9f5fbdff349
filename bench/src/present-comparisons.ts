import type { Comparison } from './comparison.ts';

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

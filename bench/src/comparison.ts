import { appendFileSync } from 'node:fs';

/** One row of the table that `npm run bench` prints and `docs/performance.md` shows. */
export type Comparison = {
  /** The number of the budget: P1 to P11. */
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
 * Prints a comparison, and passes it to the run of all measurements that started this one (BENCH_COMPARISONS: the file in which
 * each is a line of JSON).
 */
export function tellComparison(comparison: Comparison): void {
  const { budget, work, ours, peer, ratio, goal, isMet } = comparison;
  const file = process.env.BENCH_COMPARISONS;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(comparison)}\n`);
  const times = ratio === null ? '' : `, ${ratio.toFixed(2)} ×`;
  process.stdout.write(`${budget} ${work}: ${ours}; ${peer}${times}; goal ${goal}: ${isMet ? 'met' : 'MISSED'}\n`);
}

import { appendFileSync } from 'node:fs';

/** One line of the table that `npm run bench` prints and `docs/performance.md` shows. */
export type Comparison = {
  /** As the budgets number them: P1 to P11. */
  budget: `P${number}`;
  work: string;
  ours: string;
  /** What it is measured against in the same run; a dash where the goal is a limit of its own. */
  peer: string;
  /** Ours to the peer's, so that more is better; null where there is no peer. */
  ratio: number | null;
  goal: string;
  isMet: boolean;
};

/**
 * Says a comparison, and hands it to the run of all measurements that started this one (BENCH_COMPARISONS: the file in which
 * each is a line of JSON).
 */
export function tellComparison(comparison: Comparison): void {
  const { budget, work, ours, peer, ratio, goal, isMet } = comparison;
  const file = process.env.BENCH_COMPARISONS;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(comparison)}\n`);
  const times = ratio === null ? '' : `, ${ratio.toFixed(2)} ×`;
  process.stdout.write(`${budget} ${work}: ${ours}; ${peer}${times}; goal ${goal}: ${isMet ? 'met' : 'MISSED'}\n`);
}

import type { Sums } from '../rig/report.ts';

/** What a run measured, as docs/reports/torture.json keeps it. */
export type TortureRecord = {
  /** Day of the run, UTC. */
  date: string;
  commit: string;
  /** What ran it. */
  command: string;
  minutes: number;
  machine: { cores: number; memoryGiB: number; node: string };
  /** Drawn by seed, summed for each scenario. */
  rounds: Record<string, Sums & { rounds: number }>;
  /** Scenarios that ran once, as a whole. */
  whole: Record<string, Record<string, number | string | boolean>>;
  broken: { promise: string; command: string }[];
};

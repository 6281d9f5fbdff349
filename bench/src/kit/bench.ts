import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tellComparison } from './comparisons.ts';
import type { Comparison } from './comparisons.ts';
import { caseTable } from './case-table.ts';
import type { CaseName, CaseRow, OptionsOf } from './case-table.ts';

/** A case: `prepare` starts what it needs, `run` measures it and tells the results. */
export type Case<Name extends CaseName, Subject = unknown> = {
  prepare(bench: Bench<Name>): Subject | Promise<Subject>;
  run(bench: Bench<Name>, subject: Subject): void | Promise<void>;
};

/** What every case gets. */
export type Bench<Name extends CaseName = CaseName> = {
  options: OptionsOf<Name>;
  say(line: string): void;
  /** Tells a row of docs/performance.md; without a peer the goal is an absolute limit. */
  compare(row: Omit<Comparison, 'budget' | 'peer' | 'ratio'> & Partial<Pick<Comparison, 'peer' | 'ratio'>>): void;
  /** Calls it at the end, even if the case fails; the last one first. */
  defer(stop: () => unknown): void;
  /** Returns a folder that is removed at the end. */
  makeFolder(): Promise<string>;
  /** Does a part of the case, and then ends what the part has deferred. */
  inPart<Result>(work: (part: Bench<Name>) => Promise<Result>): Promise<Result>;
  /** The command ends with an error, because a check failed. */
  fail(): void;
};

/** Runs one case with these options. */
export async function runCase<Name extends CaseName>(name: Name, options: OptionsOf<Name>): Promise<void> {
  const row: CaseRow = caseTable[name];
  // Loaded when it is run: a case measures its own process, which must not hold the parts of others.
  const module = (await import(`../cases/${row.module}.ts`)) as Record<string, Case<Name>>;
  const { prepare, run } = module[exportOf(name)]!;
  await inPart({ name, options }, async (bench) => run(bench, await prepare(bench)));
}

/** Returns the name of a case in its file: that of `end-to-end` is `endToEndCase`. */
export function exportOf(name: CaseName): string {
  return `${name.replace(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase())}Case`;
}

type Started<Name extends CaseName> = { name: Name; options: OptionsOf<Name> };

async function inPart<Name extends CaseName, Result>(
  started: Started<Name>,
  work: (bench: Bench<Name>) => Promise<Result>,
): Promise<Result> {
  const { budget }: CaseRow = caseTable[started.name];
  const stops: (() => unknown)[] = [];
  const bench: Bench<Name> = {
    options: started.options,
    say: (line) => void process.stdout.write(`${line}\n`),
    compare: (comparison) => tellComparison({ budget: budget!, peer: '–', ratio: null, ...comparison }),
    defer: (stop) => void stops.push(stop),
    async makeFolder() {
      const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
      stops.push(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    inPart: (part) => inPart(started, part),
    fail: () => void (process.exitCode = 1),
  };
  try {
    return await work(bench);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/**
 * Measures several contenders in turn, so that a slow moment of the machine meets all of them.
 *
 * @returns the results of each, in the order of the rounds
 */
export async function inTurn<Name extends string, Result>(
  rounds: number,
  contenders: Record<Name, (round: number) => Promise<Result>>,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(contenders) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 1; round <= rounds; round += 1)
    for (const name of names) results[name].push(await contenders[name](round));
  return results;
}

/** Returns the median; for an even count the higher of the two middle values. */
export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** Returns the value that `share` of the numbers are below. */
export function quantile(numbers: readonly number[], share: number): number {
  if (numbers.length === 0) throw new RangeError('nothing was measured');
  return [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))]!;
}

/** Returns the smallest value that at least `share` of the numbers do not exceed: the 99th of a hundred for 0.99. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;
}

/** What passes between Stryker and its runner of tests (its package is installed when the command first runs). */
export type MutantResult = {
  id: string;
  fileName: string;
  replacement?: string;
  status: string;
  location: { start: Place; end: Place };
};

/** From 1. */
type Place = { line: number; column: number };

export type TestResult = {
  id: string;
  name: string;
  timeSpentMs: number;
  fileName: string;
  /** 0 passed, 1 failed. */
  status: 0 | 1;
  failureMessage?: string;
};

export type FirstRunResult = {
  status: 'complete';
  tests: TestResult[];
  /** How often each mutant was run into: while files were loaded, and by each test. */
  mutantCoverage: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
};

export type MutantRun = {
  activeMutant: { id: string };
  mutantActivation: 'runtime' | 'static';
  testFilter?: string[];
  sandboxFileName: string;
};

export type MutantRunResult =
  | { status: 'killed'; killedBy: string[]; failureMessage: string; nrOfTests: number }
  | { status: 'survived'; nrOfTests: number }
  | { status: 'timeout' };

import { readFileSync } from 'node:fs';

/** What one process of tests is to do: a file of JSON, named by `MUTATION_ASSIGNMENT`. */
export type Assignment = {
  /** The test files. */
  files: string[];
  /** Where lines about what happened are added. */
  findings: string;
  /** Mutants that need not be tried any more. */
  decided: string[];
  /** The one mutant that is in force from the start; every mutant that a test runs into is tried without it. */
  mutant?: string;
  /** One of so many mutants is tried: those whose number it divides. 1: all. */
  sample: number;
  /** A superuser's connection string to the server with the template; empty for tests without a database. */
  database: string;
};

/** Stryker numbers the mutants file by file as they stand in it, so those of a sample lie evenly. */
export function isInSample(mutant: string, sample: number): boolean {
  return Number(mutant) % sample === 0;
}

/** A line of the findings. */
export type Finding =
  | { kind: 'test'; id: string; name: string; ms: number; failure?: string }
  | { kind: 'covered'; id: string; mutants: Record<string, number> }
  /** Without a mutant: the code as it is, again. */
  | { kind: 'trying'; id: string; mutant?: string }
  | { kind: 'killed'; id: string; mutant: string; failure: string }
  | { kind: 'unrepeatable'; id: string; failure: string }
  | { kind: 'untried'; id: string; count: number }
  | { kind: 'spoiled'; id: string; failure: string }
  /** Whatever makes a run fail without a test: a file that cannot be loaded, an error that nothing waits for. */
  | { kind: 'error'; failure: string }
  /** `spentMs`: on mutants that were not killed. */
  | { kind: 'file'; path: string; loaded: Record<string, number>; spentMs: Record<string, number> };

export function readAssignment(): Assignment {
  return JSON.parse(readFileSync(process.env.MUTATION_ASSIGNMENT!, 'utf8')) as Assignment;
}

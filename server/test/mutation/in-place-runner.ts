import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isInSample } from './assignment.ts';
import type { Assignment, Finding } from './assignment.ts';
import { findMutant, tryTestFiles } from './try-test-files.ts';
import type { Ended, FirstRun } from './try-test-files.ts';
import type { FirstRunResult, MutantRun, MutantRunResult, TestResult } from './stryker-shapes.ts';

/** What `run.ts` tells its processes, as JSON in `MUTATION_PLAN`. */
export type MutationPlan = {
  /** Test files, each with the source files that it reaches. */
  tests: Record<string, string[]>;
  database: string;
  processes: number;
  /** One of so many mutants is tried. */
  sample: number;
  /** Where the first run writes what a reader of the score must know. */
  remarks: string;
};

/** Of one mutant, longer than a test may take (vitest-mutation.ts); and of what comes before, loading and tests without one. */
const maxStillSeconds = { trying: 15, otherwise: 90 };
/** A mutant that makes a list without end must not fill the machine's memory first. */
const maxHeapMegabytes = 512;
/** Of all that its process has, which the heap's limit does not see (buffers, the heaps of threads). */
const maxMegabytes = 3_000;
const folder = '.mutation';
const tableFile = join(folder, 'table.json');

type Table = Pick<FirstRun, 'killed' | 'timedOut'>;

/**
 * Stryker's runner of tests. Its first run tries the mutants already (see try-mutants.ts); when Stryker asks for one of them, the
 * result is known. A mutant of what runs while a file is loaded gets a process of its own, with the test files that reach it.
 */
class InPlaceRunner {
  static readonly inject = [] as const;
  #plan = JSON.parse(process.env.MUTATION_PLAN!) as MutationPlan;
  #table: Table | undefined;

  capabilities(): { reloadEnvironment: boolean } {
    return { reloadEnvironment: true };
  }

  async dryRun(): Promise<FirstRunResult> {
    mkdirSync(folder, { recursive: true });
    const { database, processes, sample, tests } = this.#plan;
    const { killed, timedOut, coverage, remarks, ...tried } = await tryTestFiles({
      files: Object.keys(tests),
      processes,
      run: (name, { file, decided }) => runTests(name, { files: [file], decided, sample, database }),
    });
    writeFileSync(this.#plan.remarks, remarks.join('\n'));
    writeFileSync(tableFile, JSON.stringify({ killed, timedOut } satisfies Table));
    return { status: 'complete', tests: tried.tests.map(testResult), mutantCoverage: coverage };
  }

  async mutantRun({
    activeMutant,
    mutantActivation,
    testFilter,
    sandboxFileName,
  }: MutantRun): Promise<MutantRunResult> {
    this.#table ??= JSON.parse(readFileSync(tableFile, 'utf8')) as Table;
    const { id } = activeMutant;
    const nrOfTests = testFilter?.length ?? 0;
    const killed = this.#table.killed[id];
    if (killed !== undefined)
      return { status: 'killed', killedBy: [killed.by], failureMessage: killed.failure, nrOfTests };
    if (this.#table.timedOut.includes(id)) return { status: 'timeout' };
    if (mutantActivation === 'runtime' || !isInSample(id, this.#plan.sample)) return { status: 'survived', nrOfTests };
    const source = relative(process.cwd(), sandboxFileName);
    const files = Object.entries(this.#plan.tests)
      .filter(([, reached]) => reached.includes(source))
      .sort(([, some], [, others]) => some.length - others.length)
      .map(([file]) => file);
    if (files.length === 0) return { status: 'survived', nrOfTests: 0 };
    const { findings, stop, code } = await runTests(`mutant-${process.pid}`, {
      files,
      decided: [],
      mutant: id,
      sample: 1,
      database: this.#plan.database,
    });
    if (stop !== undefined) return { status: 'timeout' };
    const failed = findings.find((finding) => finding.kind === 'test' && finding.failure !== undefined);
    if (failed?.kind === 'test')
      return { status: 'killed', killedBy: [failed.id], failureMessage: failed.failure!, nrOfTests };
    // A file that cannot be loaded fails without a test.
    if (code !== 0) return { status: 'killed', killedBy: ['loading'], failureMessage: 'cannot be loaded', nrOfTests };
    return { status: 'survived', nrOfTests: findings.length };
  }
}

function testResult({ id, name, ms, failure }: Extract<Finding, { kind: 'test' }>): TestResult {
  const shared = { id, name, timeSpentMs: ms, fileName: resolve(id.slice(0, id.indexOf('#'))) };
  return failure === undefined ? { ...shared, status: 0 } : { ...shared, status: 1, failureMessage: failure };
}

/** Runs test files in a process of their own, which is ended when nothing happens in it any more. */
async function runTests(
  name: string,
  assignment: Omit<Assignment, 'findings'>,
): Promise<Ended & { code: number | null }> {
  const findings = resolve(folder, `${name}.jsonl`);
  const file = resolve(folder, `${name}.json`);
  writeFileSync(findings, '');
  writeFileSync(file, JSON.stringify({ ...assignment, findings }));
  const env = { ...process.env, MUTATION_ASSIGNMENT: file };
  const child = spawn(
    process.execPath,
    [
      ...['--disable-warning=ExperimentalWarning', `--max-old-space-size=${maxHeapMegabytes}`],
      resolve('node_modules/vitest/vitest.mjs'),
      'run',
      ...['--configLoader', 'native', '--config', 'server/test/mutation/vitest-mutation.ts'],
    ],
    {
      env: assignment.mutant === undefined ? env : { ...env, __STRYKER_ACTIVE_MUTANT__: assignment.mutant },
      stdio: process.env.MUTATION_SHOW ? 'inherit' : 'ignore',
    },
  );
  let stop: Ended['stop'];
  const watch = setInterval(() => {
    if (megabytesOf(child.pid) > maxMegabytes) {
      stop = 'too large';
      child.kill('SIGKILL');
      return;
    }
    const stillSeconds = (Date.now() - statSync(findings).mtimeMs) / 1_000;
    if (stillSeconds < maxStillSeconds.trying) return;
    const isTrying = findMutant(readFindings(findings)) !== undefined;
    if (stillSeconds < maxStillSeconds[isTrying ? 'trying' : 'otherwise']) return;
    stop = 'stalled';
    child.kill('SIGKILL');
  }, 1_000);
  const code = await new Promise<number | null>((done) => child.once('close', done));
  clearInterval(watch);
  return { findings: readFindings(findings), ...(stop && { stop }), code };
}

/** 0 where the kernel does not say it, as once the process has ended. */
function megabytesOf(pid: number | undefined): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

function readFindings(file: string): Finding[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Finding);
}

/** The name under which Stryker looks for what a module brings. */
export const strykerPlugins = [{ kind: 'TestRunner', name: 'in-place', injectableClass: InPlaceRunner }];

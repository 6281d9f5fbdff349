import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';

/** Longer than any test or hook may take: a worker that is silent for this long is not expected to continue. */
const maxSilenceSeconds = 240;
const slowestCount = 10;

/**
 * In addition to the runner's own report: the reason of each skipped test, the slowest files, the failures again as the last
 * lines, and an end of the run when no worker reports any more. The runner would wait for a worker without a limit. The names of files that failed are written to the file that FAILED_TESTS_FILE names, if
 * every error belongs to a test.
 */
export class TestReport implements Reporter {
  readonly #startedAt = new Map<string, number>();
  readonly #running = new Set<string>();
  #vitest: Vitest | undefined;
  #silence: NodeJS.Timeout | undefined;

  onInit = (vitest: Vitest): void => {
    this.#vitest = vitest;
    this.#listen();
  };

  onTestModuleQueued = (testModule: TestModule): void => {
    this.#startedAt.set(testModule.moduleId, performance.now());
    this.#running.add(testModule.moduleId);
    this.#listen();
  };

  onTestCaseResult = (): void => this.#listen();

  onTestModuleEnd = ({ moduleId }: TestModule): void => {
    this.#running.delete(moduleId);
    this.#startedAt.set(moduleId, performance.now() - (this.#startedAt.get(moduleId) ?? 0));
    this.#listen();
  };

  onTestRunEnd = (testModules: readonly TestModule[], unhandled: readonly SerializedError[]): void => {
    clearTimeout(this.#silence);
    const skipped = testModules.flatMap((testModule) =>
      [...testModule.children.allTests('skipped')].map((test) => {
        const result = test.result();
        const note = result.state === 'skipped' && result.note ? `: ${result.note}` : '';
        return `  ${this.#name(testModule.moduleId)} > ${test.fullName}${note}`;
      }),
    );
    // Tests that a name pattern excluded are not reported.
    if (skipped.length > 0 && !this.#vitest?.config.testNamePattern)
      process.stdout.write(`\nSkipped\n${skipped.join('\n')}\n`);
    const slowest = [...this.#startedAt]
      .filter(([moduleId]) => !this.#running.has(moduleId))
      .sort(([, left], [, right]) => right - left)
      .slice(0, slowestCount);
    process.stdout.write('\nSlowest files\n');
    for (const [moduleId, milliseconds] of slowest)
      process.stdout.write(`${(milliseconds / 1_000).toFixed(1).padStart(7)} s  ${this.#name(moduleId)}\n`);
    this.#tellFailed(testModules);
    const { FAILED_TESTS_FILE: path } = process.env;
    const failed = testModules.filter((testModule) => !testModule.ok()).map(({ moduleId }) => this.#name(moduleId));
    if (path !== undefined && unhandled.length === 0) writeFileSync(path, JSON.stringify(failed));
    // These errors fail the run, but belong to no test.
    for (const error of unhandled)
      process.stdout.write(`\nAn error that nothing waited for\n${tellReason(error)}${this.#tellPlace(error)}`);
  };

  /** A reader who has only the end of a long log finds the names and the first lines of each reason. */
  #tellFailed(testModules: readonly TestModule[]): void {
    const failed = testModules.flatMap((testModule) => {
      const name = this.#name(testModule.moduleId);
      const tests = [...testModule.children.allTests('failed')];
      const suites = [testModule, ...testModule.children.allSuites()].map((suite) => ({
        name: 'fullName' in suite ? suite.fullName : '(the file)',
        errors: suite.errors(),
      }));
      return [...suites, ...tests.map((test) => ({ name: test.fullName, errors: test.result().errors ?? [] }))]
        .filter(({ errors }) => errors.length > 0)
        .map(({ name: of, errors }) => `  ${name} > ${of}\n${errors.map(tellReason).join('')}`);
    });
    if (failed.length > 0) process.stdout.write(`\nFailed\n${failed.join('')}`);
  }

  #tellPlace({ stack = '', VITEST_TEST_PATH: path, VITEST_TEST_NAME: name }: SerializedError): string {
    const lines = stack.split('\n').slice(1, maxReasonLines);
    const ran = typeof name === 'string' ? `ran: ${name}` : 'ran';
    const during = typeof path === 'string' ? `    while ${this.#name(path)} ${ran}\n` : '';
    return `${lines.map((line) => `    ${line.trim()}\n`).join('')}${during}`;
  }

  /** Restarts the timeout, because a worker reported. */
  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#giveUp(), maxSilenceSeconds * 1_000);
  }

  #giveUp(): void {
    const names = [...this.#running].map((moduleId) => `  ${this.#name(moduleId)}\n`);
    process.stderr.write(`\nNo test has ended for ${maxSilenceSeconds} s. Not done:\n${names.join('')}`);
    process.exitCode = 1;
    // The second request makes the runner kill its workers; the database of the tests ends with the run.
    void this.#vitest?.cancelCurrentRun('test-failure');
    void this.#vitest?.cancelCurrentRun('test-failure');
    setTimeout(() => process.exit(1), 30_000).unref();
  }

  #name(moduleId: string): string {
    return relative(this.#vitest?.config.root ?? '', moduleId);
  }
}

const maxReasonLines = 20;

function tellReason({ message, diff = '' }: { message: string; diff?: string | undefined }): string {
  const lines = stripVTControlCharacters(`${message}\n${diff}`).trim().split('\n').slice(0, maxReasonLines);
  return lines.map((line) => `    ${line}\n`).join('');
}

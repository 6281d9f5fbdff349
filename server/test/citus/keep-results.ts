import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestCase, TestModule } from 'vitest/node';
import { TestReport } from '../../../scripts/test-report.ts';
import type { TestedFile } from './report.ts';

/** The report of a test run. It also writes the outcome of each test to the file in TEST_RESULTS. */
// eslint-disable-next-line no-restricted-syntax -- the runner asks for a default export
export default class KeepResults extends TestReport {
  constructor() {
    super();
    const report = this.onTestRunEnd;
    this.onTestRunEnd = (testModules, unhandled) => {
      report(testModules, unhandled);
      const path = process.env.TEST_RESULTS;
      if (path !== undefined) writeFileSync(path, JSON.stringify(testModules.map(readFile)));
    };
  }
}

function readFile(testModule: TestModule): TestedFile {
  const tests = [...testModule.children.allTests()].map(readTest);
  // A file can fail outside of its tests, or before they are known.
  const isOutsideTests = testModule.state() === 'failed' && !tests.some(({ state }) => state === 'failed');
  const [error] = testModule.errors();
  return {
    file: relative(testModule.project.config.root, testModule.moduleId),
    ...(isOutsideTests && { fault: firstLine(error) }),
    tests,
  };
}

function readTest(test: TestCase): TestedFile['tests'][number] {
  const result = test.result();
  const name = test.fullName;
  if (result.state === 'failed') return { name, state: 'failed', fault: firstLine(result.errors[0]) };
  if (result.state === 'passed') return { name, state: 'passed' };
  // A pending test was never started, so it counts as skipped.
  return { name, state: 'skipped', ...(result.state === 'skipped' && result.note && { note: result.note }) };
}

function firstLine(error: { name?: string; message: string } | undefined): string {
  if (error === undefined) return '(no message)';
  return `${error.name ?? 'Error'}: ${error.message}`.split('\n')[0]!;
}

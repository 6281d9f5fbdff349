import { relative } from 'node:path';

/** As far as they are read: the runner's results as JSON. */
export type TestResults = {
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] | null }[];
  }[];
};

/** How many passed, and what failed, most frequent cause first: one change often mends many tests. */
export function reportTests({ testResults }: TestResults, root: string): string[] {
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, file: relative(root, name) })),
  );
  const failed = [
    ...tests
      .filter(({ status }) => status === 'failed')
      .map(({ file, fullName, failureMessages }) => ({
        name: `${file} > ${fullName}`,
        cause: causeOf(failureMessages?.[0] ?? ''),
      })),
    // What failed before its tests were known, or beside them.
    ...testResults
      .filter(
        ({ status, assertionResults }) =>
          status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
      )
      .map(({ name, message }) => ({ name: relative(root, name), cause: causeOf(message ?? '') })),
  ];
  const causes = [...Map.groupBy(failed, ({ cause }) => cause)].sort(
    ([, left], [, right]) => right.length - left.length,
  );
  const count = (status: string): number => tests.filter((test) => test.status === status).length;
  const failedFiles = testResults.filter(({ status }) => status === 'failed').length;
  return [
    '',
    `On the cluster: ${testResults.length - failedFiles} files passed, ${failedFiles} failed; ` +
      `${count('passed')} tests passed, ${count('failed')} failed, ${count('skipped') + count('pending')} skipped`,
    ...causes.flatMap(([cause, names]) => ['', `${names.length} × ${cause}`, ...names.map(({ name }) => `  ${name}`)]),
  ];
}

/** The first line, without what is different in each test. */
function causeOf(message: string): string {
  const [line = ''] = message.split('\n');
  return (
    line
      .replaceAll(/\b[0-9a-f]{24}\b/g, '…')
      .replaceAll(/\d+/g, '#')
      .slice(0, 200) || '(nothing was said)'
  );
}

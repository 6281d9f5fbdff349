/** What became of a file of tests. */
export type TestedFile = {
  file: string;
  /** What failed before its tests were known, or beside them. */
  fault?: string;
  tests: { name: string; state: 'passed' | 'failed' | 'skipped'; fault?: string; note?: string }[];
};

export type Totals = Record<'files' | 'failedFiles' | 'passed' | 'failed' | 'skipped', number>;

export function addUp(files: readonly TestedFile[]): Totals {
  const tests = files.flatMap((file) => file.tests);
  const count = (wanted: string): number => tests.filter(({ state }) => state === wanted).length;
  return {
    files: files.length,
    failedFiles: files.filter(isFailed).length,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
  };
}

export function totalsLine({ files, failedFiles, passed, failed, skipped }: Totals): string {
  return `${files - failedFiles} files passed, ${failedFiles} failed; ${passed} tests passed, ${failed} failed, ${skipped} skipped`;
}

/** What failed, most frequent cause first: one change often mends many tests. */
export function listFailures(files: readonly TestedFile[]): string[] {
  const failed = files.flatMap(({ file, fault, tests }) => [
    ...(fault === undefined ? [] : [{ name: file, cause: causeOf(fault) }]),
    ...tests
      .filter(({ state }) => state === 'failed')
      .map((test) => ({ name: `${file} > ${test.name}`, cause: causeOf(test.fault ?? '') })),
  ]);
  const causes = [...Map.groupBy(failed, ({ cause }) => cause)].sort(
    ([, left], [, right]) => right.length - left.length,
  );
  return causes.flatMap(([cause, names]) => [
    '',
    `${names.length} × ${cause}`,
    ...names.map(({ name }) => `  ${name}`),
  ]);
}

/** One line each, with its reason: the note of the test, or what its name says. */
export function listSkips(files: readonly TestedFile[]): string[] {
  return files.flatMap(({ file, tests }) =>
    tests
      .filter(({ state }) => state === 'skipped')
      .map(({ name, note }) => `  ${file} > ${name}${note === undefined ? '' : `: ${note}`}`),
  );
}

function isFailed({ fault, tests }: TestedFile): boolean {
  return fault !== undefined || tests.some(({ state }) => state === 'failed');
}

/** Without what is different in each test. */
function causeOf(message: string): string {
  return (
    message
      .replaceAll(/\b[0-9a-f]{24}\b/g, '…')
      .replaceAll(/\d+/g, '#')
      .slice(0, 200) || '(nothing was said)'
  );
}

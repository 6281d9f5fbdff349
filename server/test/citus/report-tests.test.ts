import { expect, test } from 'vitest';
import { describeRun } from './describe-run.ts';
import { parseReport } from './read-report.ts';
import { addUp, listFailures, listSkips, totalsLine } from './report-tests.ts';
import type { TestedFile } from './report-tests.ts';

const failed = (name: string, fault: string) => ({ name, state: 'failed' as const, fault });
const passed = { name: 'fine', state: 'passed' as const };
const files: TestedFile[] = [
  { file: 'a.test.ts', tests: [passed, failed('one', 'Error: 7 rows')] },
  {
    file: 'b.test.ts',
    tests: [
      failed('two', 'DatabaseError: shard_102008 of 0123456789abcdef01234567'),
      failed('three', 'DatabaseError: shard_102009 of fedcba987654321001234567'),
    ],
  },
  { file: 'c.test.ts', fault: 'Error: no import', tests: [] },
  {
    file: 'd.test.ts',
    tests: [
      passed,
      { name: 'no', state: 'skipped' },
      { name: 'not here', state: 'skipped', note: 'there is no server' },
    ],
  },
];

test('what failed is listed by its cause, the most frequent first, without what differs from run to run', () => {
  expect(listFailures(files).filter(Boolean)).toEqual([
    '2 × DatabaseError: shard_# of …',
    '  b.test.ts > two',
    '  b.test.ts > three',
    '1 × Error: # rows',
    '  a.test.ts > one',
    '1 × Error: no import',
    '  c.test.ts',
  ]);
});

test('files and tests are added up, and each one skipped is listed with its reason', () => {
  expect(totalsLine(addUp(files))).toBe('1 files passed, 3 failed; 2 tests passed, 3 failed, 2 skipped');
  expect(listSkips(files)).toEqual(['  d.test.ts > no', '  d.test.ts > not here: there is no server']);
});

const ran = {
  ...{ workers: 2, arguments: ['--plain', '--source', '/home/me/citus', '--log=/tmp/log', 'server/test/push'] },
  ...{ refusals: new Map([['no plan', { count: 3, statement: 'select 1' }]]), at: new Date('2026-11-26T23:00:00Z') },
  commit: '0123456789',
};

test('a run is told batch by batch and as a whole, on the cluster and on one PostgreSQL', () => {
  const lines = describeRun({ ...ran, batches: [{ onCluster: files, onPlain: [] }, { onCluster: files.slice(0, 1) }] });
  expect(lines).toContain('batch 1: 4 files, a.test.ts to d.test.ts');
  expect(lines).toContain('  2 passed, 3 failed, 2 skipped; on one PostgreSQL 0 passed, 0 failed, 0 skipped');
  expect(lines).toContain('  1 passed, 1 failed, 0 skipped');
  expect(lines).toContain('On the cluster:     1 files passed, 4 failed; 3 tests passed, 4 failed, 2 skipped');
  expect(lines).toContain('  d.test.ts > not here: there is no server');
});

test('a report is read again for docs/cluster.md, without folders of the machine', () => {
  const text = describeRun({ ...ran, batches: [{ onCluster: files }] }).join('\n');
  expect(text).not.toMatch(/\/home|\/tmp/);
  const { command, ...run } = parseReport(text);
  expect(run).toEqual({
    date: '2026-11-26',
    commit: '0123456789',
    totals: '1 files passed, 3 failed; 2 tests passed, 3 failed, 2 skipped',
    refused: 3,
  });
  expect(command.replace('FULL=1 ', '')).toBe('npm run test:citus -- --plain server/test/push');
  expect(() => parseReport('something else')).toThrow('no report');
});

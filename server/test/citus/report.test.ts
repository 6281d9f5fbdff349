import { expect, test } from 'vitest';
import {
  addUp,
  describeRun,
  listFailures,
  listRefusals,
  listSkips,
  makeRefusalCounter,
  parseReport,
  totalsLine,
} from './report.ts';
import type { Refusals, TestedFile } from './report.ts';

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

const at = '2026-11-26 13:34:43.670 UTC [18825]';

function read(lines: string[]): string[] {
  const refusals: Refusals = new Map();
  const count = makeRefusalCounter(refusals);
  lines.forEach((line) => count(line));
  return listRefusals(refusals);
}

test('counts a refusal by its message without numbers, and shows one of its statements', () => {
  const error = `${at} 0A000 ERROR:  could not run distributed query with FOR UPDATE/SHARE commands`;
  const hint = `${at} 0A000 HINT:  Consider using an equality filter on the distributed table's partition column.`;
  const statement = [`${at} 0A000 STATEMENT:  `, '    with due as (', '      select 1'];
  expect(read([error, hint, ...statement, error, ...statement])).toEqual([
    'Statements refused: 2',
    '  2 × could not run distributed query with FOR UPDATE/SHARE commands',
    '      with due as (',
  ]);
});

test.each([
  ['0A000', 'recursive CTEs are only supported when they contain a filter on the distribution column'],
  ['0A000', 'a message that nobody has seen yet'],
  ['XX000', 'cannot push down this subquery'],
])('counts %s %s', (code, message) => {
  expect(read([`${at} ${code} ERROR:  ${message}`])[0]).toBe('Statements refused: 1');
});

test.each([
  ['40P01', 'canceling the transaction since it was involved in a distributed deadlock'],
  ['23514', 'new row for relation "devices_102009" violates check constraint "devices_push_provider_check"'],
  ['0A000', 'cached plan must not change result type'],
])('leaves out %s %s, which a test provokes', (code, message) => {
  expect(read([`${at} ${code} ERROR:  ${message}`])).toEqual(['Statements refused: 0']);
});

test('leaves out what is no error', () => {
  expect(read([`${at} 00000 WARNING:  recursive CTEs are only supported`, 'a line of something else'])).toEqual([
    'Statements refused: 0',
  ]);
});

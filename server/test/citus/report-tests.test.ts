import { expect, test } from 'vitest';
import { reportTests } from './report-tests.ts';

const failed = (fullName: string, message: string) => ({ fullName, status: 'failed', failureMessages: [message] });
const passed = { fullName: 'fine', status: 'passed' };

test('what failed is listed by its cause, the most frequent first, without what differs from run to run', () => {
  const lines = reportTests(
    {
      testResults: [
        {
          name: '/root/a.test.ts',
          status: 'failed',
          assertionResults: [passed, failed('one', 'Error: 7 rows\n at x')],
        },
        {
          name: '/root/b.test.ts',
          status: 'failed',
          assertionResults: [
            failed('two', 'DatabaseError: shard_102008 of 0123456789abcdef01234567'),
            failed('three', 'DatabaseError: shard_102009 of fedcba987654321001234567'),
          ],
        },
        { name: '/root/c.test.ts', status: 'failed', message: 'Error: no import', assertionResults: [] },
        {
          name: '/root/d.test.ts',
          status: 'passed',
          assertionResults: [passed, { fullName: 'no', status: 'skipped' }],
        },
      ],
    },
    '/root',
  );
  expect(lines.filter(Boolean)).toEqual([
    'On the cluster: 1 files passed, 3 failed; 2 tests passed, 3 failed, 1 skipped',
    '2 × DatabaseError: shard_# of …',
    '  b.test.ts > two',
    '  b.test.ts > three',
    '1 × Error: # rows',
    '  a.test.ts > one',
    '1 × Error: no import',
    '  c.test.ts',
  ]);
});

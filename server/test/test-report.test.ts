import { afterEach, expect, it, vi } from 'vitest';
import { TestReport } from '../../scripts/test-report.ts';

afterEach(() => vi.restoreAllMocks());

it('an error that no test has, which fails the run, is told at the end: what, where, and while which test ran', () => {
  let told = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    told += String(text);
    return true;
  });
  new TestReport().onTestRunEnd(
    [],
    [
      {
        message: 'the socket was closed',
        stack: 'Error: the socket was closed\n    at read (server/src/a.ts:3:5)\n    at work (server/src/b.ts:9:1)',
        VITEST_TEST_PATH: 'server/test/some.test.ts',
        VITEST_TEST_NAME: 'a fact',
      },
    ],
  );
  expect(told.slice(told.indexOf('An error'))).toBe(
    'An error that nothing waited for\n' +
      '    the socket was closed\n' +
      '    at read (server/src/a.ts:3:5)\n' +
      '    at work (server/src/b.ts:9:1)\n' +
      '    while server/test/some.test.ts ran: a fact\n',
  );
});

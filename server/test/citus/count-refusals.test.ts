import { expect, test } from 'vitest';
import { listRefusals, makeRefusalCounter } from './count-refusals.ts';
import type { Refusals } from './count-refusals.ts';

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

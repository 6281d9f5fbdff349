import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
/** Rows of the levels 1 and 2 in each chapter of ASVS 5.0.0. */
const rowsOfChapters = {
  1: 27,
  2: 11,
  3: 19,
  4: 10,
  5: 9,
  6: 35,
  7: 18,
  8: 7,
  9: 7,
  10: 29,
  11: 14,
  12: 9,
  13: 13,
  14: 9,
  15: 13,
  16: 16,
  17: 7,
};

type Row = { number: string; level: string; answer: string };

/** Rows of the tables. `malformed` has every other line that begins with a cell of a number. */
function parseRows(page: string): { rows: Row[]; malformed: string[] } {
  const lines = page.split('\n').filter((line) => /^\| \d/.test(line));
  const parsed = lines.map((line) => /^\| (\d+\.\d+\.\d+) \| ([12]) \| [^|]+ \| (.+) \|$/.exec(line));
  const rows = parsed.flatMap((match) => (match ? [{ number: match[1]!, level: match[2]!, answer: match[3]! }] : []));
  return { rows, malformed: lines.filter((_line, index) => parsed[index] === null) };
}

/** Returns what is wrong with an answer; undefined if nothing is. */
function findFault({ answer }: Row): string | undefined {
  const [, test, title] = /^`(server\/test\/\S+\.test\.ts)`: (.+)$/.exec(answer) ?? [];
  if (test !== undefined) {
    const text = existsSync(join(root, test)) ? readFileSync(join(root, test), 'utf8') : '';
    const isThere = ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`));
    return isThere ? undefined : `there is no test ${title} in ${test}`;
  }
  const [, code] = /^Read in `(\S+)`: .+\.$/.exec(answer) ?? [];
  if (code !== undefined) return existsSync(join(root, code)) ? undefined : `there is no ${code}`;
  const isOther = /^(Documented: \[\S+\]\(\S+\.md\)|(Not applicable|Open): .+\.)$/.test(answer);
  return isOther ? undefined : 'it is none of the five answers';
}

const page = readFileSync(join(root, 'docs', 'asvs.md'), 'utf8');
const { rows, malformed } = parseRows(page);

describe('docs/asvs.md', () => {
  test('has each row of the levels 1 and 2 once', () => {
    expect(malformed).toEqual([]);
    const numbers = rows.map(({ number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
    const counts = Map.groupBy(numbers, (number) => number.split('.')[0]!);
    expect(Object.fromEntries([...counts].map(([chapter, { length }]) => [chapter, length]))).toEqual(rowsOfChapters);
  });

  test('names tests, files and reasons that exist', () => {
    const faults = rows.flatMap((row) => {
      const fault = findFault(row);
      return fault === undefined ? [] : [`${row.number}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  test('repeats each open row at the end, and no other', () => {
    const open = rows.filter(({ answer }) => answer.startsWith('Open: '));
    const [, section] = /^## Open rows\n([^]*)$/m.exec(page)!;
    const repeated = [...section!.matchAll(/^- \*\*([\d.]+)\*\*: (.+)$/gm)].map(([, number, words]) => [number, words]);
    expect(repeated).toEqual(
      open.map(({ number, answer }) => [number, answer.replace(/^Open: /, '').replace(/\.$/, '')]),
    );
  });

  test('is refused with a test, a file or an answer that does not exist', () => {
    const row = { number: '1.1.1', level: '1' };
    const title = ['no', 'such title'].join(' ');
    expect(findFault({ ...row, answer: `\`server/test/asvs.test.ts\`: ${title}` })).toContain('there is no test');
    expect(findFault({ ...row, answer: 'Read in `server/src/nothing.ts`: it is safe.' })).toBe(
      'there is no server/src/nothing.ts',
    );
    expect(findFault({ ...row, answer: 'Fine' })).toBe('it is none of the five answers');
    expect(parseRows('| 1.1.1 | 3 | x | Open: y. |').malformed).toHaveLength(1);
  });
});

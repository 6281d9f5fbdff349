import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exportOf } from '../src/kit/bench.ts';
import { UsageError, caseTable, describeCase, listCases, readCaseOptions } from '../src/kit/case-table.ts';
import type { CaseName, CaseRow } from '../src/kit/case-table.ts';
import { documentResults, presentComparisons } from '../src/kit/comparisons.ts';
import type { Comparison, Results } from '../src/kit/comparisons.ts';

const root = join(import.meta.dirname, '..', '..');

test('shows in docs/performance.md what was recorded (npm run bench -- --record)', async () => {
  const page = await readFile(join(root, 'docs', 'performance.md'), 'utf8');
  const results = JSON.parse(await readFile(join(root, 'bench', 'results', 'comparisons.json'), 'utf8')) as Results;
  expect(Object.keys(results).length).toBeGreaterThan(0);
  expect(documentResults(page, results)).toBe(page);
});

const missed: Comparison = {
  budget: 'P10',
  work: 'waiting',
  ours: '40.0 ms',
  peer: '–',
  ratio: null,
  goal: '< 15 ms',
  isMet: false,
};
const met: Comparison = {
  budget: 'P2',
  work: 'making',
  ours: '100 µs',
  peer: 'web-push 650 µs',
  ratio: 6.5,
  goal: '≥ 6 ×',
  isMet: true,
};

test('presents a missed goal in bold, and a row without a peer without a ratio', () => {
  const [, , first, second] = presentComparisons([met, missed]).split('\n');
  expect(first).toBe('| P2 | making | 100 µs | web-push 650 µs | 6.50 × | ≥ 6 × | met |');
  expect(second).toBe('| P10 | waiting | 40.0 ms | – | – | < 15 ms | **missed** |');
});

test('writes the table between its marks in the order of the budgets, and keeps the rest of the page', () => {
  const results = {
    P10: { measured: '2026-02-02, at abc', comparisons: [missed] },
    P2: { measured: '2026-01-01, at def', comparisons: [met] },
  };
  const page = documentResults('Before.\n<!-- measured -->\nold\n<!-- measured end -->\nAfter.\n', results);
  expect(page).toMatch(/^Before\.\n<!-- measured -->\n\n\| {2}\| Work .*\n<!-- measured end -->\nAfter\.\n$/s);
  expect(page.indexOf('| P2 |')).toBeLessThan(page.indexOf('| P10 |'));
  expect(page).toContain('- P10: 2026-02-02, at abc\n');
  expect(page).not.toContain('old');
  expect(() => documentResults('no marks', results)).toThrow('the page has no <!-- measured -->');
});

describe('cases', () => {
  const rows = Object.entries(caseTable) as [CaseName, CaseRow][];

  test.each(rows)('finds %s in its file', async (name, { module }) => {
    const source = await readFile(join(root, 'bench', 'src', 'cases', `${module}.ts`), 'utf8');
    expect(source).toContain(`export const ${exportOf(name)}: Case<'${name}'`);
  });

  test('runs P1 to P10 together, in this order, with options that they know', () => {
    const ofAll = rows.filter(([, row]) => row.ofAll !== undefined);
    expect(ofAll.map(([, { budget }]) => budget)).toEqual(Array.from({ length: 10 }, (_, index) => `P${index + 1}`));
    for (const [name, { ofAll: sizes }] of ofAll)
      for (const values of Object.values(sizes!))
        for (const [option, value] of Object.entries(values))
          expect(readCaseOptions(name, [`--${option}`, `${value}`]), name).toMatchObject({ [option]: value });
  });

  test('lists every case, and every option of a case', () => {
    for (const [name, { options }] of rows) {
      expect(listCases()).toContain(`\n  ${name} `);
      for (const option of Object.keys(options)) expect(describeCase(name)).toContain(`--${option}`);
    }
  });

  test('reads options with the type of their defaults', () => {
    expect(readCaseOptions('events', ['--kill', '--rate', '500'])).toEqual({
      ...{ rate: 500, seconds: 30, kill: true, profile: undefined },
    });
    expect(readCaseOptions('profile', ['/tmp/profiles'])).toEqual({ folder: '/tmp/profiles', lines: 30 });
  });

  test.each([
    [['--rounds', 'x'], '--rounds is a number, not x'],
    [['--speed', '1'], '--speed'],
    [['5'], '5'],
  ])('rejects %j with the reason', (words, message) => {
    expect(() => readCaseOptions('start', words)).toThrow(UsageError);
    expect(() => readCaseOptions('start', words)).toThrow(message);
  });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Comparison } from '../src/comparison.ts';
import { documentResults, presentComparisons } from '../src/present-comparisons.ts';
import type { Results } from '../src/present-comparisons.ts';

const root = join(import.meta.dirname, '..', '..');

test('docs/performance.md shows what was recorded (npm run bench -- --record)', async () => {
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

test('a goal that was missed stands out in the table, and what has no peer has no ratio', () => {
  const [, , first, second] = presentComparisons([met, missed]).split('\n');
  expect(first).toBe('| P2 | making | 100 µs | web-push 650 µs | 6.50 × | ≥ 6 × | met |');
  expect(second).toBe('| P10 | waiting | 40.0 ms | – | – | < 15 ms | **missed** |');
});

test('the table is made anew between its marks, the budgets in their order, and the rest of the page stays', () => {
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

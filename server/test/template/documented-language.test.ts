import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { maxRenderedCharacters, maxTemplateSteps } from '../../src/domain/limits/push.ts';
import { filters } from '../../src/domain/template/filters.ts';
import { methods } from '../../src/domain/template/methods.ts';
import { tests } from '../../src/domain/template/rules.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'concepts.md'), 'utf8');

/** The words in code marks of a row of the table of the language. */
function listed(row: string): string[] {
  const text = page.split('\n').find((line) => line.startsWith(`| ${row} |`))!;
  return [...text.matchAll(/`([a-z]+)(?:\(attribute=…\))?`/g)].map(([, word]) => word!).sort();
}

test.each([
  ['Filters', filters],
  ['Tests', tests],
  ['Methods', methods],
])('the manual lists exactly the %s there are', (row, rules) => {
  const names = [...new Set(listed(row))];
  expect(names).toEqual([...rules.keys()].sort());
});

test('the manual names the limits', () => {
  expect(page).toContain(`More than ${maxTemplateSteps.toLocaleString('en')} steps`);
  expect(page).toContain(`more than ${maxRenderedCharacters.toLocaleString('en')} characters`);
});

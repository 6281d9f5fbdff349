import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leftOutTables } from '../../src/domain/operations/backup.ts';
import { errorRegistry } from '../../src/domain/errors.ts';
import { declaredDifferences } from '../../src/domain/declared-differences.ts';

/** The rows of a generated table, each with its cells. */
function rowsOf(page: string, section: string): string[][] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', page), 'utf8');
  const table = text.split(`<!-- generated: ${section} -->`)[1]!.split('<!-- end -->')[0]!;
  const rows = table.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((line) => line.slice(2, -2).replaceAll('&lt;', '<').split(' | '));
}

test('lists every error of the registry with its public text in docs/errors.md', () => {
  const rows = rowsOf('errors.md', 'errors').map(([name, , text]) => [name!.replaceAll('`', ''), text]);
  expect(rows).toEqual(Object.entries(errorRegistry).map(([name, { text }]) => [name, text]));
});

test('has an advice for every error, and none repeats a public text', () => {
  const texts = Object.values(errorRegistry).map(({ text }) => text);
  for (const [name, { advice }] of Object.entries(errorRegistry)) {
    expect(advice, name).toMatch(/^[A-Z0-9].{10,}\.$/);
    expect(texts, name).not.toContain(advice);
  }
});

test('lists every table that a backup leaves out in docs/backup.md, with the reason', () => {
  expect(rowsOf('backup.md', 'left-out-tables')).toEqual(
    Object.entries(leftOutTables).map(([name, why]) => [`\`${name}\``, why]),
  );
});

test('lists every declared difference in docs/switch.md, with its operations and the test that shows it', () => {
  expect(rowsOf('switch.md', 'switch-differences')).toEqual(
    declaredDifferences.map(({ what, here, operationIds, test: shown }) => [
      ...[what, here, operationIds.map((id) => `\`${id}\``).join(', ')],
      `[${shown.name}](../${shown.file})`,
    ]),
  );
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keptTables } from '../../../src/domain/operations/retention.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'retention.md'), 'utf8');

test('has a row on the page for each group of tables, with the text of the list', () => {
  const [, section] = page.split('<!-- generated: retention -->') as [string, string];
  const lines = section.slice(0, section.indexOf('<!-- end -->')).split('\n');
  const rows = lines.filter((line) => line.startsWith('| ')).slice(2);
  const read = rows.map((row) => {
    const [what, tables, grows, kept, removed] = row.slice(2, -2).split(' | ') as [
      string,
      string,
      string,
      string,
      string,
    ];
    // What a setting says stands with the settings.
    const [, setting] = /^`(CARILLON_\w+)`: [\d,]+ \w+; at least [\d,]+$/.exec(kept) ?? [];
    const until = /^until (.*)$/.exec(kept)?.[1];
    return {
      ...{ what, tables: tables.split(', ').map((name) => name.slice(1, -1)), grows },
      ...{ kept: setting === undefined ? { until } : { setting }, removed },
    };
  });
  expect(read).toEqual(keptTables);
});

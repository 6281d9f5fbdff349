import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRepositoryFiles } from './repository-files.ts';

const root = join(import.meta.dirname, '..', '..');

type Row = { number: number; proof: string; named: { file: string; name: string }[] };

async function readRows(): Promise<Row[]> {
  const page = await readFile(join(root, 'docs', 'reliability.md'), 'utf8');
  return [...page.matchAll(/^\| (\d+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(([, number, , proof]) => ({
    number: Number(number),
    proof: proof!,
    named: [...proof!.matchAll(/`([^`]+)` › `([^`]+)`/g)].map(([, file, name]) => ({ file: file!, name: name! })),
  }));
}

/** Whether a file has the title of a test, or of a row of its table. A title that depends on the machine goes on. */
function hasTitle(text: string, name: string): boolean {
  return [`'${name}'`, `"${name}"`, `\`${name}\``, `\`${name}\${`].some((title) => text.includes(title));
}

test('docs/reliability.md has each of the 56 checks once, with tests that exist or the reason why there is none', async () => {
  const rows = await readRows();
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 56 }, (_, index) => index + 1));
  const wrong: string[] = [];
  for (const { number, proof, named } of rows) {
    if (named.length === 0 && !/^Not proven: \S.{20}/.test(proof)) wrong.push(`${number}: neither a test nor a reason`);
    for (const { file, name } of named) {
      const text = await readFile(join(root, file), 'utf8').catch(() => '');
      if (!hasTitle(text, name)) wrong.push(`${number}: ${file} has no test "${name}"`);
    }
  }
  expect(wrong).toEqual([]);
});

test('a test that cites a check of the list is named in its row', async () => {
  const rows = await readRows();
  const missing: string[] = [];
  for (const { path, text } of readRepositoryFiles(['.test.ts'])) {
    for (const [, name, number] of text.matchAll(/['"`]([^'"`\n]*\(fault 3\.12 check (\d+)\)[^'"`\n]*)['"`]/g)) {
      const row = rows.find((each) => each.number === Number(number));
      if (!row?.named.some((each) => each.file === path && each.name === name))
        missing.push(`${number}: ${path}: ${name}`);
    }
  }
  expect(missing).toEqual([]);
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reliabilityPromises } from '../../scripts/reliability-promises.ts';
import { readRepositoryFiles } from './repository-files.ts';
import { drawRounds } from './torture/rounds.ts';
import type { TortureRecord } from './torture/rounds.ts';
import { scenarios } from './torture/scenarios.ts';

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

test('each promise of reliability R1 to R15 is held by tests, scenarios and commands that exist, or says that it is not proven', async () => {
  expect(reliabilityPromises.map(({ id }) => id)).toEqual(
    Array.from({ length: 15 }, (_, index) => `reliability R${index + 1}`),
  );
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const wrong: string[] = [];
  for (const promise of reliabilityPromises) {
    const { id, tests, commands, open } = promise;
    for (const { file, test } of tests) {
      const text = await readFile(join(root, file), 'utf8').catch(() => '');
      if (!hasTitle(text, test)) wrong.push(`${id}: ${file} has no test "${test}"`);
    }
    for (const name of promise.scenarios) if (!(name in scenarios)) wrong.push(`${id}: no scenario ${name}`);
    for (const name of commands) if (!(name in scripts)) wrong.push(`${id}: no command ${name}`);
    const isHeld = tests.length + promise.scenarios.length + commands.length > 0;
    if (!isHeld && !/^Not proven: \S.{20}/.test(open ?? '')) wrong.push(`${id}: neither a proof nor a reason`);
  }
  expect(wrong).toEqual([]);
});

test('every scenario that holds a promise has its numbers in the record that the page is written from', async () => {
  const record = JSON.parse(await readFile(join(root, 'docs', 'reports', 'torture.json'), 'utf8')) as TortureRecord;
  const named = reliabilityPromises.flatMap((promise) => promise.scenarios);
  const unmeasured = named.filter((name) => !(name in record.rounds) && !(name in record.whole));
  expect(unmeasured).toEqual([]);
  expect(record.broken).toEqual([]);
});

test('a seed draws the same rounds again, as many of each scenario as its share, and none of those without', () => {
  const drawing = { seed: 7, rounds: 300, shares: { often: 2, never: 0, seldom: 1 } };
  const drawn = drawRounds(drawing);
  expect(drawRounds(drawing)).toEqual(drawn);
  expect(drawRounds({ ...drawing, seed: 8 })).not.toEqual(drawn);
  const often = drawn.filter(({ scenario }) => scenario === 'often').length;
  expect(drawn).toHaveLength(300);
  expect(often).toBeGreaterThan(150);
  expect(often + drawn.filter(({ scenario }) => scenario === 'seldom').length).toBe(300);
  expect(new Set(drawn.map(({ seed }) => seed)).size).toBe(300);
});

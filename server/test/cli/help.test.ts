import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Command } from 'commander';
import { examplesOf, leavesOf } from '../../src/cli/examples.ts';
import { makeProgram } from '../../src/cli/run-command-line.ts';

let program: Command;
let leaves: { path: string; command: Command }[];
beforeAll(async () => {
  program = await makeProgram([]);
  leaves = leavesOf(program);
});

/** As a shell splits them: by spaces, outside of quotes. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, plain]) => (single ?? double ?? plain)!);

test('the help of every command ends with examples, each of which the command line takes', () => {
  expect(leaves.length).toBeGreaterThan(35);
  for (const { path, command } of leaves) {
    const lines = examplesOf(path);
    expect(lines.length, path).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line.startsWith(path), line).toBe(true);
      const { operands, unknown } = command.parseOptions(
        wordsOf(line.replace(/ > \S+$/, '')).slice(path.split(' ').length),
      );
      expect(
        unknown.filter((word) => word !== '--data-dir' && !word.startsWith('./')),
        line,
      ).toEqual([]);
      const { registeredArguments } = command;
      expect(operands.filter((word) => !word.startsWith('./')).length, line).toBe(
        registeredArguments.filter(({ required }) => required).length,
      );
      for (const option of command.options.filter(({ mandatory }) => mandatory)) expect(line).toContain(option.long);
    }
  }
});

test('every command that tells something has --json', () => {
  const telling = /(^| )(list|show|search|status|print|check|doctor|explain|send|watch|clock|suspected)$/;
  const told = leaves.filter(({ path }) => telling.test(path));
  expect(told.length).toBeGreaterThan(20);
  for (const { path, command } of told)
    expect(
      command.options.map(({ long }) => long),
      path,
    ).toContain('--json');
});

test('the table of docs/operations.md has every command, and no other', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
  const table = page.slice(page.indexOf('## Command line'), page.indexOf('## Exit codes'));
  const short = new Set(leaves.map(({ path }) => path.split(' ').slice(0, 2).join(' ')));
  const told = [...table.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell]) => {
    const codes = [...cell!.matchAll(/`([^`]+)`/g)].map(([, code]) =>
      code!.split(' ').filter((word) => /^[a-z][a-z-]*$/.test(word)),
    );
    const [family] = codes[0]!;
    // `campaigns pause <id>`, `resume <id>`: what does not begin with the family goes on with it.
    return codes
      .map((words, index) => (index === 0 || words[0] === family ? words : [family, ...words]).slice(0, 2))
      .map((words) => (short.has(words.join(' ')) ? words.join(' ') : words[0]!));
  });
  expect([...new Set(told)].sort()).toEqual([...short].sort());
});

test('the version, an unknown word and the help of one family load no other family', async () => {
  expect((await makeProgram(['--version'])).commands).toEqual([]);
  const loaded = async (...words: string[]) =>
    (await makeProgram(words)).commands.filter((family) => family.description() !== '').map((family) => family.name());
  expect(await loaded('campagns', 'list')).toEqual([]);
  expect((await makeProgram(['campagns', 'list'])).commands.map((family) => family.name())).toContain('campaigns');
  expect(await loaded('help', 'keys')).toEqual(['keys']);
  expect(await loaded('--data-dir', 'keys', 'config', 'print')).toEqual(['config']);
  expect((await loaded('--help')).length).toBeGreaterThan(15);
});

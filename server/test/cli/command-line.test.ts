import { readFileSync } from 'node:fs';
import { access, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examplesOf, leavesOf } from '../../src/cli/examples.ts';
import { makeProgram } from '../../src/cli/run-command-line.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand, runProcess } from './run-command.ts';

describe('files of commands', () => {
  let bundle: CarillonBundle;
  let folder: string;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    folder = await mkdtemp(join(tmpdir(), 'carillon-files-'));
  });
  afterAll(async () => {
    await bundle?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('an export of nothing to a place that cannot be written is refused, and waits for nobody', async () => {
    const out = join(folder, 'nowhere', 'events.jsonl');
    const { code, stdout, stderr } = await runProcess(bundle, ['export', 'events', '--out', out]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`carillon: The file ${out} cannot be used: ENOENT`);
  });

  const ofSegment = ['--attribute', 'age', '--type', 'string', '--expiry-days', '30'];

  test.each([
    ['a file to import', (path: string) => ['import', path]],
    ['a file of campaigns', (path: string) => ['import', 'campaigns', path]],
    ['a key', (path: string) => ['credentials', 'set', 'fcm', '--file', path]],
    ['lines of a segment', (path: string) => ['segments', 'create', '--name', 'None', ...ofSegment, '--file', path]],
    ['an export', (path: string) => ['export', 'users', '--out', join(path, 'users.jsonl')]],
  ])('%s that cannot be read or written is named, with the code of what was typed', async (_what, wordsOf) => {
    const path = join(folder, 'missing');
    const { code, stderr } = await runCommand(bundle, wordsOf(path));
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^carillon: The file .*missing.* cannot be used: ENOENT/),
    ]);
  });

  test('an export over a file that others could read leaves it to this account alone', async () => {
    const out = join(folder, 'users.jsonl');
    await writeFile(out, 'of before', { mode: 0o644 });
    expect(await runCommand(bundle, ['export', 'users', '--out', out])).toMatchObject({ code: 0, stderr: '' });
    expect((await stat(out)).mode & 0o777).toBe(0o600);
    expect(await readFile(out, 'utf8')).not.toContain('of before');
  });

  test.each([
    ['users to import', (path: string) => ['import', path]],
    ['campaigns to import', (path: string) => ['import', 'campaigns', path]],
    ['a key', (path: string) => ['credentials', 'set', 'fcm', '--file', path]],
    [
      'lines of a segment',
      (path: string) => ['segments', 'create', '--name', 'Of a folder', ...ofSegment, '--file', path],
    ],
  ])('a folder in the place of %s is named as one, with the code of what was typed', async (_what, wordsOf) => {
    expect(await runCommand(bundle, wordsOf(folder))).toEqual({
      ...{ code: 2, stdout: '' },
      stderr: `carillon: The file ${folder} cannot be used: it is a folder.\n`,
    });
  });

  test('a folder in the place of a recording is named as one', async () => {
    const { code, stderr } = await runCommand(bundle, ['check', bundle.url, '--recording', folder]);
    expect([code, stderr]).toEqual([2, `carillon: ${folder} is a folder.\n`]);
  });

  test('a master key that cannot be written to its file is refused before the backup is made', async () => {
    const out = join(folder, 'backup');
    const taken = join(folder, 'taken.key');
    await writeFile(taken, 'of another');
    const missing = join(folder, 'missing');
    expect(await runCommand(bundle, ['backup', '--out', out, '--key-out', taken])).toEqual({
      ...{ code: 2, stdout: '' },
      stderr: `carillon: The file ${taken} is there already; name one that is to be made.\n`,
    });
    const { code, stderr } = await runCommand(bundle, ['backup', '--out', out, '--key-out', join(missing, 'a.key')]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(`^carillon: The file ${missing} cannot be used: ENOENT`)]);
    await expect(access(out)).rejects.toThrow('ENOENT');
    expect(await readFile(taken, 'utf8')).toBe('of another');
  });

  describe('an import of which nothing could be loaded ends with 2', () => {
    async function importText(name: string, text: string, ...words: string[]) {
      const path = join(folder, name);
      await writeFile(path, text);
      return runCommand(bundle, ['import', path, ...words]);
    }

    test.each([
      ['users', 'id,city\n1,Lisbon\n', 'has no column customer_id; found id, city. Nothing was loaded.'],
      [
        'devices',
        '\ufeffcustomer_id,token\nada,t\n',
        'has no columns device_id, platform, push_id; found customer_id, token.',
      ],
      [
        'events',
        'customer_id,action,at:number\nada,seen,1\n',
        'has no column user_time; found customer_id, action, at.',
      ],
      ['users', '4711;ada@example.com\n', 'has no column customer_id; found 4711;ada@example.com.'],
    ])(
      '%s without a column that each row needs: the columns are named, and no file of rejected lines is made',
      async (kind, text, told) => {
        const { code, stdout, stderr } = await importText('columns.csv', text, '--kind', kind);
        expect([code, stdout]).toEqual([2, '']);
        expect(stderr).toContain(`columns.csv ${told}`);
        await expect(access(join(folder, 'columns.csv.rejects.ndjson'))).rejects.toThrow();
      },
    );

    test('every line was rejected: the first reason, and where the others are', async () => {
      const { code, stdout, stderr } = await importText(
        'rejected.ndjson',
        '{"customer_id": 7.5}\n{"id": "x"}\nno JSON\n',
      );
      expect(code).toBe(2);
      expect(JSON.parse(stdout)).toMatchObject({ lines: 3, users: 0, rejected: 3 });
      expect(stderr).toMatch(
        /^carillon: Every line was rejected; line 1: 'customer_id' .*rejected\.ndjson\.rejects\.ndjson has the reasons\.\n$/,
      );
    });

    test('every campaign was rejected', async () => {
      const path = join(folder, 'campaigns.ndjson');
      await writeFile(path, '{"status": "SENT"}\n');
      const { code, stderr } = await runCommand(bundle, ['import', 'campaigns', path]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('Every line was rejected; line 1: ')]);
    });

    test('one line is loaded of many that are rejected: it ends with 0, as does an empty file', async () => {
      const one = await importText('one.ndjson', '{"customer_id": "one-of-many"}\nno JSON\n');
      expect([one.code, JSON.parse(one.stdout)]).toMatchObject([0, { users: 1, rejected: 1 }]);
      expect((await importText('empty.csv', '')).code).toBe(0);
      expect((await importText('header.csv', 'customer_id,city\n')).code).toBe(0);
    });
  });
});

describe('the help', () => {
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
      (await makeProgram(words)).commands
        .filter((family) => family.description() !== '')
        .map((family) => family.name());
    expect(await loaded('campagns', 'list')).toEqual([]);
    expect((await makeProgram(['campagns', 'list'])).commands.map((family) => family.name())).toContain('campaigns');
    expect(await loaded('help', 'keys')).toEqual(['keys']);
    expect(await loaded('--data-dir', 'keys', 'config', 'print')).toEqual(['config']);
    expect((await loaded('--help')).length).toBeGreaterThan(15);
  });
});

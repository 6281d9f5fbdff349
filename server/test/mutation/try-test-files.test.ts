import { describe, expect, test } from 'vitest';
import type { Finding } from './assignment.ts';
import { tryTestFiles } from './try-test-files.ts';
import type { Ended } from './try-test-files.ts';

type Asked = { file: string; decided: string[] };

const of = (file: string, mutants: string[]): Finding[] => [
  { kind: 'test', id: `${file}#fact`, name: 'fact', ms: 1 },
  { kind: 'covered', id: `${file}#fact`, mutants: Object.fromEntries(mutants.map((mutant) => [mutant, 1])) },
];
const killed = (file: string, mutant: string): Finding => ({
  kind: 'killed',
  id: `${file}#fact`,
  mutant,
  failure: 'no',
});
const done = (file: string, spentMs: Record<string, number> = {}): Finding => ({
  ...{ kind: 'file', path: file, loaded: {}, spentMs },
});
const trying = (file: string, mutant?: string): Finding => ({
  kind: 'trying',
  id: `${file}#fact`,
  ...(mutant === undefined ? {} : { mutant }),
});

/** Plays processes of tests: what each ends with, in the order in which a file asks for them. */
async function play(script: Record<string, Partial<Ended>[]>): Promise<
  Awaited<ReturnType<typeof tryTestFiles>> & {
    asked: Asked[];
  }
> {
  const asked: Asked[] = [];
  const found = await tryTestFiles({
    files: Object.keys(script),
    processes: 1,
    run(_name, assignment) {
      asked.push(assignment);
      const ended = script[assignment.file]!.shift();
      if (ended === undefined) throw new Error(`${assignment.file} was tried once too often`);
      return Promise.resolve({ findings: [], ...ended });
    },
  });
  return { ...found, asked };
}

describe('the first run of a mutation test', () => {
  test('each test file has a process of its own, and is spared the mutants that others found', async () => {
    const { asked, killed: table } = await play({
      a: [{ findings: [...of('a', ['1', '2']), killed('a', '2'), done('a')] }],
      b: [{ findings: [...of('b', ['1', '2']), done('b')] }],
    });
    expect(asked).toEqual([
      { file: 'a', decided: [] },
      { file: 'b', decided: ['2'] },
    ]);
    expect(table).toEqual({ '2': { by: 'a#fact', failure: 'no' } });
  });

  test('a mutant that was tried for seconds in vain is left by the files that come later, and is not found', async () => {
    const { asked, killed: table } = await play({
      a: [{ findings: [...of('a', ['1', '2']), done('a', { 1: 4_000, 2: 10 })] }],
      b: [{ findings: [...of('b', ['1', '2']), done('b', { 1: 2_000, 2: 10 })] }],
      c: [{ findings: [...of('c', ['1', '2']), done('c')] }],
    });
    expect(asked.map(({ decided }) => decided)).toEqual([[], [], ['1']]);
    expect(table).toEqual({});
  });

  test('a mutant in force when the process was ended for its size is left, not found, and the file goes on', async () => {
    const { asked, timedOut, remarks } = await play({
      a: [
        { findings: [...of('a', ['1']), trying('a', '1')], stop: 'too large' },
        { findings: [...of('a', ['1']), done('a')] },
      ],
    });
    expect(asked.map(({ decided }) => decided)).toEqual([[], ['1']]);
    expect(timedOut).toEqual([]);
    expect(remarks).toEqual(['too large: a: when mutant 1 was tried, which is left']);
  });

  test('a file that ends early is tried once more, and takes no other along', async () => {
    const { asked, tests, remarks } = await play({
      a: [{ findings: of('a', ['1']) }, { findings: [...of('a', ['1']), done('a')] }],
      b: [{ findings: [...of('b', ['2']), done('b')] }],
    });
    expect(asked.map(({ file }) => file)).toEqual(['a', 'a', 'b']);
    expect(tests.map(({ id }) => id)).toEqual(['a#fact', 'b#fact']);
    expect(remarks).toEqual([]);
  });

  test('a file that ends early twice is named with the reason, and the next one is tried', async () => {
    const cannot: Finding = { kind: 'error', failure: 'Cannot find module' };
    const { remarks, coverage } = await play({
      a: [{ findings: [cannot] }, { findings: [cannot] }],
      b: [{}, { stop: 'stalled' }],
      c: [{}, {}],
      d: [{ findings: [...of('d', ['3']), done('d')] }],
    });
    expect(remarks).toEqual([
      'ended early: a: Cannot find module',
      'ended early: b: nothing happened any more',
      'ended early: c: its process ended',
    ]);
    expect(coverage.perTest).toEqual({ 'd#fact': { '3': 1 } });
  });

  test('a mutant that ends its process or never ends is found, and the file goes on without it', async () => {
    const { asked, timedOut, remarks } = await play({
      a: [
        { findings: [...of('a', ['1', '2']), trying('a'), trying('a', '2')] },
        { findings: [...of('a', ['1', '2']), trying('a'), trying('a', '1')], stop: 'stalled' },
        { findings: [...of('a', ['1', '2']), done('a')] },
      ],
    });
    expect(timedOut).toEqual(['2', '1']);
    expect(asked.map(({ decided }) => decided)).toEqual([[], ['2'], ['2', '1']]);
    expect(remarks).toEqual([]);
  });

  test('a process that ends when the mutants have been tried says nothing of the last one', async () => {
    const { timedOut } = await play({
      a: [
        { findings: [...of('a', ['1']), trying('a', '1'), trying('a')] },
        { findings: [...of('a', ['1']), done('a')] },
      ],
    });
    expect(timedOut).toEqual([]);
  });
});

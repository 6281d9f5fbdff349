import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stateMachines } from '../../src/domain/state-machines.ts';
import type { StateMachine } from '../../src/domain/state-machines.ts';
import { readSchema } from '../dump-schema.ts';
import { outcomeLetters } from '../../src/storage/ledger/ledger-encoding.ts';

const server = join(import.meta.dirname, '..', '..');
const schema = await readSchema();

/** The words that the table takes in the column. */
function wordsOf({ table, column }: StateMachine): string[] {
  const [definition] = new RegExp(`^create table ${table} \\([^]*?^\\)`, 'im').exec(schema) ?? [''];
  const [, list] = new RegExp(
    `constraint ${table}_${column}_check CHECK \\(\\(${column} = ANY \\(ARRAY\\[(.*?)\\]`,
  ).exec(definition)!;
  const words = [...list!.matchAll(/'([A-Z_]+)'/g)].map(([, word]) => word!);
  if (table !== 'deliveries') return words;
  return Object.entries(outcomeLetters).flatMap(([word, letter]) => (words.includes(letter) ? [word] : []));
}

const statesOf = ({ begins, changes, reserved = [] }: StateMachine): string[] => [
  ...begins.map(({ state }) => state),
  ...changes.flatMap(({ from, to }) => [from, to]),
  ...reserved,
];

test('has every state in its table, and every word of a table as a state', () => {
  const tables = Map.groupBy(stateMachines, ({ table }) => table);
  expect(tables.size).toBe(17);
  for (const [table, machines] of tables)
    expect([...new Set(machines.flatMap(statesOf))].sort(), table).toEqual(wordsOf(machines[0]!).sort());
});

test('describes every table whose rows have a state', () => {
  const constrained = [...schema.matchAll(/constraint (\w+)_(?:state|status|outcome)_check CHECK/g)];
  const described = new Set(stateMachines.map(({ table }) => table));
  const others = new Set(constrained.map(([, table]) => table!).filter((table) => !described.has(table)));
  // Counters by outcome, and what a device was before it was blocked.
  expect([...others].sort()).toEqual(['devices_blocked', 'run_counts', 'run_failures']);
});

test('names every statement that changes a state, and only those', async () => {
  const written = await listWriters();
  for (const [table, machines] of Map.groupBy(stateMachines, (machine) => machine.table)) {
    const named = machines.flatMap(({ changes }) => changes.map(({ statement }) => statement));
    expect([...(written.get(table) ?? [])].sort(), table).toEqual([...new Set(named)].sort());
  }
});

test('reaches every state', () => {
  for (const machine of stateMachines) {
    const reached = new Set(machine.begins.map(({ state }) => state));
    for (let size = 0; size < reached.size;) {
      size = reached.size;
      for (const { from, to } of machine.changes) if (reached.has(from)) reached.add(to);
    }
    expect([...reached].sort(), machine.name).toEqual([...new Set(statesOf({ ...machine, reserved: [] }))].sort());
  }
});

/** By table: the functions of storage with a statement that sets its column. */
async function listWriters(): Promise<Map<string, Set<string>>> {
  const columns = new Map(stateMachines.map(({ table, column }) => [table, column]));
  const written = new Map<string, Set<string>>();
  const files = await readdir(join(server, 'src', 'storage'), { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const text = await readFile(join(server, 'src', 'storage', file), 'utf8');
    // A declaration at the left margin, up to the next.
    for (const [, name, body] of text.matchAll(
      /^(?:export )?(?:async )?(?:function\*?|const) (\w+)([^]*?)(?=^(?:export |async |function|const |type |\/\*\*)|$(?![^]))/gm,
    )) {
      for (const [, target, set] of body!.matchAll(
        /\bupdate (\w+|\$\{table[^}]*\}(?:, [^}]*\})?)(?: as \w+)?\s+set ([^]*?)(?=\b(?:from|where|returning)\b|`)/g,
      ))
        for (const table of target!.startsWith('$') ? ['callbacks', 'mails'] : [target!]) note(table, set!, name!);
      // What is known already is changed by its insert.
      for (const [, set] of body!.matchAll(/\bdo update\s+set ([^]*?)(?=\breturning\b|`)/g)) {
        const [, table = file.split('/').at(-1)!.replace('.ts', '')] = /insert into (\w+)/.exec(body!) ?? [];
        note(table, set!, name!);
      }
    }
  }
  return written;

  function note(table: string, set: string, name: string): void {
    const column = columns.get(table);
    const isSet = column !== undefined && (new RegExp(`\\b${column} = `).test(set) || set.startsWith('${tx(row)}'));
    if (isSet) written.set(table, (written.get(table) ?? new Set()).add(name));
  }
}

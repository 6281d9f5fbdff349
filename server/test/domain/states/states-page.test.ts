import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stateMachines } from '../../../src/domain/state-machines.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'states.md'), 'utf8');

/** By whose states they are: the arrows of each diagram with their causes. */
function readDiagrams(): Record<string, Record<string, string>> {
  const diagrams = [...page.matchAll(/accTitle: The states of (.*)\n([^]*?)```/g)];
  return Object.fromEntries(
    diagrams.map(([, name, lines]) => [
      name!,
      Object.fromEntries([...lines!.matchAll(/^ +(.*) : (.*)$/gm)].map(([, arrow, causes]) => [arrow!, causes!])),
    ]),
  );
}

test('shows the state machines as the diagrams of the page, in their order', () => {
  const diagrams = readDiagrams();
  expect(Object.keys(diagrams)).toEqual(stateMachines.map(({ name }) => name));
  for (const { name, begins, changes, ends = [] } of stateMachines) {
    const causes: Record<string, Set<string>> = {};
    const add = (arrow: string, by: string) => (causes[arrow] ??= new Set()).add(by);
    for (const { state, by } of begins) add(`[*] --> ${state}`, by);
    for (const { from, to, by } of changes) add(`${from} --> ${to}`, by);
    for (const { state, by } of ends) add(`${state} --> [*]`, by);
    const arrows = Object.fromEntries(
      Object.entries(causes).map(([arrow, words]) => [arrow, [...words].join(', or ')]),
    );
    expect(diagrams[name], name).toEqual(arrows);
  }
});

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { MutantResult } from './stryker-shapes.ts';

const found = new Set(['Killed', 'Timeout']);
const lost = new Set(['Survived', 'NoCoverage']);

/** Says the score per folder and file, and each mutant that no test found, with the line it stands in. */
export function sayMutants(
  results: MutantResult[],
  { say, testFiles }: { say(line: string): void; testFiles: number },
): void {
  const mutants = results.map((mutant) => ({ ...mutant, fileName: relative(process.cwd(), mutant.fileName) }));
  const files = groupBy(mutants, ({ fileName }) => fileName);
  const folders = groupBy(mutants, ({ fileName }) => fileName.slice(0, fileName.lastIndexOf('/')));
  say(`${files.size} files mutated, ${testFiles} test files tried on them; nothing is said here of any other file`);
  say(
    '"not run": none of these tests comes there. "at loading": runs while a file is loaded; not tried, and not in the score',
  );
  say(`\nscore    found  survived  not run  at loading  ${'folder'}`);
  say(lineOf('all', mutants));
  for (const [name, own] of [...folders].sort()) say(lineOf(name, own));
  say(`\nscore    found  survived  not run  at loading  file`);
  for (const [name, own] of [...files].sort()) say(lineOf(name, own));
  say('\nSurvivors: a test ran into each, and none failed');
  for (const [name, own] of [...files].sort()) {
    const left = own
      .filter(({ status }) => status === 'Survived')
      .sort((one, other) => one.location.start.line - other.location.start.line);
    if (left.length === 0) continue;
    const lines = readFileSync(name, 'utf8').split('\n');
    say(`\n${name}`);
    for (const mutant of left) say(`  ${describe(mutant, lines)}`);
  }
}

function lineOf(name: string, mutants: MutantResult[]): string {
  const count = (statuses: Iterable<string>): number =>
    mutants.filter(({ status }) => [...statuses].includes(status)).length;
  const tried = count(found) + count(lost);
  const score = tried === 0 ? '    –' : `${((count(found) / tried) * 100).toFixed(1).padStart(5)}`;
  const numbers = [count(found), count(['Survived']), count(['NoCoverage']), count(['Ignored'])];
  return `${score} %${numbers.map((number) => String(number).padStart(9)).join('')}  ${name}`;
}

function describe({ location: { start, end }, replacement }: MutantResult, lines: string[]): string {
  const whole = lines.slice(start.line - 1, end.line);
  const last = whole.length - 1;
  whole[last] = whole[last]!.slice(0, end.column - 1);
  const original = whole.join('\n').slice(start.column - 1);
  return `${start.line}:${start.column} ${short(original)}  →  ${short(replacement ?? '')}`;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line === '' ? 'nothing' : line.length > 70 ? `${line.slice(0, 40)} … ${line.slice(-25)}` : line;
}

function groupBy<T>(items: T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

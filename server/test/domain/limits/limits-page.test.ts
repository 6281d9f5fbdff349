import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentedLimits } from '../../../src/domain/limits/texts/documented-limits.ts';
import type { DocumentedLimit } from '../../../src/domain/limits/texts/documented-limits.ts';

/** What a row of docs/limits.md says. */
type Row = Pick<DocumentedLimit, 'id' | 'what' | 'per' | 'whenReached' | 'source' | 'setting'> & { limit: string };

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'limits.md'), 'utf8');

function readRows(): Row[] {
  return page.split(/^## /m).flatMap((section) => {
    const noun = section.slice(0, section.indexOf('\n'));
    const lines = section.split('\n').filter((line) => line.startsWith('| ') && line.endsWith('` |'));
    return lines.map((line): Row => {
      const cells = line.slice(2, -2).split(' | ');
      const [what, limit, per, whenReached, source, constant] = cells as [
        string,
        string,
        string,
        string,
        string,
        string,
      ];
      const [, amount, setting] = /^(.*?)(?:, `(CARILLON_\w+)`)?$/.exec(limit)!;
      return {
        id: `${noun}.${bare(constant)}`,
        what,
        limit: amount!,
        ...{ per, whenReached: bare(whenReached), source, setting },
      } as Row;
    });
  });
}

const bare = (cell: string): string => cell.replace(/^`([^`]*)`$/, '$1');
const rows = readRows();

/** Units that a reader finds in place of a constant's own, with how many of its own they are. */
const larger: Record<string, Record<string, number>> = {
  bytes: { KiB: 1_024, MiB: 1_048_576 },
  seconds: { minute: 60, hour: 3_600, day: 86_400 },
  minutes: { hour: 60 },
};

/** Reads `15 minutes` back as 900 seconds. */
function readAmount(text: string, unit: string): number {
  const [, digits, named] = /^([\d,]+) (.+)$/.exec(text)!;
  const amount = Number(digits!.replaceAll(',', ''));
  if (named === (amount === 1 ? unit.replace(/s$/, '') : unit)) return amount;
  const size = larger[unit]?.[named!] ?? larger[unit]?.[named!.replace(/s$/, '')];
  if (size === undefined) throw new Error(`${text} is no amount of ${unit}`);
  return amount * size;
}

/** Reads what a limit says back as the value of its constant, by the form of the constant. */
function readValue(text: string, { value, unit }: { value: unknown; unit: string }): unknown {
  if (typeof value === 'number') return readAmount(text, unit);
  if (Array.isArray(value)) return text.split(', ').map((part) => readValue(part, { value: value[0], unit }));
  const form = value as Record<string, unknown>;
  if ('seconds' in form) {
    const [count, span] = text.split(' in ') as [string, string];
    return { ['events' in form ? 'events' : 'reports']: readAmount(count, unit), seconds: readAmount(span, 'seconds') };
  }
  const members = text.split('; ').map((member) => /^`(.+?)`: (.+)$/.exec(member)!);
  return Object.fromEntries(members.map(([, name, own]) => [name, readValue(own!, { value: form[name!], unit })]));
}

test('the page has a row for each limit, and each row is a limit', () => {
  expect(rows.map(({ id }) => id).sort()).toEqual(documentedLimits.map(({ id }) => id).sort());
});

test('a limit is described by its row', () => {
  const described = new Map(documentedLimits.map((limit) => [limit.id, limit]));
  for (const { limit: _limit, ...row } of rows) {
    const { what, per, whenReached, source, setting } = described.get(row.id)!;
    expect({ id: row.id, what, per, whenReached, source, setting }).toEqual(row);
  }
});

test('an amount of the page, read back in the unit of its constant, is the constant', () => {
  const amounts = new Map(rows.map(({ id, limit }) => [id, limit]));
  for (const limit of documentedLimits) expect(readValue(amounts.get(limit.id)!, limit), limit.id).toEqual(limit.value);
});

test('a limit belongs to the noun in whose folder its constant stands', () => {
  for (const { id, noun } of documentedLimits) expect(id.slice(0, id.indexOf('.'))).toBe(noun);
});

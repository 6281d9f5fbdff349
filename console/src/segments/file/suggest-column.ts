import type { KnownAttribute } from '../../api/generated/segment-answers.ts';
import type { TableHead } from './table-file.ts';

export type Suggested = { attribute: string; type: 'string' | 'double' };

/** Attributes that identify a user. Customer id, email and mobile number have special names. */
export const identifiers: Record<string, string> = { uid: 'User id', u_em: 'Email', u_mb: 'Mobile number' };

const byName: [RegExp, string][] = [
  [new RegExp(['e-mail', 'email', '^mail$'].join('|'), 'i'), 'u_em'],
  [/mobile|phone|tel(?:ephone)?\b/i, 'u_mb'],
  [/^(?:(?:customer|user|client|member|subscriber)[\s_-]*)?(?:id|uid|number|no)$/i, 'uid'],
];
const minShare = 0.8;

type Known = { known: readonly KnownAttribute[]; attribute: string | undefined };

/**
 * Guesses the column and attribute of a new file, by the segment's attribute or by the first column that matches any.
 */
export function suggestColumn({ rows, columns }: Pick<TableHead, 'rows' | 'columns'>, { known, attribute }: Known) {
  const withHeader = hasHeader(rows, known);
  const below = rows.slice(withHeader ? 1 : 0, 101);
  const suggestions = Array.from({ length: columns }, (_, index) =>
    suggestAttribute(
      { name: withHeader ? rows[0]?.[index] : undefined, values: below.map((row) => row[index] ?? '') },
      known,
    ),
  );
  const best = suggestions.findIndex((one) =>
    attribute === undefined ? one !== undefined : one?.attribute === attribute,
  );
  return { index: Math.max(best, 0), hasHeader: withHeader, suggestions };
}

/** Returns true if the first row contains names: it differs from the rows below, or it contains a known name. */
export function hasHeader([first, ...others]: readonly string[][], known: readonly KnownAttribute[]): boolean {
  if (first === undefined) return false;
  const below = others.slice(0, 100);
  if (first.some((cell) => looksLikeValue(cell))) return false;
  if (first.some((cell) => nameOf(cell, known) !== undefined)) return true;
  return first.some((_cell, column) => shareOf(below, { column, test: looksLikeValue }) >= minShare);
}

/** Guesses the attribute of a column by its name or its values; undefined if neither matches. */
export function suggestAttribute(
  column: { name: string | undefined; values: readonly string[] },
  known: readonly KnownAttribute[],
): Suggested | undefined {
  const named = column.name === undefined ? undefined : nameOf(column.name, known);
  if (named !== undefined) return { attribute: named, type: typeOf(named, known) };
  const values = column.values.filter((value) => value.trim() !== '');
  const isEmail = (value: string) => /^\S+@\S+\.\S+$/.test(value.trim());
  if (values.length > 0 && values.filter(isEmail).length / values.length >= minShare)
    return { attribute: 'u_em', type: 'string' };
  return undefined;
}

export function typeOf(attribute: string, known: readonly KnownAttribute[]): 'string' | 'double' {
  return known.find(({ name }) => name === attribute)?.type === 'double' ? 'double' : 'string';
}

function nameOf(cell: string, known: readonly KnownAttribute[]): string | undefined {
  const word = cell.trim();
  if (word === '') return undefined;
  const own = known.find(({ name }) => name.toLowerCase() === word.toLowerCase());
  return own?.name ?? byName.find(([pattern]) => pattern.test(word))?.[1];
}

/** An address, a number or a date is not a column name. */
function looksLikeValue(cell: string): boolean {
  const text = cell.trim();
  return /^\S+@\S+\.\S+$/.test(text) || /^[+-]?[\d\s().,/:-]*\d[\d\s().,/:-]*$/.test(text);
}

function shareOf(
  rows: readonly string[][],
  { column, test }: { column: number; test: (cell: string) => boolean },
): number {
  const cells = rows.map((row) => row[column] ?? '').filter((cell) => cell.trim() !== '');
  return cells.length === 0 ? 0 : cells.filter(test).length / cells.length;
}

import type { Queryable } from '../../storage/database.ts';
import { copyInto } from '../../storage/users/user-import.ts';
import type { CopiedTable } from '../../storage/users/user-import.ts';

export type Cell = string | number | null;

// Large enough to keep the connection busy, small enough to keep memory flat.
const pieceCharacters = 256 * 1024;

/** Streams rows into a table with `COPY`. */
export async function copyRows(tx: Queryable, table: CopiedTable, rows: () => Generator<Cell[]>): Promise<void> {
  await copyInto[table](tx).copyFrom(linesOf(rows()));
}

function* linesOf(rows: Generator<Cell[]>): Generator<string> {
  let piece = '';
  for (const row of rows) {
    piece += `${row.map(escape).join('\t')}\n`;
    if (piece.length < pieceCharacters) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** PostgreSQL's text of an array of texts. */
export function toArrayText(texts: string[]): string {
  return `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
}

const special = /[\\\t\n\r]/;

/** PostgreSQL's text format: backslash, tab and line ends are escaped, `\N` is null. */
function escape(cell: Cell): string {
  if (cell === null) return '\\N';
  if (typeof cell === 'number') return String(cell);
  return special.test(cell) ? cell.replace(/[\\\t\n\r]/g, (character) => escapes[character]!) : cell;
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

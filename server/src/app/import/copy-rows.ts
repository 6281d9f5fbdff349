import { once } from 'node:events';
import { copyInto } from '../../storage/users/user-import.ts';
import type { ImportSession, CopiedTable } from '../../storage/users/user-import.ts';

export type Cell = string | number | null;

// Large enough to keep the connection busy, small enough to keep memory flat.
const pieceCharacters = 256 * 1024;

/** Streams rows into a table with `COPY`. */
export async function copyRows(
  session: ImportSession,
  table: CopiedTable,
  rows: () => Generator<Cell[]>,
): Promise<void> {
  const stream = await copyInto[table](session);
  const finished = once(stream, 'finish');
  let piece = '';
  for (const row of rows()) {
    piece += `${row.map(escape).join('\t')}\n`;
    if (piece.length < pieceCharacters) continue;
    if (!stream.write(piece)) await once(stream, 'drain');
    piece = '';
  }
  stream.end(piece);
  await finished;
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

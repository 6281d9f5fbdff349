import type { FileLine } from './read-lines.ts';

/** The value of one row of a file, with the number of its last line; `value` is undefined for an empty row. */
export type FileRow = { line: number } & ({ value: unknown } | { reason: string });

/** Converts the cells of a CSV row, by column name, to the value that a JSON line would hold. */
export type FromCells = (cells: Record<string, unknown>) => unknown;

/** Parses one JSON object per line. */
export async function* readJsonRows(lines: AsyncIterable<FileLine>): AsyncGenerator<FileRow> {
  let line = 0;
  for await (const given of lines) {
    line += 1;
    if ('tooLong' in given) yield { line, reason: 'the line is longer than 128 KB' };
    else if (given.text.trim() === '') yield { line, value: undefined };
    else yield { line, ...parseJson(given.text) };
  }
}

function parseJson(text: string): { value: unknown } | { reason: string } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { reason: 'not JSON' };
  }
}

/** No row of the file could be loaded; the message says what is missing. */
export class ImportRefusedError extends Error {
  override readonly name = 'ImportRefusedError';
}

const maxRecord = 128 * 1024;

/**
 * Parses CSV as in RFC 4180: the first row names the columns, `name:type` where the cells are not texts. A quoted cell may hold
 * line ends, so a row may have several lines. An empty cell has no value.
 *
 * @throws ImportRefusedError if the first row lacks a required column
 */
export async function* readCsvRows(
  lines: AsyncIterable<FileLine>,
  { fromCells, requiredColumns }: CsvRules,
): AsyncGenerator<FileRow> {
  let columns: Column[] | undefined;
  let line = 0;
  let open = '';
  for await (const given of lines) {
    line += 1;
    if ('tooLong' in given) {
      open = '';
      yield { line, reason: 'the line is longer than 128 KB' };
      continue;
    }
    const text = open === '' ? given.text : `${open}\n${given.text}`;
    const cells = text.trim() === '' ? [] : parseCsvRecord(text);
    if (cells === undefined && text.length <= maxRecord) {
      open = text;
      continue;
    }
    open = '';
    if (cells === undefined) yield { line, reason: 'a quoted cell does not end within 128 KB' };
    else if (cells.length === 0) yield { line, value: undefined };
    else if (columns === undefined) {
      columns = cells.map(toColumn);
      requireColumns(columns, requiredColumns);
      yield { line, value: undefined };
    } else yield { line, ...toRow(columns, cells, fromCells) };
  }
  if (open !== '') yield { line, reason: 'a quoted cell does not end' };
}

/** Column rules of a kind of file. */
export type CsvRules = { fromCells: FromCells; requiredColumns: readonly string[] };

type Column = { name: string; type: string };

const maxNamed = 20;
const maxNameCharacters = 80;

function requireColumns(columns: Column[], required: readonly string[]): void {
  const names = columns.map(({ name }) => name);
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length === 0) return;
  const found = names.slice(0, maxNamed).map((name) => name.slice(0, maxNameCharacters));
  if (names.length > maxNamed) found.push('…');
  throw new ImportRefusedError(
    `no column${missing.length === 1 ? '' : 's'} ${missing.join(', ')}; found ${found.join(', ')}`,
  );
}

function toColumn(heading: string): Column {
  const match = /^(.*):(text|number|boolean|json)$/s.exec(heading.trim());
  return match ? { name: match[1]!, type: match[2]! } : { name: heading.trim(), type: 'text' };
}

function toRow(columns: Column[], cells: string[], fromCells: FromCells): { value: unknown } | { reason: string } {
  if (cells.length > columns.length) return { reason: `${cells.length} cells under ${columns.length} columns` };
  const row: Record<string, unknown> = {};
  for (const [index, { name, type }] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    const value = readCell(cell, type);
    if (value === undefined) return { reason: `'${name}' is not of type ${type}` };
    row[name] = value;
  }
  return { value: fromCells(row) };
}

function readCell(cell: string, type: string): unknown {
  switch (type) {
    case 'number': {
      const number = cell.trim() === '' ? Number.NaN : Number(cell);
      return Number.isFinite(number) ? number : undefined;
    }
    case 'boolean':
      return /^(true|false)$/i.test(cell) ? cell.toLowerCase() === 'true' : undefined;
    case 'json': {
      const parsed = parseJson(cell);
      return 'value' in parsed ? parsed.value : undefined;
    }
    default:
      // Removes the prefix that an export put before a cell that a spreadsheet would read as a formula.
      return /^'[=+\-@\t\r＝＋－＠]/.test(cell) ? cell.slice(1) : cell;
  }
}

const quote = 0x22;

/**
 * Splits one CSV record (RFC 4180) into cells at commas. Cells that hold commas, quotes or line ends are quoted, with `""` for
 * a quote.
 *
 * @returns undefined while a quoted cell has not ended
 */
export function parseCsvRecord(text: string): string[] | undefined {
  if (!text.includes('"')) return text.split(',');
  const cells: string[] = [];
  let index = 0;
  for (;;) {
    if (text.charCodeAt(index) === quote) {
      const end = endOfQuoted(text, index + 1);
      if (end === -1) return undefined;
      const stop = nextComma(text, end + 1);
      cells.push(text.slice(index + 1, end).replaceAll('""', '"') + text.slice(end + 1, stop));
      index = stop;
    } else {
      const stop = nextComma(text, index);
      cells.push(text.slice(index, stop));
      index = stop;
    }
    if (index >= text.length) return cells;
    index += 1;
    if (index === text.length) return [...cells, ''];
  }
}

function endOfQuoted(text: string, from: number): number {
  for (let index = text.indexOf('"', from); index !== -1; index = text.indexOf('"', index + 2))
    if (text.charCodeAt(index + 1) !== quote) return index;
  return -1;
}

function nextComma(text: string, from: number): number {
  const index = text.indexOf(',', from);
  return index === -1 ? text.length : index;
}

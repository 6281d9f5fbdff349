import type { ExportedRow } from './present-rows.ts';

/**
 * One CSV line (RFC 4180) under columns whose names may end with a type. A text that a spreadsheet would take for a
 * formula gets a `'` before it and quotes around it, so that opening an export runs nothing; `import` takes the `'` away.
 */
export function toCsvLine(row: ExportedRow, columns: readonly string[]): string {
  return `${columns.map((column) => toCell(row[column.replace(/:json$/, '')])).join(',')}\r\n`;
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : value instanceof Date ? value.toISOString() : JSON.stringify(value);
  if (/^'?[=+\-@\t\r]/.test(text)) return quote(`'${text}`);
  return /[",\r\n]/.test(text) || text !== text.trim() ? quote(text) : text;
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Returns rows as lines of a CSV file (RFC 4180). */
export function presentCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');
}

/**
 * Returns a cell that a spreadsheet shows but never evaluates: text that begins like a formula, also in the full-width characters that some spreadsheets read as the others, is prefixed with an
 * apostrophe (OWASP, CSV injection) and quoted.
 */
function toCell(text: string): string {
  const isFormula = /^[=+\-@\t\r＝＋－＠]/.test(text);
  if (!isFormula && !/[",\r\n]/.test(text)) return text;
  return `"${isFormula ? "'" : ''}${text.replaceAll('"', '""')}"`;
}

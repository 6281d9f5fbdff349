/** Returns rows as lines of a CSV file (RFC 4180). */
export function presentCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');
}

/**
 * Returns a cell that a spreadsheet shows but never evaluates. Text that begins like a formula is quoted and gets an apostrophe
 * in front (OWASP, CSV injection). Some spreadsheets also evaluate formulas that begin with a full-width character.
 */
function toCell(text: string): string {
  const isFormula = /^[=+\-@\t\r＝＋－＠]/.test(text);
  if (!isFormula && !/[",\r\n]/.test(text)) return text;
  return `"${isFormula ? "'" : ''}${text.replaceAll('"', '""')}"`;
}

/** Returns rows as lines of a CSV file (RFC 4180). */
export function presentCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');
}

/**
 * Returns the `content-disposition` of a file that is named after an object. Both forms of RFC 6266: browsers take the second
 * one, which may have any letter.
 */
export function attachmentOf(words: readonly string[]): string {
  const name = words.map(toWord).join('-').toWellFormed();
  const plain = name.normalize('NFKD').replaceAll(/[^a-zA-Z0-9._-]/g, '');
  const escaped = encodeURIComponent(name).replaceAll(/['()*!]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain.replaceAll(/-+/g, '-')}.csv"; filename*=UTF-8''${escaped}.csv`;
}

/** Replaces what a file system does not accept in a name. */
function toWord(text: string): string {
  return [...text.replaceAll(/[\s/\\:*?"<>|\p{Cc}]+/gu, '-')]
    .slice(0, maxWordLength)
    .join('')
    .replaceAll(/^-+|-+$/g, '');
}

const maxWordLength = 80;

/**
 * Returns a cell that a spreadsheet shows but never evaluates. Text that begins like a formula is quoted and gets an apostrophe
 * in front (OWASP, CSV injection). Some spreadsheets also evaluate formulas that begin with a full-width character.
 */
function toCell(text: string): string {
  const isFormula = /^[=+\-@\t\r＝＋－＠]/.test(text);
  if (!isFormula && !/[",\r\n]/.test(text)) return text;
  return `"${isFormula ? "'" : ''}${text.replaceAll('"', '""')}"`;
}

/** Prints rows under their titles, each column as wide as its longest cell. */
export function printTable(titles: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [titles, ...rows.map((cells) => cells.map(toPlainLine))];
  const widths = titles.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  for (const cells of lines) {
    const line = cells.map((cell, column) => cell.padEnd(widths[column]!)).join('  ');
    process.stdout.write(`${line.trimEnd()}\n`);
  }
}

/** Text others chose, without what would move the cursor of a terminal or turn the direction of text. */
export function toPlainLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ');
}

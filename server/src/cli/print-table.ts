/**
 * Prints rows under their titles, each column as wide as its longest cell. For programs it prints each row as one line of JSON,
 * with members named after the titles.
 */
export function printTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  { json }: { json?: true } = {},
): void {
  if (json) return printJson(titles, rows);
  const lines = [titles, ...rows.map((cells) => cells.map(toPlainLine))];
  const widths = titles.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  for (const cells of lines) {
    const line = cells.map((cell, column) => cell.padEnd(widths[column]!)).join('  ');
    process.stdout.write(`${line.trimEnd()}\n`);
  }
}

/**
 * Returns the rows to show; callers query one row more than `max`. If that row exists, prints on standard error that there are
 * more and where. Standard output stays a table, or JSON.
 */
export function takeNewest<Row>(rows: readonly Row[], { max, more }: { max: number; more: string }): readonly Row[] {
  if (rows.length <= max) return rows;
  process.stderr.write(`Only the newest ${max} ${more}\n`);
  return rows.slice(0, max);
}

/** Prints one line of JSON, for programs. */
export function printJsonLine(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

function printJson(titles: readonly string[], rows: readonly (readonly string[])[]): void {
  // LAST SIGNED IN becomes lastSignedIn.
  const names = titles.map((title) =>
    title.toLowerCase().replace(/[^a-z]+([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  );
  for (const cells of rows) {
    const members = cells.map((cell, column) => [names[column]!, cell === nothing ? null : cell]);
    process.stdout.write(`${JSON.stringify(Object.fromEntries(members))}\n`);
  }
}

/** Shown in a cell without a value. */
export const nothing = '–';

/** Returns text from outside without characters that move a terminal's cursor or change the direction of text. */
export function toPlainLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ');
}

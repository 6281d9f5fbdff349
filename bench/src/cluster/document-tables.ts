/** A table of docs/capacity.md stands between two marks; the first has the words of its command. */
const marked = /<!-- simulated: ([^\n]+) -->\n[^]*?<!-- simulated end -->/g;

/** The page with its tables made anew. Pure. */
export function documentTables(page: string, present: (words: string[]) => string): string {
  return page.replace(marked, (_table, command: string) => {
    const shown = ['```sh', `npm run simulate -- ${command}`, '```', '', present(command.split(' ')).trimEnd()].join(
      '\n',
    );
    return `<!-- simulated: ${command} -->\n\n${shown}\n\n<!-- simulated end -->`;
  });
}

/** The commands of a page's tables, each with its first row. Pure. */
export function listDocumentedRows(page: string): { command: string; row: string }[] {
  return [...page.matchAll(marked)].map(([table, command]) => ({
    command: command!,
    row: table.split('\n').filter((line) => line.startsWith('| '))[2] ?? '',
  }));
}

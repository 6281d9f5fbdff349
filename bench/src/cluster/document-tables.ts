/** A table of docs/capacity.md is between two marks; the first contains the words of its command. */
const marked = /<!-- simulated: ([^\n]+) -->\n[^]*?<!-- simulated end -->/g;

/** Returns the page with its tables generated again. Pure. */
export function documentTables(page: string, present: (words: string[]) => string): string {
  return page.replace(marked, (_table, command: string) => {
    const shown = ['```sh', `npm run simulate -- ${command}`, '```', '', present(command.split(' ')).trimEnd()].join(
      '\n',
    );
    return `<!-- simulated: ${command} -->\n\n${shown}\n\n<!-- simulated end -->`;
  });
}

/** Returns the commands of a page's tables, each with its first row. Pure. */
export function listDocumentedRows(page: string): { command: string; row: string }[] {
  return [...page.matchAll(marked)].map(([table, command]) => ({
    command: command!,
    row: table.split('\n').filter((line) => line.startsWith('| '))[2] ?? '',
  }));
}

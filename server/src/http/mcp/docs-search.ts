/** Reads a file of the built documentation; undefined if it is not there. */
export type ReadDocs = (path: string) => Promise<string | undefined>;

type Row = readonly [title: string, heading: string, address: string, text: string, weight: number];
type Finder = (typed: string) => { row: Row }[];
export type DocsSection = { title: string; heading: string; page: string; anchor: string | null; excerpt: string };

const excerptCharacters = 400;

/**
 * Returns the search of the documentation. It runs the site's own script and index, so that agents and readers get the same
 * order (decision 0080), and no other copy of either is packaged.
 *
 * @returns undefined while the documentation is not built
 */
export function makeDocsSearch(readDocs: ReadDocs): (typed: string) => Promise<DocsSection[] | undefined> {
  let finder: Promise<Finder | undefined> | undefined;
  return async (typed) => {
    finder ??= loadFinder(readDocs);
    const find = await finder.catch((error: unknown) => {
      finder = undefined;
      throw error;
    });
    // A clone builds the documentation while the node runs, so the next search looks again.
    if (!find) finder = undefined;
    return find?.(typed).map(({ row: [title, heading, address, text] }) => {
      const [page, anchor = null] = address.split('#') as [string, string | undefined];
      return { title, heading, page: page.replace(/\/$/, ''), anchor, excerpt: text.slice(0, excerptCharacters) };
    });
  };
}

async function loadFinder(readDocs: ReadDocs): Promise<Finder | undefined> {
  const names = ['find-sections.js', 'search-words.js', 'minisearch.js', 'search.json'];
  const files = await Promise.all(names.map((name) => readDocs(`assets/${name}`)));
  if (files.some((file) => file === undefined)) return undefined;
  const [script, words, index, rows] = files as [string, string, string, string];
  // A package contains the files only compressed, so they cannot be imported by their paths.
  const linked = script
    .replace("'./search-words.js'", `'${moduleOf(words)}'`)
    .replace("'./minisearch.js'", `'${moduleOf(index)}'`);
  const { makeFinder } = (await import(moduleOf(linked))) as { makeFinder(rows: readonly Row[]): Finder };
  return makeFinder(JSON.parse(rows) as Row[]);
}

function moduleOf(script: string): string {
  return `data:text/javascript;base64,${Buffer.from(script).toString('base64')}`;
}

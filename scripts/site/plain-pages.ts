import { dirname, join, normalize, relative } from 'node:path/posix';
import { addressOf, sectionNames } from './list-pages.ts';
import type { Page } from './list-pages.ts';

export type PlainFile = { path: string; text: string };

/**
 * Returns every page as Markdown, at its address with `.md`, and `llms.txt`, which lists them as https://llmstxt.org describes: for
 * programs that read the documentation, which gain nothing from menus and colours.
 */
export function makePlainPages(pages: readonly Page[]): PlainFile[] {
  const sources = new Set(pages.map(({ source }) => source));
  const files = pages.map(({ source, text }) => ({
    path: plainPathOf(source),
    text: withPlainLinks(withoutComments(text), { source, sources }),
  }));
  return [...files, { path: 'llms.txt', text: listForPrograms(pages) }];
}

/** `docs/recipes/broadcast.md` becomes `recipes/broadcast.md`, and the first page of a folder `recipes.md`. */
export function plainPathOf(source: string): string {
  return `${addressOf(source).replace(/\/$/, '') || 'index'}.md`;
}

/** Sections about the making of Carillon: a program with little room may leave them out. */
const optionalSection = sectionNames.at(-1)!;

function listForPrograms(pages: readonly Page[]): string {
  const [first] = pages;
  const parts = sectionNames.map((name) => {
    const entries = pages.filter(({ section }) => section === name).map(describeEntry);
    return `## ${name === optionalSection ? 'Optional' : name}\n\n${entries.join('\n')}\n`;
  });
  return `# Carillon\n\n> ${firstParagraphOf(first!.text)}\n\n${parts.join('\n')}`;
}

function describeEntry({ source, title, text }: Page): string {
  const [sentence] = /^.*?[.:](?=\s|$)/.exec(firstParagraphOf(text)) ?? [''];
  return `- [${title}](${plainPathOf(source)})${sentence === '' ? '' : `: ${sentence.replace(/:$/, '.')}`}`;
}

/** The first paragraph of prose below the title, on one line and without links. */
function firstParagraphOf(text: string): string {
  const paragraphs = withoutComments(text).split(/\n{2,}/);
  const prose = paragraphs.find((part) => /^[\p{L}`[*]/u.test(part)) ?? '';
  return prose
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}

function withoutComments(text: string): string {
  return text.replace(/<!--[^]*?-->\n?/g, '');
}

/** Links between pages lead to the Markdown of the other page. Links to files that are not pages become plain text. */
function withPlainLinks(text: string, { source, sources }: { source: string; sources: ReadonlySet<string> }): string {
  return text.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (...match: string[]) => {
    const [whole, mark, label, target] = match as [string, string, string, string];
    if (/^[a-z]+:|^#/.test(target)) return whole;
    const [path, anchor] = target.split('#', 2) as [string, string | undefined];
    const file = normalize(join(dirname(source), decodeURI(path)));
    const page = [file, join(file, 'README.md')].find((candidate) => sources.has(candidate));
    const isFirst = file === 'README.md' || file === '.';
    const found = isFirst ? 'docs/README.md' : page;
    if (found === undefined && file.startsWith('docs/')) {
      return `${mark}[${label}](${relative(dirname(plainPathOf(source)), file.replace(/^docs\//, ''))})`;
    }
    if (found === undefined) return label;
    const to = relative(dirname(plainPathOf(source)), plainPathOf(found));
    return `${mark}[${label}](${to}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}

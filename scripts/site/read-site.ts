import { describePublicRoutes } from '../list-routes.ts';
import type { Call } from './browser/make-curl.ts';
import { listPages, sectionNames } from './list-pages.ts';
import type { Page } from './list-pages.ts';
import { makeMarkdown } from './make-markdown.ts';
import { renderApiPages } from './render-api-pages.ts';
import type { ApiDocument } from './render-api-pages.ts';
import { makeLinks } from './resolve-links.ts';
import { splitSections } from './split-sections.ts';
import type { Section } from './split-sections.ts';

export type SitePage = Page & { html: string; sections: Section[] };
export type Site = {
  /** Pages in the order of the menu. */
  pages: SitePage[];
  /** The executed examples, by operation. */
  calls: Record<string, Call>;
  /** Files of docs/ that pages show or link to. */
  files: ReadonlySet<string>;
  /** Dead links, with the page that contains them. */
  dead: string[];
};

/** Reads all sources of the site; writes nothing. */
export async function readSite(root: string): Promise<Site> {
  const { document } = await describePublicRoutes();
  const api = renderApiPages(document as unknown as ApiDocument);
  const found = [...(await listPages(root)), ...api.pages];
  const ordered = sectionNames.flatMap((name) => found.filter(({ section }) => section === name));
  const links = makeLinks(root, new Set(ordered.map(({ source }) => source)));
  const markdown = makeMarkdown(links);
  const pages = ordered.map((page): SitePage => {
    const environment = { source: page.source };
    const tokens = markdown.parse(page.text, environment);
    const html = markdown.renderer.render(tokens, markdown.options, environment);
    return { ...page, html, sections: splitSections(tokens) };
  });
  const anchors = new Map(pages.map(({ address, html }) => [address, listAnchors(html)]));
  return { pages, calls: api.calls, files: links.files, dead: links.findDead(anchors) };
}

function listAnchors(html: string): Set<string> {
  return new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!.replaceAll('&amp;', '&')));
}

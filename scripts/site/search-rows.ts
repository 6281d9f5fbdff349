import type { Row } from './browser/find-sections.ts';
import type { SitePage } from './read-site.ts';

/** Returns the sections of all pages as the search of the site reads them. */
export function makeSearchRows(pages: readonly SitePage[]): Row[] {
  return pages.flatMap((page) =>
    page.sections.map(({ id, heading, level, text }): Row => {
      const weight = Math.round(weightOf(page, heading) * (level === 1 ? introWeight : 1) * 100) / 100;
      return level === 1
        ? [page.title, '', page.address, text.trim(), weight]
        : [page.title, heading, `${page.address}#${id}`, text.trim(), weight];
    }),
  );
}

/** A page's own beginning is a better answer than a section whose page has the word in its title. */
const introWeight = 1.25;

/** The first that fits decides. Pages about the making of Carillon mention everything, and answer few questions. */
const weights: readonly (readonly [address: RegExp, weight: number])[] = [
  [/^(decisions|spec|reports)\//, 0.15],
  [
    /^(changelog|agents|contributing|architecture|tour|internals|testing|console-screens|dependencies|release|promises)\//,
    0.15,
  ],
  [/^(performance|reliability|checker|security)\//, 0.5],
  [/^(faq|troubleshooting)\//, 1.3],
  [/^runbooks\//, 0.45],
  [/^(api|routes|fields)\//, 0.6],
];

/** Tables of names of several services. Only a search for the service should lead there. */
const mapping = /^(What maps to what|Which tokens survive)$/;

function weightOf({ address }: SitePage, heading: string): number {
  if (mapping.test(heading)) return 0.4;
  return weights.find(([pattern]) => pattern.test(address))?.[1] ?? 1;
}

import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A page of the site and its source file in this repository. */
export type Page = { source: string; address: string; section: string; title: string; text: string };

/** Sections in the order of the menu. A page in none of these lists is added to the last section, by its folder. */
const sections: [name: string, sources: string[]][] = [
  ['Start', ['README', 'quick-start', 'concepts', 'faq', 'troubleshooting', 'not-there']],
  ['Guides', ['guides/marketer', 'guides/integrator', 'guides/phone-developer', 'guides/operator', 'console', 'mcp']],
  ['Recipes', ['recipes/README']],
  [
    'Moving',
    [
      'moving/README',
      'moving/onesignal',
      'moving/firebase',
      'moving/airship',
      'moving/braze',
      'switch',
      'migration-v1-v5',
    ],
  ],
  ['API', []],
  [
    'Sending',
    [
      ...[
        'clients',
        'bodies',
        'fields',
        'apps',
        'phones',
        'live-activities',
        'topics',
        'inbox',
        'experiments',
        'triggered-campaigns',
      ],
      ...['statistics', 'journeys', 'event-stream', 'sandbox'],
    ],
  ],
  [
    'Operating',
    [
      'install',
      'containers',
      'operations',
      'managed-postgresql',
      'cluster',
      'capacity',
      'backup',
      'upgrade',
      'metrics',
      'tracing',
    ],
  ],
  ['Reference', ['routes', 'errors', 'settings', 'limits', 'retention', 'states']],
  [
    'How it is made',
    [
      'performance',
      'reliability',
      'promises',
      'asvs',
      'tour',
      'internals',
      'testing',
      'console-screens',
      'dependencies',
      'supply-chain',
      'release',
    ],
  ],
];
const sectionsOfFolders: Record<string, string> = { recipes: 'Recipes', runbooks: 'Operating' };
const beside = [
  ...['ARCHITECTURE.md', 'CONTRIBUTING.md', 'AGENTS.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...['client', 'client-python', 'receivers', 'receivers/web'].map((name) => `${name}/README.md`),
];
const folders = ['', 'guides', 'recipes', 'moving', 'runbooks', 'decisions', 'spec', 'reports'];
const lastSection = sections.at(-1)![0];

/** Returns the names of the menu's sections, in order. */
export const sectionNames: readonly string[] = sections.map(([name]) => name);

/** Returns every hand-written page, in the order of the menu. The pages of the API come from the OpenAPI document. */
export async function listPages(root: string): Promise<Page[]> {
  const inDocs = await Promise.all(folders.map((folder) => listFolder(root, folder)));
  const sources = [...inDocs.flat(), ...beside];
  const order = sections.flatMap(([, names]) => names.map((name) => `docs/${name}.md`));
  const rank = (source: string): number => (order.includes(source) ? order.indexOf(source) : order.length);
  const pages = await Promise.all(sources.map((source) => readPage(root, source)));
  return pages.sort((one, other) => rank(one.source) - rank(other.source) || (one.source < other.source ? -1 : 1));
}

/** Returns the path of a repository file in the site: `docs/recipes/broadcast.md` becomes `recipes/broadcast/`. */
export function addressOf(source: string): string {
  const path = source.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1');
  return path.replace(/\.md$/, '/').toLowerCase();
}

async function listFolder(root: string, folder: string): Promise<string[]> {
  const names = await readdir(join(root, 'docs', folder)).catch(() => []);
  return names.filter((name) => name.endsWith('.md')).map((name) => join('docs', folder, name));
}

async function readPage(root: string, source: string): Promise<Page> {
  const text = await readFile(join(root, source), 'utf8');
  const [, title] = /^# (.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`${source} has no title`);
  return { source, address: addressOf(source), section: sectionOf(source), title: title.replaceAll('`', ''), text };
}

function sectionOf(source: string): string {
  const listed = sections.find(([, names]) => names.some((name) => source === `docs/${name}.md`));
  const [, folder] = /^docs\/([^/]+)\//.exec(source) ?? [];
  if (listed) return listed[0];
  if (/^(client|client-python|receivers)\//.test(source)) return 'Guides';
  return (folder && sectionsOfFolders[folder]) ?? lastSection;
}

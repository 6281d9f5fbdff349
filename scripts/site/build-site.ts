import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { Eleventy } from '@11ty/eleventy';
import { compressFolder } from './compress-folder.ts';
import { makePlainPages, plainPathOf } from './plain-pages.ts';
import { makeSearchRows } from './search-rows.ts';
import { sectionNames } from './list-pages.ts';
import type { Page } from './list-pages.ts';
import { readSite } from './read-site.ts';
import type { SitePage } from './read-site.ts';
import { rootOf } from './resolve-links.ts';

/** Builds the complete site into `out`, or changes nothing if a link is dead. Returns the dead links. */
export async function buildSite(root: string, out: string): Promise<string[]> {
  await mkdir(dirname(out), { recursive: true });
  await removeLeftovers(out);
  const staging = await mkdtemp(`${out}.making-`);
  try {
    const dead = await writeSite(root, staging);
    if (dead.length > 0) return dead;
    await compressFolder(staging);
    // The folder is created readable by its owner only, but a node may run as another account.
    await chmod(staging, 0o755);
    await rm(out, { recursive: true, force: true });
    await rename(staging, out).catch((error: NodeJS.ErrnoException) => {
      // Another build finished first with the same result.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return [];
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

// A build takes seconds.
const maxBuildMilliseconds = 3_600_000;

/** Removes the leftovers of interrupted builds, for example of a build whose service was stopped. */
async function removeLeftovers(out: string): Promise<void> {
  for (const name of await readdir(dirname(out))) {
    if (!name.startsWith(`${basename(out)}.making-`)) continue;
    const path = join(dirname(out), name);
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > maxBuildMilliseconds) await rm(path, { recursive: true, force: true });
  }
}

async function writeSite(root: string, folder: string): Promise<string[]> {
  const { pages, calls, files, dead } = await readSite(root);
  // Eleventy expects folders relative to the working directory.
  process.chdir(root);
  const eleventy = new Eleventy('./scripts/site', relative(root, folder), {
    quietMode: true,
    configPath: null,
    config: (configuration) => {
      configuration.setUseGitIgnore(false);
      for (const [index, page] of pages.entries())
        configuration.addTemplate(`pages/${index}.html`, page.html, {
          layout: 'layout.liquid',
          permalink: `${page.address}index.html`,
          // Braces in a page are content, not template code.
          templateEngineOverride: false,
          ...describePage(pages, index),
        });
      configuration.addTemplate('pages/404.html', notFoundPage, {
        layout: 'layout.liquid',
        permalink: '404.html',
        templateEngineOverride: false,
        ...describeNotFound(pages),
      });
    },
  });
  await eleventy.write();
  for (const file of files) await cp(join(root, file), join(folder, file.replace(/^docs\//, '')));
  await addAssets(root, folder);
  await writeFile(join(folder, 'assets', 'calls.json'), JSON.stringify(calls));
  await writeFile(join(folder, 'assets', 'search.json'), JSON.stringify(makeSearchRows(pages)));
  for (const { path, text } of makePlainPages(pages)) await writeFile(join(folder, path), text);
  return dead;
}

/** The script of the page fills in the search with the words of the address. */
const notFoundPage = `<h1>Page not found</h1>
<p>There is no page at this address. The search lists pages with the words of the address; the menu lists all pages.</p>
`;

/** A node serves the page at every unknown address below `/docs/`, so its links cannot be relative. */
function describeNotFound(pages: readonly SitePage[]): object {
  const layout = describePage(pages, 0);
  const root = '/docs/';
  return { ...layout, title: 'Page not found', address: '404', root, rootOrHere: root, outline: [], next: undefined };
}

/** The data that the layout shows around a page. */
function describePage(pages: readonly SitePage[], index: number): object {
  const { title, address, section, source, sections } = pages[index]!;
  const menu = sectionNames.map((name) => ({
    name,
    isOpen: name === section || (address === '' && name !== sectionNames.at(-1)),
    entries: pages
      .filter((page) => page.section === name)
      .map((page) => ({ title: page.title, address: page.address })),
  }));
  const withoutText = (page?: Page): object | undefined => page && { title: page.title, address: page.address };
  const outline = sections.filter(({ level }) => level === 2 || level === 3);
  // The outline of a page with many members would be longer than the page.
  const isLong = outline.length > 40;
  return {
    ...{ title, address, source, menu, root: rootOf(source), rootOrHere: rootOf(source) || './' },
    plain: plainPathOf(source),
    outline: outline.filter(({ level }) => !isLong || level === 2),
    previous: withoutText(pages[index - 1]),
    next: withoutText(pages[index + 1]),
  };
}

/** Writes the scripts and styles that the pages load. */
export async function addAssets(root: string, folder: string): Promise<void> {
  const assets = join(folder, 'assets');
  await mkdir(assets, { recursive: true });
  for (const name of [
    'site',
    'search',
    'find-sections',
    'search-words',
    'calls',
    'make-curl',
    'parse-values',
    'run-calls',
    'scheme',
  ]) {
    const source = await readFile(join(import.meta.dirname, 'browser', `${name}.ts`), 'utf8');
    const script = stripTypeScriptTypes(source)
      .replace(/(from '\.\/[\w-]+|import\('\.\/[\w-]+)\.ts'/g, "$1.js'")
      .replace("from 'minisearch'", "from './minisearch.js'");
    await writeFile(join(assets, `${name}.js`), script);
  }
  await cp(join(root, 'node_modules', 'minisearch', 'dist', 'es', 'index.js'), join(assets, 'minisearch.js'));
  await cp(join(import.meta.dirname, 'site.css'), join(assets, 'site.css'));
  await cp(join(root, 'console', 'public', 'favicon.svg'), join(assets, 'favicon.svg'));
}

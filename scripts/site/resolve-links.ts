import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { addressOf } from './list-pages.ts';

/** Resolves links between pages, and collects the targets that must exist in the end. */
export type Links = {
  /** Undefined for a repository file that is not part of the site, such as a source. */
  resolve(source: string, target: string): string | undefined;
  /** Returns the links to a page or an anchor that does not exist, given the anchors of every page. */
  findDead(anchors: ReadonlyMap<string, ReadonlySet<string>>): string[];
  /** Files that pages show or link to; they are copied unchanged. */
  files: Set<string>;
};

/** `sources` are the files with a page. */
export function makeLinks(root: string, sources: ReadonlySet<string>): Links {
  const wanted: { source: string; target: string; address: string; anchor: string | undefined }[] = [];
  const missing: string[] = [];
  const files = new Set<string>();

  function resolve(source: string, target: string): string | undefined {
    if (/^[a-z]+:/.test(target)) return target;
    const [path, anchor] = target.split('#', 2) as [string, string | undefined];
    const file = path === '' ? source : normalize(join(dirname(source), decodeURI(path)));
    const page = pageOf(file);
    if (page === undefined) {
      // Generated pages link to each other by URL.
      if (!existsSync(join(root, file))) missing.push(`${source}: ${target}`);
      else if (file.startsWith('docs/') && statSync(join(root, file)).isFile()) {
        files.add(file);
        return rootOf(source) + file.replace(/^docs\//, '');
      }
      return undefined;
    }
    wanted.push({ source, target, address: addressOf(page), anchor });
    if (path === '') return `#${anchor}`;
    return `${rootOf(source)}${addressOf(page)}${anchor === undefined ? '' : `#${anchor}`}` || './';
  }

  function pageOf(file: string): string | undefined {
    // The README is part of the first page of the site.
    if (file === 'README.md' || file === '.') return 'docs/README.md';
    return [file, join(file, 'README.md')].find((path) => sources.has(path));
  }

  function findDead(anchors: ReadonlyMap<string, ReadonlySet<string>>): string[] {
    const dead = wanted.filter(({ address, anchor }) => anchor !== undefined && !anchors.get(address)?.has(anchor));
    return [...missing, ...dead.map(({ source, target }) => `${source}: ${target}`)];
  }
  return { resolve, findDead, files };
}

/** Returns the relative path from a page to the first page, because the site can be served under any path. */
export function rootOf(source: string): string {
  return '../'.repeat(addressOf(source).split('/').length - 1);
}

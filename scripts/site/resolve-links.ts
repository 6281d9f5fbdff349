import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { addressOf } from './list-pages.ts';

/** Says where links of pages lead in the site, and remembers what has to be there in the end. */
export type Links = {
  /** Undefined for a file of the repository that is no part of the site, such as a source. */
  resolve(source: string, target: string): string | undefined;
  /** Links to a page or an anchor that does not exist, given the anchors of every page. */
  findDead(anchors: ReadonlyMap<string, ReadonlySet<string>>): string[];
  /** Files that pages show or link to, and that are copied as they are. */
  files: Set<string>;
};

/** `sources` are the files that have a page. */
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
      // Generated pages link to each other by address.
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
    // The first page of the repository is told again on the first page of the site.
    if (file === 'README.md' || file === '.') return 'docs/README.md';
    return [file, join(file, 'README.md')].find((path) => sources.has(path));
  }

  function findDead(anchors: ReadonlyMap<string, ReadonlySet<string>>): string[] {
    const dead = wanted.filter(({ address, anchor }) => anchor !== undefined && !anchors.get(address)?.has(anchor));
    return [...missing, ...dead.map(({ source, target }) => `${source}: ${target}`)];
  }
  return { resolve, findDead, files };
}

/** The way from a page to the first one: the site can lie below any address. */
export function rootOf(source: string): string {
  return '../'.repeat(addressOf(source).split('/').length - 1);
}

/**
 * Builds the documentation as a site of static files in docs/dist: every page of docs/ as a forge shows it, and a page for each
 * family of routes. A node serves it at /docs. Any web server can serve it under any path, because its links are relative.
 * Usage: `npm run docs [-- --out <folder>] [-- --if-older]`. Prints every dead link and exits with 1 if there is one.
 */
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { out: { type: 'string' }, 'if-older': { type: 'boolean', default: false } } });
const out = values.out === undefined ? join(root, 'docs', 'dist') : resolve(process.env.INIT_CWD ?? '.', values.out);

if (!values['if-older'] || isOlder()) {
  const startedAt = performance.now();
  const { buildSite } = await import('./site/build-site.ts');
  const dead = await buildSite(root, out);
  if (dead.length === 0) process.stdout.write(`${out} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)\n`);
  else {
    process.stderr.write(`docs: these links lead nowhere:\n${dead.join('\n')}\n`);
    process.exitCode = 1;
  }
}

/** True if a source of the site changed since the last build: pages, the generator, or the routes with their examples. */
function isOlder(): boolean {
  const builtAt = changedAt(join(out, 'index.html'));
  const pages = readdirSync(root).filter((name) => name.endsWith('.md'));
  const inDocs = readdirSync(join(root, 'docs')).filter((name) => !name.startsWith('dist'));
  const folders = [
    'client/README.md',
    'client-python/README.md',
    'receivers',
    'scripts/site',
    'server/src/http',
    'package-lock.json',
  ];
  const sources = [...pages, ...inDocs.map((name) => join('docs', name)), ...folders];
  return sources.some((name) => changedAt(join(root, name)) > builtAt);
}

/** Returns the newest modification time of a file, or of the files in a folder; 0 if the path does not exist. */
function changedAt(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats?.mtimeMs ?? 0;
  return Math.max(0, ...readdirSync(path).map((name) => changedAt(join(path, name))));
}

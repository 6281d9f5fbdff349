/**
 * Builds the documentation as a site of plain files in docs/dist: every page of docs/ as it reads on a forge, and a page for each
 * family of routes. A node serves it at /docs; any web server can, below any address, since its links are relative. Usage:
 * `npm run docs [-- --out <folder>] [-- --if-older]`. A link that leads nowhere ends it with 1 and is named.
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

/** Whether something that it is made of changed since: pages, the generator, and the routes with their examples. */
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

/** The newest change of a file, or of any in a folder; 0 for what is not there. */
function changedAt(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats?.mtimeMs ?? 0;
  return Math.max(0, ...readdirSync(path).map((name) => changedAt(join(path, name))));
}

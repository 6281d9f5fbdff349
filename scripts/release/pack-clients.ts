/** Packs the clients and SDKs of a release in the form of their languages. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { writeZip } from './write-zip.ts';
import type { ZipFile } from './write-zip.ts';

export type ClientPacking = { root: string; version: string; out: string };

const npmFolders = ['client', 'sdk/web', 'sdk/react-native', 'sdk/capacitor'];
/** Jackson of Debian's `libjackson2-databind-java`; only the compiler needs it. */
const jackson = ['core', 'databind', 'annotations'].map((name) => `/usr/share/java/jackson-${name}.jar`).join(':');

/** Packs all of them. Ruby's `gem` and a JDK with Jackson must be there. @throws Error that names the missing program */
export function packClients(packing: ClientPacking): void {
  packForNpm(packing);
  packForPython(packing);
  packSources(packing, 'go');
  packSources(packing, 'php');
  packForRuby(packing);
  packForJava(packing);
}

export function packForNpm({ root, out }: ClientPacking): void {
  for (const folder of npmFolders)
    run('npm', ['pack', `./${folder}`, '--pack-destination', out, '--loglevel', 'error'], root);
}

/**
 * Writes a wheel (Python's "Binary distribution format"), which is a ZIP file with a list of its digests. Written here, so that
 * a release needs neither setuptools nor the packages that pip would download to build it.
 */
export function packForPython({ root, version, out }: ClientPacking): void {
  const folder = join(root, 'client-python');
  const [license, readme] = [readFileSync(join(root, 'LICENSE')), readFileSync(join(folder, 'README.md'), 'utf8')];
  const project = readFileSync(join(folder, 'pyproject.toml'), 'utf8');
  const read = (name: string): string => {
    const [, value] = new RegExp(`^${name} = "([^"]+)"$`, 'm').exec(project) ?? [];
    if (value === undefined) throw new Error(`client-python/pyproject.toml has no ${name}`);
    return value;
  };
  if (!project.includes('\ndependencies = []\n')) throw new Error('the wheel would not name the dependencies');
  const info = `carillon_client-${version}.dist-info`;
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${read('name')}`,
    `Version: ${version}`,
    `Summary: ${read('description')}`,
    'License: Apache-2.0',
    `Requires-Python: ${read('requires-python')}`,
    'Description-Content-Type: text/markdown',
    '',
    readme,
  ].join('\n');
  const files = [
    ...readFiles(join(folder, 'src')).filter(({ path }) => /^carillon_client\/.*(\.py|py\.typed)$/.test(path)),
    { path: `${info}/METADATA`, bytes: Buffer.from(metadata) },
    {
      path: `${info}/WHEEL`,
      bytes: Buffer.from('Wheel-Version: 1.0\nGenerator: carillon\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
    },
    { path: `${info}/LICENSE`, bytes: license },
  ];
  const record = files.map(({ path, bytes }) => {
    const digest = createHash('sha256').update(bytes).digest('base64url');
    return `${path},sha256=${digest},${bytes.length}\n`;
  });
  const list = { path: `${info}/RECORD`, bytes: Buffer.from(`${record.join('')}${info}/RECORD,,\n`) };
  writeFileSync(join(out, `carillon_client-${version}-py3-none-any.whl`), writeZip([...files, list]));
}

/** Go and Composer take the sources: from a folder, or from the repository. */
export function packSources({ root, version, out }: ClientPacking, language: 'go' | 'php'): void {
  const name = `carillon-client-${language}-${version}`;
  const files = readFiles(join(root, `client-${language}`)).filter(({ path }) => !path.startsWith('conformance'));
  const all = [...files, { path: 'LICENSE', bytes: readFileSync(join(root, 'LICENSE')) }];
  // Composer finds the manifest at the top; others unpack next to their own files.
  const prefix = language === 'php' ? '' : `${name}/`;
  writeFileSync(
    join(out, `${name}.zip`),
    writeZip(all.map(({ path, bytes }) => ({ path: `${prefix}${path}`, bytes }))),
  );
}

export function packForRuby({ root, version, out }: ClientPacking): void {
  inFolder((folder) => {
    cpSync(join(root, 'client-ruby'), folder, { recursive: true });
    copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    const file = join(out, `carillon-client-${version}.gem`);
    run('gem', ['build', 'carillon-client.gemspec', '--output', file], folder);
  });
}

/** Maven Central also wants a signature of each file, and the address of the repository in the pom (docs/release.md). */
export function packForJava({ root, version, out }: ClientPacking): void {
  const source = join(root, 'client-java', 'src');
  const name = join(out, `carillon-client-${version}`);
  const sources = readFiles(source).map(({ path }) => join(source, path));
  inFolder((folder) => {
    const [classes, pages] = [join(folder, 'classes'), join(folder, 'pages')];
    run('javac', ['--release', '17', '-Xlint:all', '-Werror', '-d', classes, '-cp', jackson, ...sources], root);
    run('javadoc', ['-quiet', '-Xdoclint:none', '-notimestamp', '-d', pages, '-cp', jackson, ...sources], root);
    for (const [suffix, content] of [
      ['', classes],
      ['-sources', source],
      ['-javadoc', pages],
    ] as const)
      run(
        'jar',
        ['--create', '--date=1980-01-01T00:00:02Z', '--file', `${name}${suffix}.jar`, '-C', content, '.'],
        root,
      );
    copyFileSync(join(root, 'client-java', 'pom.xml'), `${name}.pom`);
  });
}

function inFolder(work: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-pack-'));
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readFiles(folder: string): ZipFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('__pycache__'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path: relative(folder, path), bytes: readFileSync(path) }));
}

function run(program: string, words: string[], cwd: string): void {
  try {
    execFileSync(program, words, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`${program} is missing: docs/release.md names the packages that make the clients`);
  }
}

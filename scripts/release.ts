/**
 * Makes a release: checks that the manifests and the changelog have the same version, packs the server and all clients,
 * makes the executables for Linux, packs the Helm chart, and writes next to them a bill of materials (CycloneDX), all licences, the
 * origin of the binaries, and the digest of each file. With --dry, nothing else happens. Otherwise it adds the date to the
 * changelog and creates a commit and a tag; it publishes and pushes nothing.
 *
 * Usage: npm run release -- [--dry] [--without executables] --out <folder>
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkVersions } from './release/check-versions.ts';
import { describeBinaries, sha256 } from './release/describe-binaries.ts';
import { listComponents } from './release/list-components.ts';
import { packClients } from './release/pack-clients.ts';
import { renderNotices } from './release/render-notices.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    dry: { type: 'boolean', default: false },
    out: { type: 'string' },
    // Ten minutes of work: left out to try the rest.
    without: { type: 'string', default: '' },
  },
});
if (values.out === undefined) fail('--out names the folder for what is released');
const out = resolve(process.env.INIT_CWD ?? '.', values.out);
const { version, faults } = checkVersions(root);
if (faults.length > 0) fail(faults.join('\n'));
const changes = git('status', '--porcelain');
if (changes !== '' && !values.dry) fail(`what is not committed would not be released:\n${changes}`);

mkdirSync(out, { recursive: true });
if (readdirSync(out).length > 0) fail(`${out} is not empty`);
tell('packing server and clients');
execFileSync(process.execPath, [join(root, 'bootstrap.js'), 'scripts/pack-server.ts', '--out', out], {
  cwd: root,
  stdio: 'pipe',
});
packClients({ root, version, out });
if (values.without !== 'executables') for (const platform of ['linux-x64', 'linux-arm64']) makeExecutables(platform);
tell('Helm chart');
const chart = ['czf', join(out, `carillon-chart-${version}.tgz`), '-C', join(root, 'deploy', 'helm'), 'carillon'];
execFileSync('tar', chart);

tell('what it is made of');
const bom = listComponents(root);
writeFileSync(join(out, `carillon-${version}.cdx.json`), `${JSON.stringify(bom, null, 2)}\n`);
writeFileSync(join(out, 'NOTICES.txt'), renderNotices(root, bom));
const made = { version, commit: git('rev-parse', 'HEAD'), node: process.version, binaries: describeBinaries(root) };
writeFileSync(join(out, 'provenance.json'), `${JSON.stringify(made, null, 2)}\n`);

const names = readdirSync(out).sort();
writeFileSync(join(out, 'SHA256SUMS'), names.map((name) => `${sha256(join(out, name))}  ${name}\n`).join(''));
tell(`${bom.components.length} packages; ${names.length + 1} files in ${out}`);
if (!values.dry) tag();

/** With the embedded database, and without it for installations with `DATABASE_URL`. */
function makeExecutables(platform: string): void {
  for (const without of ['', 'database']) {
    const name = `carillon-${version}-${platform}${without === '' ? '' : `-without-${without}`}`;
    tell(`executable ${name}`);
    const staging = mkdtempSync(`${out}.making-`);
    try {
      const words = ['--out', join(staging, 'carillon'), '--platform', platform, '--without', without];
      execFileSync(process.execPath, [join(root, 'bootstrap.js'), 'scripts/make-executable.ts', ...words], {
        cwd: root,
        stdio: 'pipe',
      });
      execFileSync('tar', ['czf', join(out, `${name}.tar.gz`), '-C', staging, 'carillon']);
    } finally {
      rmSync(staging, { recursive: true, force: true });
    }
  }
}

function tag(): void {
  const day = new Date().toISOString().slice(0, 10);
  const path = join(root, 'CHANGELOG.md');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(`## Unreleased (${version})`, `## ${version} (${day})`));
  git('add', 'CHANGELOG.md');
  git('commit', '--message', `Release ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `Carillon ${version}`);
  tell(`committed and tagged v${version}; the next change begins "## Unreleased (…)" and raises the versions`);
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
}

function tell(text: string): void {
  process.stdout.write(`release: ${text}\n`);
}

function fail(reason: string): never {
  process.stderr.write(`release: ${reason}\n`);
  process.exit(1);
}

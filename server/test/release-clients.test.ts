import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  packForJava,
  packForNpm,
  packForPython,
  packForRuby,
  packSources,
} from '../../scripts/release/pack-clients.ts';
import manifest from '../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const { version } = manifest;
const isMissing = (program: string): boolean => spawnSync(program, ['--version']).error !== undefined;

let out: string;
let packing: { root: string; version: string; out: string };
beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'carillon-clients-'));
  packing = { root, version, out };
});
afterAll(() => rm(out, { recursive: true, force: true }));

/** Unpacks an archive into a new folder. */
async function unpack(name: string): Promise<string> {
  const folder = join(out, `of-${name}`);
  await mkdir(folder);
  if (name.endsWith('.tgz')) await run('tar', ['xzf', join(out, name), '-C', folder]);
  else await run('python3', ['-m', 'zipfile', '-e', join(out, name), folder]);
  return folder;
}

describe.skipIf(isMissing('python3'))('the packed clients', () => {
  test('the wheel lists the digest of each file, and pip installs it without the network', async () => {
    packForPython(packing);
    const file = `carillon_client-${version}-py3-none-any.whl`;
    const folder = join(out, 'python');
    const words = ['-m', 'pip', 'install', '--no-index', '--no-deps', '--quiet', '--target', folder];
    await run('python3', [...words, join(out, file)]);
    const script = [
      'import importlib.metadata, carillon_client.aio',
      'print(importlib.metadata.version("carillon-client"), carillon_client.__file__)',
    ].join('\n');
    const { stdout } = await run('python3', ['-c', script], { env: { ...process.env, PYTHONPATH: folder } });
    expect(stdout.trim()).toBe(`${version} ${join(folder, 'carillon_client', '__init__.py')}`);
    expect(await readdir(join(folder, 'carillon_client'))).toContain('py.typed');
    expect(await readdir(join(folder, `carillon_client-${version}.dist-info`))).toContain('LICENSE');
  });

  test('has the same bytes each time it is packed', async () => {
    const file = join(out, `carillon-client-go-${version}.zip`);
    packSources(packing, 'go');
    const first = await readFile(file);
    packSources(packing, 'go');
    expect((await readFile(file)).equals(first)).toBe(true);
  });

  test.skipIf(isMissing('php'))('the archive for Composer has a manifest with the version, and loads', async () => {
    packSources(packing, 'php');
    const folder = await unpack(`carillon-client-php-${version}.zip`);
    const composer = JSON.parse(await readFile(join(folder, 'composer.json'), 'utf8')) as { version: string };
    expect(composer.version).toBe(version);
    const load = `foreach (glob('${folder}/src/*.php') as $file) require_once $file; echo Carillon\\CarillonClient::class;`;
    expect((await run('php', ['-r', load])).stdout).toBe('Carillon\\CarillonClient');
  });
});

describe.runIf(process.env.FULL === '1')('the packed clients that are compiled or installed (FULL=1)', () => {
  test('the packages for npm have the version, the licence and every file that they name', async () => {
    packForNpm(packing);
    for (const name of ['client', 'web', 'react-native', 'capacitor']) {
      const folder = join(await unpack(`carillon-${name}-${version}.tgz`), 'package');
      const packed = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
        version: string;
        files: string[];
      };
      expect(packed.version).toBe(version);
      const names = await readdir(folder);
      expect(names).toContain('LICENSE');
      for (const file of packed.files) expect(names).toContain(file.split('/')[0]);
    }
  }, 120_000);

  test.skipIf(isMissing('go') || isMissing('python3'))(
    'the Go module compiles in another module',
    async () => {
      packSources(packing, 'go');
      const folder = await unpack(`carillon-client-go-${version}.zip`);
      const program = join(folder, 'program');
      await mkdir(program);
      const replaced = `replace carillon => ../carillon-client-go-${version}`;
      await writeFile(
        join(program, 'go.mod'),
        `module program\n\ngo 1.19\n\nrequire carillon v${version}\n\n${replaced}\n`,
      );
      const source = 'package main\n\nimport "carillon"\n\nfunc main() { _ = carillon.New(carillon.Options{}) }\n';
      await writeFile(join(program, 'main.go'), source);
      const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', GOPROXY: 'off' };
      await run('go', ['build', '-o', join(program, 'made'), '.'], { cwd: program, env });
    },
    120_000,
  );

  test.skipIf(isMissing('gem'))('the gem installs and loads', async () => {
    packForRuby(packing);
    const folder = join(out, 'gems');
    const file = join(out, `carillon-client-${version}.gem`);
    await run('gem', ['install', '--local', '--no-document', '--install-dir', folder, file]);
    const script = 'require "carillon"; puts Gem.loaded_specs["carillon-client"].version, Carillon::Client';
    const env = { ...process.env, GEM_PATH: folder, GEM_HOME: folder };
    const { stdout } = await run('ruby', ['-e', `gem "carillon-client"; ${script}`], { env });
    expect(stdout).toBe(`${version}\nCarillon::Client\n`);
  });

  test.skipIf(isMissing('javac'))(
    'the archives for Maven contain classes, sources and documentation',
    async () => {
      packForJava(packing);
      for (const [suffix, path] of [
        ['', 'org/carillon/client/CarillonClient.class'],
        ['-sources', 'org/carillon/client/CarillonClient.java'],
        ['-javadoc', 'org/carillon/client/CarillonClient.html'],
      ]) {
        const { stdout } = await run('jar', ['--list', '--file', join(out, `carillon-client-${version}${suffix}.jar`)]);
        expect(stdout.split('\n')).toContain(path);
      }
      const pom = await readFile(join(out, `carillon-client-${version}.pom`), 'utf8');
      for (const member of ['name', 'description', 'licenses']) expect(pom).toContain(`<${member}>`);
    },
    120_000,
  );
});

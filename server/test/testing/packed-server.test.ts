import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installTools } from '../../../client/test/install-tools.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');

describe.skipIf(process.env.FULL !== '1')('the packed server (FULL=1)', () => {
  let folder: string;
  const installed = () => join(folder, 'node_modules', '@carillon', 'server');

  // As npm would install it, but for the packages it depends on: those are of this repository.
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-packed-server-'));
    const pack = [join(root, 'bootstrap.js'), 'scripts/pack-server.ts', '--out', folder];
    const { stdout } = await run(process.execPath, pack, { cwd: root });
    await mkdir(installed(), { recursive: true });
    await run('tar', ['xzf', stdout.trim().split('\n').at(-1)!, '--strip-components', '1', '-C', installed()]);
    for (const name of await readdir(join(root, 'node_modules')))
      if (name !== '@carillon' && !name.startsWith('.'))
        await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }, 240_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(['20', '22', '24'])(
    'Node %s starts a test server of it, and its command line',
    async (version) => {
      const node =
        version === '24'
          ? process.execPath
          : join(await installTools(), `node-${version}-${process.arch}`, 'bin', 'node');
      await writeFile(
        join(folder, 'test.mjs'),
        `import { createTestServer } from '@carillon/server/testing';
        const server = await createTestServer();
        const statuses = [];
        for (const path of ['/readyz', '/console/', '/sandbox/browser', '/sandbox/browser/subscribe-browser.js', '/openapi.json'])
          statuses.push((await fetch(server.url + path)).status);
        await server.stop();
        console.log(process.versions.node.split('.')[0], statuses.join(' '));`,
      );
      const environment = { env: { PATH: dirname(node) }, cwd: folder };
      const { stdout } = await run(node, [join(folder, 'test.mjs')], environment);
      expect(stdout).toBe(`${version} 200 200 200 200 200\n`);
      const help = await run(node, [join(installed(), 'carillon.js'), '--help'], environment);
      expect(help.stdout).toContain('Usage: carillon');
    },
    240_000,
  );
});

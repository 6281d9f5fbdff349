import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../../server/test/carillon-bundle.ts';
import type { CarillonBundle } from '../../server/test/carillon-bundle.ts';
import examples from '../../server/src/http/openapi/examples.json' with { type: 'json' };
import { readWebhookSecret } from '../../server/test/recipes/read-webhook-secret.ts';

const folder = join(import.meta.dirname, '..', '..', 'client-python');
const hasPython = spawnSync('python3', ['--version']).status === 0;

describe.skipIf(!hasPython)(`the Python client${hasPython ? '' : ' (skipped: no python3)'}`, () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterAll(() => bundle.stop());

  test('passes its own tests against a node', async () => {
    const python = spawn('python3', ['-m', 'unittest', 'discover', '-s', 'tests'], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: 'src',
        PYTHONDONTWRITEBYTECODE: '1',
        CARILLON_API_URL: bundle.url,
        CARILLON_WORKSPACE_ID: bundle.workspaceId,
        CARILLON_WORKSPACE_DB_NAME: bundle.block.dbName!,
        CARILLON_OAUTH_KEY: bundle.keys.oauth,
        CARILLON_DATA_KEY: bundle.keys.data,
        CARILLON_PUSH_KEY: bundle.keys.push,
        CARILLON_CAMPAIGNS_KEY: bundle.keys.campaigns,
        CARILLON_EXAMPLES: JSON.stringify(examples),
        WEBHOOK_SECRET: await readWebhookSecret(bundle),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // unittest reports there.
    let report = '';
    python.stderr.on('data', (piece) => (report += String(piece)));
    const [code] = (await once(python, 'close')) as [number | null];
    expect(report).toMatch(/Ran [1-9]\d* tests? in .*\n\nOK\n$/);
    expect(code).toBe(0);
  }, 180_000);

  const hasMypy = spawnSync('python3', ['-m', 'mypy', '--version']).status === 0;
  test.skipIf(!hasMypy)(`is clean under mypy --strict${hasMypy ? '' : ' (skipped: no mypy)'}`, () => {
    const { status, stdout } = spawnSync(
      'python3',
      ['-m', 'mypy', '--strict', '--cache-dir', '/dev/null', 'src', 'tests'],
      {
        ...{ cwd: folder, encoding: 'utf8' },
        env: { PATH: process.env.PATH, MYPYPATH: 'src' },
      },
    );
    expect(stdout).toContain('Success');
    expect(status).toBe(0);
  });

  const hasSetuptools = spawnSync('python3', ['-c', 'import setuptools, wheel']).status === 0;
  test.skipIf(!hasSetuptools)(
    `builds a wheel with its types${hasSetuptools ? '' : ' (skipped: no setuptools and wheel)'}`,
    async () => {
      const out = await mkdtemp(join(tmpdir(), 'carillon-wheel-'));
      try {
        // A copy, because the build writes next to the sources.
        await cp(folder, join(out, 'source'), { recursive: true });
        const words = [
          '-m',
          'pip',
          'wheel',
          '--no-deps',
          '--no-build-isolation',
          '--no-index',
          '-w',
          out,
          join(out, 'source'),
        ];
        const { status, stderr } = spawnSync('python3', words, { encoding: 'utf8' });
        expect(status, stderr).toBe(0);
        const [wheel] = (await readdir(out)).filter((name) => name.endsWith('.whl'));
        const listed = spawnSync('python3', ['-m', 'zipfile', '-l', join(out, wheel!)], { encoding: 'utf8' }).stdout;
        for (const file of ['aio.py', 'client.py', 'operations.py', 'py.typed'])
          expect(listed).toContain(`carillon_client/${file}`);
      } finally {
        await rm(out, { recursive: true, force: true });
      }
    },
    60_000,
  );
});

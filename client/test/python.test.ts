import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../../server/test/carillon-bundle.ts';
import type { CarillonBundle } from '../../server/test/carillon-bundle.ts';
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
  });
});

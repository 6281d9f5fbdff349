import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { runCommand, runProcess, startCommand } from './run-command.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');

let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-start-command-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const beside = () => ({ config: { databaseUrl: database.applicationUrl, dataFolder: folder } });

test('start runs a node with the settings of its options until it is stopped; npm gives a command the folder of its caller', async () => {
  const node = startCommand(beside(), ['start', '--port', '0', '--json']);
  let said = '';
  for await (const piece of node.stdout) {
    said += String(piece);
    if (said.includes('\n')) break;
  }
  expect(JSON.stringify(JSON.parse(said))).toContain('http://127.0.0.1:');

  // As npm calls it: in the folder of the project, and says where it was called.
  const script = 'server/src/cli/carillon.ts';
  const words = ['sandbox', 'generate-users', '--users', '2', '--out', 'users.jsonl'];
  await run(process.execPath, ['bootstrap.js', script, ...words], {
    cwd: root,
    env: {
      ...process.env,
      DATABASE_URL: database.applicationUrl,
      CARILLON_DATA_DIR: folder,
      INIT_CWD: folder,
      npm_lifecycle_script: `exec node bootstrap.js ${script} "sandbox"`,
      npm_config_user_agent: '',
    },
  });
  expect([existsSync(join(folder, 'users.jsonl')), existsSync(join(root, 'users.jsonl'))]).toEqual([true, false]);

  const ended = once(node, 'close');
  node.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

test('a setting that is not usable is refused as by npm start: 2; the version is that of the manifest', async () => {
  const refused = await runProcess(beside(), ['start', '--port', 'eighty']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('CARILLON_PORT takes a whole number')]);
  const unknown = await runCommand(beside(), ['start', '--prot', '80']);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('--prot')]);
  expect(await runCommand(beside(), ['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
});

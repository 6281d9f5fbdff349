import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { onServer } from '../test-database.ts';
import { runCommand } from './run-command.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

const run = (...parameters: string[]) => runCommand(bundle, parameters);

test('status says where the node answers and gives the keys of the demo, without a password; a revoked key is none', async () => {
  const { url, workspaceId, keys, database } = bundle;
  const status = JSON.parse((await run('status', '--json')).stdout) as Record<string, unknown>;
  const demo = { workspaceId, dbName: bundle.block.dbName, inbox: `${url}/sandbox/inbox` };
  expect(status).toMatchObject({ isRunning: true, url, console: `${url}/console/`, ...demo, keys });
  expect(status.nodes).toMatchObject([{ role: 'all', url }]);
  expect(JSON.stringify(status)).not.toContain(new URL(bundle.config.databaseUrl!).password);

  await database`update api_keys set archived_at = now() where kind = 'data'`;
  const variables = (await run('status', '--env')).stdout.trim().split('\n');
  expect(variables).toContain(`CARILLON_API_URL=${url}`);
  expect(variables).toContain(`CARILLON_PUSH_KEY=${keys.push}`);
  expect(variables.filter((line) => line.startsWith('CARILLON_DATA_KEY'))).toEqual([]);
  expect((await run('status')).stdout).toMatch(/^Key: data +revoked or made anew/m);
});

describe('a command that makes nothing', () => {
  test.each([['workspaces list'], ['keys create --kind push'], ['import nobody.csv']])(
    '%s refuses a folder without an installation: 20, and makes neither folder nor key',
    async (words) => {
      const folder = join(bundle.config.dataFolder!, 'mistyped');
      const { databaseUrl: _databaseUrl, ...config } = bundle.config;
      const refused = await runCommand({ ...bundle, config: { ...config, databaseUrl: '' } }, [
        ...['--data-dir', folder],
        ...words.split(' '),
      ]);
      expect(refused).toEqual({ code: 20, stdout: '', stderr: expect.stringContaining(`no Carillon in ${folder}`) });
      expect(existsSync(folder)).toBe(false);
    },
  );

  test('refuses an empty database and leaves it empty; beside a database, a folder without its key is refused and gets none', async () => {
    const folder = join(bundle.config.dataFolder!, 'mistyped');
    const wrong = await run('--data-dir', folder, 'workspaces', 'list');
    expect([wrong.code, wrong.stdout]).toEqual([16, '']);
    expect(existsSync(folder)).toBe(false);

    const name = `empty_${process.pid}`;
    const server = inject('postgresUrl');
    await onServer(server, `create database ${name}`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    const config = { ...bundle.config, databaseUrl: url.href };
    const refused = await runCommand({ ...bundle, config }, ['workspaces', 'list']);
    const again = await runCommand({ ...bundle, config }, ['status']);
    await onServer(server, `drop database ${name} with (force)`);
    expect([refused.code, again.code]).toEqual([20, 20]);
  });
});

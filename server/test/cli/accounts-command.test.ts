import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { goodPassword } from '../console/accounts-bundle.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

const cli = join(import.meta.dirname, '..', '..', 'src', 'cli.ts');

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

async function run(...parameters: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', cli, ...parameters], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: bundle.config.databaseUrl,
      CARILLON_DATA_DIR: bundle.config.dataFolder,
      CARILLON_LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (piece) => (stdout += piece));
  child.stderr.on('data', (piece) => (stderr += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

test('an owner who forgot the password gets back in by a link of the command line', async () => {
  const post = (path: string, body: unknown, cookie = '') =>
    bundle.call('POST', `/console/api/${path}`, { body, headers: { cookie } });
  const code = bundle.block.console.split('#sign-in=')[1]!;
  const cookie = (await post('session', { code })).headers.get('set-cookie')!.split(';')[0]!;
  const invited = await post('invitations', { email: 'olga@example.com', role: 'owner' }, cookie);
  const invitation = (invited.json().link as string).split('#invitation=')[1]!;
  await post('invitation/acceptance', { code: invitation, name: 'Olga', password: 'forgotten by now' });

  expect((await run('accounts', 'list')).stdout).toMatch(/olga@example\.com +Olga +owner/);
  const made = await run('accounts', 'password-link', 'Olga@example.com');
  const link = /#new-password=(\S+)/.exec(made.stdout)![1]!;
  expect((await post('new-password', { code: link, password: goodPassword })).status).toBe(204);
  const credentials = { email: 'olga@example.com', password: goodPassword };
  expect((await post('session/password', credentials)).status).toBe(204);
  const refused = await run('accounts', 'password-link', 'nobody@example.com');
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('no such account')]);
});

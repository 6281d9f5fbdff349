import { afterAll, beforeAll, expect, test } from 'vitest';
import { goodPassword } from '../console/accounts-bundle.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from './run-command.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

const run = (...parameters: string[]) => runCommand(bundle, parameters);

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
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('There is no account with this address')]);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { goodPassword } from '../console/accounts-bundle.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand, runProcess } from './run-command.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

const run = (...parameters: string[]) => runCommand(bundle, parameters);
const post = (path: string, body: unknown) => bundle.call('POST', `/console/api/${path}`, { body });
const linkIn = (text: string) => /\S+\/console\/#\S+/.exec(text)![0];

/** Opens a link as a browser would. @returns the status, and that of a call with the session */
async function open(link: string): Promise<number[]> {
  const opened = await post('session', { code: link.split('#sign-in=')[1]! });
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  return [opened.status, (await bundle.call('GET', '/console/api/session', { headers: { cookie } })).status];
}

test('status and console-link each print a new link, which opens the console of a sandbox once', async () => {
  const printed = [
    linkIn((await run('status')).stdout),
    linkIn((await runProcess(bundle, ['console-link'])).stdout),
    (JSON.parse((await run('console-link', '--json')).stdout) as { link: string }).link,
  ];
  expect(new Set([bundle.block.console, ...printed]).size).toBe(4);
  for (const link of printed) {
    expect(link.startsWith(`${bundle.url}/console/#sign-in=`)).toBe(true);
    expect(await open(link)).toEqual([204, 200]);
    expect(await open(link)).toEqual([401, 401]);
  }
  // For programs, which may ask each second: no link, and no row for one.
  const links = () => bundle.database<{ links: number }[]>`select count(*)::int as links from account_links`;
  const before = await links();
  expect((await run('status', '--json')).stdout).not.toContain('sign-in');
  expect(await links()).toEqual(before);
});

test('a clock that is moved by 30 days signs nobody out, and leaves links that were printed before', async () => {
  const [earlier, later] = [linkIn((await run('status')).stdout), linkIn((await run('console-link')).stdout)];
  const opened = await post('session', { code: earlier.split('=')[1]! });
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
  expect((await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 30 * 86_400 } })).status).toBe(200);
  expect((await bundle.call('GET', '/console/api/session', { headers: { cookie } })).status).toBe(200);
  expect(await open(later)).toEqual([204, 200]);
  expect(await open(linkIn((await run('console-link')).stdout))).toEqual([204, 200]);
});

test('the public URL is that of every link, also where no node runs', async () => {
  const environment = { CARILLON_PUBLIC_URL: 'https://push.example.com' };
  const made = await runCommand({ ...bundle, environment }, ['console-link']);
  expect(linkIn(made.stdout)).toMatch(/^https:\/\/push\.example\.com\/console\/#sign-in=\S{43}$/);
});

test('elsewhere than in a sandbox the link creates the first owner, and there is none after that', async () => {
  await bundle.database`update installation set demo_workspace_id = null`;
  const link = linkIn((await run('console-link')).stdout);
  expect(link.startsWith(`${bundle.url}/console/#first-owner=`)).toBe(true);
  // Output that is no terminal may be kept, as by whatever runs a service.
  expect((await run('status')).stdout).not.toContain('#first-owner');
  const owner = { code: link.split('=')[1]!, email: 'olga@example.com', name: 'Olga', password: goodPassword };
  expect((await post('first-owner', owner)).status).toBe(204);
  const refused = await run('console-link');
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('carillon accounts password-link')]);
});

/**
 * Takes the pictures of docs/screens/: every screen of the console in light colours, the overview and a report in dark ones
 * and on a phone. A node with a fresh database is filled with the same people, campaigns, calls and mistakes each time
 * (seed 1), and its clock stands at one hour, so that pictures differ where the console does.
 *
 * Usage: npm run console:screens [-- <name of a screen>]
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { screens } from '../console/src/shell/screens.ts';
import { fillScreens } from './fill-screens.ts';
import type { ScreenIds, StartLine } from './fill-screens.ts';

const root = join(import.meta.dirname, '..');
const pictures = join(root, 'docs', 'screens');
const only = process.argv[2];
const shownAt = new Date('2027-01-14T10:00:00Z');
// What a page of the documentation may weigh.
const maxBytes = 200_000;
const desk: BrowserContextOptions = { viewport: { width: 1280, height: 860 }, timezoneId: 'UTC', locale: 'en-GB' };
const phone: BrowserContextOptions = { ...desk, viewport: { width: 390, height: 844 } };

const folder = await mkdtemp(join(tmpdir(), 'carillon-screens-'));
const script = (name: string): string[] => ['--disable-warning=ExperimentalWarning', join(root, 'server', 'src', name)];
const parameters = ['--data-dir', folder, '--port', '0', '--json', '--seed', '1'];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
let node: ChildProcess | undefined;
try {
  const { keys, url } = await startNode();
  const command = (...words: string[]): void => {
    const done = spawnSync(process.execPath, [...script('cli/carillon.ts'), '--data-dir', folder, ...words], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (done.status !== 0) throw new Error(`carillon ${words.join(' ')} ended with ${done.status}`);
  };
  const advanceSeconds = Math.round((shownAt.getTime() - Date.now()) / 1000);
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/sandbox/clock`, { method: 'POST', headers, body: JSON.stringify({ advanceSeconds }) });
  // A link made before the clock leapt is too old, and keys are printed by the first start alone.
  const start = { ...(await startNode()), keys };
  const filled = await fillScreens({ start, command, folder });
  await mkdir(pictures, { recursive: true });
  await photograph({ browser, start, ...filled });
} finally {
  await browser.close();
  await stopNode();
  await rm(folder, { recursive: true, force: true });
}

/** Starts the node, or starts it anew. */
async function startNode(): Promise<StartLine> {
  await stopNode();
  node = spawn(process.execPath, [...script('main.ts'), ...parameters], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: node.stdout! }), 'line')) as [string];
  return JSON.parse(line) as StartLine;
}

async function stopNode(): Promise<void> {
  if (!node) return;
  const exited = once(node, 'exit');
  node.kill('SIGTERM');
  await exited;
  node = undefined;
}

type Shoot = { browser: Browser; start: StartLine; ids: ScreenIds; cookie: string };

async function photograph({ browser, start: { url }, ids, cookie }: Shoot): Promise<void> {
  const [name, value] = cookie.split('=') as [string, string];
  const session = {
    cookies: [
      {
        name,
        value,
        domain: new URL(url).hostname,
        path: '/console',
        expires: -1,
        httpOnly: true,
        secure: false,
        sameSite: 'Strict' as const,
      },
    ],
    origins: [],
  };
  const context = await browser.newContext({ ...desk, storageState: session });
  const page = await context.newPage();
  for (const [screen, address] of Object.entries(screens)) await shoot(page, { name: screen, address, url, ids });
  await context.close();
  const others = [
    { suffix: 'dark', options: { ...desk, colorScheme: 'dark' as const } },
    { suffix: 'phone', options: phone },
  ];
  for (const { suffix, options } of others) {
    const other = await browser.newContext({ ...options, storageState: session });
    for (const screen of ['overview', 'campaign'] as const)
      await shoot(await other.newPage(), { name: `${screen}-${suffix}`, address: screens[screen], url, ids });
    await other.close();
  }
}

type Screen = { name: string; address: string; url: string; ids: ScreenIds };

async function shoot(page: Page, { name, address, url, ids }: Screen): Promise<void> {
  if (only !== undefined && only !== name) return;
  // What was sent cannot be edited.
  const given = address.endsWith('/edit') ? { ...ids, campaignId: ids.draftId } : ids;
  const path = address.replace(/\$([A-Za-z]+)/g, (_whole, id: string) => given[id as keyof ScreenIds]);
  const search = { users: '?q=ada', composed: '?step=content&as=ada' }[name] ?? '';
  await page.goto(`${url}/console${path}${search}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  // What is asked for every second never ends; what a screen shows first has come by then.
  await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => {});
  const file = join(pictures, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
  const { size } = await stat(file);
  process.stdout.write(
    `docs/screens/${name}.png ${Math.round(size / 1000)} kB${size > maxBytes ? ', too heavy' : ''}\n`,
  );
  if (size > maxBytes) process.exitCode = 1;
}

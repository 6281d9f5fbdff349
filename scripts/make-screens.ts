/**
 * Takes the pictures of docs/screens/ that docs/console.md shows: screens in light colours, some also in dark colours or on a
 * phone. The node has a fresh database with the same users, campaigns, calls and errors each time (seed 1), and its clock
 * starts at a fixed time, so that pictures differ only where the console does.
 *
 * With `--every <folder>` it writes every screen to that folder, in light and dark, for a phone, a laptop and a wide display.
 * With `--check` it writes nothing, and exits with 1 if a picture differs from its screen.
 *
 * Usage: npm run console:screens [-- <name of a screen>] [-- --every <folder>] [-- --check]
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { comparePictures } from './compare-pictures.ts';
import { fillHistory, fillScreens, historyDays } from './fill-screens.ts';
import type { ScreenIds, StartLine } from './fill-screens.ts';
import { readScreens } from './read-screens.ts';

const root = join(import.meta.dirname, '..');
const pictures = join(root, 'docs', 'screens');
const given = parseArgs({
  options: { every: { type: 'string' }, check: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const only = given.positionals[0];
const every = given.values.every === undefined ? undefined : resolve(given.values.every);
const shownAt = new Date('2027-01-14T10:00:00Z');
// So that a page of the documentation loads quickly.
const maxBytes = 200_000;
/** Content that loads at another time differs less than this share; another colour, size or position differs more. */
const maxUnlike = 0.06;
const desk: BrowserContextOptions = { viewport: { width: 1280, height: 860 }, timezoneId: 'UTC', locale: 'en-GB' };
const phone: BrowserContextOptions = { ...desk, viewport: { width: 390, height: 844 } };
const wide: BrowserContextOptions = { ...desk, viewport: { width: 1920, height: 1080 } };

type Look = { suffix: string; options: BrowserContextOptions; names: readonly string[] };
const searches: Record<string, string> = { users: '?q=ada', composed: '?step=content&as=ada' };
const addresses = new Map(readScreens().map(({ name, address }) => [name, address]));
const documented: Look[] = [
  { suffix: '', options: desk, names: documentedNames('') },
  { suffix: '-dark', options: { ...desk, colorScheme: 'dark' }, names: documentedNames('-dark') },
  { suffix: '-phone', options: phone, names: documentedNames('-phone') },
];

/** The screens whose pictures with this suffix docs/console.md shows. */
function documentedNames(suffix: string): string[] {
  const page = readFileSync(join(root, 'docs', 'console.md'), 'utf8');
  return [...addresses.keys()].filter((name) => page.includes(`(screens/${pictureName(name)}${suffix}.png)`));
}

function looks(): Look[] {
  const widths = Object.entries({ phone, laptop: desk, wide });
  return (['light', 'dark'] as const).flatMap((colorScheme) =>
    widths.map(([width, options]) => ({
      ...{ suffix: `-${width}-${colorScheme}`, options: { ...options, colorScheme }, names: [...addresses.keys()] },
    })),
  );
}

const folder = await mkdtemp(join(tmpdir(), 'carillon-screens-'));
const script = (name: string): string[] => ['--disable-warning=ExperimentalWarning', join(root, 'server', 'src', name)];
const parameters = ['--data-dir', folder, '--port', '0', '--json', '--seed', '1'];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
let node: ChildProcess | undefined;
try {
  const first = await startNode();
  const command = (...words: string[]): void => {
    const done = spawnSync(process.execPath, [...script('cli/carillon.ts'), '--data-dir', folder, ...words], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (done.status !== 0) throw new Error(`carillon ${words.join(' ')} ended with ${done.status}`);
  };
  let ahead = Math.round((shownAt.getTime() - Date.now()) / 1000) - historyDays * 86_400;
  let current = first;
  const moveClock = async (seconds: number): Promise<StartLine> => {
    const body = JSON.stringify({ advanceSeconds: seconds + ahead });
    ahead = 0;
    const headers = { 'content-type': 'application/json' };
    await fetch(`${current.url}/sandbox/clock`, { method: 'POST', headers, body });
    return (current = await startNode());
  };
  // A link made before the clock moved has expired, and only the first start prints keys.
  const start = { ...(await fillHistory({ command, folder, keys: first.keys, moveClock })), keys: first.keys };
  const filled = await fillScreens({ start });
  await mkdir(every ?? pictures, { recursive: true });
  await photograph({ browser, start, ...filled });
} finally {
  await browser.close();
  await stopNode();
  await rm(folder, { recursive: true, force: true });
}

/** Starts the node, or restarts it. */
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
  for (const { suffix, options, names } of every === undefined ? documented : looks()) {
    const context = await browser.newContext({ ...options, storageState: session });
    for (const name of names) {
      const page = await context.newPage();
      await shoot(page, { name, suffix, address: addresses.get(name)!, url, ids });
      await page.close();
    }
    await context.close();
  }
}

type Screen = { name: string; suffix: string; address: string; url: string; ids: ScreenIds };

async function shoot(page: Page, { name, suffix, address, url, ids }: Screen): Promise<void> {
  if (
    only !== undefined &&
    only !== `${pictureName(name)}${suffix}` &&
    (every === undefined || only !== pictureName(name))
  )
    return;
  // A sent campaign cannot be edited, and a file segment has no filters.
  const named = {
    ...ids,
    ...(name === 'composed' && { campaignId: ids.draftId }),
    ...(name === 'changedFilter' && { segmentId: ids.filterSegmentId }),
  };
  const path = address.replace(/\$([A-Za-z]+)/g, (_whole, id: string) => named[id as keyof ScreenIds]);
  const search = searches[name] ?? '';
  await page.goto(`${url}/console${path}${search}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  // Screens that refetch every second never become idle, but their first data has loaded by then.
  await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => {});
  await page
    .locator('.mantine-Loader-root')
    .or(page.getByLabel('Loading', { exact: true }))
    // Previews of the composer.
    .or(page.locator('article[aria-busy="true"]'))
    .first()
    .waitFor({ state: 'hidden' });
  const picture = `${pictureName(name)}${suffix}.png`;
  const documented = join(pictures, picture);
  const file = given.values.check ? join(folder, picture) : join(every ?? pictures, picture);
  if (given.values.check) return reportLikeness(page, { picture, pair: [documented, file] });
  await takePicture(page, file);
  const { size } = await stat(file);
  const isTooHeavy = every === undefined && size > maxBytes;
  process.stdout.write(`${picture} ${Math.round(size / 1000)} kB${isTooHeavy ? ', too heavy' : ''}\n`);
  if (isTooHeavy) process.exitCode = 1;
}

async function takePicture(page: Page, path: string): Promise<void> {
  await page.screenshot({ path, animations: 'disabled', caret: 'hide', fullPage: every !== undefined });
}

type Likeness = { picture: string; pair: readonly [documented: string, taken: string] };

async function reportLikeness(page: Page, { picture, pair }: Likeness): Promise<void> {
  // The content security policy of the console's page blocks other pictures.
  const blank = await page.context().newPage();
  let unlike = 1;
  // On a busy machine a part of a screen may load late and move the others.
  for (let triesLeft = 5; triesLeft > 0 && unlike > maxUnlike; triesLeft -= 1) {
    if (triesLeft < 5) await page.waitForTimeout(2_000);
    await takePicture(page, pair[1]);
    unlike = await comparePictures(blank, pair);
  }
  await blank.close();
  const isUnlike = unlike > maxUnlike;
  process.stdout.write(`${picture} ${(unlike * 100).toFixed(1)} % differ${isUnlike ? ', take it again' : ''}\n`);
  if (isUnlike) process.exitCode = 1;
}

/** Returns the file name of a screen: changed-file for `changedFile`. */
function pictureName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Audits the console with Lighthouse, on this machine and signed in: accessibility and best practices 100, performance 95 or
 * more with its desktop settings. (Its phone settings slow the processor down by four; they have a separate column.) Also
 * prints the bytes transferred before the first screen is shown, and when that is.
 *
 * Usage: npm run bench -- lighthouse [--screens "",campaigns,people] [--rounds 3]. Needs Chromium (Debian: chromium).
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import type { CDPSession } from 'playwright-core';
import { startNode } from '../../server/test/start/start-bundle.ts';
import type { StartLine } from '../../server/test/start/start-bundle.ts';
import { installPeers } from './install-peers.ts';
import { median } from './median.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'lighthouse'),
  options: {
    screens: { type: 'string', default: ',campaigns,segments,people,deliveries,log,keys,system' },
    rounds: { type: 'string', default: '3' },
  },
});
const goals = { accessibility: 100, 'best-practices': 100, performance: 95 };
type Category = keyof typeof goals;
const categories = Object.keys(goals) as Category[];

/** The part of Lighthouse's result that is used here. */
type Judged = {
  categories: Record<Category, { score: number }>;
  audits: Record<string, { title: string; score: number | null; numericValue?: number }>;
};
type Lighthouse = {
  default: (url: string, flags: object, config: object) => Promise<{ lhr: Judged }>;
  desktopConfig: object;
};

const executablePath = '/usr/bin/chromium';
if (!existsSync(executablePath)) {
  process.stderr.write('bench lighthouse: Chromium is needed (Debian: apt install chromium)\n');
  process.exit(2);
}
const entry = join(installPeers('lighthouse'), 'node_modules', 'lighthouse', 'core', 'index.js');
const lighthouse = (await import(pathToFileURL(entry).href)) as Lighthouse;
const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
const node = startNode(['--port', '0', '--json'], {
  CARILLON_DATA_DIR: join(folder, 'data'),
  CARILLON_LOG_LEVEL: 'error',
});
const line = await node.firstLine;
if (line === undefined) throw new Error((await node.exited).stderr);
const { console: link, url, workspaceId } = JSON.parse(line) as StartLine & { console: string };
const port = await freePort();
// This process and Lighthouse share cookies only in a context that is stored in a folder.
const browser = await chromium.launchPersistentContext(join(folder, 'browser'), {
  executablePath,
  args: ['--no-sandbox', `--remote-debugging-port=${port}`],
});
let isMet = true;
let devTools: CDPSession | undefined;
try {
  const page = await browser.newPage();
  await page.goto(link);
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  for (const screen of values.screens.split(',')) {
    await page.goto(addressOf(screen));
    await page.getByRole('heading', { level: 1 }).waitFor();
    if ((await page.getByText('Page not found').count()) > 0) throw new Error(`there is no screen ${screen}`);
  }
  await page.goto('about:blank');
  devTools = await browser.newCDPSession(page);
  process.stdout.write(
    `${'screen'.padEnd(14)}${[...categories, 'on a phone', 'first screen', 'travels'].map((name) => name.padStart(16)).join('')}\n`,
  );
  for (const screen of values.screens.split(',')) await judge(screen);
} finally {
  await browser.close();
  node.process.kill('SIGTERM');
  await node.exited;
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = isMet ? 0 : 1;

function addressOf(screen: string): string {
  return `${url}/console/w/${workspaceId}${screen === '' ? '' : `/${screen}`}`;
}

async function judge(screen: string): Promise<void> {
  const address = addressOf(screen);
  const rounds: Judged[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1)
    rounds.push(await look(address, lighthouse.desktopConfig));
  const phone = await look(address, { extends: 'lighthouse:default' });
  const scoreOf = (judged: Judged, name: Category): number => Math.round(judged.categories[name].score * 100);
  const scores = categories.map((name) => median(rounds.map((judged) => scoreOf(judged, name))));
  const numberOf = (name: string): number =>
    median(rounds.map(({ audits }) => audits[name]?.numericValue ?? Number.NaN));
  const cells = [
    ...scores.map(String),
    String(scoreOf(phone, 'performance')),
    `${(numberOf('largest-contentful-paint') / 1000).toFixed(2)} s`,
    `${Math.round(numberOf('total-byte-weight') / 1000)} kB`,
  ];
  process.stdout.write(`${(screen || 'overview').padEnd(14)}${cells.map((cell) => cell.padStart(16)).join('')}\n`);
  for (const [index, name] of categories.entries()) {
    if (scores[index]! >= goals[name]) continue;
    isMet = false;
    process.stdout.write(`  ${name} is below ${goals[name]}\n`);
  }
  const failed = Object.values(rounds.at(-1)!.audits).filter(({ score }) => score !== null && score < 0.9);
  for (const { title, score } of failed) process.stdout.write(`  ${score!.toFixed(2)} ${title}\n`);
}

async function look(address: string, config: object): Promise<Judged> {
  // Clears the cache so that each load is a first one; Lighthouse's own reset would also clear the session.
  await devTools!.send('Network.clearBrowserCache');
  const flags = { port, onlyCategories: categories, disableStorageReset: true, logLevel: 'error', output: 'json' };
  return (await lighthouse.default(address, flags, config)).lhr;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port: free } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return free;
}

import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import type { Browser, CDPSession } from 'playwright-core';
import { inTurn, median } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { startBenchNode } from '../kit/installation.ts';
import { installPeers } from '../kit/peers.ts';

const executablePath = '/usr/bin/chromium';

/** The address of the console's first screen, and the link that signs in once. */
type OpenConsole = { home: string; link: string };

/** Starts a sandbox with the built console. */
async function startConsole(bench: Pick<Bench, 'defer' | 'makeFolder'>): Promise<OpenConsole> {
  const settings = { CARILLON_DATA_DIR: await bench.makeFolder() };
  const { console: link, url, workspaceId } = await startBenchNode(bench, { settings });
  return { home: `${url}/console/w/${workspaceId}`, link };
}

type Loading = OpenConsole & { browser: Browser };

export const consoleLoadCase: Case<'console-load', Loading> = {
  async prepare(bench) {
    const opened = await startConsole(bench);
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    bench.defer(() => browser.close());
    return { ...opened, browser };
  },

  async run(bench, { home, link, browser }) {
    const signedIn = await browser.newContext();
    const page = await signedIn.newPage();
    await page.goto(link);
    await page.getByText('All is well').waitFor();
    const storageState = await signedIn.storageState();
    const rounds = await inTurn(bench.options.rounds, {
      async times() {
        // A new context has an empty cache; the session is carried over.
        const context = await browser.newContext({ storageState });
        const opened = await context.newPage();
        const load = async (): Promise<number> => {
          await opened.goto(home, { waitUntil: 'commit' });
          await opened.getByText('All is well').waitFor();
          // Uses the navigation's own clock, because an outside wait ends a little later.
          return Number(await opened.evaluate('performance.now()'));
        };
        const times = { cold: await load(), warm: await load() };
        await context.close();
        return times;
      },
    });
    for (const [name, key] of [
      ['empty cache', 'cold'],
      ['once more', 'warm'],
    ] as const) {
      const times = rounds.times.map((round) => round[key]);
      const slowest = Math.round(Math.max(...times));
      bench.say(`${name.padEnd(14)} median ${Math.round(median(times))} ms, slowest ${slowest} ms`);
    }
  },
};

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
type Judging = OpenConsole & { lighthouse: Lighthouse; devTools: CDPSession; port: number };

/**
 * Accessibility and best practices must be 100, performance 95 with the desktop settings. The phone settings, which slow the
 * processor down by four, have a separate column.
 */
export const lighthouseCase: Case<'lighthouse', Judging> = {
  async prepare(bench) {
    const entry = join(installPeers('lighthouse'), 'node_modules', 'lighthouse', 'core', 'index.js');
    const loaded = (await import(pathToFileURL(entry).href)) as Lighthouse;
    const opened = await startConsole(bench);
    const port = await freePort();
    // This process and Lighthouse share cookies only in a context that is stored in a folder.
    const browser = await chromium.launchPersistentContext(await bench.makeFolder(), {
      executablePath,
      args: ['--no-sandbox', `--remote-debugging-port=${port}`],
    });
    bench.defer(() => browser.close());
    const page = await browser.newPage();
    await page.goto(opened.link);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    for (const screen of bench.options.screens.split(',')) {
      await page.goto(addressOf(opened, screen));
      await page.getByRole('heading', { level: 1 }).waitFor();
      if ((await page.getByText('Page not found').count()) > 0) throw new Error(`there is no screen ${screen}`);
    }
    await page.goto('about:blank');
    return { ...opened, lighthouse: loaded, devTools: await browser.newCDPSession(page), port };
  },

  async run(bench, judging) {
    const head = [...categories, 'on a phone', 'first screen', 'transferred'];
    bench.say(`${'screen'.padEnd(14)}${head.map((name) => name.padStart(16)).join('')}`);
    for (const screen of bench.options.screens.split(',')) await judge(bench, { ...judging, screen });
  },
};

function addressOf({ home }: OpenConsole, screen: string): string {
  return screen === '' ? home : `${home}/${screen}`;
}

async function judge(bench: Bench<'lighthouse'>, judging: Judging & { screen: string }): Promise<void> {
  const { screen } = judging;
  const { rounds } = await inTurn(bench.options.rounds, {
    rounds: () => look(judging, judging.lighthouse.desktopConfig),
  });
  const phone = await look(judging, { extends: 'lighthouse:default' });
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
  bench.say(`${(screen || 'overview').padEnd(14)}${cells.map((cell) => cell.padStart(16)).join('')}`);
  for (const [index, name] of categories.entries()) {
    if (scores[index]! >= goals[name]) continue;
    bench.fail();
    bench.say(`  ${name} is below ${goals[name]}`);
  }
  const failed = Object.values(rounds.at(-1)!.audits).filter(({ score }) => score !== null && score < 0.9);
  for (const { title, score } of failed) bench.say(`  ${score!.toFixed(2)} ${title}`);
}

async function look(judging: Judging & { screen: string }, config: object): Promise<Judged> {
  const { devTools, port, screen } = judging;
  // Clears the cache so that each load is a first one; Lighthouse's own reset would also clear the session.
  await devTools.send('Network.clearBrowserCache');
  const flags = { port, onlyCategories: categories, disableStorageReset: true, logLevel: 'error', output: 'json' };
  return (await judging.lighthouse.default(addressOf(judging, screen), flags, config)).lhr;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port: free } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return free;
}

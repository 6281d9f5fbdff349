import type axe from 'axe-core';
import type { Result, RuleObject, RunOnly, RunOptions } from 'axe-core';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import { isFull } from '../full-test.ts';
import { testEveryClick } from './hit-test.ts';

/** Debian's Chromium; first its build without windows, which takes a seventh less of the processor for the same walk. */
const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)) ?? '';
export const hasChromium = executablePath !== '';
export const skipReason = hasChromium ? '' : ' (skipped: no /usr/bin/chromium)';

/**
 * What one screen alone does, with all of its states, or a walk over many of them: under FULL=1, as in CI. In each
 * `npm test` are the composer by the keyboard, the keys and the shell; the others take a fifth of its time.
 */
export function describeScreen(name: string, tests: () => void): void {
  describe.runIf(hasChromium && isFull)(`${name} (FULL=1)${skipReason}`, tests);
}

export type ConsoleBrowser = Awaited<ReturnType<typeof startConsoleBrowser>>;

/**
 * A page lives for seconds: what its scripts gain by compilers that optimize is less than these take, an eighth of all that
 * Chromium takes of the processor. The plain one is quick enough to be worth it for axe. What is drawn is drawn by the browser's own
 * process: a process that draws for it takes another tenth.
 */
const flags = ['--no-sandbox', '--js-flags=--no-opt --no-maglev', '--in-process-gpu', '--disable-gpu-compositing'];

let shared: Promise<Browser> | undefined;

/**
 * The one Chromium of this worker: starting one takes more of the processor than a short walk. It lives until the worker
 * ends; what a test leaves behind are contexts, and each test file closes its own.
 */
export function openBrowser(): Promise<Browser> {
  shared ??= chromium.launch({ executablePath, args: flags }).then((browser) => {
    browser.once('disconnected', () => (shared = undefined));
    return browser;
  });
  return shared;
}

/** Stands for the pictures of shops that do not exist. */
const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A node with its console, in Chromium. */
export async function startConsoleBrowser(environment: Record<string, string> = {}) {
  const bundle = await startCarillonBundle(environment);
  const browser = await openBrowser();
  const contexts: BrowserContext[] = [];
  const home = `${bundle.url}/console/w/${bundle.workspaceId}`;

  /** A page of its own cookies, whose faults and refused scripts are collected. */
  async function openPage(options: BrowserContextOptions = {}) {
    // What fades in is a colour that nobody chose, for as long as the machine is slow.
    const context = closeUnrouted(await browser.newContext({ reducedMotion: 'reduce', ...options }));
    contexts.push(context);
    // A wait that is in vain says where, before the time of the test is over.
    context.setDefaultTimeout(30_000);
    // Whether a name that does not exist is reported in time depends on the machine's resolver.
    await context.route(/^https:\/\/(shop\.example|example\.com)\//, (asked) =>
      asked.fulfill({ contentType: 'image/png', body: onePixel }),
    );
    const page = await context.newPage();
    testEveryClick(page);
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(`${message.text()} ${message.location().url}`);
    });
    return { page, context, faults };
  }

  /** The same, signed in by a session of its own. It has loaded nothing yet: a screen takes most of what a short walk takes. */
  async function openSession(options: BrowserContextOptions = {}) {
    const opened = await openPage(options);
    const code = (await bundle.carillon.createConsoleLink()).split('#sign-in=')[1];
    const answer = await opened.context.request.post(`${bundle.url}/console/api/session`, { data: { code } });
    expect(answer.status()).toBe(204);
    return opened;
  }

  return {
    bundle,
    browser,
    home,
    openPage,
    openSession,
    /** The same, which shows the overview. */
    async openSignedIn(options: BrowserContextOptions = {}) {
      const opened = await openSession(options);
      await opened.page.goto(home);
      await opened.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      return opened;
    },
    async stop() {
      await Promise.all(contexts.map((context) => context.close()));
      await bundle.stop();
    },
  };
}

/**
 * A page asks for some things again whenever it likes. A route whose handler is at work when the context is closed would fail with
 * an error that no test waits for, and with it the whole run.
 */
function closeUnrouted(context: BrowserContext): BrowserContext {
  const close = context.close.bind(context);
  let isClosed = false;
  context.once('close', () => (isClosed = true));
  context.close = async (options) => {
    if (isClosed) return;
    await Promise.all([...context.pages(), context].map((routed) => routed.unrouteAll({ behavior: 'ignoreErrors' })));
    await close(options);
  };
  return context;
}

/** Without its comments and long names: each document reads it anew, and it is sent there each time. */
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What needs no landmark around it: axe's own, and a tooltip, which is read with the element that it describes. */
const ownRegions = 'dialog, [role=dialog], [role=alertdialog], [role=tooltip], svg';

/** What axe has against a page, by these rules or tags of rules only. */
export async function findViolations(page: Page, runOnly?: RunOnly): Promise<Pick<Result, 'id' | 'nodes'>[]> {
  // Once a document: reading its half megabyte takes longer than looking for colours.
  if (!(await page.evaluate(() => 'axe' in globalThis))) {
    await page.evaluate(axeSource);
    await page.evaluate((regionMatcher) => {
      (globalThis as unknown as { axe: typeof axe }).axe.configure({
        checks: [{ id: 'region', options: { regionMatcher } }],
      });
    }, ownRegions);
  }
  return page.evaluate(
    async (options) => {
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(options);
      return violations.map(({ id, nodes }) => ({ id, nodes }));
    },
    { ...(runOnly && { runOnly }), rules: labelRules, resultTypes: ['violations'] } satisfies RunOptions,
  );
}

/**
 * Speech control finds a control by the words on it (WCAG 2.5.3), so its name must contain them. axe has the rule, off by default
 * because it may report icons that are letters.
 */
const labelRules: RuleObject = { 'label-content-name-mismatch': { enabled: true } };

const everyRule = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Those that look at colours. A scheme changes nothing else: the elements, names and roles are the same. */
const colourRules = ['color-contrast', 'link-in-text-block'];

type ColourScheme = 'light' | 'dark';
export const bothSchemes: readonly ColourScheme[] = ['light', 'dark'];
/** A state of one, such as a dialog or a refusal, is looked at under FULL=1: it takes half a second of the processor. */
const schemesOfState: readonly ColourScheme[] = isFull ? bothSchemes : [];

/** Nothing on the page is against WCAG 2.2 AA, in these schemes. */
export async function expectAccessible(page: Page, schemes = schemesOfState): Promise<void> {
  // The heading of a page may come after its lists. axe reports it if it never comes.
  await page
    .locator('h1')
    .first()
    .waitFor({ state: 'attached' })
    .catch(() => undefined);
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    const runOnly = {
      type: colorScheme === 'light' ? 'tag' : 'rule',
      values: colorScheme === 'light' ? everyRule : colourRules,
    } as const;
    const violations = await findViolations(page, runOnly);
    expect(
      violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
    ).toEqual([]);
  }
}

import { AxeBuilder } from '@axe-core/playwright';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';

/** Debian's Chromium; first its build without windows, which takes a seventh less of the processor for the same walk. */
const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)) ?? '';
export const hasChromium = executablePath !== '';
export const skipReason = hasChromium ? '' : ' (skipped: no /usr/bin/chromium)';

export type ConsoleBrowser = Awaited<ReturnType<typeof startConsoleBrowser>>;

let shared: Promise<Browser> | undefined;

/**
 * The one Chromium of this worker: starting one takes more of the processor than a short walk. It lives until the worker
 * ends; what a test leaves behind are contexts, and each test file closes its own.
 */
export function openBrowser(): Promise<Browser> {
  shared ??= chromium.launch({ executablePath, args: ['--no-sandbox'] }).then((browser) => {
    browser.once('disconnected', () => (shared = undefined));
    return browser;
  });
  return shared;
}

/** A node with its console, in Chromium. */
export async function startConsoleBrowser(environment: Record<string, string> = {}) {
  const bundle = await startCarillonBundle(environment);
  const browser = await openBrowser();
  const contexts: BrowserContext[] = [];
  const home = `${bundle.url}/console/w/${bundle.workspaceId}`;

  /** A page of its own cookies, whose faults and refused scripts are collected. */
  async function openPage(options: BrowserContextOptions = {}) {
    const context = await browser.newContext(options);
    contexts.push(context);
    // A wait that is in vain says where, before the time of the test is over.
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(`${message.text()} ${message.location().url}`);
    });
    return { page, context, faults };
  }

  return {
    bundle,
    browser,
    home,
    openPage,
    /** The same, signed in by a session of its own. */
    async openSignedIn(options: BrowserContextOptions = {}) {
      const opened = await openPage(options);
      await opened.page.goto(await bundle.carillon.createConsoleLink());
      await opened.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      return opened;
    },
    async stop() {
      await Promise.all(contexts.map((context) => context.close()));
      await bundle.stop();
    },
  };
}

/** What axe has against a page. It asks for nothing but that: the rest of its report costs more than the search. */
export function makeAxe(page: Page): AxeBuilder {
  // "Legacy" evaluates within the page instead of in a second one. What it gives up is frames of other origins, and the
  // console has none.
  return new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
}

const everyRule = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Those that look at colours. A scheme changes nothing else: the elements, names and roles are the same. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** Nothing on the page is against WCAG 2.2 AA, in light and dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    const axe = colorScheme === 'light' ? makeAxe(page).withTags(everyRule) : makeAxe(page).withRules(colourRules);
    const { violations } = await axe.analyze();
    expect(
      violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
    ).toEqual([]);
  }
}

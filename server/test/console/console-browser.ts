import { AxeBuilder } from '@axe-core/playwright';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';

const executablePath = '/usr/bin/chromium';
export const hasChromium = existsSync(executablePath);
export const skipReason = hasChromium ? '' : ' (skipped: no /usr/bin/chromium)';

export type ConsoleBrowser = Awaited<ReturnType<typeof startConsoleBrowser>>;

/** A node with its console, in Chromium. */
export async function startConsoleBrowser(environment: Record<string, string> = {}) {
  const bundle = await startCarillonBundle(environment);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const home = `${bundle.url}/console/w/${bundle.workspaceId}`;

  /** A page of its own cookies, whose faults and refused scripts are collected. */
  async function openPage(options: BrowserContextOptions = {}) {
    const context = await browser.newContext(options);
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
      await browser.close();
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

/** Nothing on the page is against WCAG 2.2 AA, in light and dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    const { violations } = await makeAxe(page)
      .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'])
      .analyze();
    expect(
      violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
    ).toEqual([]);
  }
}

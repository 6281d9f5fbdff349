import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { findViolations, hasChromium, openBrowser, skipReason } from './console-browser.ts';

describe.skipIf(!hasChromium)(`the console in Chromium${skipReason}`, () => {
  let bundle: CarillonBundle;
  let browser: Browser;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await bundle?.stop();
  });

  test('the printed link signs in; the page shows the workspace, and a push as it arrives; nothing is against WCAG 2.2 AA in light or dark', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    await page.goto(bundle.block.console);
    await page.getByText(bundle.workspaceId).first().waitFor();
    // The code is used up and gone from the address, so it cannot be copied or reloaded.
    expect(page.url()).not.toContain('sign-in');

    await bundle.push({
      campaignName: 'Seen <img src=x onerror=alert(1)>',
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Arrives <b>live</b>', message: 'Hello <script>alert(2)</script>' } },
      campaignDelivery: { type: 'soon' },
    });
    await page.getByText('Arrives <b>live</b>').first().waitFor();
    await page.getByText('Seen <img src=x onerror=alert(1)>').first().waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = await findViolations(page, {
        type: 'tag',
        values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'],
      });
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    }
    expect(faults).toEqual([]);
    await context.close();
  });

  test('without a session the page says how to get in', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${bundle.url}/console/`);
    await page
      .getByText(/sign-in link|start block|printed/i)
      .first()
      .waitFor();
    await context.close();
  });
});

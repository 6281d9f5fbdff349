import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, hasChromium, skipReason, startConsoleBrowser } from './console-browser.ts';
import { fullTest } from '../full-test.ts';
import type { Request } from 'playwright-core';
import type { ConsoleBrowser } from './console-browser.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

describe.skipIf(!hasChromium)(`the shell of the console${skipReason}`, () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('what is loaded before the first screen stands travels in at most 200 kB, compressed when it was built, all from here', async () => {
    const { page, context } = await console.openPage();
    const loaded: Promise<{ path: string; bytes: number; encoding: string | undefined }>[] = [];
    const origins = new Set<string>();
    const note = (request: Request): void => {
      const { origin, pathname } = new URL(request.url());
      origins.add(origin);
      if (pathname.startsWith('/console/api/')) return;
      const read = async () => ({
        path: pathname,
        bytes: (await request.sizes()).responseBodySize,
        encoding: (await request.response())!.headers()['content-encoding'],
      });
      loaded.push(read());
    };
    page.on('requestfinished', note);
    await page.goto(await console.bundle.carillon.createConsoleLink());
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // What ends from here on is not waited for, and nobody is left to ask about it once the page is closed.
    page.off('requestfinished', note);
    const files = await Promise.all(loaded);
    const sum = files.reduce((total, { bytes }) => total + bytes, 0);
    expect(sum).toBeGreaterThan(50_000);
    expect(sum).toBeLessThanOrEqual(200_000);
    // What is not compressed is smaller than a packet.
    expect(files.filter(({ bytes, encoding }) => encoding !== 'br' && encoding !== 'gzip' && bytes > 1_400)).toEqual(
      [],
    );
    expect([...origins]).toEqual([console.bundle.url]);
    await context.close();
  });

  test('an address of a screen is answered with the console, which opens that screen; an unknown one says so', async () => {
    const { page, context } = await console.openPage();
    await page.goto(await console.bundle.carillon.createConsoleLink());
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/w/${console.bundle.workspaceId}`);
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(`${console.home}/nothing-of-ours`);
    await page.getByText('Page not found').waitFor();
    await page.goto(`${console.bundle.url}/console/w/OTHER`);
    await page.getByText('Workspace not found').waitFor();
    await context.close();
  });

  test('the keyboard finds the way past the navigation, and the pages are without fault in light, dark and on a phone', async () => {
    const { page, context, faults } = await console.openSignedIn();
    await expectAccessible(page);
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement?.id')).toBe('main');

    // In a low window too the list of screens shows where one is, and the keyboard begins above it.
    await page.setViewportSize({ width: 1280, height: 500 });
    await page.goto(`${console.home}/settings`);
    const current = page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Settings' });
    const isSeen = (link: any) => {
      const list = link.closest('[data-scrolls]').getBoundingClientRect();
      return list.height < 500 && link.getBoundingClientRect().bottom <= list.bottom + 1;
    };
    await expect.poll(() => current.evaluate(isSeen)).toBe(true);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');

    await page.setViewportSize({ width: 375, height: 800 });
    await page.getByRole('button', { name: 'Open the list of screens' }).click();
    await page.getByRole('navigation', { name: 'Screens' }).getByText('Overview').waitFor();
    await expectAccessible(page);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    expect(faults).toEqual([]);
    await context.close();
  });

  fullTest(
    'Ctrl K leads by the keyboard alone to a screen, from within a field too; Escape closes (FULL=1)',
    async () => {
      const { page, context, faults } = await console.openSession();
      await page.goto(`${console.home}/log`);
      await page.getByRole('textbox', { name: 'Path' }).focus();
      await page.keyboard.press('Control+k');
      const field = page.getByRole('combobox', { name: 'Screen, campaign, segment, user, or any id' });
      await field.waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await field.waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await field.waitFor();
      await page.keyboard.type('ada');
      await page.getByRole('option', { name: /^ada\b/ }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'ada', level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      await field.waitFor();
      // The second from below, over the end of the list.
      await page.keyboard.press('ArrowUp');
      await page.keyboard.type('sys');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      await page.getByRole('option', { name: /^System/, selected: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/system');
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  fullTest(
    'the navigation that was collapsed stays so, names its screens and marks where one is (FULL=1)',
    async () => {
      const { page, context } = await console.openSession();
      await page.goto(`${console.home}/keys`);
      await page.getByRole('button', { name: 'Collapse the navigation' }).click();
      await page.reload();
      const screens = page.getByRole('navigation', { name: 'Screens' });
      await screens.getByRole('link', { name: 'Keys' }).waitFor();
      expect(await screens.getByRole('link', { name: 'Keys' }).getAttribute('aria-current')).toBe('page');
      expect(await screens.getByText('Keys').count()).toBe(0);
      await expectAccessible(page);
      await screens.getByRole('link', { name: 'Users' }).click();
      await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
      await page.getByRole('button', { name: 'Expand the navigation' }).click();
      await screens.getByText('Keys').waitFor();
      await context.close();
    },
  );

  test('a screen that the own role does not open says who can change that; an address of none keeps the navigation', async () => {
    const { bundle } = console;
    const owner = await console.openSession();
    const invite = async (role: string) => {
      const invited = await owner.context.request.post(`${bundle.url}/console/api/invitations`, {
        data: { email: `${role}@example.com`, role },
      });
      const code = (await invited.json()).link.split('=').at(-1);
      const { page, context } = await console.openPage();
      await context.request.post(`${bundle.url}/console/api/invitation/acceptance`, {
        data: { code, name: role, password: 'nine more green bottles' },
      });
      return { page, context };
    };
    const boss = await invite('owner');
    const { page, context } = await invite('analyst');
    await page.goto(`${console.home}/keys`);
    await page.getByRole('heading', { name: 'You have no access to this page' }).waitFor();
    await page.getByText('keys.read').waitFor();
    await page.getByRole('link', { name: 'owner@example.com' }).waitFor();
    await expectAccessible(page);
    await page.goto(`${console.home}/nothing-of-ours`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    // Its link leads to a screen above this address, which the router takes for the one that is shown.
    await expectAccessible(page);
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Campaigns' }).click();
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
    await Promise.all([owner, boss, { context }].map((opened) => opened.context.close()));
  });

  fullTest('the colours that somebody chose stay after a reload (FULL=1)', async () => {
    const { page, context } = await console.openSignedIn({ colorScheme: 'light' });
    await page.getByRole('button', { name: 'Dark' }).click();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await page.reload();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await context.close();
  });

  fullTest(
    'with a second workspace the switch leads to it, and an address without one to the workspace used last (FULL=1)',
    async () => {
      const other = await insertTestWorkspace(console.bundle.database, new Date('2026-01-01T00:00:00Z'));
      const { page, context } = await console.openSession();
      await page.goto(console.home);
      await page.getByLabel('Workspace', { exact: true }).selectOption(other);
      await page.waitForURL(`**/console/w/${other}`);
      await page.getByText(other).first().waitFor();
      await page.goto(`${console.bundle.url}/console/`);
      await page.waitForURL(`**/console/w/${other}`);
      await context.close();
    },
  );
});

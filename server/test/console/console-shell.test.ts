import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, hasChromium, skipReason, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

describe.skipIf(!hasChromium)(`the shell of the console${skipReason}`, () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('what is loaded before the first screen stands travels in at most 220 kB, compressed when it was built, all from here', async () => {
    const { page, context } = await console.openPage();
    const loaded: Promise<{ path: string; bytes: number; encoding: string | undefined }>[] = [];
    const origins = new Set<string>();
    page.on('requestfinished', (request) => {
      const { origin, pathname } = new URL(request.url());
      origins.add(origin);
      if (pathname.startsWith('/console/api/')) return;
      const read = async () => ({
        path: pathname,
        bytes: (await request.sizes()).responseBodySize,
        encoding: (await request.response())!.headers()['content-encoding'],
      });
      loaded.push(read());
    });
    await page.goto(await console.bundle.carillon.createConsoleLink());
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const files = await Promise.all(loaded);
    const sum = files.reduce((total, { bytes }) => total + bytes, 0);
    expect(sum).toBeGreaterThan(50_000);
    expect(sum).toBeLessThanOrEqual(220_000);
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

    await page.setViewportSize({ width: 375, height: 800 });
    await page.getByRole('button', { name: 'Open the list of screens' }).click();
    await page.getByRole('navigation', { name: 'Screens' }).getByText('Overview').waitFor();
    await expectAccessible(page);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the colours that somebody chose stay after a reload', async () => {
    const { page, context } = await console.openSignedIn({ colorScheme: 'light' });
    await page.getByRole('button', { name: 'Dark' }).click();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await page.reload();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await context.close();
  });

  test('with a second workspace the switch leads to it, and an address without one to the workspace used last', async () => {
    const other = await insertTestWorkspace(console.bundle.database, new Date('2026-01-01T00:00:00Z'));
    const { page, context } = await console.openSession();
    await page.goto(console.home);
    await page.getByLabel('Workspace', { exact: true }).selectOption(other);
    await page.waitForURL(`**/console/w/${other}`);
    await page.getByText(other).first().waitFor();
    await page.goto(`${console.bundle.url}/console/`);
    await page.waitForURL(`**/console/w/${other}`);
    await context.close();
  });
});

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listPages } from '../../scripts/site/list-pages.ts';
import { makeManualClock } from '../src/clock.ts';
import { buildServer } from '../src/http/server/build-server.ts';
import { docsRoutes } from '../src/http/docs.ts';
import { makeLog } from '../src/log.ts';
import { describeScreen, findViolations, openBrowser } from './console/console-browser.ts';
import { testEveryClick } from './console/hit-test.ts';

const root = join(import.meta.dirname, '..', '..');
/** A scheme changes colours and nothing else. */
const darkRules = { type: 'rule' as const, values: ['color-contrast', 'link-in-text-block'] };
const sizes = [
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
];

describeScreen('the site of the documentation in Chromium', () => {
  let server: Awaited<ReturnType<typeof buildServer>>;
  let url: string;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, ['scripts/build-docs.ts'], { cwd: root });
    const log = makeLog({ level: 'silent', pretty: false });
    const options = { log, clock: makeManualClock(new Date(0)), trustProxy: false };
    server = await buildServer(options as never, [docsRoutes(join(root, 'docs', 'dist'))]);
    url = `${await server.listen({ port: 0, host: '127.0.0.1' })}/docs/`;
  }, 180_000);
  afterAll(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    await server.close();
  });

  /** Faults are what its scripts throw and what the policy refuses; that here is no node and no sandbox, as they ask, is none. */
  async function openPage(viewport = sizes[1]!): Promise<{ page: Page; faults: string[] }> {
    const context = await (await openBrowser()).newContext({ viewport });
    contexts.push(context);
    const page = await context.newPage();
    testEveryClick(page);
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/\/(livez|sandbox\/clock)$/.test(message.location().url))
        faults.push(message.text());
    });
    return { page, faults };
  }

  /** Every address of the menu, which has every page. */
  async function listAddresses(): Promise<string[]> {
    const { page } = await openPage();
    await page.goto(url);
    const links = page.locator('#menu a');
    return links.evaluateAll((found) => found.map((link) => (link as HTMLAnchorElement).href));
  }

  /** The first two of each folder and section, and the largest kinds. */
  const kinds = [
    ...['', 'quick-start/', 'concepts/', 'guides/marketer/', 'recipes/', 'recipes/broadcast/', 'api/push/', 'bodies/'],
    ...['console/', 'errors/', 'states/', 'metrics/', 'reliability/', 'tour/', 'switch/'],
    ...['runbooks/', 'decisions/', 'decisions/0052-documentation-site/', 'spec/', 'client/'],
  ];

  test.each(sizes)(
    'no kind of page has anything against WCAG 2.2 AA, $width pixels wide, in both schemes',
    async (size) => {
      const { page, faults } = await openPage(size);
      const addresses = await listAddresses();
      const shown = kinds.filter((kind) => addresses.includes(url + kind));
      expect(shown.length).toBeGreaterThan(15);
      const found: string[] = [];
      for (const kind of shown) {
        await page.emulateMedia({ colorScheme: 'light' });
        await page.goto(url + kind);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const violations = await findViolations(page, colorScheme === 'dark' ? darkRules : undefined);
          for (const { id, nodes } of violations) found.push(`${kind} ${colorScheme} ${id}: ${nodes[0]?.html}`);
        }
      }
      expect(found).toEqual([]);
      expect(faults).toEqual([]);
    },
    240_000,
  );

  test('no page is wider than a phone: code, tables and diagrams scroll in themselves', async () => {
    const { page } = await openPage(sizes[0]);
    const addresses = await listAddresses();
    expect(addresses.length).toBeGreaterThan((await listPages(root)).length);
    const wide: string[] = [];
    let scrolled = 0;
    for (const address of addresses) {
      await page.goto(address, { waitUntil: 'domcontentloaded' });
      const { overflow, inner } = await page.evaluate(() => ({
        overflow: document.documentElement.scrollWidth - innerWidth,
        inner: [...document.querySelectorAll('pre, .table, .states')].filter((one) => one.scrollWidth > one.clientWidth)
          .length,
      }));
      if (overflow > 0) wide.push(`${address}: ${overflow} pixels`);
      scrolled += inner;
    }
    expect(wide).toEqual([]);
    expect(scrolled).toBeGreaterThan(50);
  }, 240_000);

  test('every link and file of every page is answered', async () => {
    const { page } = await openPage();
    const asked = new Set<string>();
    for (const address of await listAddresses()) {
      const html = await (await page.request.get(address)).text();
      for (const [, target] of html.matchAll(/ (?:href|src)="([^"#]+)/g)) {
        const { href, origin, pathname } = new URL(target!.replaceAll('&amp;', '&'), address);
        // The console is the node's, and none is started here.
        if (origin === new URL(url).origin && !pathname.startsWith('/console')) asked.add(href);
      }
    }
    expect(asked.size).toBeGreaterThan(150);
    const broken: string[] = [];
    for (const href of asked) {
      const answer = await page.request.head(href, { maxRedirects: 0 });
      if (answer.status() !== 200) broken.push(`${answer.status()} ${href}`);
    }
    expect(broken).toEqual([]);
  }, 120_000);

  test('a word that is searched for leads to its section by the keyboard, and a page to the next', async () => {
    const { page, faults } = await openPage();
    await page.goto(url);
    await page.keyboard.press('/');
    await page.keyboard.type('quarantined');
    const first = page.locator('#found a').first();
    await first.waitFor();
    expect(await first.innerText()).toMatch(/chunk/i);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/states/#*');
    await page.getByRole('heading', { name: /^Chunk/ }).waitFor();

    await page.locator('#menu a[aria-current]').waitFor();
    const next = page.locator('footer a[rel=next]');
    const title = (await next.innerText()).split('\n').at(-1)!;
    await next.click();
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    expect(faults).toEqual([]);
  }, 60_000);

  test('the scheme that was chosen stays on the next page, and the menu of a phone opens', async () => {
    const { page, faults } = await openPage(sizes[0]);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${url}errors/`);
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await colour();
    await page.getByRole('button', { name: 'Light or dark' }).click();
    const dark = await colour();
    expect(dark).not.toBe(light);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.locator('#menu').getByRole('link', { name: 'Limits and lifetimes' }).click();
    await page.getByRole('heading', { level: 1, name: 'Limits and lifetimes' }).waitFor();
    expect(await colour()).toBe(dark);
    expect(faults).toEqual([]);
  }, 60_000);
});

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillCall, makeCurl, noValues } from '../../scripts/site/browser/make-curl.ts';
import { parseValues } from '../../scripts/site/browser/parse-values.ts';
import { listPages } from '../../scripts/site/list-pages.ts';
import { makePlainPages } from '../../scripts/site/plain-pages.ts';
import { readSite } from '../../scripts/site/read-site.ts';
import type { Site } from '../../scripts/site/read-site.ts';
import { makeManualClock } from '../src/clock.ts';
import { errorRegistry } from '../src/domain/errors.ts';
import { stateMachines } from '../src/domain/state-machines.ts';
import { docsRoutes } from '../src/http/docs.ts';
import { buildServer } from '../src/http/server/build-server.ts';
import { makeLog } from '../src/log.ts';
import { describeScreen, findViolations, openBrowser } from './console/console-browser.ts';
import { testEveryClick } from './console/hit-test.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the documentation site', () => {
  let site: Site;
  beforeAll(async () => {
    site = await readSite(root);
  });
  const htmlOf = (source: string): string => site.pages.find((page) => page.source === source)!.html;

  describe('the site of the documentation', () => {
    test('no link of a page leads nowhere: pages, anchors and files', () => {
      expect(site.dead).toEqual([]);
    });

    test('every page has an address of its own and stands in the menu once', () => {
      const addresses = site.pages.map(({ address }) => address);
      expect(addresses.length).toBeGreaterThan(100);
      expect(new Set(addresses).size).toBe(addresses.length);
    });

    test('neither a page nor the layout has a style, a script or a file of another address in it', async () => {
      const layout = await readFile(join(root, 'scripts/site/_includes/layout.liquid'), 'utf8');
      for (const html of [layout, ...site.pages.map((page) => page.html)]) {
        expect(html).not.toMatch(/<style| style="| on\w+="|<script(?! (?:type="module" )?src="\{\{ root \}\}assets)/);
        expect(html).not.toMatch(/(?:src|rel="stylesheet" href)="(?:https?:)?\/\//);
      }
    });

    test('a diagram of states is a picture with words for who does not see it, and no text of a language', () => {
      const page = htmlOf('docs/states.md');
      expect(page.match(/<svg role="img" aria-label="The states of [^"]+\. begin to [^"]+" /g)).toHaveLength(
        stateMachines.length,
      );
      expect(page).toContain('>QUARANTINED</text>');
      expect(page).not.toContain('stateDiagram');
    });

    test('every page is also Markdown, whose links lead to Markdown or to files of the site', () => {
      const files = new Map(makePlainPages(site.pages).map(({ path, text }) => [path, text]));
      expect(files.size).toBe(site.pages.length + 1);
      const copied = new Set([...site.files].map((file) => file.replace(/^docs\//, '')));
      const dead: string[] = [];
      for (const [path, text] of files) {
        expect(text, path).not.toContain('<!--');
        for (const [, target] of text.replace(/```[^]*?```/g, '').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
          if (/^[a-z]+:/.test(target!)) continue;
          const to = join(dirname(path), target!);
          if (!files.has(to) && !copied.has(to)) dead.push(`${path}: ${target}`);
        }
      }
      expect(dead).toEqual([]);
    });

    test('the list for programs describes every page, those about the making last', () => {
      const list = makePlainPages(site.pages).at(-1)!;
      expect(list.path).toBe('llms.txt');
      expect(list.text).toMatch(/^# Carillon\n\n> Carillon is a push messaging server/);
      expect(list.text).toContain('- [From OneSignal](moving/onesignal.md): What maps to what');
      expect(list.text.match(/^- \[/gm)).toHaveLength(site.pages.length);
      const sections = [...list.text.matchAll(/^## (.+)$/gm)].map(([, name]) => name);
      expect([sections[0], sections.at(-1)]).toEqual(['Start', 'Optional']);
    });

    test('every error can be linked to by its name', () => {
      const page = htmlOf('docs/errors.md');
      expect(Object.keys(errorRegistry).filter((name) => !page.includes(` id="${name}"`))).toEqual([]);
    });

    test('a bound, a required member, an error and the executed example of a push stand on its page', () => {
      const page = htmlOf('docs/api/push.md');
      expect(page).toContain('<code>campaignName</code> *</td>\n<td>string</td>\n<td>5 to 256 characters');
      expect(page).toContain('href="../../errors/#PUSH_RATE_LIMITED"');
      expect(page).toContain('data-call="sendPushV21"');
      expect(page).toContain('appId, signature and query type travel in headers.');
    });
  });

  describe('an example with own ids', () => {
    const values = { ...noValues, workspaceId: 'W1', dbName: 'own_db', dataKey: 'cdk_1', oauthKey: 'cok_1' };

    test('has them in path, headers, body and credentials', () => {
      const call = (name: string): string => makeCurl(fillCall(site.calls[name]!, { values }));
      expect(call('upsertCustomer')).toMatch(/^curl 'http:\/\/127\.0\.0\.1:8080\/v1\/customer\/W1'[^]*-u 'W1:cdk_1'/);
      expect(call('getSegment')).toContain("-H 'SVC-DBNAME: own_db'");
      expect(call('generateToken')).toContain('client_id=W1&client_secret=cok_1');
    });

    test('is quoted so that a shell takes every character', () => {
      const call = { method: 'POST', path: '/x', headers: {}, body: { text: "it's" } };
      expect(makeCurl(fillCall(call, { values }))).toContain(`"it'\\''s"`);
    });

    test.each([
      [
        'the line of a start',
        '{"url":"http://127.0.0.1:1","workspaceId":"X8J94KWBRT8633A78S9V9MV2","dbName":"demo_x8","keys":{"data":"cdk_u-W_m"}}',
      ],
      [
        'the lines of a start',
        '  Workspace     X8J94KWBRT8633A78S9V9MV2  (database name demo_x8)\n  Key: data     cdk_u-W_m\n',
      ],
      [
        'carillon status --env',
        'CARILLON_WORKSPACE_ID=X8J94KWBRT8633A78S9V9MV2\nCARILLON_WORKSPACE_DB_NAME=demo_x8\nCARILLON_DATA_KEY=cdk_u-W_m\n',
      ],
    ])('%s is understood', (_name, text) => {
      expect(parseValues(text)).toEqual({
        workspaceId: 'X8J94KWBRT8633A78S9V9MV2',
        dbName: 'demo_x8',
        dataKey: 'cdk_u-W_m',
      });
    });
  });
});

describe('a page of the documentation site', () => {
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

    /** The largest pages are tables of hundreds of rows, and axe takes a second for each hundred. */
    const shortenTables = (page: Page): Promise<void> =>
      page.evaluate(() => {
        for (const row of document.querySelectorAll('tbody > tr:nth-child(n + 13)')) row.remove();
      });

    /** The first two of each folder and section, and the largest kinds. */
    const kinds = [
      ...[
        '',
        'quick-start/',
        'concepts/',
        'guides/marketer/',
        'recipes/',
        'recipes/broadcast/',
        'api/push/',
        'bodies/',
      ],
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
            // One pass looks at every row. Colours and a narrow window change all rows of a table in the same way.
            if (size !== sizes[1] || colorScheme === 'dark') await shortenTables(page);
            const violations = await findViolations(page, colorScheme === 'dark' ? darkRules : undefined);
            for (const { id, nodes } of violations) found.push(`${kind} ${colorScheme} ${id}: ${nodes[0]?.html}`);
          }
        }
        expect(found).toEqual([]);
        expect(faults).toEqual([]);
      },
      480_000,
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
          inner: [...document.querySelectorAll('pre, .table, .states')].filter(
            (one) => one.scrollWidth > one.clientWidth,
          ).length,
        }));
        if (overflow > 0) wide.push(`${address}: ${overflow} pixels`);
        scrolled += inner;
      }
      expect(wide).toEqual([]);
      expect(scrolled).toBeGreaterThan(50);
    }, 480_000);

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

    test('an unknown address shows the menu, and searches for its words', async () => {
      const { page } = await openPage();
      const answer = await page.goto(`${url}guide/migrate-from-onesignal/`);
      expect(answer!.status()).toBe(404);
      await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
      await page.locator('#found a', { hasText: 'From OneSignal' }).first().click();
      await page.waitForURL('**/docs/moving/onesignal/**');
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
});

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { comparePictures } from '../../../scripts/compare-pictures.ts';
import { readScreens } from '../../../scripts/read-screens.ts';
import { until } from '../carillon-bundle.ts';
import { fullTest } from '../full-test.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import {
  bothSchemes,
  describeScreen,
  expectAccessible,
  hasChromium,
  openBrowser,
  skipReason,
  startConsoleBrowser,
} from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { findUnedited } from './find-unedited.ts';
import { findMisses } from './hit-test.ts';

describe('every screen', () => {
  const inCity = {
    filter_operator: 'and',
    filters: [{ filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'exists' }],
  };

  const addresses = readScreens().map(({ address }) => address);

  describeScreen('every screen in Chromium', () => {
    let console: ConsoleBrowser;
    const ids: Record<string, string> = {};
    beforeAll(async () => {
      console = await startConsoleBrowser();
      const { bundle } = console;
      const { cid } = (
        await bundle.push({
          campaignName: 'Spring sale',
          targetPlatform: ['ANDROID', 'IOS'],
          targetAudience: 'All Users',
          payload: { ANDROID: { title: 'Hello', message: 'There' }, IOS: { title: 'Hello', message: 'There' } },
          campaignDelivery: { type: 'soon' },
        })
      ).json();
      await until(async () => (await bundle.database`select 1 from campaigns where status = 'SENT'`).length > 0);
      const [user] = await bundle.database`select id from users where customer_id = 'ada'`;
      await bundle.database`
        insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
          created_at, updated_at)
        values (${'5'.repeat(24)}, ${bundle.workspaceId}, 'Lapsed', 'FILE', 'READY', 'API', 'u_em', 'string', 'test', now(), now())`;
      await bundle.database`
        insert into agent_proposals (id, workspace_id, campaign_id, kind, state, token_id, agent_name, note, parts, proposed_at,
          expires_at)
        values (${'6'.repeat(24)}, ${bundle.workspaceId}, ${cid}, 'PUBLISH', 'PENDING', 'none', 'Claude (agent of Olga)', 'Why not',
          '{"basic_details": {"name": "Spring sale"}}', now(), now() + interval '1 day')`;
      Object.assign(ids, {
        workspaceId: bundle.workspaceId,
        campaignId: cid,
        proposalId: '6'.repeat(24),
        userId: String(user!.id),
        segmentId: '5'.repeat(24),
      });
    });
    afterAll(() => console?.stop());

    test('has one heading, a separate address, approved text sizes and words, and no axe finding, in both schemes and on a phone', async () => {
      const { bundle } = console;
      const { page, context, faults } = await console.openSignedIn();
      // What is linked in the navigation is in the list of screens, so that none is walked past.
      const linked = await page
        .getByRole('navigation')
        .first()
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => new URL((link as unknown as { href: string }).href).pathname));
      const known = addresses.map((address) => `/console${address.replace('$workspaceId', bundle.workspaceId)}`);
      expect(linked.length).toBeGreaterThan(5);
      // The documentation is no screen of the console.
      expect(linked.filter((address) => !known.includes(address))).toEqual(['/docs']);

      // A draft to be edited; what was sent cannot be.
      const copy = await page.request.post(
        `${bundle.url}/console/api/campaigns/${ids.campaignId}/clone?workspaceId=${bundle.workspaceId}`,
      );
      const { id: draftId } = (await copy.json()) as { id: string };
      // Of the two segments one has filters to change.
      const built = await page.request.post(
        `${bundle.url}/console/api/segments/filter?workspaceId=${bundle.workspaceId}`,
        { data: { name: 'Of a city', included_filters: inCity } },
      );
      const { id: filterId } = (await built.json()) as { id: string };

      const walked: string[] = [];
      const unedited: string[] = [];
      const waiting = [...addresses];
      /** On a phone too a finger reaches all that is there, and nothing is wider than the screen. */
      async function walkOnPhone(page: Page, address: string): Promise<void> {
        const desk = page.viewportSize()!;
        await page.setViewportSize({ width: 390, height: 844 });
        // The list of screens slides out first.
        await expect.poll(() => findMisses(page), { message: `${address} on a phone` }).toEqual([]);
        await page.setViewportSize(desk);
      }
      async function walk(page: Page): Promise<void> {
        for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
          const given = {
            ...ids,
            ...(address.endsWith('/edit') && { campaignId: draftId }),
            ...(address.endsWith('/filter') && { segmentId: filterId }),
          } as Record<string, string>;
          const path = address.replace(/\$([A-Za-z]+)/g, (_whole, name: string) => given[name] ?? name);
          // As somebody who typed the address.
          await page.goto(`${bundle.url}/console${path}`);
          const heading = page.getByRole('heading', { level: 1 });
          const nothing = page.getByText('Page not found');
          await heading
            .or(nothing)
            .first()
            .waitFor()
            .catch((cause: unknown) => {
              throw new Error(`${path} shows neither a heading nor that it is none`, { cause });
            });
          if (await nothing.isVisible()) continue;
          await page.waitForLoadState('networkidle').catch(() => {});
          expect(await heading.count(), address).toBe(1);
          await expectAccessible(page, bothSchemes);
          expect(await findMisses(page), address).toEqual([]);
          unedited.push(...(await findUnedited(page)).map((fault) => `${address}: ${fault}`));
          await walkOnPhone(page, address);
          walked.push(address);
        }
      }
      // Two pages side by side: one waits for the network to be idle while the other is looked at.
      const second = await console.openSignedIn();
      await Promise.all([walk(page), walk(second.page)]);
      expect(walked.sort()).toEqual([...addresses].sort());
      expect(unedited).toEqual([]);
      expect([...faults, ...second.faults]).toEqual([]);
      await second.context.close();
      await context.close();
    }, 600_000);
  });
});

describe('documented screens', () => {
  const root = join(import.meta.dirname, '..', '..', '..');
  const picture = (name: string) => join(root, 'docs', 'screens', `${name}.png`);

  describeScreen('the pictures of the documentation', () => {
    let page: Page;
    beforeAll(async () => {
      page = await (await openBrowser()).newPage();
    });
    afterAll(() => page?.close());

    test.each([
      ['overview', 'overview-dark'],
      ['campaigns', 'segments'],
      ['campaign', 'campaign-phone'],
      ['deliveries', 'log'],
    ])('are distinguished by the comparison: %s and %s', async (one, other) => {
      expect(await comparePictures(page, [picture(one), picture(one)])).toBe(0);
      expect(await comparePictures(page, [picture(one), picture(other)])).toBeGreaterThan(0.06);
    });

    test('match the screens of a seeded node within a tolerance', async () => {
      const child = spawn(process.execPath, [join(root, 'bootstrap.js'), 'scripts/make-screens.ts', '--check'], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [told, faults] = ['', ''];
      child.stdout.on('data', (piece) => (told += piece));
      child.stderr.on('data', (piece) => (faults += piece));
      const code = await new Promise((resolve) => child.once('close', resolve));
      expect({ code, unlike: told.split('\n').filter((line) => line.endsWith('take it again')), faults }).toMatchObject(
        {
          code: 0,
          unlike: [],
        },
      );
      expect(told.match(/ differ$/gm)?.length).toBeGreaterThan(25);
    }, 600_000);
  });
});

describe.skipIf(!hasChromium)(`the console shell${skipReason}`, () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('loads at most 200 kB before the first screen, precompressed and from its own origin', async () => {
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
    // The typefaces come after the first screen, which the platform's own font shows until then, and are compressed already.
    const isFont = ({ path }: { path: string }) => path.endsWith('.woff2');
    const all = await Promise.all(loaded);
    const files = all.filter((file) => !isFont(file));
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

  test('shows Inter from its own origin once the first screen is there, in at most 100 kB for texts and code', async () => {
    const { page, context } = await console.openSignedIn();
    // Not by `waitForFunction`, which evaluates a text in the page again and again: the page's policy refuses that. And not by
    // `check`, which is true for a font that is not declared yet.
    const isLoaded =
      "[...document.fonts].some(({ family, status }) => /Inter Variable/.test(family) && status === 'loaded')";
    await expect.poll(() => page.evaluate(isLoaded)).toBe(true);
    await page.evaluate('document.fonts.ready');
    const fonts: string[] = await page.evaluate(
      "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.woff2'))",
    );
    expect(fonts.length).toBeGreaterThan(0);
    expect(fonts.every((address) => address.startsWith(`${console.bundle.url}/console/`))).toBe(true);
    const sizes = await Promise.all(fonts.map(async (address) => (await page.request.get(address)).body()));
    expect(sizes.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(100_000);
    await context.close();
  });

  test('opens the screen of an address, and reports an unknown one', async () => {
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

  test('offers a skip link to the keyboard, and has no faults in light, dark and on a phone', async () => {
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
    'opens the search by Ctrl K from any place, leads to a screen by keyboard alone, and closes with Escape (FULL=1)',
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
    'keeps the navigation collapsed, with the names of its screens and the current one marked (FULL=1)',
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

  test('says who can change the role for a forbidden screen, and keeps the navigation for an unknown address', async () => {
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

  fullTest('keeps the chosen colour scheme after a reload (FULL=1)', async () => {
    const { page, context } = await console.openSignedIn({ colorScheme: 'light' });
    await page.getByRole('button', { name: 'Dark' }).click();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await page.reload();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await context.close();
  });

  fullTest(
    'switches to a second workspace, and opens the last used one for an address without one (FULL=1)',
    async () => {
      const other = await insertTestWorkspace(console.bundle.database, new Date('2026-01-01T00:00:00Z'));
      const { page, context } = await console.openSession();
      await page.goto(console.home);
      await page.getByLabel('Workspace', { exact: true }).selectOption(other);
      await page.waitForURL(`**/console/w/${other}`);
      const chosen = () => page.getByLabel('Workspace', { exact: true }).inputValue();
      await expect.poll(chosen).toBe(other);
      await page.goto(`${console.bundle.url}/console/`);
      await page.waitForURL(`**/console/w/${other}`);
      await context.close();
    },
  );
});

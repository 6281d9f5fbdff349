import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import { inboxRing } from '../../src/domain/inbox.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { makeAppOf, openSite, startSite } from './web-site.ts';
import type { PageOfSite } from './web-site.ts';

const executablePath = '/usr/bin/chromium';
const hasChromium = existsSync(executablePath);
const axePath = createRequire(import.meta.url).resolve('axe-core');

declare const axe: any;

describe.skipIf(!hasChromium)(`carillon-inbox${hasChromium ? '' : ' (skipped: no /usr/bin/chromium)'}`, () => {
  let bundle: CarillonBundle;
  let site: Awaited<ReturnType<typeof startSite>>;
  let app: Awaited<ReturnType<typeof makeAppOf>>;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    bundle = await startCarillonBundle();
    site = await startSite();
    app = await makeAppOf(bundle);
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    page = await openPage();
    await signIn(page, 'ada');
    await until(async () => (await userOf('ada')) !== undefined);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await bundle?.stop();
  });
  beforeEach(async () => {
    await page.evaluate(() => (globalThis as any).document.querySelector('carillon-inbox')?.remove());
    await bundle.database`delete from inbox_messages`;
  });

  /** Another browser, with an installation of its own. */
  async function openPage(): Promise<Page> {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC' });
    const opened = await openSite(context, site.url);
    opened.on('pageerror', (error) => faults.push(String(error)));
    return opened;
  }

  const signIn = async (on: Page, user: string): Promise<void> =>
    on.evaluate(
      async ([key, host, who, token]) => {
        const { Carillon } = globalThis as unknown as PageOfSite;
        await Carillon.start(key!, host!);
        await Carillon.login(who!, token);
      },
      [app.appKey, bundle.url, user, await app.sign(user)],
    );

  const userOf = async (customerId: string) =>
    (
      await bundle.database<{ bucket: number; userId: string }[]>`
        select bucket, id as "userId" from users where customer_id = ${customerId}`
    )[0];

  type Keeping = { link?: string; tags?: string[]; ago?: number };

  /** Puts a message into the inbox of Ada, as a run does. */
  async function keep(title: string, { link, tags, ago = 0 }: Keeping = {}): Promise<void> {
    const at = new Date(Date.now() - ago);
    const content = { title, message: `About ${title}`, link: link ?? null, imageUrl: null, data: {} };
    await bundle.database`
      insert into inbox_messages (workspace_id, bucket, user_id, run_id, campaign_id, content, tags, kept_at, expires_at,
        changed_at)
      select workspace_id, bucket, id, ${makeId(at)}, 'campaign', ${bundle.database.json(content)}, ${tags ?? null}, ${at},
        ${new Date(at.getTime() + 86_400_000)}, ${at}
      from users where customer_id = 'ada'`;
    const ring = inboxRing((await userOf('ada'))!);
    await bundle.database`select pg_notify('carillon', ${ring})`;
  }

  const show = (on: Page, attributes = ''): Promise<void> =>
    on.evaluate((given) => {
      const { document } = globalThis as any;
      document.body.insertAdjacentHTML('beforeend', `<carillon-inbox ${given}></carillon-inbox>`);
    }, attributes);
  const titles = (on: Page) => on.locator('carillon-inbox article').getByRole('heading').allTextContents();
  const shows = (on: Page, expected: string[]) => expect.poll(() => titles(on), { timeout: 15_000 }).toEqual(expected);

  test('has at most 15 kB, minified and compressed', () => {
    expect(gzipSync(site.files['carillon-inbox.js']).length).toBeLessThan(15_000);
  });

  test('shows the messages of the signed-in user, newest first, and new ones as they come', async () => {
    await keep('Old', { ago: 60_000 });
    await keep('New', { ago: 30_000 });
    await show(page);
    await shows(page, ['New', 'Old']);
    expect(await page.locator('carillon-inbox').getByRole('status').textContent()).toBe('2 unread');
    await keep('Just now');
    await shows(page, ['Just now', 'New', 'Old']);
    expect(await page.locator('carillon-inbox').getByRole('status').textContent()).toBe('3 unread');
  });

  test('marks as read and archives, and the other browser of the user shows the same', async () => {
    await keep('One', { ago: 60_000 });
    await keep('Two', { ago: 30_000 });
    const other = await openPage();
    await signIn(other, 'ada');
    for (const on of [page, other]) {
      await show(on);
      await shows(on, ['Two', 'One']);
    }
    await page.getByRole('button', { name: 'Mark as read: One' }).click();
    for (const on of [page, other])
      await expect
        .poll(() => on.getByRole('button', { name: 'Mark as unread: One' }).count(), { timeout: 15_000 })
        .toBe(1);
    await page.getByRole('button', { name: 'Archive: Two' }).click();
    for (const on of [page, other]) await shows(on, ['One']);
    await other.context().close();
  });

  test('reads the next page, and marks all as read', async () => {
    for (let n = 0; n < 27; n += 1) await keep(`Message ${n}`, { ago: (n + 1) * 1_000 });
    await show(page);
    await expect.poll(async () => (await titles(page)).length, { timeout: 15_000 }).toBe(25);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(async () => (await titles(page)).length, { timeout: 15_000 }).toBe(27);
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await expect
      .poll(() => page.locator('carillon-inbox').getByRole('status').textContent(), { timeout: 15_000 })
      .toBe('');
  });

  test('shows messages of one tag, and follows web links only', async () => {
    await keep('Web', { link: 'https://shop.example/a', tags: ['shop'], ago: 3_000 });
    await keep('Script', { link: 'javascript:alert(1)', tags: ['shop'], ago: 2_000 });
    await keep('<b>Other</b>', { ago: 1_000 });
    await show(page, 'tag="shop"');
    await shows(page, ['Script', 'Web']);
    const links = page.locator('carillon-inbox').getByRole('link');
    expect(await links.evaluateAll((found) => found.map((link: any) => link.href))).toEqual(['https://shop.example/a']);
    await page.evaluate(() => (globalThis as any).document.querySelector('carillon-inbox').removeAttribute('tag'));
    await shows(page, ['<b>Other</b>', 'Script', 'Web']);
  });

  test('is operated with the keyboard, and axe finds nothing in two looks', async () => {
    await keep('One', { link: 'https://shop.example/a', ago: 2_000 });
    await keep('Two', { ago: 1_000 });
    await show(page);
    await shows(page, ['Two', 'One']);
    await page.locator('carillon-inbox article').first().focus();
    await page.keyboard.press('PageDown');
    const focused = () =>
      page.evaluate(
        () => (globalThis as any).document.querySelector('carillon-inbox').shadowRoot.activeElement.textContent,
      );
    expect(await focused()).toContain('About One');
    await page.keyboard.press('PageUp');
    expect(await focused()).toContain('About Two');
    await page.addScriptTag({ path: axePath });
    const dark =
      '--carillon-inbox-background:#111;--carillon-inbox-color:#eee;--carillon-inbox-muted:#bbb;--carillon-inbox-accent:#8ab4f8;--carillon-inbox-unread:#1e2a3a;--carillon-inbox-border:#555';
    for (const look of ['', dark]) {
      await page.evaluate(
        (style) => (globalThis as any).document.querySelector('carillon-inbox').setAttribute('style', style),
        look,
      );
      const found = await page.evaluate(async () =>
        (await axe.run('carillon-inbox')).violations.map(({ id, nodes }: any) => `${id} ${nodes[0].html}`),
      );
      expect(found).toEqual([]);
    }
  });

  test('empties itself at a sign-out, also offline, and keeps nothing on the device', async () => {
    await keep('Private');
    await show(page);
    await shows(page, ['Private']);
    await page.context().setOffline(true);
    await page.evaluate(() => void (globalThis as unknown as PageOfSite).Carillon.logout());
    await expect.poll(() => page.locator('carillon-inbox').getByText('Sign in to see your messages').count()).toBe(1);
    expect(await titles(page)).toEqual([]);
    await page.context().setOffline(false);
    const stored = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const request = (globalThis as any).indexedDB.open('carillon', 1);
          request.onsuccess = () => {
            const reading = request.result.transaction('state').objectStore('state').getAll();
            reading.onsuccess = () => resolve(JSON.stringify(reading.result));
          };
        }),
    );
    expect(stored).not.toContain('Private');
    expect(faults).toEqual([]);
  });
});

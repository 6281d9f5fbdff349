import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { describeScreen, expectAccessible, startConsoleBrowser } from '../console/console-browser.ts';
import type { ConsoleBrowser } from '../console/console-browser.ts';
import { makePicture } from './make-picture.ts';

const shots = process.env.SHOTS;
const patience = 240_000;

describeScreen('the upload of pictures in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  const shoot = async (page: Page, name: string) => {
    if (shots !== undefined) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
  };
  const file = (width: number, name = 'sale.png') => ({
    ...{ name, mimeType: 'image/png' },
    buffer: makePicture({ width, height: width / 2, format: 'png' }),
  });
  const stored = async () => (await console.bundle.database`select from pictures where removed_at is null`).length;

  async function openContent(options = {}) {
    const opened = await console.openSession({ viewport: { width: 1440, height: 900 }, ...options });
    const { page } = opened;
    await page.goto(`${console.home}/campaigns/new?step=audience`);
    await page.getByRole('textbox', { name: 'Name' }).fill('With a picture');
    await page
      .getByRole('navigation', { name: 'Steps' })
      .getByRole('link', { name: /Content/ })
      .click();
    const forEvery = page.getByRole('group', { name: 'Upload for every platform' });
    const image = page.getByRole('textbox', { name: 'Image on every platform' });
    await image.waitFor();
    await page.getByRole('textbox', { name: 'Title' }).fill('Autumn sale');
    await page.getByRole('textbox', { name: 'Message' }).fill('Everything is a third off until Sunday.');
    return { ...opened, forEvery, image };
  }

  test(
    'fills the field of every platform, shows the picture, and offers it again',
    async () => {
      const { page, forEvery, image, faults } = await openContent();
      await forEvery.locator('input[type=file]').setInputFiles(file(2_000));
      await expect.poll(() => image.inputValue()).toMatch(/\/pictures\/[0-9a-f]{32}\.jpg$/);
      await forEvery.getByText('1440 × 720').waitFor();
      const first = await image.inputValue();
      const thumbnail = forEvery.locator('img');
      await expect.poll(() => thumbnail.evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBe(1_440);
      // A sandbox without a public address says what that means.
      await page.getByText('Only this machine can load this picture').first().waitFor();
      await shoot(page, 'upload-light');
      await expectAccessible(page);

      await forEvery.locator('input[type=file]').setInputFiles(file(600));
      await expect.poll(() => image.inputValue()).not.toBe(first);
      await forEvery.getByRole('button', { name: 'Choose uploaded for every platform' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Uploaded pictures').waitFor();
      await expect.poll(() => dialog.getByRole('button', { name: /^Use the picture/ }).count()).toBe(2);
      await shoot(page, 'upload-choice');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: /^Use the picture of 1440 × 720/ }).click();
      await expect.poll(() => image.inputValue()).toBe(first);

      await forEvery.getByRole('button', { name: 'Choose uploaded for every platform' }).click();
      // A workspace full of pictures: those beyond the first page can be removed too.
      const { database, workspaceId } = console.bundle;
      await database`
        insert into pictures (id, workspace_id, name, media_type, width, height, bytes, digest, is_external, created_by, created_at,
          stored_at, used_at, looked_up_at)
        select lpad(number::text, 24, '0'), ${workspaceId}, lpad(number::text, 32, '0'), 'image/png', 70, 30, 1, sha256(number::text::bytea),
          true, 'Olga', '2026-01-01', '2026-01-01', now(), now() from generate_series(1, 61) as number`;
      await page.route(/\/pictures\/0{20}/, (asked) =>
        asked.fulfill({ contentType: 'image/png', body: file(60).buffer }),
      );
      await page.keyboard.press('Escape');
      await forEvery.getByRole('button', { name: /^Choose uploaded/ }).click();
      await dialog.getByRole('button', { name: 'Older' }).click();
      await expect.poll(() => dialog.getByRole('button', { name: /^Remove the picture of 70 × 30/ }).count()).toBe(61);
      await dialog.getByRole('button', { name: 'Older' }).waitFor({ state: 'detached' });
      await database`delete from pictures where width = 70 and height = 30`;
      await dialog.getByRole('button', { name: /^Remove the picture of 600 × 300/ }).click();
      await page.getByRole('dialog').last().getByRole('button', { name: 'Remove', exact: true }).click();
      await expect.poll(stored).toBe(1);
      await expect.poll(() => dialog.getByRole('button', { name: /^Use the picture/ }).count()).toBe(1);
      expect(faults).toEqual([]);
    },
    patience,
  );

  test(
    'accepts a dropped file, and says in words why another cannot be used',
    async () => {
      const { page, forEvery, image, faults } = await openContent();
      await drop(page, { name: 'dropped.png', bytes: file(300).buffer });
      await expect.poll(() => image.inputValue()).toMatch(/\/pictures\//);
      const dropped = await image.inputValue();
      await forEvery
        .locator('input[type=file]')
        .setInputFiles({ name: 'page.png', mimeType: 'image/png', buffer: Buffer.from('<html></html>') });
      const alert = page.getByRole('alert').filter({ hasText: 'This picture cannot be used.' });
      await alert.waitFor();
      expect(await alert.textContent()).toBe('This picture cannot be used. It is not a JPEG, PNG or WebP.');
      expect(await image.inputValue()).toBe(dropped);
      const large = { name: 'large.png', mimeType: 'image/png', buffer: Buffer.alloc(10 * 1024 * 1024 + 1) };
      await forEvery.locator('input[type=file]').setInputFiles(large);
      await page.getByText('The file has more than 10 MB.').waitFor();
      await expectAccessible(page);
      // The browser reports the 400 on its console.
      expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
    },
    patience,
  );

  test.each([
    ['dark', { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' as const }],
    ['on a phone', { viewport: { width: 390, height: 844 } }],
  ])(
    'has no fault of accessibility and no horizontal scroll, %s',
    async (name, options) => {
      const { page, forEvery, image } = await openContent(options);
      await forEvery.locator('input[type=file]').setInputFiles(file(1_000));
      await expect.poll(() => image.inputValue()).toMatch(/\/pictures\//);
      await shoot(page, `upload-${name.replaceAll(' ', '-')}`);
      await expectAccessible(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    },
    patience,
  );

  async function drop(page: Page, { name, bytes }: { name: string; bytes: Buffer }): Promise<void> {
    const transfer = await page.evaluateHandle(
      ({ text, fileName }) => {
        const data = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
        const dropped = new DataTransfer();
        dropped.items.add(new File([data], fileName, { type: 'image/png' }));
        return dropped;
      },
      { text: bytes.toString('base64'), fileName: name },
    );
    const zone = page.getByRole('group', { name: 'Upload for every platform' });
    for (const type of ['dragenter', 'dragover', 'drop']) await zone.dispatchEvent(type, { dataTransfer: transfer });
  }
});

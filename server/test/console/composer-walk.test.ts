import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { startWalk } from './start-walk.ts';

const shots = process.env.SHOTS;

describe('the walk through the composer', () => {
  describeScreen('a counted walk through the composer in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());

    const shoot = async (page: Page, name: string) => {
      if (shots !== undefined) await page.screenshot({ path: `${shots}/walk-${name}.png`, fullPage: true });
    };
    /** Pastes a text that was copied from elsewhere: one action. */
    const paste = async (page: Page, label: string, text: string) => {
      await page.evaluate((copied) => (globalThis as any).navigator.clipboard.writeText(copied), text);
      await page.getByRole('textbox', { name: label }).press('ControlOrMeta+V');
    };
    const stored = async (name: string) => {
      const [row] = await console.bundle.database`
        select status, platforms, parts, timing from campaigns where name = ${name}`;
      return row as { status: string; platforms: string[]; parts: any; timing: any };
    };

    test('schedules three platforms, picture, button, deep link, two languages, two variations and the best hour in at most 20 actions', async () => {
      const { page, context, faults } = await console.openSignedIn({
        viewport: { width: 1440, height: 900 },
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      const walk = startWalk(page, 'a campaign with everything');
      await page.getByRole('link', { name: 'New campaign' }).click();
      await page.getByLabel('Web', { exact: true }).check();
      await page.getByRole('button', { name: 'Next' }).click();

      await paste(page, 'Title', 'Your winter coat\nIt is on its way.');
      await page.getByRole('textbox', { name: 'Image on every platform' }).fill('https://example.com/coat.png');
      await page.getByRole('textbox', { name: 'Link on every platform' }).fill('shop://coat');
      await page.getByRole('textbox', { name: 'Address for browsers' }).fill('https://example.com/coat');
      await page.getByRole('textbox', { name: 'Button 1' }).fill('Call us');
      await page.getByRole('textbox', { name: 'Number' }).fill('+351 1234');
      await page.getByRole('combobox', { name: 'Add language' }).selectOption({ label: 'Portuguese' });
      await paste(page, 'Title', 'O seu casaco\nJá vai a caminho.');
      await page.getByRole('button', { name: 'Add variation' }).click();
      await page.getByRole('textbox', { name: 'Title' }).fill('Um casaco para si');
      await page.getByText('Default', { exact: true }).click();
      await page.getByRole('textbox', { name: 'Title' }).fill('A coat for you');
      await shoot(page, 'content');
      await page.getByRole('button', { name: 'Next' }).click();

      await page.getByLabel('Once, at each person’s best hour').check();
      await page.getByRole('region', { name: 'When it is sent' }).locator('[data-moment]').waitFor();
      await shoot(page, 'schedule');
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('everyone, on Android, iOS and Web', { exact: false }).waitFor();
      await shoot(page, 'review');
      await page.getByRole('button', { name: 'Schedule' }).and(page.locator(':enabled')).click();
      await page.getByRole('heading', { name: 'Your winter coat', level: 1 }).waitFor();
      await page.getByText('Scheduled', { exact: true }).first().waitFor();
      expect(walk.end()).toBeLessThanOrEqual(20);

      const { status, platforms, parts, timing } = await stored('Your winter coat');
      expect([status, platforms]).toEqual(['SCHEDULED', ['ANDROID', 'IOS', 'WEB']]);
      expect(timing).toMatchObject({ kind: 'later' });
      expect(parts.scheduling_details.delivery_type).toBe('SEND_IN_BTS');
      const { content } = parts.campaign_content;
      const texts = (locale: string, variation: number, platform: string) => {
        const { title, message } = content[locale][`variation_${variation}`].push[platform].basic_details;
        return [title, message];
      };
      for (const platform of ['android', 'ios', 'web']) {
        expect(texts('default', 1, platform)).toEqual(['Your winter coat', 'It is on its way.']);
        expect(texts('default', 2, platform)).toEqual(['A coat for you', 'It is on its way.']);
        expect(texts('pt', 1, platform)).toEqual(['O seu casaco', 'Já vai a caminho.']);
        expect(texts('pt', 2, platform)).toEqual(['Um casaco para si', 'Já vai a caminho.']);
      }
      const { android, ios, web } = content.pt.variation_2.push;
      const image = 'https://example.com/coat.png';
      expect(android).toMatchObject({
        basic_details: { image_url: image, default_click_action_value: 'shop://coat' },
        buttons: [{ btn_name: 'Call us', click_action_type: 'call', click_action_value: '+351 1234' }],
      });
      expect(ios.basic_details).toMatchObject({ rich_media_value: image, default_click_action_value: 'shop://coat' });
      expect(web).toMatchObject({
        basic_details: { image_url: image, redirect_url: 'https://example.com/coat' },
        advanced: { icon_url: image },
      });
      expect(faults).toEqual([]);
      await context.close();
    }, 120_000);

    test('asks before it schedules what begins within ten minutes, and not before other times', async () => {
      const { page, context, faults } = await console.openSession();
      await page.goto(`${console.home}/campaigns/new?step=content`);
      await page.getByRole('textbox', { name: 'Title' }).fill('In a moment');
      await page.getByRole('textbox', { name: 'Message' }).fill('There is news.');
      const steps = page.getByRole('navigation', { name: 'Steps' });
      await steps.getByRole('link', { name: /Schedule/ }).click();
      await page.getByLabel('Once, at a set time').check();
      const { zone } = (
        await console.bundle.database`
        select time_zone as zone from workspaces where id = ${console.bundle.workspaceId}`
      )[0] as { zone: string };
      const local = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
      const soon = local.format(new Date(Date.now() + 5 * 60_000)).replace(' ', 'T');
      await page.getByLabel('Day and time').fill(soon);
      await steps.getByRole('link', { name: /Review/ }).click();
      const schedule = page.getByRole('button', { name: 'Schedule', exact: true });
      await page
        .getByText(`at ${soon.slice(11)}`, { exact: false })
        .first()
        .waitFor();
      await schedule.and(page.locator(':enabled')).click();
      await page.getByRole('dialog').getByText('people on Android, iOS would get it', { exact: false }).waitFor();
      await expectAccessible(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await steps.getByRole('link', { name: /Schedule/ }).click();
      await page.getByLabel('Day and time').fill('2098-01-01T10:00');
      await steps.getByRole('link', { name: /Review/ }).click();
      await page.getByText('on 1 Jan 2098', { exact: false }).first().waitFor();
      await schedule.and(page.locator(':enabled')).click();
      await page.getByText('“In a moment” is scheduled').waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('“In a moment” is a draft again').waitFor();
      expect((await stored('In a moment')).status).toBe('DRAFT');
      expect(faults).toEqual([]);
      await context.close();
    }, 120_000);

    test('keeps an icon, a name and a text that somebody wrote', async () => {
      const { page, context, faults } = await console.openSignedIn({
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      await page.getByRole('link', { name: 'New campaign' }).click();
      await page.getByLabel('Web', { exact: true }).check();
      const steps = page.getByRole('navigation', { name: 'Steps' });
      await page.getByRole('button', { name: 'Next' }).click();
      // A name is not asked for before the title is there.
      await steps.getByRole('link', { name: /Audience.*Done/ }).waitFor();
      await page.getByRole('textbox', { name: 'Title' }).fill('Hello, {{ UserAttribute.name }}');
      await page.getByRole('textbox', { name: 'Message' }).fill('There is news.');
      await paste(page, 'Title', 'Two\nlines');
      expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('There is news.');
      await page.getByRole('textbox', { name: 'Title' }).fill('Hello, {{ UserAttribute.name }}');
      const image = page.getByRole('textbox', { name: 'Image on every platform' });
      await image.fill('https://example.com/one.png');
      await page.getByRole('tab', { name: /Web/ }).click();
      const icon = page.getByRole('textbox', { name: 'Icon', exact: true });
      expect(await icon.inputValue()).toBe('https://example.com/one.png');
      await icon.fill('https://example.com/icon.png');
      await image.fill('https://example.com/two.png');
      expect(await icon.inputValue()).toBe('https://example.com/icon.png');
      await expectAccessible(page);

      const name = page.getByRole('textbox', { name: 'Name' });
      await steps.getByRole('link', { name: /Audience/ }).click();
      expect(await name.inputValue()).toBe('Hello');
      await steps.getByRole('link', { name: /Content/ }).click();
      await page.getByRole('textbox', { name: 'Title' }).fill('Good morning');
      await steps.getByRole('link', { name: /Audience/ }).click();
      await expect.poll(() => name.inputValue()).toBe('Good morning');
      await name.fill('The news of November');
      await steps.getByRole('link', { name: /Content/ }).click();
      await page.getByRole('textbox', { name: 'Title' }).fill('Good evening');
      await steps.getByRole('link', { name: /Audience/ }).click();
      expect(await name.inputValue()).toBe('The news of November');
      expect(faults).toEqual([]);
      await context.close();
    }, 120_000);
  });
});

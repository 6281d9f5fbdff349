import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

const shots = process.env.SHOTS;

describeScreen('a marketer’s day in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  const step = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: new RegExp(name) });
  const stateOf = (page: Page, name: string) => step(page, name).getAttribute('data-state');
  const shoot = async (page: Page, name: string) => {
    if (shots === undefined) return;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
  };

  test('a file becomes a segment, a personal campaign goes to it at its time, and the phone shows it', async () => {
    const { bundle } = console;
    await bundle.database`update workspaces set time_zone = 'America/New_York' where id = ${bundle.workspaceId}`;
    const owner = await console.openSession();
    const invited = await owner.page.request.post(`${bundle.url}/console/api/invitations`, {
      data: { email: 'mara@example.com', role: 'marketer' },
    });
    const { page, context, faults } = await console.openPage({ viewport: { width: 1280, height: 900 } });
    // Without a public URL a link is a path: the page that shows it completes it with its own origin.
    await page.goto(new URL(((await invited.json()) as { link: string }).link, bundle.url).href);
    await page.getByRole('textbox', { name: 'Name' }).fill('Mara');
    await page.getByLabel('New password').fill('nine green bottles');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

    // The file.
    await page.getByRole('link', { name: 'Segments' }).click();
    await page.getByRole('link', { name: 'Create from file' }).click();
    await page.locator('input[type="file"]').setInputFiles({
      name: 'buyers.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('First name,Email\nAda,ada@example.com\nGrace,grace@example.com\nNo,nobody@example.com\n'),
    });
    await page.getByText('Of the first 3 values, 2 match a user by u_em.', { exact: false }).waitFor();
    await page.getByRole('textbox', { name: 'Segment name' }).fill('Winter buyers');
    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('group', { name: 'Unmatched values' }).getByText('nobody@example.com').waitFor();
    await shoot(page, 'file');

    // Whom it is for.
    await page.getByRole('link', { name: 'Send to segment' }).click();
    await page.getByRole('heading', { name: 'New campaign', level: 1 }).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Winter thanks');
    await page.getByRole('button', { name: 'Remove Winter buyers' }).waitFor();
    const count = page.getByRole('region', { name: 'Who would be reached now' });
    await count.locator('[data-count="reached"]').getByText('2', { exact: true }).waitFor();
    await count.getByText('of 2 people would get it').waitFor();
    await shoot(page, 'audience');

    // What they see, through the eyes of one of them.
    await page.getByRole('button', { name: 'Next' }).click();
    await page.waitForURL('**/campaigns/new?*step=content*');
    await expect.poll(() => stateOf(page, 'Audience')).toBe('done');
    // What the server says of it may move what is below; a click on something that moves is lost. The answer to what
    // was there before may still be on its way.
    const checked = page.waitForResponse(
      (response) =>
        response.url().includes('/composer/check') && response.request().postData()?.includes('Thank you, ') === true,
    );
    await page.getByRole('textbox', { name: 'Title' }).fill('Thank you, ');
    await checked;
    await page.getByRole('button', { name: 'Insert an attribute into Title' }).click();
    const attributes = page.getByRole('dialog');
    // It stands where it will stay as soon as one can write in it.
    await attributes.locator('input:focus').waitFor();
    // By its keys: what is below the field may still move, and a click on something that moves is lost.
    await attributes.getByRole('button', { name: /First Name/ }).press('Enter');
    await expect
      .poll(async () => [await attributes.count(), await page.getByRole('textbox', { name: 'Title' }).inputValue()])
      .toEqual([0, "Thank you, {{ UserAttribute['First Name'] }}"]);
    await page.getByRole('textbox', { name: 'Message' }).fill('Your winter coat is on its way.');
    const android = page.getByRole('article', { name: 'Preview on Android' });
    await android.getByText('Nothing would be sent to this user').waitFor();
    await page.getByRole('button', { name: 'Preview as ada' }).click();
    await android.locator('[data-shown="title"]').getByText('Thank you, Ada').waitFor();
    await page.getByRole('article', { name: 'Preview on iOS' }).getByText('Thank you, Ada').waitFor();
    await shoot(page, 'content');

    // When.
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Once, at a set time').check();
    const occurrences = page.getByRole('region', { name: 'When it is sent' });
    await occurrences.getByText(/America\/New_York \(UTC-0[45]:00\)/).waitFor();
    await page.getByRole('button', { name: 'Add goal' }).click();
    await page.getByRole('textbox', { name: 'Goal', exact: true }).fill('Bought');
    await page.getByRole('textbox', { name: 'Event', exact: true }).fill('purchase');
    await shoot(page, 'schedule');

    // All of it, in sentences.
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('people in “Winter buyers”, on Android and iOS', { exact: false }).waitFor();
    await page.getByText('2 of them would be reached now', { exact: false }).waitFor();
    await page.getByText('Android and iOS: the template of title fails', { exact: false }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'review');

    // A test first; others that are marked for tests are offered.
    await page.getByRole('group', { name: 'Marked for tests' }).getByRole('button', { name: 'grace' }).waitFor();
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('ada: sent').waitFor();

    await page.getByRole('button', { name: 'Schedule' }).click();
    await page.getByRole('dialog').getByText('of 2 people', { exact: false }).waitFor();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Schedule' }).click();
    await page.getByRole('heading', { name: 'Winter thanks', level: 1 }).waitFor();
    await page.getByText('Scheduled', { exact: true }).first().waitFor();
    await page.getByText('by Mara').waitFor();
    await page.getByText('Next occurrence:').waitFor();
    const before = await bundle.inbox();

    // Its time comes, and the report shows it without being asked.
    const report = page.url();
    const clock = owner.page;
    await clock.goto(`${console.home}/sandbox`);
    for (let hour = 0; hour < 2; hour += 1) {
      await clock.getByRole('button', { name: '+ 1 hour' }).click();
      await clock.getByText(`${hour + 1} h 0 min ahead of real time`).waitFor();
    }
    expect(page.url()).toBe(report);
    await page.getByText('Sent', { exact: true }).first().waitFor();
    const accepted = await page.locator('[data-step="Accepted"]').textContent();
    expect(accepted).toBe(await page.locator('[data-step="Reachable"]').textContent());
    await shoot(page, 'report');

    // And the phone has it, with the name.
    const phones = clock.getByRole('region', { name: 'On the phones' });
    await phones.getByText('Thank you, Ada').first().waitFor();
    await phones.getByText('Thank you, Grace').first().waitFor();
    await phones.getByText('Your winter coat is on its way.').first().waitFor();
    await shoot(clock, 'phones');
    const arrived = (await bundle.inbox()).length - before.length;
    expect(`${arrived} devices`).toBe(accepted);
    expect(faults).toEqual([]);
    await context.close();
    await owner.context.close();
    // Every step is looked at by axe twice, which takes its time on a busy machine.
  }, 300_000);
});

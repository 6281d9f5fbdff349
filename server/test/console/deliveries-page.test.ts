import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describeScreen('the delivery log in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('a message is found by its filters, which the address holds, and opens to answer and content', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn();
    await page.getByRole('link', { name: 'Delivery log' }).click();
    await page.getByText('Nothing sent yet').waitFor();
    await expectAccessible(page);

    const sent = await bundle.push({
      campaignName: 'Traced',
      targetPlatform: ['ANDROID', 'IOS'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Hello', message: 'There' }, IOS: { title: 'Hello', message: 'There' } },
      campaignDelivery: { type: 'soon' },
    });
    const campaignId = sent.json().cid as string;
    await until(
      async () =>
        (await bundle.database`select 1 from readable_deliveries as deliveries where outcome = 'ACCEPTED'`).length ===
        2,
    );
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('combobox', { name: 'Campaign' }).fill('trac');
    await page.getByRole('option', { name: /^Traced/ }).click();
    await page.getByLabel('Platform').selectOption('IOS');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'Traced' });
    await row.getByText('iOS').waitFor();
    expect(await row.count()).toBe(1);
    expect(new URL(page.url()).search).toBe(`?campaign=${campaignId}&platform=IOS`);
    await page.getByRole('group', { name: 'Chosen filters' }).getByText('Campaign: Traced').waitFor();

    await row.getByRole('link').first().click();
    const opened = page.getByRole('region', { name: 'Message details' });
    await opened.getByText('none after').waitFor();
    await opened.getByText('"title": "Hello"').waitFor();
    await page.reload();
    await opened.getByRole('button', { name: "Copy provider's id of the message" }).waitFor();
    await expectAccessible(page);
    await opened.getByRole('link', { name: 'Close' }).click();
    await opened.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Outcome').selectOption('FAILED');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('No matching messages').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});

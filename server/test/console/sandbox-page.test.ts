import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describeScreen('the sandbox in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('the clock moves, a provider breaks, messages open to their payload, and all is emptied', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn();
    await page.getByRole('link', { name: 'Sandbox' }).click();
    await page.getByText('Nothing has arrived yet').waitFor();
    await page.getByText('No emails yet').waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: '+ 1 hour' }).click();
    await page.getByText('1 h 0 min ahead of real time').waitFor();
    expect((await bundle.call('GET', '/sandbox/clock')).json().offsetSeconds).toBe(3600);
    await page.getByRole('button', { name: 'Use real time' }).click();
    await page.getByText(/, real time$/).waitFor();

    await page.getByLabel('Fault').selectOption('slow');
    await page.getByRole('button', { name: 'Set fault' }).click();
    await page.getByText('Fault set.').waitFor();
    await bundle.push({
      campaignName: 'Slow one',
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: {
        ANDROID: {
          title: 'Hello',
          message: 'There',
          additionalActions: [{ type: 'snooze', value: '10', name: 'Later' }],
        },
      },
      campaignDelivery: { type: 'soon' },
    });
    const android = page.getByRole('region', { name: 'Provider counters' }).getByRole('row').nth(1);
    await android.getByRole('cell').nth(2).getByText('1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Payload of Hello on Android' }).click();
    await page.getByRole('region', { name: 'payload' }).getByText('Hello').first().waitFor();
    const phone = page.getByRole('article', { name: 'Hello on Android' });
    await phone.locator('[data-shown="message"]').getByText('There').waitFor();
    expect(await phone.getByText('Later').count()).toBe(0);
    await phone.getByText('Expanded').click();
    await phone.getByText('Later').waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Start from empty' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start from empty' }).click();
    await page.getByText('Nothing has arrived yet').waitFor();
    expect(await bundle.inbox()).toEqual([]);
    const lines = await bundle.database`select action, detail from audit_log`;
    expect(lines.map(({ action }) => action).toSorted()).toEqual([
      'sandbox.clock',
      'sandbox.clock',
      'sandbox.empty',
      'sandbox.faults',
    ]);
    expect(lines.find(({ action }) => action === 'sandbox.faults')!.detail).toEqual({
      fcm: { delayMilliseconds: 3000, count: 1 },
    });
    expect(faults).toEqual([]);
    await context.close();
  }, 120_000);

  test('a device is added, dies, lives again and tells of its messages; all goes back to the seed', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn();
    // The site's icon, which the browser of the test cannot fetch.
    await context.route('https://example.com/**', (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
    );
    await page.getByRole('link', { name: 'Sandbox' }).click();
    await page.getByRole('article', { name: 'Android of ada, ada-device' }).waitFor();
    await page.getByRole('button', { name: 'Add device' }).click();
    const form = page.getByRole('form', { name: 'Add a virtual device' });
    await form.getByLabel('User id').fill('bea');
    await form.getByLabel('Platform').selectOption('WEB');
    await form.getByLabel('Behaviour').selectOption('gone');
    await form.getByRole('button', { name: 'Add device' }).click();
    const device = page.getByRole('article', { name: 'Web of bea' });
    await device.waitFor();
    const push = (campaignName: string, attributeValue = 'bea') =>
      bundle.push({
        campaignName,
        targetPlatform: ['WEB'],
        targetAudience: 'User',
        targetUserAttributes: {
          attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
          comparisonParameter: 'is',
          attributeValue,
        },
        payload: {
          WEB: {
            title: campaignName,
            message: 'There',
            redirectURL: 'https://example.com/',
            iconURL: 'https://example.com/icon.png',
          },
        },
        campaignDelivery: { type: 'soon' },
      });
    // A push service that accepts another browser shows that the address of this one is dead (decision 0064).
    await page.getByRole('button', { name: 'Add device' }).click();
    await form.getByLabel('User id').fill('cleo');
    await form.getByLabel('Platform').selectOption('WEB');
    await form.getByRole('button', { name: 'Add device' }).click();
    await page.getByRole('article', { name: 'Web of cleo' }).waitFor();
    await push('To another', 'cleo');
    await expect
      .poll(async () => (await bundle.database`select from provider_evidence where provider = 'webpush'`).length)
      .toBe(1);
    await push('To the dead');
    await device.getByText('Gone', { exact: true }).waitFor();
    await device.getByRole('combobox').selectOption('works');
    await device.getByText('Active', { exact: true }).waitFor();
    const { cid } = (await push('To the living')).json();
    await device.getByRole('button', { name: 'Click To the living' }).click();
    await device.getByText('clicked', { exact: true }).waitFor();
    const [clicks] = await bundle.database`
      select platform, total from campaign_interactions where campaign_id = ${cid} and kind = 'CLICK'`;
    expect(clicks).toEqual({ platform: 'WEB', total: 1 });
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Reset to seed' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reset to seed' }).click();
    await device.waitFor({ state: 'detached' });
    await page.getByRole('article', { name: 'Android of ada, ada-device' }).waitFor();
    expect(await bundle.database`select customer_id from users order by id`).toMatchObject([
      { customer_id: 'ada' },
      { customer_id: 'grace' },
      { customer_id: 'tim' },
    ]);
    expect(faults).toEqual([]);
    await context.close();
  }, 120_000);
});

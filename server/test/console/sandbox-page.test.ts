import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, hasChromium, skipReason, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describe.skipIf(!hasChromium)(`the sandbox in Chromium${skipReason}`, () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('the clock moves, a provider breaks, messages open to their payload, and all is emptied', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn();
    await page.getByRole('link', { name: 'Sandbox' }).click();
    await page.getByText('Nothing has arrived').waitFor();
    await page.getByText('No mail was asked for').waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: '+ 1 hour' }).click();
    await page.getByText('1 h 0 min ahead of the real time').waitFor();
    expect((await bundle.call('GET', '/sandbox/clock')).json().offsetSeconds).toBe(3600);
    await page.getByRole('button', { name: 'Back to real time' }).click();
    await page.getByText('the real time', { exact: false }).waitFor();

    await page.getByLabel('What it does').selectOption('slow');
    await page.getByRole('button', { name: 'Break it' }).click();
    await page.getByText('The fault is set.').waitFor();
    await bundle.push({
      campaignName: 'Slow one',
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Hello', message: 'There' } },
      campaignDelivery: { type: 'soon' },
    });
    const android = page.getByRole('region', { name: 'What the providers counted' }).getByRole('row').nth(1);
    await android.getByRole('cell').nth(2).getByText('1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Payload of Hello on Android' }).click();
    await page.getByRole('region', { name: 'payload' }).getByText('Hello').first().waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Start from empty' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start from empty' }).click();
    await page.getByText('Nothing has arrived').waitFor();
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
  }, 60_000);
});

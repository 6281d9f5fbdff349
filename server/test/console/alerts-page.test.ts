import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describeScreen('alerts in Chromium', () => {
  let console: ConsoleBrowser;
  const received: { type: string; alert: { subject: string } }[] = [];
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      received.push(JSON.parse(text));
      response.end();
    });
  });
  beforeAll(async () => {
    console = await startConsoleBrowser();
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    receiver.close();
    await console?.stop();
  });

  test('FCM is broken on purpose: red within 30 s, told by webhook and email with what to do, green again by itself', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn();
    await page.getByRole('link', { name: 'Alerts' }).click();
    await page.getByText('All clear').waitFor();
    await page.getByText('No past alerts').waitFor();
    const { port } = receiver.address() as AddressInfo;
    await page.getByLabel('Webhook').fill(`http://127.0.0.1:${port}/alerts`);
    await page.getByRole('combobox', { name: 'Email addresses' }).fill('ops@example.com');
    await page.keyboard.press('Enter');
    await page.getByLabel('Queue ages').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Alert settings saved').waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await until(async () => received.length === 1);
    expect(received[0]!.type).toBe('alert.test');
    await expectAccessible(page);

    const denied = { error: { status: 'PERMISSION_DENIED', message: 'FCM API has not been used in this project' } };
    await bundle.call('POST', '/sandbox/faults', { body: { fcm: { status: 403, body: JSON.stringify(denied) } } });
    const brokenAt = performance.now();
    await bundle.push({
      campaignName: 'Spring sale',
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Hello', message: 'There' } },
      campaignDelivery: { type: 'soon' },
    });
    const open = page.getByRole('region', { name: 'Open alerts' });
    await open.getByText('FCM (Android) refuses the credential', { exact: false }).waitFor();
    await open.getByText('Mend the account at the provider', { exact: false }).waitFor();
    expect(performance.now() - brokenAt).toBeLessThan(30_000);
    await expectAccessible(page);
    await until(async () => received.some(({ type }) => type === 'alert.opened'));
    const emails = await bundle.database`select subject from mails where subject like '%Alert: FCM (Android)'`;
    expect(emails).toHaveLength(1);

    await bundle.call('POST', '/sandbox/faults', { body: {} });
    await page.getByText('All clear').waitFor({ timeout: 90_000 });
    await page.getByRole('region', { name: 'Past alerts' }).getByText('Provider refuses').waitFor();
    await until(async () => received.some(({ type }) => type === 'alert.closed'));
    // What waited is sent, although nobody pressed anything.
    await until(async () => (await bundle.database`select 1 from campaigns where status = 'SENT'`).length > 0);

    await page.getByRole('link', { name: 'Metrics' }).click();
    await page.getByRole('img', { name: /^Sent\. Last: FCM/ }).waitFor({ timeout: 30_000 });
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Week' }).click();
    await page.waitForURL('**/metrics?span=week');
    await page.getByText('per 2 h').first().waitFor();
    expect(faults).toEqual([]);
    await context.close();
  }, 180_000);
});

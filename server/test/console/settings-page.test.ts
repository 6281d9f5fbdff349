import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describeScreen('settings in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('what is set is kept and stands in the audit log; what is not possible is refused with what is', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Frequency caps').fill('2/1d,5/7d');
    await page.getByLabel('Quiet hours', { exact: true }).fill('22:00-08:00');
    await page.getByLabel('Minimum delay').fill('30');
    await page.getByLabel('Android messages').selectOption('notification');
    await page.getByLabel('Prefix of keys').fill('acme');
    await page.getByRole('button', { name: 'Save' }).click();
    const line = async () => (await bundle.database`select detail from audit_log where action = 'workspace.change'`)[0];
    await expect.poll(line).toEqual({
      detail: {
        frequencyCaps: '2/1d,5/7d',
        quietHours: '22:00-08:00',
        minimumDelay: '30',
        androidMode: 'notification',
        dataPrefix: 'acme',
      },
    });
    await page.reload();
    await page.getByLabel('Frequency caps').waitFor();
    expect(await page.getByLabel('Frequency caps').inputValue()).toBe('2/1d,5/7d');
    expect(await page.getByLabel('Minimum delay').inputValue()).toBe('30');
    expect(await page.getByLabel('Android messages').inputValue()).toBe('notification');
    expect(await page.getByLabel('Prefix of keys').inputValue()).toBe('acme');
    await expectAccessible(page);
    expect(faults).toEqual([]);

    await page.getByLabel('Quiet hours', { exact: true }).fill('at night');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Quiet hours are two different times such as 22:00-08:00, or none').waitFor();
    await expectAccessible(page);
    const [row] = await bundle.database`select quiet_from from workspaces where id = ${bundle.workspaceId}`;
    expect(row).toEqual({ quiet_from: '22:00' });
    await context.close();
  });
});

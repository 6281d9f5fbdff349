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
    await page.getByRole('button', { name: 'Add cap' }).click();
    await page.getByRole('button', { name: 'Add cap' }).click();
    await page.getByLabel('Messages of cap 2').fill('5');
    await page.getByLabel('Length of cap 2').fill('7');
    await page.getByRole('checkbox', { name: 'Quiet hours' }).check();
    await page.getByLabel('Quiet until').fill('07:30');
    await page.getByRole('combobox', { name: 'Time zone', exact: true }).fill('new york');
    await page.getByRole('option', { name: 'America/New York' }).click();
    await page.getByLabel('Minimum delay').fill('30');
    await page.getByLabel('Android messages').selectOption('notification');
    await page.getByLabel('Prefix of data keys').fill('acme');
    await page.getByRole('button', { name: 'Save' }).click();
    const line = async () => (await bundle.database`select detail from audit_log where action = 'workspace.change'`)[0];
    await expect.poll(line).toEqual({
      detail: {
        timeZone: 'America/New_York',
        frequencyCaps: '2/1d,5/7d',
        quietHours: '22:00-07:30',
        minimumDelay: '30',
        androidMode: 'notification',
        dataPrefix: 'acme',
      },
    });
    await page.reload();
    await page.getByLabel('Messages of cap 2').waitFor();
    expect(await page.getByLabel('Messages of cap 2').inputValue()).toBe('5');
    expect(await page.getByLabel('Length of cap 2').inputValue()).toBe('7');
    expect(await page.getByLabel('Quiet until').inputValue()).toBe('07:30');
    expect(await page.getByRole('combobox', { name: 'Time zone', exact: true }).inputValue()).toBe('America/New York');
    expect(await page.getByLabel('Minimum delay').inputValue()).toBe('30');
    expect(await page.getByLabel('Android messages').inputValue()).toBe('notification');
    expect(await page.getByLabel('Prefix of data keys').inputValue()).toBe('acme');
    await expectAccessible(page);
    expect(faults).toEqual([]);

    await page.getByLabel('Minimum delay').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    const delay = async () =>
      (await bundle.database`select minimum_delay_minutes from workspaces where id = ${bundle.workspaceId}`)[0];
    await expect.poll(delay).toEqual({ minimum_delay_minutes: null });

    await page.getByLabel('Quiet until').fill('22:00');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Quiet hours are two different times such as 22:00-08:00, or none').waitFor();
    await expectAccessible(page);
    const [row] = await bundle.database`select quiet_from from workspaces where id = ${bundle.workspaceId}`;
    expect(row).toEqual({ quiet_from: '22:00' });
    await context.close();
  });

  test('what was saved is taken back by the toast', async () => {
    const { bundle } = console;
    const nameOf = async () => (await bundle.database`select name from workspaces where id = ${bundle.workspaceId}`)[0];
    const before = await nameOf();
    const { page, context } = await console.openSession();
    await page.goto(`${console.home}/settings`);
    await page.getByLabel('Name', { exact: true }).fill('Another shop');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Settings saved').waitFor();
    expect(await nameOf()).toEqual({ name: 'Another shop' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Settings are as before').waitFor();
    expect(await nameOf()).toEqual(before);
    await context.close();
  });
});

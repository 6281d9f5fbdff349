import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSubscriptions } from '../sdk/web-site.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

const phone = { id: 'phone-of-the-apps-page', secret: 'p'.repeat(43) };

describeScreen('the apps screen in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  const app = (appKey: string, path: string, body: object) =>
    console.bundle.call('POST', `/v1/app/installations${path}`, {
      headers: { authorization: `Bearer ${appKey}`, 'carillon-installation-secret': phone.secret },
      body,
    });
  const actions = async () => {
    const rows = await console.bundle.database`select action from audit_log order by id`;
    return rows.map(({ action }) => action as string);
  };
  const openApps = async (page: Page): Promise<void> => {
    await page.goto(`${console.home}/apps`);
    await page.getByRole('heading', { name: 'Apps', level: 1 }).waitFor();
  };

  test('makes an app key, shows it whole, lists an installation as soon as it registers, and its user with sign-in and sign-out', async () => {
    const { page, context, faults } = await console.openSession();
    await openApps(page);
    await page.getByText('No app has registered itself yet').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'New app key' }).click();
    await page.getByRole('form', { name: 'New app key' }).getByLabel('Name').fill('Shop app');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create key' }).click();
    const keyCell = page.getByRole('region', { name: 'App keys', exact: true }).locator('code');
    await keyCell.waitFor();
    const appKey = (await keyCell.textContent())!;
    expect(appKey).toMatch(/^cak_[A-Za-z0-9_-]{43}$/);

    const registration = {
      installation_id: phone.id,
      platform: 'ANDROID',
      push_token: 'token-of-the-page',
      model: 'Pixel 9',
    };
    expect((await app(appKey, '', registration)).status).toBe(200);
    // The page was not loaded again.
    const row = page.getByRole('region', { name: 'Installations' }).getByRole('row').nth(1);
    await row.getByText(phone.id).waitFor();
    await row.getByText('Pixel 9 · key Shop app').waitFor();
    await row.getByRole('link', { name: 'Anonymous' }).waitFor();

    expect((await app(appKey, `/${phone.id}/identify`, { user_id: 'nadia' })).status).toBe(200);
    await row.getByRole('link', { name: 'nadia' }).click();
    const ofUser = page.getByRole('region', { name: 'Installations' }).getByRole('row').nth(1);
    await ofUser.getByText(phone.id).waitFor();
    expect(await ofUser.locator('time').count()).toBe(2);
    await expectAccessible(page);
    expect((await app(appKey, `/${phone.id}/logout`, {})).status).toBe(200);
    await openApps(page);
    await row.getByRole('link', { name: 'Anonymous' }).waitFor();
    expect(await row.locator('time').count()).toBe(3);

    await page.getByRole('button', { name: 'Revoke key Shop app' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No app key yet').waitFor();
    expect((await app(appKey, '', registration)).status).toBe(401);
    expect(await actions()).toEqual(expect.arrayContaining(['key.create', 'key.revoke']));
    expect(faults).toEqual([]);
    await context.close();
  });

  test('shows a QR code with the link that the sample apps open, for an address that the phone reaches', async () => {
    const { page, context, faults } = await console.openSession();
    await openApps(page);
    await page.getByRole('button', { name: 'New app key' }).click();
    await page.getByRole('form', { name: 'New app key' }).getByLabel('Name').fill('Sample');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'Connect a phone' }).click();
    const picture = page.getByRole('img', { name: 'QR code that connects the sample app' });
    const pictureOfThisComputer = await picture.getAttribute('src');
    await page.getByText('Only this computer reaches it').waitFor();
    await page.getByLabel('Address that the phone reaches').fill('http://192.168.1.7:8080/');
    await expect.poll(() => page.getByText('Only this computer reaches it').count()).toBe(0);
    expect(await picture.getAttribute('src')).not.toBe(pictureOfThisComputer);
    await expectAccessible(page);
    const link = await page.locator('code').filter({ hasText: 'carillon-sample:' }).textContent();
    const { searchParams } = new URL(link!);
    expect(searchParams.get('host')).toBe('http://192.168.1.7:8080');
    const key = searchParams.get('key')!;
    expect((await app(key, '', { installation_id: 'phone-of-the-qr-code', platform: 'IOS' })).status).toBe(200);
    await page.getByRole('region', { name: 'Installations' }).getByText('phone-of-the-qr-code').waitFor();
    await page.getByRole('button', { name: 'Hide code' }).click();
    await expect.poll(() => picture.count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('saves sites and attributes, shows why one is refused, and keeps two identity keys', async () => {
    const { page, context, faults } = await console.openSession();
    await openApps(page);
    await page.getByLabel('Sites').fill('https://shop.example\nhttps://blog.example/');
    await page.getByLabel('Attributes that apps may write').fill('favourite_team');
    await page.getByRole('button', { name: 'Save access' }).click();
    await expect.poll(() => page.getByLabel('Sites').inputValue()).toBe('https://shop.example\nhttps://blog.example');
    await page.getByLabel('Attributes that apps may write').fill('u_em');
    await page.getByRole('button', { name: 'Save access' }).click();
    await page.getByRole('alert').filter({ hasText: 'u_em' }).first().waitFor();
    await expectAccessible(page);

    const add = page.getByRole('button', { name: 'New identity key' });
    await add.click();
    await page.getByRole('button', { name: 'Add identity key' }).click();
    const made = page.getByRole('status').filter({ hasText: 'Identity key added' });
    await made.getByText('shown only once').waitFor();
    await expectAccessible(page);
    await add.click();
    await page.getByLabel('Algorithm').selectOption('ES256');
    await page.getByLabel('Public key').fill('not a key');
    await page.getByRole('button', { name: 'Add identity key' }).click();
    await page.getByRole('alert').filter({ hasText: 'public_key' }).first().waitFor();
    await page.getByLabel('Algorithm').selectOption('HS256');
    await page.getByRole('button', { name: 'Add identity key' }).click();
    const rows = page.getByRole('region', { name: 'Identity keys' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(3);
    expect(await add.count()).toBe(0);
    await page
      .getByRole('button', { name: /^Remove identity key/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await add.waitFor();
    expect(await actions()).toEqual(
      expect.arrayContaining(['app.access', 'app.identity-key-add', 'app.identity-key-remove']),
    );
    // The two refusals, which the browser notes.
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
    await context.close();
  });

  test('makes this browser a test device of a user who is marked for tests', async () => {
    const subscription = (await openSubscriptions(console.bundle))('console');
    const { page, context, faults } = await console.openSession();
    await page.addInitScript((given) => {
      const scope = globalThis as any;
      scope.PushManager.prototype.getSubscription = async () => null;
      scope.PushManager.prototype.subscribe = async () => ({ toJSON: () => given });
      // A window without a profile asks nobody.
      scope.Notification.requestPermission = async () => 'granted';
    }, subscription);
    await openApps(page);
    await page.getByLabel('User id').fill('tester');
    await page.getByRole('button', { name: 'Add this browser' }).click();
    await page.getByText('This browser is a test device of tester').waitFor();
    const [device] = await console.bundle.database`
      select devices.push_id::jsonb as "pushId", users.is_test as "isTest" from devices
      join users on users.bucket = devices.bucket and users.id = devices.user_id where users.customer_id = 'tester'`;
    expect(device).toEqual({ pushId: subscription, isTest: true });
    expect(faults).toEqual([]);
    await context.close();
  });
});

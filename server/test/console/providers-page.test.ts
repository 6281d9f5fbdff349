import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describeScreen('providers of a sandbox in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('a check asks the simulators really; a removed credential is named with what it hits, and the simulator is the way back', async () => {
    const { page, context, faults } = await console.openSession({ viewport: { width: 390, height: 844 } });
    await page.goto(`${console.home}/settings`);
    await page.getByRole('region', { name: 'API details' }).getByText(console.bundle.workspaceId).waitFor();
    await page.getByText('CARILLON_SEGMENT_USERS_PER_DAY').waitFor();
    await expectAccessible(page);
    await page.goto(`${console.home}/providers`);

    const fcm = page.getByRole('region', { name: 'FCM (Android)' });
    const received = async () =>
      (await console.bundle.call('GET', '/sandbox/counters')).json().ANDROID?.received as number;
    const before = await received();
    await fcm.getByRole('button', { name: 'Check FCM (Android)' }).click();
    await fcm.getByText('The provider accepts it').waitFor();
    expect(await received()).toBe(before + 1);
    expect(await console.bundle.inbox()).toEqual([]);
    await fcm.getByRole('button', { name: 'Connect FCM (Android)' }).click();
    await fcm.getByLabel('Key file of the service account').waitFor();
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
    await fcm.getByRole('button', { name: 'Connect FCM (Android)' }).click();

    await fcm.getByRole('button', { name: 'Remove FCM (Android)' }).click();
    await page.getByRole('dialog').getByText('1 device is reached through it; no send is under way.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await fcm.getByText('not connected').waitFor();
    await fcm.getByRole('button', { name: 'Use the simulator of FCM (Android)' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Use the simulator' }).click();
    await fcm.getByText('Project', { exact: true }).waitFor();
    // The credential of another app stands beside it.
    await console.bundle.database`
      insert into apps (workspace_id, platform, app_id, name, identifier, created_at)
      values (${console.bundle.workspaceId}, 'ANDROID', 'outlet', 'Outlet', 'com.example.outlet', now())`;
    await console.bundle.database`
      insert into provider_credentials (workspace_id, provider, app_id, sealed, summary, simulated, updated_at)
      select workspace_id, provider, 'outlet', sealed, '{"projectId": "outlet-4711"}', true, updated_at
      from provider_credentials where workspace_id = ${console.bundle.workspaceId} and provider = 'fcm'`;
    await page.reload();
    await fcm.getByRole('region', { name: 'App outlet' }).getByText('outlet-4711').waitFor();
    // The simulators know the new account at once.
    await fcm.getByRole('button', { name: 'Check FCM (Android)' }).click();
    await fcm.getByText('The provider accepts it').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('another VAPID key takes the place of one in use only where its beginning is typed', async () => {
    const { page, context, faults } = await console.openSession();
    await page.goto(`${console.home}/providers`);
    const webPush = page.getByRole('region', { name: 'Web Push' });
    const replace = webPush.getByRole('button', { name: 'Connect Web Push' });
    const inUse = async () => {
      const [row] = await console.bundle.database<{ summary: { publicKey: string }; simulated: boolean }[]>`
        select summary, simulated from provider_credentials
        where workspace_id = ${console.bundle.workspaceId} and provider = 'webpush'`;
      return row!;
    };
    const send = async () => {
      await webPush.getByRole('button', { name: 'Check and replace' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Check and replace' }).click();
    };
    const named = webPush.getByRole('textbox', { name: 'Key that is replaced' });

    // Nobody subscribed with the key of the sandbox's own phones.
    await replace.click();
    await webPush.getByRole('textbox', { name: 'Contact' }).fill('mailto:push@example.com');
    expect(await named.count()).toBe(0);
    await send();
    await webPush.getByText('Connected', { exact: true }).waitFor();
    const { summary: first, simulated } = await inUse();
    expect(simulated).toBe(false);

    await replace.click();
    await webPush.getByRole('textbox', { name: 'Contact' }).fill('mailto:push@example.com');
    await webPush.getByText(`To replace ${first.publicKey}, type its first eight characters`).waitFor();
    await send();
    await webPush.getByText(`browsers subscribed with the key ${first.publicKey.slice(0, 8)}`).waitFor();
    await expectAccessible(page);
    expect((await inUse()).summary).toEqual(first);

    await named.fill(first.publicKey.slice(0, 8));
    await send();
    await named.waitFor({ state: 'detached' });
    const { summary: second } = await inUse();
    expect(second.publicKey).not.toBe(first.publicKey);
    await webPush.getByText(second.publicKey, { exact: true }).first().waitFor();
    // The browser's own word of an answer that is an error.
    expect(faults.filter((fault) => !fault.includes('/credentials'))).toEqual([]);
    await context.close();
  });
});

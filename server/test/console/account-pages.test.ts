import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { startOpenidIssuer } from './openid-issuer.ts';
import type { OpenidIssuer } from './openid-issuer.ts';

describe('the accounts page', () => {
  describeScreen('people and roles in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());

    test('creates an invitation that a colleague accepts, shows what the role allows, and signs out and in again', async () => {
      const { page: owner, context, faults } = await console.openSignedIn();
      await owner.getByRole('button', { name: 'Console' }).click();
      await owner.getByRole('menuitem', { name: 'Accounts and roles' }).click();
      await owner.getByRole('button', { name: 'Invite colleague' }).click();
      await owner.getByLabel('Email address').fill('ana@example.com');
      await owner.getByLabel('Role in all workspaces').selectOption('analyst');
      await owner.getByRole('button', { name: 'Create invitation' }).click();
      const link = await owner.getByText('#invitation=').textContent();
      await expectAccessible(owner);

      const { page, context: other } = await console.openPage();
      await page.goto(link!);
      await page.getByText('Console invites ana@example.com as analyst of all workspaces.').waitFor();
      expect(page.url()).not.toContain('invitation');
      await expectAccessible(page);
      await page.getByLabel('Name').fill('Ana');
      await page.getByLabel('New password').fill('short');
      await page.getByLabel('New password').fill('nine green bottles');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();

      await page.getByRole('button', { name: 'Ana' }).click();
      await page.getByRole('menuitem', { name: 'Sessions and password' }).waitFor();
      expect(await page.getByRole('menuitem', { name: 'Accounts and roles' }).count()).toBe(0);
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
      await expectAccessible(page);
      await page.getByLabel('Email address').fill('ana@example.com');
      await page.getByRole('textbox', { name: 'Password' }).fill('not the right one');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('The e-mail address or the password is not right.').waitFor();
      await page.getByRole('textbox', { name: 'Password' }).fill('nine green bottles');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();

      // The owner sees her, names what a click hits, and the log says it.
      await owner.reload();
      await owner.getByRole('button', { name: 'Disable ana@example.com' }).click();
      await owner.getByText('is signed out everywhere at once').waitFor();
      await expectAccessible(owner);
      await owner.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
      await owner.getByText('DISABLED').waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
      await owner.getByRole('link', { name: 'Audit log' }).click();
      await owner.getByText('Account disabled').waitFor();
      await expectAccessible(owner);
      expect(faults).toEqual([]);
      await context.close();
      await other.close();
    }, 90_000);

    test('says why a link does not work, and how to get another', async () => {
      const { page, context, faults } = await console.openSignedIn();
      await context.clearCookies();
      const code = 'A'.repeat(43);
      const alert = () => page.getByRole('alert').textContent();
      await page.goto(`${console.bundle.url}/console/#sign-in=${code}`);
      await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
      expect(await alert()).toContain('This installation does not know the link');
      expect(await alert()).toContain('npm run carillon -- console-link');
      await expectAccessible(page);
      await page.goto(`${console.bundle.url}/console/#invitation=${code}`);
      await page.getByText('ask an owner to invite you again').waitFor();
      await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
      await expectAccessible(page);
      await page.goto(`${console.bundle.url}/console/#new-password=${code}`);
      await page.getByLabel('New password').fill('nine green bottles');
      await page.getByRole('button', { name: 'Set password' }).click();
      await page.getByText('carillon accounts password-link').waitFor();
      await expectAccessible(page);
      expect(faults.filter((fault) => !fault.includes('401'))).toEqual([]);
      await context.close();
    });

    test('lists the sessions of the own account, and ends another one', async () => {
      const first = await console.openSession();
      const second = await console.openSignedIn();
      await first.page.goto(`${console.home}/account`);
      await first.page.getByText('this one').waitFor();
      await expectAccessible(first.page);
      await first.page
        .getByRole('button', { name: /^End the session/ })
        .first()
        .click();
      await first.page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
      await first.page.getByRole('dialog').waitFor({ state: 'detached' });
      await second.page.reload();
      await second.page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
      await first.context.close();
      await second.context.close();
    });

    test('keeps drafts after an expired session, and removes them after signing out', async () => {
      const { page, context } = await console.openSession();
      const builder = `${console.home}/segments/new/filter`;
      const composer = `${console.home}/campaigns/new`;
      const drafts = () =>
        page.evaluate(() => {
          const kept = Object.keys((globalThis as any).localStorage);
          return kept.filter((key) => /^carillon\.(filter|campaign)\./.test(key)).length;
        });
      const signIn = async () => {
        const code = (await console.bundle.carillon.createConsoleLink()).split('#sign-in=')[1];
        await context.request.post(`${console.bundle.url}/console/api/session`, { data: { code } });
      };
      await page.goto(builder);
      await page.getByRole('textbox', { name: 'Name' }).fill('Secret plans');
      await page.goto(composer);
      await page.getByRole('textbox', { name: 'Name' }).fill('Secret sale');
      await expect.poll(drafts).toBe(2);

      await context.clearCookies();
      await page.goto(builder);
      await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
      expect(await drafts()).toBe(2);
      await signIn();
      await page.goto(builder);
      await page.getByText('Your draft in this browser is shown.').waitFor();
      await page.goto(composer);
      await page.getByText('Your unsaved changes in this browser are shown.').waitFor();

      await page.getByRole('button', { name: 'Console', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
      expect(await drafts()).toBe(0);
      await signIn();
      await page.goto(builder);
      await page.getByRole('textbox', { name: 'Name' }).waitFor();
      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('');
      await context.close();
    }, 60_000);
  });
});

describe('the company sign-in page', () => {
  const client = { clientId: 'carillon', clientSecret: 'the secret of the client' };

  describeScreen('signing in by the company account in Chromium', () => {
    let issuer: OpenidIssuer;
    let console: ConsoleBrowser;
    beforeAll(async () => {
      issuer = await startOpenidIssuer(client);
      console = await startConsoleBrowser({
        CARILLON_OIDC_ISSUER: issuer.issuer,
        CARILLON_OIDC_CLIENT_ID: client.clientId,
        CARILLON_OIDC_CLIENT_SECRET: client.clientSecret,
        CARILLON_OIDC_NAME: 'Example',
        CARILLON_PASSWORD_SIGN_IN: 'owners',
      });
    });
    afterAll(async () => {
      await console?.stop();
      await issuer?.stop();
    });

    test('informs an uninvited user, and admits an invited one with the role of the invitation', async () => {
      const { page: owner, context: first } = await console.openSession();
      const { page, context } = await console.openPage();
      issuer.state.user = { sub: 'sub-ana', email: 'ana@example.com', email_verified: true, name: 'Ana' };
      await page.goto(`${console.bundle.url}/console/`);
      await page.getByText('Owners may use a password').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Sign in with Example' }).click();
      await page.getByText('You have not been invited yet.').waitFor();
      expect(page.url()).not.toContain('refused');
      await expectAccessible(page);

      await owner.goto(`${console.home}/accounts`);
      await owner.getByRole('button', { name: 'Invite colleague' }).click();
      await owner.getByLabel('Email address').fill('ana@example.com');
      await owner.getByLabel('Role in all workspaces').selectOption('analyst');
      await owner.getByRole('button', { name: 'Create invitation' }).click();
      await page.goto((await owner.getByText('#invitation=').textContent())!);
      await page.getByText('Sign in with the company account of that address.').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Sign in with Example' }).click();
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await page.getByRole('button', { name: 'Ana' }).click();
      await page.getByText('ana@example.com · analyst').waitFor();
      await first.close();
      await context.close();
    });
  });
});

describe('the providers page', () => {
  describeScreen('providers of a sandbox in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());

    test('checks with the simulators, names what the removal of a credential affects, and reconnects the simulator', async () => {
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
      await fcm.getByRole('button', { name: 'Replace FCM (Android)' }).click();
      await fcm.getByLabel('Key file of the service account').waitFor();
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
      await fcm.getByRole('button', { name: 'Replace FCM (Android)' }).click();

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

    test('replaces a VAPID key in use only after its beginning is typed', async () => {
      const { page, context, faults } = await console.openSession();
      await page.goto(`${console.home}/providers`);
      const webPush = page.getByRole('region', { name: 'Web Push' });
      const replace = webPush.getByRole('button', { name: 'Replace Web Push' });
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
});

describe('the settings page', () => {
  describeScreen('settings in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());

    test('stores settings with a line in the audit log, and rejects impossible values with the possible ones', async () => {
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
      const line = async () =>
        (await bundle.database`select detail from audit_log where action = 'workspace.change'`)[0];
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
      expect(await page.getByRole('combobox', { name: 'Time zone', exact: true }).inputValue()).toBe(
        'America/New York',
      );
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

    test('undoes saved settings from the toast', async () => {
      const { bundle } = console;
      const nameOf = async () =>
        (await bundle.database`select name from workspaces where id = ${bundle.workspaceId}`)[0];
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
});

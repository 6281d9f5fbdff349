import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { until } from '../carillon-bundle.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describe('the users page', () => {
  describeScreen('people in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());
    const shoot = async (page: Page, name: string) => {
      if (process.env.SHOTS !== undefined) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
    };

    test('finds a user by a word, shows devices, messages and reasons, and names the effect of an erasure', async () => {
      const { bundle } = console;
      const sent = await bundle.push({
        campaignName: 'Spring',
        targetPlatform: ['ANDROID'],
        targetAudience: 'All Users',
        payload: { ANDROID: { title: 'Hello', message: 'There' } },
        campaignDelivery: { type: 'soon' },
      });
      const campaignId = sent.json().cid as string;
      await until(async () => (await bundle.database`select 1 from readable_deliveries as deliveries`).length > 0);
      const [device] = await bundle.database`select push_id from devices where platform = 'ANDROID'`;
      const [owner] = await bundle.database`
        select users.customer_id from devices join users on users.id = devices.user_id and users.bucket = devices.bucket where push_id = ${device!.push_id}`;
      const customerId = String(owner!.customer_id);

      const { page, context, faults } = await console.openSignedIn();
      await page.getByRole('link', { name: 'Users', exact: true }).click();
      const listed = page.getByRole('region', { name: 'People' });
      await listed.getByRole('link', { name: customerId }).first().waitFor();
      await expectAccessible(page);
      await shoot(page, 'users');
      const find = async (word: string) => {
        await page.getByRole('searchbox', { name: 'Search' }).fill(word);
        await page.getByRole('button', { name: 'Find' }).click();
      };
      await find('nobody at all');
      await page.getByText('No matching users').waitFor();
      await find(`${customerId}@example.com`);
      await listed.getByRole('cell', { name: `${customerId}@example.com` }).waitFor();
      await find(`${customerId.slice(1)}@exam`.toUpperCase());
      await listed.getByRole('cell', { name: `${customerId}@example.com` }).waitFor();
      await find('xy');
      await page.getByText('Type at least three characters').waitFor();
      await find(String(device!.push_id));
      await page.getByRole('cell', { name: 'Device token' }).waitFor();
      expect(new URL(page.url()).searchParams.get('q')).toBe(device!.push_id);
      await expectAccessible(page);

      await page.getByRole('link', { name: customerId }).click();
      await page.getByRole('heading', { name: customerId, level: 1 }).waitFor();
      await page.getByText('Accepts messages').waitFor();
      // People know a user by the id they gave; ours stands below all else.
      const id = new URL(page.url()).pathname.split('/').at(-1)!;
      expect(await page.getByRole('main').innerText()).toMatch(new RegExp(`Carillon id\\s+${id}\\s*$`));
      const tabs = page.getByRole('navigation', { name: 'User' });
      await tabs.getByText('Attributes').click();
      await page.getByText(`${customerId}@example.com`).waitFor();
      await tabs.getByText('Messages').click();
      await page.getByRole('region', { name: 'Messages' }).getByText('ACCEPTED').waitFor();
      await page.getByRole('link', { name: 'Explain Spring' }).click();
      await page
        .getByText('took it', { exact: false })
        .or(page.getByText('accepted', { exact: false }))
        .first()
        .waitFor();
      expect(new URL(page.url()).search).toBe(`?campaign=${campaignId}`);
      await expectAccessible(page);

      // By hand: an attribute in its type, the mark for tests, a device for tests that is blocked.
      await tabs.getByText('Attributes').click();
      expect(new URL(page.url()).search).toBe(`?campaign=${campaignId}&tab=attributes`);
      await page.getByRole('button', { name: 'Add attribute' }).click();
      const form = page.getByRole('form', { name: 'Attribute' });
      await form.getByLabel('Attribute').fill('orders');
      await form.getByLabel('Type').selectOption('number');
      await form.getByLabel('Value').fill('seven');
      await form.getByRole('button', { name: 'Add attribute' }).click();
      await page.getByText('Not a number.').waitFor();
      await form.getByLabel('Value').fill('7');
      const isTyped = Promise.withResolvers<void>();
      await page.route('**/attributes?*', async (route) => isTyped.promise.then(() => route.continue()), { times: 1 });
      await form.getByRole('button', { name: 'Add attribute' }).click();
      // The next one, while the first is on its way: the form is not emptied under it.
      await form.getByLabel('Attribute').fill('svc_score');
      isTyped.resolve();
      await page.getByRole('button', { name: 'Change orders' }).waitFor();
      await form.getByRole('button', { name: 'Add attribute' }).and(page.locator(':enabled')).waitFor();
      expect(await form.getByLabel('Attribute').inputValue()).toBe('svc_score');
      await form.getByLabel('Value').fill('1');
      await form.getByRole('button', { name: 'Add attribute' }).click();
      await page.getByText('is a reserved name', { exact: false }).waitFor();
      // The people of the demo are marked.
      await page.getByRole('button', { name: 'Unmark for tests' }).click();
      await page.getByText('Marked for tests', { exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Mark for tests' }).click();
      await page.getByText('Marked for tests', { exact: true }).waitFor();
      await tabs.getByText('Summary').click();
      await page.getByRole('button', { name: 'Add device' }).click();
      const device2 = page.getByRole('form', { name: 'Add a device' });
      await device2.getByLabel('Device name').fill('desk phone');
      await device2.getByLabel('Device token').fill('token-of-the-desk');
      await device2.getByRole('button', { name: 'Add device' }).click();
      await page.getByRole('button', { name: 'Block desk phone' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Block', exact: true }).click();
      await page.getByRole('button', { name: 'Unblock desk phone' }).waitFor();
      const said = page.getByRole('status');
      // One of an earlier act may be there still.
      const cardOf = (text: string) => said.getByText(text).locator('..');
      // It stays while the mouse is on it.
      await said.getByText('desk phone blocked').hover();
      await expectAccessible(page);
      await cardOf('desk phone blocked').getByRole('button', { name: 'Undo' }).click();
      await said.getByText('desk phone unblocked').waitFor();
      await said.getByText('desk phone blocked').waitFor({ state: 'detached' });
      await cardOf('desk phone unblocked').getByRole('button', { name: 'Dismiss' }).click();
      await page.getByRole('button', { name: 'Block desk phone' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Block', exact: true }).click();
      await page.getByRole('button', { name: 'Unblock desk phone' }).waitFor();
      await tabs.getByText('Timeline').click();
      const timeline = page.getByRole('region', { name: 'Timeline' });
      for (const what of ['changed in the console', 'message', 'created'])
        await timeline.getByText(what).first().waitFor();
      await timeline.getByText('by Console; set orders').waitFor();
      await expectAccessible(page);
      // What happens meanwhile is there without a click.
      const occurred = await bundle.call('POST', `/v1/event/${bundle.workspaceId}`, {
        headers: bundle.basic(),
        body: {
          type: 'event',
          customer_id: customerId,
          actions: [{ action: 'Opened the shop', attributes: { aisle: 7 } }],
        },
      });
      expect(occurred.status).toBe(200);
      await timeline.getByText('Opened the shop').waitFor();
      await timeline.getByText('aisle: 7').waitFor();
      const [stored] = await bundle.database`select attributes, is_test from users where customer_id = ${customerId}`;
      expect(stored).toMatchObject({ is_test: true, attributes: { orders: 7 } });

      await page.getByRole('button', { name: 'Erase' }).click();
      await page.getByText('3 attributes, 2 devices').waitFor();
      await expectAccessible(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
      await page.getByText('This user will be erased').waitFor();
      const [erasure] = await bundle.database`select id, state, due_at - requested_at = interval '24 hours' as delayed
        from erasures`;
      expect(erasure).toMatchObject({ state: 'PENDING', delayed: true });
      // The log says that, and not whom.
      const [line] = await bundle.database`select * from audit_log where action = 'person.erase'`;
      expect(line).toMatchObject({ object_id: erasure!.id, object_name: null });
      // Ids are random hex and may hold any short name; what the line says of the person is in these two.
      expect(JSON.stringify([line!.detail, line!.object_name])).not.toContain(customerId);
      await page.getByRole('button', { name: 'Keep user' }).click();
      await page.getByText('nothing of the user is deleted').waitFor();
      await expectAccessible(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Keep user' }).click();
      await page.getByText('This user will be erased').waitFor({ state: 'detached' });
      await said.getByText(`${customerId} is kept`).waitFor();
      expect(await bundle.database`select id from erasures`).toEqual([]);
      const [kept] =
        await bundle.database`select object_id, object_name from audit_log where action = 'person.erase-cancel'`;
      expect(kept).toEqual({ object_id: erasure!.id, object_name: null });
      await page.getByRole('button', { name: 'Erase' }).waitFor();
      // The reserved name was refused.
      expect(faults).toEqual([expect.stringContaining('status of 400')]);
      await context.close();
    }, 180_000);

    test.each([
      ['light', { viewport: { width: 1440, height: 900 } }],
      ['dark', { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' as const }],
      ['phone', { viewport: { width: 390, height: 844 } }],
    ])(
      'lists the users by name, and pages through them: %s',
      async (name, options) => {
        const { bundle } = console;
        const add = (customerId: string, attributes: object) =>
          bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
            headers: bundle.basic(),
            body: { type: 'customer', customer_id: customerId, attributes },
          });
        await add('customer-1001', { name: 'Maria Barreto', email: 'maria@example.com' });
        await add('customer-1002', { first_name: 'Tomás', last_name: 'Reis' });
        const { page, context, faults } = await console.openSession(options);
        await page.goto(`${console.home}/people`);
        const listed = page.getByRole('region', { name: 'People' });
        await listed.getByRole('link', { name: 'Tomás Reis' }).waitFor();
        await shoot(page, `users-${name}`);
        await page.goto(`${console.home}/people?q=barre`);
        await listed.getByRole('link', { name: 'Maria Barreto' }).waitFor();
        expect(await listed.locator('tbody tr').count()).toBe(1);
        await expectAccessible(page);
        await page.getByRole('button', { name: 'Show all' }).click();
        await listed.getByRole('link', { name: 'Tomás Reis' }).waitFor();
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
        expect(faults).toEqual([]);
        await context.close();
      },
      120_000,
    );

    test('lists suspected devices with their state, and keeps one from the list or the page of its user', async () => {
      const { bundle } = console;
      const { page, context, faults } = await console.openSession();
      await page.goto(`${console.home}/people?view=suspected`);
      await page.getByRole('heading', { name: 'No suspected devices' }).waitFor();
      await expectAccessible(page);
      await bundle.database`
        update devices set suspected_code = 'BadDeviceToken', suspected_sends = 2, suspected_since = now() - interval '30 hours',
          suspected_at = now() - interval '1 hour'
        where platform = 'IOS' and id = (select min(id) from devices where platform = 'IOS')`;
      await bundle.database`
        update devices set suspected_code = '403', suspected_sends = 3, suspected_since = now() - interval '80 hours',
          suspected_at = now() - interval '2 hours', state = 'GONE', gone_at = now(), gone_reason = '403'
        where platform = 'WEB' and id = (select min(id) from devices where platform = 'WEB')`;
      await page.reload();
      await page.getByRole('link', { name: 'Suspected devices: 2' }).waitFor();
      const rows = page.getByRole('region', { name: 'Suspected devices' }).locator('tbody tr');
      await rows.nth(1).waitFor();
      const [iphone, browser] = await rows.allInnerTexts();
      expect(iphone).toMatch(/iOS\s+BadDeviceToken\s+2 of 3 sends\s.*ago\s+1 hour ago\s+In the audience/s);
      expect(browser).toMatch(/Web\s+403\s+3 sends\s.*ago\s+2 hours ago\s+Left/s);
      await page.getByText('After 3 such sends over at least 72 hours').waitFor();
      await expectAccessible(page);
      await rows.nth(1).getByRole('button', { name: 'Keep' }).click();
      await page.getByRole('dialog').getByText('It is in the audience again').waitFor();
      await expectAccessible(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
      await page.getByRole('link', { name: 'Suspected devices: 1' }).waitFor();
      const [back] = await bundle.database`
        select count(*)::int as count from devices where state = 'GONE' or suspected_code = '403'`;
      expect(back!.count).toBe(0);

      await rows.getByRole('link').click();
      await page.getByText('Suspected, 2 of 3 sends').waitFor();
      await page.getByText('They failed like sends to a dead address (BadDeviceToken)').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: /^Keep/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
      await page.getByText('Suspected, 2 of 3 sends').waitFor({ state: 'detached' });
      await page.getByRole('navigation', { name: 'User' }).getByText('Timeline').click();
      await page.getByText('suspected device kept').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    });
  });
});

describe('the sandbox page', () => {
  describeScreen('the sandbox in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());

    test('moves the clock, breaks a provider, opens messages with their payload, and empties everything', async () => {
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
      await page.getByText('These faults are set:').waitFor();
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
      await page.getByRole('button', { name: 'Show the payload of Hello on Android' }).click();
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

    test('adds a device, lets it die and live again with its messages, and resets to the seed', async () => {
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
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describe('the campaigns page', () => {
  describeScreen('campaigns in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());

    const send = async (campaignName: string, more: Record<string, unknown> = {}): Promise<string> => {
      const answer = await console.bundle.push({
        campaignName,
        targetPlatform: ['ANDROID'],
        targetAudience: 'All Users',
        payload: { ANDROID: { title: 'Hello', message: 'There' } },
        campaignDelivery: { type: 'soon' },
        ...more,
      });
      return answer.json().cid as string;
    };
    const later = { campaignDelivery: { type: 'later', date: '01/01/2099', time: '10:00 AM' } };

    test('shows the command that creates a campaign if there is none, and keeps search and view in the address', async () => {
      const { page, context, faults } = await console.openSignedIn();
      await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
      await page.getByText('Nothing sent yet').waitFor();
      await page.getByText('X-SVC-PushAPI-Signature').waitFor();
      await expectAccessible(page);

      await send('Spring sale', { ...later, campaignTags: ['spring'] });
      await send('Winter sale', later);
      await page.getByLabel('Name contains').fill('sale');
      await page.getByRole('button', { name: 'Filters' }).click();
      await page.getByLabel('Any of these tags').fill('spring');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.waitForURL('**/campaigns?name=sale&tag=spring');
      // The list refreshes automatically, so it may have shown both campaigns before the search.
      await page.getByRole('link', { name: 'Winter sale' }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Spring sale' }).waitFor();
      expect(new URL(page.url()).search).toBe('?name=sale&tag=spring');
      const curl = await page.getByRole('region', { name: 'curl command' }).textContent();
      expect(curl).toContain('/v5/campaigns/search');
      expect(curl).toContain('{"limit":15,"page":1,"campaign_fields":{"name":"sale","tags":["spring"]}}');

      // The view is added to the filters, and both survive a reload.
      await page.getByRole('navigation', { name: 'Views' }).getByText('Scheduled').click();
      await page.waitForURL('**/campaigns?name=sale&tag=spring&view=scheduled');
      await page.reload();
      await page.getByRole('link', { name: 'Spring sale' }).waitFor();
      expect(await page.getByLabel('Name contains', { exact: true }).inputValue()).toBe('sale');
      await page.getByRole('navigation', { name: 'Views' }).getByText('History').click();
      await page.getByText('No matching campaigns').waitFor();
      await page.goBack();
      await page.getByRole('link', { name: 'Spring sale' }).waitFor();
      await expectAccessible(page);
      expect(faults).toEqual([]);
      await context.close();
    });

    test('updates the report of a campaign while it is sent, with an explanation of each figure', async () => {
      const { page, context, faults } = await console.openSession();
      const id = await send('Counted along', later);
      await page.goto(`${console.home}/campaigns/${id}`);
      await page.getByRole('heading', { name: 'Counted along' }).waitFor();
      await page.getByText('Next occurrence:').waitFor();
      expect(await page.locator('[data-step="Accepted"]').textContent()).toBe('0 devices');
      await page
        .getByRole('region', { name: 'Funnel' })
        .getByRole('note', { name: /^Reachable:/ })
        .focus();
      await page.getByRole('tooltip').getByText('accept push messages').waitFor();

      // The campaign becomes due, and the page updates automatically.
      await console.bundle.database`
        update campaigns set next_at = created_at where id = ${id}`;
      await page.locator('[data-step="Accepted"]:not(:text-is("0 devices"))').waitFor();
      await page.getByText('Sent', { exact: true }).first().waitFor();
      const reachable = await page.locator('[data-step="Reachable"]').textContent();
      expect(await page.locator('[data-step="Accepted"]').textContent()).toBe(reachable);
      await page.locator('.uplot canvas').waitFor();
      await page.getByText('Show as a table').click();
      await page.getByRole('region', { name: 'Over time' }).waitFor();
      await expectAccessible(page);
      // Each number links to its rows.
      await page.getByRole('region', { name: 'Funnel' }).locator('[data-step="Accepted"]').getByRole('link').click();
      await page.waitForURL(`**/deliveries?campaign=${id}&outcome=ACCEPTED`);
      await page.getByRole('link', { name: 'Counted along' }).first().waitFor();
      await page.goBack();
      // The address holds the selected tab.
      const tabs = page.getByRole('navigation', { name: 'Report' });
      await tabs.getByText('Delivery').click();
      await page.waitForURL(`**/campaigns/${id}?tab=delivery`);
      await page.getByText('Every device that was tried accepted its message.').waitFor();
      await tabs.getByText('Message').click();
      await page.getByRole('article', { name: 'Message on Android' }).getByText('Hello').waitFor();
      await expectAccessible(page);
      await tabs.getByText('Settings').click();
      await page.reload();
      await page.getByText('Once, on 1 Jan 2099 at 10:00 (UTC)').waitFor();
      expect(await page.getByRole('region', { name: 'curl command' }).textContent()).toContain('/v5/campaigns');
      await expectAccessible(page);
      await tabs.getByText('Summary').click();
      // On a phone only the tables scroll sideways.
      await page.setViewportSize({ width: 375, height: 800 });
      await page.locator('.uplot canvas').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
      await expectAccessible(page);
      expect(faults).toEqual([]);
      await context.close();
    });

    test('says why all messages of a report wait, and until when', async () => {
      const { page, context, faults } = await console.openSession();
      const fault = { fcm: { status: 503, headers: { 'retry-after': '600' } } };
      await console.bundle.call('POST', '/sandbox/faults', { body: fault });
      const id = await send('To a provider that is busy');
      await page.goto(`${console.home}/campaigns/${id}`);
      const waiting = page
        .getByRole('note')
        .filter({ hasText: /waits? \(Android\): FCM responded with 503, try 1, next at/ });
      await waiting.waitFor();
      await waiting.getByRole('link').click();
      await page.waitForURL('**/deliveries?**outcome=WAITING**');
      await page.goBack();
      await waiting.waitFor();
      expect(await page.getByText('took its message').count()).toBe(0);
      await console.bundle.call('POST', '/sandbox/faults', { body: {} });
      expect(faults).toEqual([]);
      await context.close();
    });

    test('confirms a stop with its effect, and opens the draft of a clone', async () => {
      const { page, context, faults } = await console.openSession();
      const id = await send('To be stopped', later);
      await page.goto(`${console.home}/campaigns/${id}`);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('a stopped campaign cannot be restarted').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByText('Scheduled', { exact: true }).first().waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
      await page.getByText('Stopped', { exact: true }).first().waitFor();
      await page.getByText('stopped by Console').waitFor();

      await page.getByRole('button', { name: 'Duplicate' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Duplicate' }).click();
      await page.getByRole('heading', { name: 'To be stopped (copy)' }).waitFor();
      await page.getByText('Draft', { exact: true }).first().waitFor();
      expect(faults).toEqual([]);
      await context.close();
    });

    test('compares two campaigns, the second found by name, and exports the numbers', async () => {
      const { page, context, faults } = await console.openSession();
      const [one, other] = [await send('Read this first'), await send('Read this second')];
      const rows = () =>
        console.bundle.database`select 1 from campaigns where id in (${one}, ${other}) and status = 'SENT'`;
      await until(async () => (await rows()).length === 2);
      await page.goto(`${console.home}/campaigns/${one}`);
      await page.getByRole('combobox', { name: 'Compare with' }).click();
      await expectAccessible(page);
      await page.getByRole('combobox', { name: 'Compare with' }).fill('this sec');
      await page.getByRole('option', { name: /^Read this second/ }).click();
      await page.waitForURL(`**/campaigns/${one}?with=${other}`);
      const table = page.getByRole('region', { name: 'Comparison' });
      await table.getByRole('link', { name: 'Read this second' }).waitFor();
      await table
        .getByRole('row', { name: /^Accepted/ })
        .getByText('0 points')
        .waitFor();
      await expectAccessible(page);
      // The address holds the comparison, so it survives a reload.
      await page.reload();
      await table
        .getByRole('row', { name: /^Clicked/ })
        .getByText('may be chance')
        .waitFor();
      const file = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download CSV' }).click();
      const text = await (await file).createReadStream();
      let csv = '';
      for await (const piece of text) csv += String(piece);
      expect(csv.split('\r\n')[0]).toContain('platform,locale,variation,control group,devices,attempted,accepted');
      expect(csv.split('\r\n')[1]).toMatch(/^ANDROID,,,,\d+/);
      expect(faults).toEqual([]);
      await context.close();
    });

    test('shows figures and texts of each content', async () => {
      const { page, context, faults } = await console.openSession();
      const { bundle } = console;
      const push = (title: string) => ({ push: { android: { basic_details: { title, message: 'M' } } } });
      const headers = bundle.basic(bundle.keys.campaigns);
      const body = {
        ...{ channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', created_by: 'ada' },
        basic_details: { name: 'Said in two ways', platforms: ['ANDROID'] },
        campaign_content: {
          locales: ['default', 'de'],
          variation_details: {
            ...{ no_of_variations: 2, distribution_type: 'MANUAL' },
            manual_distribution_percentage: { variation_1: 50, variation_2: 50 },
          },
          content: {
            default: { variation_1: push('Hello'), variation_2: push('Good day') },
            de: { variation_1: push('Hallo'), variation_2: push('Guten Tag') },
          },
        },
        segmentation_details: { is_all_user_campaign: true },
        scheduling_details: { delivery_type: 'ASAP' },
        conversion_goal_details: { goals: [{ goal_name: 'Bought', goal_event_name: 'bought', is_primary_goal: true }] },
        control_group_details: { is_campaign_control_group_enabled: true, campaign_control_group_percentage: 99 },
      };
      const { id } = (await bundle.call('POST', '/v5/campaigns', { headers, body })).json().data;
      await bundle.call('PATCH', `/v5/campaigns/${id}/status`, { headers, body: { action: 'PUBLISH' } });
      await until(
        async () => (await bundle.database`select 1 from campaigns where id = ${id} and status = 'SENT'`).length > 0,
      );
      await page.goto(`${console.home}/campaigns/${id}`);
      const tabs = page.getByRole('navigation', { name: 'Report' });
      await tabs.getByText('Variations & groups').click();
      await page.getByText('No variation is ahead').waitFor();
      await page.getByRole('region', { name: 'Control groups' }).getByText('Control group of the campaign').waitFor();
      await page.getByRole('region', { name: 'Locales' }).getByText('German (de)').waitFor();
      await expectAccessible(page);
      await tabs.getByText('Message').click();
      const shown = page.getByRole('article', { name: 'Message on Android' });
      await shown.getByText('Hello').waitFor();
      await page.getByLabel('Locale').selectOption('de');
      await page.getByLabel('Variation').selectOption('2');
      await shown.getByText('Guten Tag').waitFor();
      await page.reload();
      await shown.getByText('Guten Tag').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    });

    test('says why a run was missed, and when it was planned', async () => {
      const { page, context, faults } = await console.openSession();
      const id = await send('Came too late', later);
      await console.bundle.database`
        insert into runs (id, workspace_id, campaign_id, lane, status, status_reason, moment, day, send_until, created_at, ended_at)
        values (${'7'.repeat(24)}, ${console.bundle.workspaceId}, ${id}, 1, 'MISSED', 'no node was there at its time', '2026-03-01T10:00:00Z',
          '2026-03-01', '2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z', '2026-03-01T11:00:00Z')`;
      await page.goto(`${console.home}/campaigns/${id}?tab=runs`);
      const row = page.getByRole('region', { name: 'Runs' }).getByRole('row', { name: /Missed/ });
      await row.getByText('no node was there at its time').waitFor();
      await row.getByText('1 Mar 2026, 10:00 UTC').waitFor();
      await row.getByText('Did not begin').waitFor();
      await expectAccessible(page);
      expect(faults).toEqual([]);
      await context.close();
    });

    test('keeps figures, columns and order of the list in the address, and saves a view under a name', async () => {
      const { page, context, faults } = await console.openSession();
      const id = await send('Of the list');
      await until(
        async () =>
          (await console.bundle.database`select 1 from campaigns where id = ${id} and status = 'SENT'`).length > 0,
      );
      await page.goto(`${console.home}/campaigns?name=of+the+list`);
      const table = page.getByRole('region', { name: 'Campaigns' });
      const row = table.getByRole('row', { name: /Of the list/ });
      await row.getByText('100 %').waitFor();
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('checkbox', { name: 'Reachable' }).check();
      await page.waitForURL('**/campaigns?name=of+the+list&columns=type&columns=reachable&**');
      await table.getByRole('columnheader', { name: 'Reachable' }).waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await page.getByLabel('Order').selectOption('oldest');
      await page.waitForURL('**&order=oldest');
      await page.getByRole('button', { name: 'Created by me' }).click();
      await page.getByText('No matching campaigns').waitFor();
      await page.getByRole('button', { name: 'Created by me' }).click();
      await row.waitFor();

      await page.getByRole('button', { name: 'Saved views' }).click();
      await page.getByLabel('Name of this view').fill('Old ones');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const view = page.getByRole('link', { name: 'Old ones' });
      await view.waitFor();
      await page.goto(`${console.home}/campaigns`);
      await page.getByRole('button', { name: 'Saved views' }).click();
      await view.click();
      await page.waitForURL(
        ({ searchParams }) => searchParams.get('order') === 'oldest' && searchParams.getAll('columns').length === 7,
      );
      await row.waitFor();
      await page.getByRole('button', { name: 'Saved views' }).click();
      await page.getByRole('button', { name: 'Delete view Old ones' }).click();
      await view.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('Undone').waitFor();
      await page.getByRole('button', { name: 'Saved views' }).click();
      await view.waitFor();
      expect(faults).toEqual([]);
      await context.close();
    });

    test('turns a campaign into a template, which creates a draft for the composer, and is renamed and deleted', async () => {
      const { page, context, faults } = await console.openSession();
      await page.goto(`${console.home}/templates`);
      await page.getByText('No templates yet').waitFor();
      await expectAccessible(page);
      const id = await send('Said every month', later);
      await page.goto(`${console.home}/campaigns/${id}`);
      await page.getByRole('button', { name: 'Save as template' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name of the template').fill('Monthly');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Save as template' }).click();
      await page.getByText('“Monthly” is saved as a template').waitFor();
      await page.getByRole('link', { name: 'Templates' }).click();
      const row = page.getByRole('list', { name: 'Templates' }).getByRole('listitem').filter({ hasText: 'Monthly' });
      await row.getByText('Once, on 1 Jan 2099 at 10:00 (UTC)').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Use Monthly' }).click();
      await page.getByRole('heading', { name: 'Monthly', level: 1 }).waitFor();
      await page.getByText('Draft', { exact: true }).first().waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Rename Monthly' }).click();
      await dialog.getByLabel('Name of the template').fill('Every month');
      await dialog.getByRole('button', { name: 'Rename' }).click();
      await page.getByRole('button', { name: 'Delete Every month' }).click();
      await dialog.getByText('Campaigns made from it stay').waitFor();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No templates yet').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    });

    test('shows planned campaigns in the calendar with a link to each, as a list of days on a phone', async () => {
      const { page, context, faults } = await console.openSession({ viewport: { width: 1280, height: 900 } });
      const date = { type: 'later', date: '03/05/2099', time: '10:00 AM' };
      const id = await send('In the calendar', { campaignDelivery: date });
      await page.goto(`${console.home}/calendar?date=2099-03-20`);
      await page.getByRole('heading', { name: 'March 2099' }).waitFor();
      const entry = page.locator('[data-date="2099-03-05"]').getByRole('link', { name: '10:00 In the calendar' });
      await entry.waitFor();
      await page.getByText('Times are in UTC').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Previous month' }).click();
      await page.getByRole('heading', { name: 'February 2099' }).waitFor();
      await page.getByText('Nothing is sent in this month').waitFor();
      await page.goBack();
      await page.getByRole('navigation', { name: 'Days shown' }).getByText('Week').click();
      await page.waitForURL('**/calendar?view=week&date=2099-03-20');
      for (const title of ['9 Mar to 15 Mar 2099', '2 Mar to 8 Mar 2099']) {
        await page.getByRole('link', { name: 'Previous week' }).click();
        await page.getByRole('heading', { name: title }).waitFor();
      }
      await expectAccessible(page);
      // With the keyboard only.
      await entry.focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/campaigns/${id}`);
      await page.goBack();
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole('heading', { name: 'Thursday 5 March' }).waitFor();
      await entry.waitFor();
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
      expect(faults).toEqual([]);
      await context.close();
    });

    test('retries a failed read on a click', async () => {
      const { page, context } = await console.openSession();
      await page.route('**/console/api/calendar?**', (route) => route.abort());
      await page.goto(`${console.home}/calendar`);
      const retry = page.getByRole('alert').getByRole('button', { name: 'Retry' });
      await retry.waitFor();
      await expectAccessible(page);
      await page.unroute('**/console/api/calendar?**');
      await retry.click();
      await page.getByRole('table', { name: 'Calendar' }).waitFor();
      expect(await retry.count()).toBe(0);
      await context.close();
    });

    test('leads from the clicks of a report to the users who clicked', async () => {
      const { bundle } = console;
      const { page, context, faults } = await console.openSession();
      const { cid } = (
        await bundle.push({
          campaignName: 'To be clicked',
          targetPlatform: ['ANDROID', 'IOS'],
          targetAudience: 'All Users',
          payload: { ANDROID: { title: 'Click', message: 'me' }, IOS: { title: 'Click', message: 'me' } },
          campaignDelivery: { type: 'soon' },
        })
      ).json();
      await until(
        async () => (await bundle.database`select 1 from campaigns where id = ${cid} and status = 'SENT'`)[0],
      );
      // Selected by its title, because messages of another test may still be retried.
      const message = await until(async () =>
        (await bundle.inbox()).find(({ platform, title }) => platform === 'ANDROID' && title === 'Click'),
      );
      const api = `${bundle.url}/console/api/sandbox/messages/${message.id}`;
      await context.request.post(`${api}/click?workspaceId=${bundle.workspaceId}`);
      await until(async () => (await bundle.database`select 1 from device_interactions where campaign_id = ${cid}`)[0]);
      await page.goto(`${console.home}/campaigns/${cid}`);
      await page.getByRole('group', { name: 'Clicked' }).getByRole('link', { name: '1', exact: true }).click();
      const reports = page.getByRole('region', { name: 'Reports of devices' });
      await reports.getByRole('link', { name: 'ada' }).waitFor();
      await expectAccessible(page);
      await page.getByLabel('Platform').selectOption('IOS');
      await page.waitForURL('**platform=IOS*');
      await page.getByText('No clicks reported yet').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    }, 60_000);
  });
});

type List = { address: string; table: string; column?: { name: string; parameters: string } };

describe('list views', () => {
  const lists: List[] = [
    {
      address: 'segments?order=name&state=active',
      table: 'Segments',
      column: { name: 'Found by', parameters: 'kind users attribute expiry created' },
    },
    {
      address: 'deliveries?outcome=ACCEPTED',
      table: 'Deliveries',
      column: { name: 'Provider message id', parameters: 'campaign user device outcome attempts message' },
    },
    { address: 'log?status=2xx', table: 'Calls', column: { name: 'Route', parameters: 'key took at route' } },
    { address: 'audit?action=segment.create', table: 'Audit log' },
  ];

  /** Returns the parameters in a fixed order, because their order in an address may differ. */
  const sortedOf = (search: URLSearchParams): string =>
    [...search]
      .map((pair) => pair.join('='))
      .sort()
      .join('&');

  describeScreen('columns and saved views of the lists in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
      const { bundle } = console;
      await bundle.push({
        campaignName: 'Spring',
        targetPlatform: ['ANDROID'],
        targetAudience: 'All Users',
        payload: { ANDROID: { title: 'Hello', message: 'There' } },
        campaignDelivery: { type: 'soon' },
      });
      await until(async () => (await bundle.database`select 1 from readable_deliveries`).length > 0);
      const { page, context } = await console.openSession();
      const filters = [{ filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'exists' }];
      const made = await page.request.post(
        `${bundle.url}/console/api/segments/filter?workspaceId=${bundle.workspaceId}`,
        { data: { name: 'Of a city', included_filters: { filter_operator: 'and', filters } } },
      );
      expect(made.status()).toBe(201);
      await context.close();
    });
    afterAll(() => console?.stop());

    test.each(lists)(
      '$table: selects a column, and saves the whole view under a name',
      async ({ address, table, column }) => {
        const { page, context, faults } = await console.openSession();
        await page.goto(`${console.home}/${address}`);
        const list = page.getByRole('region', { name: table, exact: true });
        await list.getByRole('row').nth(1).waitFor();
        const kept = new URL(page.url()).searchParams;
        if (column) {
          await page.getByRole('button', { name: 'Columns' }).click();
          await page.getByRole('checkbox', { name: column.name }).check();
          await list.getByRole('columnheader', { name: column.name }).waitFor();
          await expectAccessible(page);
          await page.keyboard.press('Escape');
          for (const name of column.parameters.split(' ')) kept.append('columns', name);
        }
        await page.getByRole('button', { name: 'Saved views' }).click();
        await page.getByLabel('Name of this view').fill('Mine');
        await expectAccessible(page);
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        const view = page.getByRole('link', { name: 'Mine' });
        await view.waitFor();
        await page.goto(`${console.home}/${address.split('?')[0]}`);
        await list.getByRole('row').nth(1).waitFor();
        await page.getByRole('button', { name: 'Saved views' }).click();
        await view.click();
        await page.waitForURL(({ searchParams }) => sortedOf(searchParams) === sortedOf(kept));
        if (column) await list.getByRole('columnheader', { name: column.name }).waitFor();
        await page.getByRole('button', { name: 'Saved views' }).click();
        await page.getByRole('button', { name: 'Delete view Mine' }).click();
        await view.waitFor({ state: 'detached' });
        expect(faults).toEqual([]);
        await context.close();
      },
    );
  });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

type List = { address: string; table: string; column?: { name: string; parameters: string } };

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

/** In whatever order an address has them. */
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
    '$table: a column is chosen, and all that is seen is kept under a name',
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

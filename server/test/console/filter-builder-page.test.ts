import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import { bothSchemes, describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { findMisses } from './hit-test.ts';
import { openSignedInClient } from './signed-in-client.ts';

describeScreen('the builder of filter segments in Chromium', () => {
  let console: ConsoleBrowser;
  let client: ConsoleClient;
  let workspaceId: string;
  beforeAll(async () => {
    console = await startConsoleBrowser();
    ({ workspaceId } = console.bundle);
    ({ client } = await openSignedInClient(console.bundle));
    for (let number = 0; number < 12; number += 1)
      await console.bundle.call('POST', `/v1/customer/${workspaceId}`, {
        headers: console.bundle.basic(),
        body: {
          type: 'customer',
          customer_id: `person-${number}`,
          attributes: { city: ['Lisbon', 'Porto', 'Faro'][number % 3], orders: number, joined: '2026-03-01' },
        },
      });
  });
  afterAll(() => console?.stop());

  const field = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true });
  const choose = async (page: Page, name: string, option: string) => {
    await field(page, name).fill(option);
    await page.getByRole('option', { name: option, exact: true }).click();
  };
  const matching = (page: Page) => page.locator('[data-count="matching"]');

  test('conditions and groups become a segment: counted while they are built, told in words, kept over a reload', async () => {
    const { page, context, faults } = await console.openSession();
    await page.goto(`${console.home}/segments`);
    await page.getByRole('link', { name: 'Create from filters' }).click();
    await page.getByRole('heading', { name: 'New filter segment' }).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Southern buyers');
    // A value that people have is offered; the type of an attribute is known.
    await choose(page, 'Attribute of condition 1', 'city');
    await field(page, 'Values of condition 1').click();
    await page.getByRole('option', { name: 'Lisbon' }).click();
    await field(page, 'Values of condition 1').fill('Fa');
    await page.getByRole('option', { name: 'Faro' }).click();
    await page.keyboard.press('Escape');
    await matching(page).getByText('8', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add condition', exact: true }).click();
    await page
      .getByRole('region', { name: 'Who matches now' })
      .getByText('Condition 2: The attribute must not be empty', { exact: false })
      .waitFor();
    await choose(page, 'Attribute of condition 2', 'orders');
    expect(await page.getByLabel('Type of condition 2').inputValue()).toBe('double');
    await page.getByLabel('Comparison of condition 2').selectOption('is more than');
    await page.getByRole('textbox', { name: 'Value of condition 2' }).fill('5');
    await page.getByText('city is "Lisbon" or "Faro" and orders is greater than 5', { exact: false }).waitFor();
    await matching(page).getByText('4', { exact: true }).waitFor();
    await page.getByRole('group', { name: 'Some of them' }).getByRole('link').nth(3).waitFor();

    await page.reload();
    await page.getByText('Your draft in this browser is shown.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Southern buyers');
    await matching(page).getByText('4', { exact: true }).waitFor();

    // A group within, and some are left out.
    await page.getByRole('button', { name: 'Add group', exact: true }).click();
    await choose(page, 'Attribute of condition 3.1', 'joined');
    await page.getByLabel('Comparison of condition 3.1').selectOption('is on');
    await page.getByLabel('Date of condition 3.1', { exact: true }).fill('2026-03-01');
    await page.getByLabel('Exclude people').check();
    await page.getByRole('button', { name: 'Create segment' }).click();
    const exception = page.getByRole('group', { name: 'Exception 1' });
    await exception.getByText('The attribute must not be empty').waitFor();
    await expectAccessible(page, bothSchemes);
    expect(await findMisses(page)).toEqual([]);
    await choose(page, 'Attribute of exception 1', 'uid');
    await field(page, 'Values of exception 1').fill('person-6');
    await page.keyboard.press('Enter');
    await matching(page).getByText('3', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('heading', { name: 'Southern buyers', exact: true }).waitFor();
    await page.getByText('except those for whom uid is "person-6"', { exact: false }).waitFor();
    // What is saved is no draft any more.
    await page.goto(`${console.home}/segments/new/filter`);
    await page.getByText('Choose an attribute to see how many people match.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('');
    expect(faults).toEqual([]);
    await context.close();
  }, 90_000);

  test('what was created is changed, and the draft is gone; a refusal stands where it is read', async () => {
    const filters = {
      included_filters: {
        filter_operator: 'or',
        filters: [
          {
            filter_type: 'user_attributes',
            name: 'city',
            data_type: 'string',
            operator: 'in',
            value: 'porto',
            category: 'Place',
          },
          {
            filter_type: 'user_attributes',
            name: 'joined',
            data_type: 'datetime',
            operator: 'after',
            value: 3,
            value_type: 'relative_past',
          },
        ],
      },
    };
    const { id } = await client.segments.createFilter({ workspaceId, name: 'Porto', filters });
    const { page, context, faults } = await console.openSession();
    await page.goto(`${console.home}/segments/${id}`);
    await matching(page).getByText('4', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Change filters' }).click();
    await page.getByRole('heading', { name: 'Change “Porto”' }).waitFor();
    expect(await page.getByLabel('Kind of date of condition 2').inputValue()).toBe('relative_past');
    await page.getByLabel('Comparison of condition 1').selectOption('is not');
    await matching(page).getByText('11', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { name: 'Porto', exact: true }).waitFor();
    const { filters: stored } = await client.segments.read({ workspaceId, id });
    expect(stored).toEqual({
      included: {
        ...filters.included_filters,
        // What another program wrote beside it stays.
        filters: [{ ...filters.included_filters.filters[0], negate: true }, filters.included_filters.filters[1]],
      },
      excluded: null,
    });
    const drafts = () =>
      page.evaluate(() =>
        Object.keys((globalThis as any).localStorage).filter((key) => key.startsWith('carillon.filter.')),
      );
    expect(await drafts()).toEqual([]);

    await page.goto(`${console.home}/segments/new/filter`);
    await page.getByRole('textbox', { name: 'Name' }).fill('Porto');
    await choose(page, 'Attribute of condition 1', 'orders');
    await page.getByLabel('Comparison of condition 1').selectOption('has a value');
    await matching(page).getByText('12', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('alert').getByText('Not saved').waitFor();
    expect(faults.filter((fault) => !fault.includes('409'))).toEqual([]);
    await context.close();
  }, 90_000);

  test('a count that fails is tried again, one that takes too long says so, and an estimate offers to count everybody', async () => {
    const { page, context } = await console.openSession();
    let answer: object | undefined;
    await page.route('**/segments/filter/count?*', (route) => {
      if (new URL(route.request().url()).searchParams.get('exact') === 'true') return route.continue();
      return answer === undefined ? route.fulfill({ status: 500, json: {} }) : route.fulfill({ json: answer });
    });
    await page.goto(`${console.home}/segments/new/filter`);
    await choose(page, 'Attribute of condition 1', 'orders');
    await page.getByLabel('Comparison of condition 1').selectOption('has a value');
    await page.getByText('The count failed').waitFor();
    answer = { state: 'TOO_SLOW', afterSeconds: 5 };
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('Counting took longer than 5 s').waitFor();
    answer = { state: 'COUNTED', users: 410_000, of: 1_000_000, isEstimate: true };
    await page.getByLabel('Comparison of condition 1').selectOption('has no value');
    await page.getByText('of about 1,000,000 people').waitFor();
    expect(await matching(page).textContent()).toBe('about 410,000');
    await page.getByRole('button', { name: 'Count exactly' }).click();
    // ada, grace and tim of the start have none.
    await matching(page).getByText('3', { exact: true }).waitFor();
    await context.close();
  }, 90_000);
});

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import { until } from '../carillon-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { bothSchemes, describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { findMisses } from './hit-test.ts';
import { openSignedInClient } from './signed-in-client.ts';

describe('the segments page', () => {
  describeScreen('segments in Chromium', () => {
    let console: ConsoleBrowser;
    let client: ConsoleClient;
    let workspaceId: string;
    let files: Server;
    let filesUrl: string;
    beforeAll(async () => {
      console = await startConsoleBrowser();
      ({ workspaceId } = console.bundle);
      ({ client } = await openSignedInClient(console.bundle));
      files = createServer((request, response) => {
        request.resume();
        response.end(request.method === 'POST' ? '' : 'ada@example.com\n');
      });
      files.listen(0, '127.0.0.1');
      await once(files, 'listening');
      filesUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
    });
    afterAll(async () => {
      files?.close();
      await console?.stop();
    });

    const fetched = { kind: 'create', attributeName: 'u_em', attributeType: 'string', expiryDays: 30 } as const;
    const waitForFill = (id: string) =>
      until(async () => {
        const segment = await client.segments.read({ workspaceId, id });
        return segment.progress === null && segment;
      });

    test('creates a segment from an uploaded file, shows the result, and downloads the skipped lines', async () => {
      const { page, context, faults } = await console.openSignedIn();
      await page.getByRole('link', { name: 'Segments' }).click();
      await page.getByText('No segments yet').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Create from file' }).click();
      await page.locator('input[type="file"]').setInputFiles({
        name: 'people.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('ada@example.com\nnobody@example.com\nada@example.com\n\nlast@example.com\n'),
      });
      await page.getByRole('textbox', { name: 'Segment name' }).fill('Buyers');
      await page.getByRole('button', { name: 'Create segment' }).click();
      await page.getByRole('link', { name: 'Open segment' }).click();
      await page.getByRole('heading', { name: 'Buyers' }).waitFor();
      const operations = page.getByRole('region', { name: 'File operations' });
      // The page of the file, which is still there for an instant, says so as well.
      await operations.getByText('Succeeded').waitFor();
      const cells = await operations.getByRole('cell').allTextContents();
      expect(cells.slice(2, 5)).toEqual(['5', '3', '1']);
      await page.getByText('Sample members').waitFor();
      const member = page.getByRole('link', { name: 'ada', exact: true });
      await member.waitFor();
      expect(await member.getAttribute('href')).toContain('/people?q=ada');
      // People know a segment by its name; its id stands below all else.
      const id = new URL(page.url()).pathname.split('/').at(-1)!;
      expect(await page.getByRole('main').innerText()).toMatch(new RegExp(`Segment id\\s+${id}\\s*$`));
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: '2, with reasons (CSV)' }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/^rejects-/);
      await expectAccessible(page);
      expect(faults).toEqual([]);
      await context.close();
    }, 90_000);

    test('shows every callback attempt of a file fetched from an address, and sends it again', async () => {
      const accepted = await client.segments.fetchFile({
        ...fetched,
        workspaceId,
        name: 'From an address',
        fileUrl: `${filesUrl}/people.csv`,
        callbackUrl: `${filesUrl}/done`,
      });
      await waitForFill(accepted.segmentId);
      const { page, context, faults } = await console.openSession();
      await page.goto(`${console.home}/segments/${accepted.segmentId}`);
      const tabs = page.getByRole('navigation', { name: 'Segment' });
      await tabs.getByText('Callbacks & emails').click();
      await page.getByText('DELIVERED').waitFor();
      await page.getByRole('button', { name: /Show 1/ }).click();
      await page.getByText('HTTP 200').waitFor();
      await page.getByText('"segment_name":"From an address"').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('under the same webhook-id').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
      await page.getByRole('button', { name: /1 after 1 resend$/ }).waitFor();
      expect(faults).toEqual([]);
      await context.close();
    }, 90_000);

    test('names the effect of archiving and logs it, and lists and links the campaigns of a segment', async () => {
      const accepted = await client.segments.fetchFile({
        ...fetched,
        workspaceId,
        name: 'To be archived',
        fileUrl: `${filesUrl}/people.csv`,
      });
      const { segmentId: id } = accepted;
      await waitForFill(id);
      await console.bundle.push({
        campaignName: 'To the archived ones',
        targetPlatform: ['ANDROID'],
        targetAudience: 'Custom Segment',
        customSegmentName: 'To be archived',
        payload: { ANDROID: { title: 'Hello', message: 'There' } },
        campaignDelivery: { type: 'later', date: '01/01/2099', time: '10:00 AM' },
      });
      const { page, context } = await console.openSession();
      await page.goto(`${console.home}/segments/${id}`);
      await page.getByRole('navigation', { name: 'Segment' }).getByText('Campaigns').click();
      await page.getByRole('link', { name: 'To the archived ones' }).click();
      await page.getByRole('link', { name: 'To be archived' }).click();
      await page.getByRole('button', { name: 'Archive' }).click();
      await page.getByText('its members are deleted after 30 days').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
      await page.getByText('Archived', { exact: true }).waitFor();
      const toasts = page.getByRole('status').filter({ hasText: 'is archived' });
      await toasts.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('“To be archived” is active again').waitFor();
      await page.getByRole('button', { name: 'Archive' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
      await page.getByText('Archived', { exact: true }).waitFor();
      const [line] = await client.accounts.listAudit({ workspaceId });
      expect(line).toMatchObject({ action: 'segment.archive', objectId: id, objectName: 'To be archived' });

      // The list is narrowed and ordered; its address says how.
      await page.getByRole('link', { name: 'Segments', exact: true }).click();
      const table = page.getByRole('region', { name: 'Segments' });
      const names = async () => (await table.getByRole('link').allTextContents()).join();
      await page.getByRole('combobox', { name: 'Order' }).selectOption('name');
      await expect.poll(names).toBe('Buyers,From an address,To be archived');
      await page.getByRole('button', { name: 'Archived', exact: true }).click();
      await expect.poll(names).toBe('To be archived');
      expect(new URL(page.url()).search).toBe('?order=name&state=archived');
      await page.getByRole('button', { name: 'Active', exact: true }).click();
      await expect.poll(names).toBe('Buyers,From an address');
      await page.getByRole('combobox', { name: 'Order' }).selectOption('Newest first');
      await expect.poll(names).toBe('From an address,Buyers');
      await page.getByRole('textbox', { name: 'Name contains' }).fill('buy');
      await expect.poll(names).toBe('Buyers');
      await expectAccessible(page);
      await context.close();
    });

    test('rejects what the API rejects: a field, a name in use, another workspace', async () => {
      const asked = { ...fetched, workspaceId, name: 'Buyers', fileUrl: `${filesUrl}/people.csv` };
      await expect(client.segments.fetchFile(asked)).rejects.toMatchObject({ status: 409, code: 'SEGMENT_NAME_TAKEN' });
      await expect(client.segments.fetchFile({ ...asked, fileUrl: 'no address' })).rejects.toMatchObject({
        status: 400,
        field: 'file_url',
      });
      const { segments } = await client.segments.list(workspaceId);
      const other = await insertTestWorkspace(console.bundle.database, new Date('2026-01-01T00:00:00Z'));
      const key = { workspaceId: other, id: segments[0]!.id };
      for (const attempt of [
        () => client.segments.archive(key),
        () => client.segments.listSampleMembers(key),
        () => client.segments.listCampaigns(key),
      ])
        await expect(attempt()).rejects.toMatchObject({ status: 404 });
    });
  });
});

describe('the file wizard page', () => {
  describeScreen('a segment of a file in Chromium', () => {
    let console: ConsoleBrowser;
    let client: ConsoleClient;
    let workspaceId: string;
    beforeAll(async () => {
      console = await startConsoleBrowser();
      ({ workspaceId } = console.bundle);
      ({ client } = await openSignedInClient(console.bundle));
    });
    afterAll(() => console?.stop());

    const choose = (page: Page, text: string | Buffer, name = 'people.csv') =>
      page
        .locator('input[type="file"]')
        .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.isBuffer(text) ? text : Buffer.from(text) });
    const open = async (address = 'segments/new/file') => {
      const opened = await console.openSession();
      await opened.page.goto(`${console.home}/${address}`);
      return opened;
    };

    test('detects header, column and attribute, shows the matches before upload, and downloads unmatched values', async () => {
      const { page, context, faults } = await open();
      await choose(
        page,
        'Name;Customer ID;Mail\nAda;ada;ada@example.com\nGrace;"grace";\nNo;nobody;no@example.com\nFormula;=1+1;\n',
      );
      await page.getByText('Of the first 4 values, 2 match a user by uid.', { exact: false }).waitFor();
      expect(await page.getByLabel('The first row is a header').isChecked()).toBe(true);
      expect(await page.getByLabel('Customer ID').isChecked()).toBe(true);
      await expectAccessible(page, bothSchemes);
      expect(await findMisses(page)).toEqual([]);
      // Another column is another attribute.
      await page.getByLabel('Mail', { exact: true }).check();
      await page.getByText('Of the first 2 values, 1 match a user by u_em.', { exact: false }).waitFor();
      await page.getByLabel('Customer ID').check();
      await page.getByText('match a user by uid.', { exact: false }).waitFor();
      await page.getByRole('textbox', { name: 'Segment name' }).fill('Of ids');
      await page.getByRole('button', { name: 'Create segment' }).click();
      const result = page.getByRole('region', { name: 'Result of the file' });
      await result.locator('[data-count="named"]').getByText('2', { exact: true }).waitFor();
      await result.getByText('2 values match no user, or more than one.').waitFor();
      await expectAccessible(page, bothSchemes);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download CSV' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('unmatched.csv');
      // What a spreadsheet would compute is a text.
      expect(await readFile(await download.path(), 'utf8')).toBe("uid\r\nnobody\r\n'=1+1\r\n");
      await page.getByRole('link', { name: 'Send to segment' }).click();
      await page.getByRole('button', { name: 'Remove Of ids' }).waitFor();
      await page.getByText('of 2 people would get it').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    }, 90_000);

    test('changes a segment by another file, and reports a spreadsheet, an old encoding and a rejection', async () => {
      const made = await client.segments.uploadFile({
        workspaceId,
        kind: 'create',
        name: 'To be changed',
        attributeName: 'u_em',
        attributeType: 'string',
        expiryDays: 30,
        file: new Blob(['ada@example.com\n']),
      });
      const { page, context } = await open(`segments/${made.segmentId}`);
      await page.getByRole('link', { name: 'Change by file' }).click();
      await choose(page, 'PK\u0003\u0004', 'people.xlsx');
      await page.getByRole('alert').getByText('Save it as CSV', { exact: false }).waitFor();
      await choose(page, Buffer.from('mail\nj\u00f6rg@example.com\ntim@example.com\n', 'latin1'));
      await page.getByText('read as Windows-1252', { exact: false }).waitFor();
      await page.getByLabel('Effect').selectOption('replace');
      await page.getByRole('button', { name: 'Change segment' }).click();
      await page.getByText('people now in the segment').waitFor();
      await page.getByRole('group', { name: 'Unmatched values' }).getByText('jörg@example.com').waitFor();
      const { userCount } = await client.segments.read({ workspaceId, id: made.segmentId });
      expect(userCount).toBe(1);

      await page.goto(`${console.home}/segments/new/file`);
      await choose(page, 'ada@example.com\n');
      await page.getByRole('textbox', { name: 'Segment name' }).fill('To be changed');
      await page.getByRole('button', { name: 'Create segment' }).click();
      await page.getByRole('alert').getByText('Name already exists', { exact: false }).waitFor();
      await context.close();
    }, 90_000);
  });
});

describe('the filter builder page', () => {
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

    test('builds a segment from conditions and groups, with a count, a description, and a draft kept over a reload', async () => {
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
      await page.getByText('Choose an attribute or an event to see how many people match.').waitFor();
      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('');
      expect(faults).toEqual([]);
      await context.close();
    }, 90_000);

    test('finds users by what they did or did not do, and by an attribute of the event', async () => {
      const { bundle } = console;
      for (const [customerId, total] of [
        ['person-1', 80],
        ['person-2', 20],
      ] as const) {
        const sent = await bundle.call('POST', `/v1/event/${workspaceId}`, {
          headers: bundle.basic(),
          body: {
            type: 'event',
            customer_id: customerId,
            actions: [{ action: 'order placed', attributes: { total } }],
          },
        });
        expect(sent.status).toBe(200);
      }
      const { page, context, faults } = await console.openSession();
      await page.goto(`${console.home}/segments/new/filter`);
      await page.getByRole('textbox', { name: 'Name' }).fill('Buyers of the week');
      await page.getByRole('button', { name: 'Add event' }).click();
      const event = field(page, 'Event of condition 2');
      await event.fill('order');
      await page.getByRole('option', { name: 'order placed' }).click();
      await page.getByRole('button', { name: 'Remove condition 1' }).click();
      await matching(page).getByText('2', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Add attribute to condition 1' }).click();
      await field(page, 'Attribute of attribute 1 of condition 1').fill('total');
      await page.getByLabel('Type of attribute 1 of condition 1').selectOption('Number');
      await page.getByLabel('Comparison of attribute 1 of condition 1').selectOption('is more than');
      await page.getByLabel('Value of attribute 1 of condition 1').fill('50');
      await matching(page).getByText('1', { exact: true }).waitFor();
      await page.getByLabel('Times of condition 1').fill('');
      await page.getByText('The number of times is required').first().waitFor();
      await page.getByLabel('Did or did not of condition 1').selectOption('did not do');
      await page.getByText('"order placed" did not happen in the last 7 days', { exact: false }).waitFor();
      await expectAccessible(page, bothSchemes);
      expect(await findMisses(page)).toEqual([]);
      await page.getByRole('button', { name: 'Create segment' }).click();
      await page.getByRole('heading', { name: 'Buyers of the week', exact: true }).waitFor();
      await page.getByRole('link', { name: 'Change filters' }).click();
      await page.getByRole('heading', { name: 'Change “Buyers of the week”' }).waitFor();
      expect(await field(page, 'Event of condition 1').inputValue()).toBe('order placed');
      expect(faults).toEqual([]);
      await context.close();
    }, 90_000);

    test('changes a created segment without its draft, and shows a rejection next to its cause', async () => {
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

    test('retries a failed count, reports a slow one, and offers an exact count for an estimate', async () => {
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
});

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import { bothSchemes, describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { findMisses } from './hit-test.ts';
import { openSignedInClient } from './signed-in-client.ts';

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

  test('header, column and attribute are found, the match is told before it is sent, and what named nobody is downloaded', async () => {
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

  test('another file changes a segment; a spreadsheet, an old encoding and a refusal are told', async () => {
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

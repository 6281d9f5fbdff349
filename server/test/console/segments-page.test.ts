import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import { until } from '../carillon-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { openSignedInClient } from './signed-in-client.ts';

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

  test('a file that is posted makes a segment; the screen proves what it did, and the skipped lines are downloaded', async () => {
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

  test('a file at an address calls back; the log shows every try and sends again', async () => {
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

  test('archiving names what it hits and leaves a line; the campaigns to a segment are listed, and lead to it', async () => {
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

  test('what the API refuses is refused here: a field, a name that is taken, another workspace', async () => {
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

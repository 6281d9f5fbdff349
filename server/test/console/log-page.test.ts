import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertApiLogEntries, listCalls } from '../../src/storage/installation/api-log.ts';
import type { ApiLogEntry, ApiLogFilters } from '../../src/storage/installation/api-log.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

test('calls are paged newest first without a gap, and refused ones are read by an index of their own', async () => {
  const bundle = await createTestDatabase();
  const at = new Date('2026-03-01T10:00:00Z');
  const entries = Array.from({ length: 6000 }, (_, number): ApiLogEntry => ({
    id: number.toString(16).padStart(24, '0'),
    workspaceId: number % 100 === 0 ? 'W' : number % 100 === 1 ? null : 'V',
    // Calls of a workspace share their moment with the next one.
    receivedAt: new Date(at.getTime() + Math.floor(number / 200)),
    method: 'POST',
    path: '/v1/customer/W',
    route: '/v1/customer/:id',
    status: 200,
    durationMilliseconds: 1,
    keyId: null,
    errorName: number % 500 < 2 ? 'NOT_FOUND' : null,
    errorDetail: null,
    warnings: [],
    requestBody: null,
  }));
  // A statement takes 65,535 values at most.
  for (let from = 0; from < entries.length; from += 3000)
    await insertApiLogEntries(bundle.database, entries.slice(from, from + 3000));
  await bundle.database`vacuum analyze api_log`;
  const walk = async (filters: Pick<ApiLogFilters, 'workspaceId' | 'isRefused'>) => {
    const seen: string[] = [];
    for (let after: ApiLogFilters['after'] | undefined; ;) {
      const page = await listCalls(bundle.database, { ...filters, keyId: undefined, after, limit: 7 });
      if (page.length === 0) return seen;
      seen.push(...page.map(({ id }) => id));
      after = page.at(-1)!;
    }
  };
  const expected = (isOne: (entry: ApiLogEntry) => boolean) =>
    entries
      .filter(isOne)
      .map(({ id }) => id)
      .toReversed();
  expect(await walk({ workspaceId: 'W', isRefused: undefined })).toEqual(
    expected(({ workspaceId }) => workspaceId === 'W'),
  );
  expect(await walk({ workspaceId: undefined, isRefused: true })).toEqual(
    expected(({ workspaceId, errorName }) => workspaceId === null && errorName !== null),
  );
  const plans: string[] = [];
  const page = {
    workspaceId: 'W',
    keyId: undefined,
    after: { receivedAt: new Date(at.getTime() + 20), id: '0' },
    limit: 51,
  };
  await listCalls(collectPlans(bundle.application.forWorkspace('W'), plans), { ...page, isRefused: true });
  await listCalls(collectPlans(bundle.application.forWorkspace('W'), plans), { ...page, isRefused: undefined });
  expect(plans[0]).toContain('api_log_refused');
  expect(plans[1]).toContain('api_log_workspace');
  for (const plan of plans) expect(plan).not.toContain('Seq Scan on api_log');
  await bundle.drop();
});

describeScreen('the API log in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('a refused call is found and explained; callbacks and mails say when there is none', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn();
    await page.getByRole('link', { name: 'API log' }).click();
    await page.getByText('No calls yet').waitFor();
    await expectAccessible(page);

    const customer = `/v1/customer/${bundle.workspaceId}`;
    const user = { type: 'customer', customer_id: 'ana', attributes: { city: 'Lisbon' } };
    await bundle.call('POST', customer, { headers: bundle.basic(), body: user });
    await bundle.call('POST', customer, { headers: bundle.basic(), body: { ...user, customer_id: 'guest' } });
    await bundle.call('POST', customer, { headers: bundle.basic('wrong'), body: user });
    const calls = page.getByRole('region', { name: 'Calls' });
    await calls.getByText('REFUSED').waitFor();
    expect(await calls.getByRole('row').count()).toBe(3);
    await page.getByLabel('Refused calls only').check();
    await page.waitForURL('**/log?only=refused');
    await calls.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await calls.getByRole('link').click();
    const opened = page.getByRole('region', { name: 'Call details' });
    await opened.getByText('is a reserved value').waitFor();
    await opened.getByText('What to do: Correct the value that is named').waitFor();
    await opened.getByText('"customer_id":"guest"').waitFor();
    await page.reload();
    await opened.getByText(`POST ${customer}`).waitFor();
    await expectAccessible(page);

    const views = page.getByRole('navigation', { name: 'Views' });
    await views.getByText('Calls without a workspace').click();
    await calls.getByText('401').waitFor();
    await views.getByText('Callbacks').click();
    await page.getByText('No callbacks yet').waitFor();
    await views.getByText('Emails').click();
    await page.getByText('No emails yet').waitFor();
    await bundle.database`
      insert into mails (id, workspace_id, recipients, subject, body, state, attempts, error, created_at, ended_at)
      values (${'0'.repeat(24)}, ${bundle.workspaceId}, '{ana@example.com}', 'Your file', 'It was worked.', 'FAILED', 4,
        'mailbox full', '2026-03-01', '2026-03-02')`;
    await page.getByText('mailbox full').waitFor();
    await page.getByRole('link', { name: 'Failed' }).click();
    await page.waitForURL('**/log?view=mails&state=failed');
    await page.getByRole('button', { name: 'Send Your file again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    // There is no mail server here, so it is kept, and no longer one of those that failed.
    await page.getByText('mailbox full').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await page.getByText('no mail server is set').first().waitFor();
    await page.getByRole('button', { name: 'Attempts of Your file' }).click();
    await page.getByText('1 of resend 1').waitFor();
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await context.close();
  }, 120_000);
});

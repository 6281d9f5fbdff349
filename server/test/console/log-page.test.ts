import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeConsoleCalls } from '../../src/app/api-log.ts';
import type { CallQuery } from '../../src/app/api-log.ts';
import { findCallBehind, insertApiLogEntries, listCalls } from '../../src/storage/installation/api-log.ts';
import type { ApiLogEntry, ApiLogFilters } from '../../src/storage/installation/api-log.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

const nothing = { keyId: undefined, statusClass: undefined, path: undefined, text: undefined };
const unasked = { ...nothing, from: undefined, before: undefined };

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
    responseBody: null,
    headers: null,
  }));
  // A statement takes 65,535 values at most.
  for (let from = 0; from < entries.length; from += 3000)
    await insertApiLogEntries(bundle.database, entries.slice(from, from + 3000));
  await bundle.database`vacuum analyze api_log`;
  const walk = async (filters: Pick<ApiLogFilters, 'workspaceId' | 'isRefused'>) => {
    const seen: string[] = [];
    for (let after: ApiLogFilters['after'] | undefined; ;) {
      const page = await listCalls(bundle.database, { ...unasked, ...filters, after, limit: 7 });
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
    ...unasked,
    workspaceId: 'W',
    after: { receivedAt: new Date(at.getTime() + 20), id: '0' },
    limit: 51,
  };
  await listCalls(collectPlans(bundle.application.forWorkspace('W'), plans), { ...page, isRefused: true });
  await listCalls(collectPlans(bundle.application.forWorkspace('W'), plans), { ...page, isRefused: undefined });
  // A search by what no index knows: where it ends, and what it finds until there.
  const { limit, ...search } = { ...page, isRefused: undefined, path: 'customer' };
  const until = await findCallBehind(collectPlans(bundle.application.forWorkspace('W'), plans), {
    ...search,
    calls: 20,
  });
  await listCalls(collectPlans(bundle.application.forWorkspace('W'), plans), { ...search, until, limit });
  expect(plans).toHaveLength(4);
  expect(plans[0]).toContain('api_log_refused');
  for (const plan of plans.slice(1)) expect(plan).toContain('api_log_workspace');
  for (const plan of plans) expect(plan).not.toContain('Seq Scan on api_log');
  await bundle.drop();
});

test('a search that finds little looks at a bounded number of calls, and the next page goes on there', async () => {
  const bundle = await createTestDatabase();
  const workspaceId = await insertTestWorkspace(bundle.database, new Date('2026-01-01T00:00:00Z'));
  const at = new Date('2026-03-01T10:00:00Z');
  const entries = Array.from({ length: 45_000 }, (_, number): ApiLogEntry => ({
    id: number.toString(16).padStart(24, '0'),
    workspaceId,
    receivedAt: new Date(at.getTime() + number),
    method: 'POST',
    path: number % 20_000 === 3 ? '/v1/rare' : '/v1/customer/W',
    route: '/v1/customer/:id',
    status: number === 5 ? 503 : 200,
    durationMilliseconds: 1,
    keyId: null,
    errorName: null,
    errorDetail: null,
    warnings: [],
    requestBody: number === 5 ? '{"customer_id":"eve"}' : null,
    responseBody: null,
    headers: null,
  }));
  for (let from = 0; from < entries.length; from += 5000)
    await insertApiLogEntries(bundle.database, entries.slice(from, from + 5000));
  await bundle.database`vacuum analyze api_log`;
  const database = bundle.application.forWorkspace(workspaceId);
  const calls = makeConsoleCalls({ database, acrossWorkspaces: bundle.database, headerPrefix: 'SVC' });
  const walk = async (search: object) => {
    const pages: { ids: number[]; searchedUntil: number | null }[] = [];
    for (let after: CallQuery['after'] | undefined; ;) {
      const asked = { ...unasked, isRefused: undefined, ...search, after, workspaceId, ofNobody: false };
      const page = await calls.list(asked);
      const searchedUntil = page.searchedUntil && page.searchedUntil.getTime() - at.getTime();
      pages.push({ ids: page.calls.map(({ id }) => Number.parseInt(id, 16)), searchedUntil });
      if (!page.next) return pages;
      after = page.next;
    }
  };
  expect(await walk({ path: 'rare' })).toEqual([
    { ids: [40_003], searchedUntil: 25_000 },
    { ids: [20_003], searchedUntil: 5_000 },
    { ids: [3], searchedUntil: null },
  ]);
  expect((await walk({ statusClass: 5 })).flatMap(({ ids }) => ids)).toEqual([5]);
  expect((await walk({ text: '"eve"' })).flatMap(({ ids }) => ids)).toEqual([5]);
  const [from, before] = [new Date(at.getTime() + 10), new Date(at.getTime() + 12)];
  expect(await walk({ from, before })).toEqual([{ ids: [11, 10], searchedUntil: null }]);

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
    await calls.getByText('is a reserved value').or(calls.getByText('400')).first().waitFor();
    expect(await calls.getByRole('row').count()).toBe(3);
    const views = page.getByRole('navigation', { name: 'Views' });
    await views.getByText('Refused').click();
    await page.waitForURL('**/log?only=refused');
    await calls.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await calls.getByRole('link').click();
    const opened = page.getByRole('region', { name: 'Call details' });
    await opened.getByRole('alert').getByText('is a reserved value').waitFor();
    await opened.getByText('What to do: Correct the value that is named').waitFor();
    await opened.getByText('"customer_id": "guest"').waitFor();
    await page.reload();
    await opened.getByText(`POST ${customer}`).waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: 'Close' }).click();
    await views.getByText('Calls', { exact: true }).click();
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Status').selectOption('2xx');
    await page.getByRole('search', { name: 'Calls' }).getByRole('button', { name: 'Search' }).click();
    await page.waitForURL('**/log?status=2xx');
    await calls.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await calls.getByRole('link').click();
    // What it made is a click away, and the command is the call.
    await opened.getByRole('link', { name: 'User ana' }).waitFor();
    await opened.getByText(`-u "${bundle.workspaceId}:$KEY"`, { exact: false }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Remove Status' }).click();
    await calls.getByRole('row').nth(2).waitFor();

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

  test('a batch of events that nobody took is listed with its last answer and sent again', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSession();
    await page.goto(`${console.home}/log?view=streams`);
    await page.getByText('No event streams yet').waitFor();
    const made = await bundle.call('POST', '/v1/event-streams', {
      headers: bundle.basic(),
      body: { url: 'https://shop.example.com/events', events: ['delivered'] },
    });
    const { id } = made.json().data.event_stream;
    await bundle.database`
      insert into event_stream_batches (id, stream_id, workspace_id, events, state, attempts, last_status, created_at, ended_at)
      values (${'b'.repeat(24)}, ${id}, ${bundle.workspaceId}, '[{"at": "2026-03-01T10:00:00Z"}]', 'GIVEN_UP', 7, 503, now(), now())`;
    const stream = page.getByRole('region', { name: 'Stream to https://shop.example.com/events' });
    await stream.getByText('1 given up', { exact: false }).waitFor();
    await stream.getByText('HTTP 503').waitFor();
    await expectAccessible(page);
    await stream.getByRole('button', { name: 'Send again', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByText('1 batch is posted again').waitFor();
    await stream.getByText('HTTP 503').waitFor({ state: 'detached' });
    const [line] = await bundle.database`select action, object_id from audit_log where action = 'event-stream.resend'`;
    expect(line).toEqual({ action: 'event-stream.resend', object_id: id });
    expect(faults).toEqual([]);
    await context.close();
  }, 60_000);
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeConsoleCalls } from '../../src/app/api-log.ts';
import type { CallQuery } from '../../src/app/api-log.ts';
import { noteBackup, noteBackupSchedule } from '../../src/storage/backup.ts';
import { findCallBehind, insertApiLogEntries, listCalls } from '../../src/storage/installation/api-log.ts';
import type { ApiLogEntry, ApiLogFilters } from '../../src/storage/installation/api-log.ts';
import { until } from '../carillon-bundle.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describe('the overview page', () => {
  describeScreen('overview and system in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());

    const push = (name: string, more: object = {}) =>
      console.bundle.push({
        campaignName: name,
        targetPlatform: ['ANDROID'],
        targetAudience: 'All Users',
        payload: { ANDROID: { title: 'Hello', message: 'Spring is here' } },
        campaignDelivery: { type: 'soon' },
        ...more,
      });

    test('reports that all is well, then the words of a broken provider, in light, dark and on a phone, with numbers linked to their rows', async () => {
      const { bundle } = console;
      const { page, context, faults } = await console.openSignedIn({ viewport: { width: 390, height: 844 } });
      const verdict = page.getByRole('region', { name: 'Verdict' });
      await verdict.getByText('All is well').waitFor();
      await verdict.getByText('No campaign is being sent; none is scheduled.').waitFor();
      const nextYear = new Date().getFullYear() + 1;
      await push('After new year', {
        campaignDelivery: { type: 'later', date: `01/02/${nextYear}`, time: '09:00 AM' },
      });
      await verdict.getByText(/After new year is next, in \d+/).waitFor();
      await push('Spring sale');
      await page
        .getByRole('region', { name: 'Messages per day' })
        .getByTitle(/: 1 accepted, 0 not delivered$/)
        .waitFor({ state: 'attached' });
      await page.getByRole('group', { name: 'Sent' }).getByText('1', { exact: true }).waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Details' }).click();
      const hour = page.getByRole('region', { name: 'The last hour' });
      await hour.getByRole('link', { name: '1', exact: true }).waitFor();
      await expectAccessible(page);
      const overflow = () => page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      expect(await overflow()).toBeLessThanOrEqual(0);
      await hour.getByRole('link', { name: '1', exact: true }).click();
      await page.waitForURL(/\/deliveries\?platform=ANDROID&outcome=ACCEPTED$/);
      await page.getByText('Spring sale').first().waitFor();

      const denied = { error: { status: 'PERMISSION_DENIED', message: 'The sender is not the one of this project' } };
      await bundle.call('POST', '/sandbox/faults', { body: { fcm: { status: 403, body: JSON.stringify(denied) } } });
      await push('Summer sale');
      await page.goto(console.home);
      await verdict.getByText('1 problem is blocking delivery').waitFor();
      await verdict
        .getByText('FCM (Android) says: PERMISSION_DENIED: The sender is not the one of this project')
        .waitFor();
      await page.getByRole('link', { name: 'Details' }).click();
      await page.getByRole('region', { name: 'Providers' }).getByText('rejects the credential').waitFor();
      await expectAccessible(page);
      expect(await overflow()).toBeLessThanOrEqual(0);
      await page.getByRole('link', { name: 'Summary' }).click();
      await verdict.getByRole('link', { name: 'Open the campaign' }).click();
      await page.getByRole('heading', { name: 'Summer sale', level: 1 }).waitFor();
      await bundle.call('POST', '/sandbox/faults', { body: {} });
      expect(faults).toEqual([]);
      await context.close();
    });

    test('links to the system page, which shows nodes, queues and jobs, and copies them as JSON', async () => {
      const { page, context, faults } = await console.openSession({
        viewport: { width: 390, height: 844 },
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      await page.goto(`${console.home}/system`);
      await page.getByRole('region', { name: 'Nodes' }).getByText('alive').waitFor();
      await page.getByText(/^\d+ jobs run as planned$/).click();
      await page.getByRole('region', { name: 'Jobs' }).getByText('release-runs').waitFor();
      await page.getByRole('region', { name: 'Database' }).getByText('external').waitFor();
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
      await page.getByRole('button', { name: 'Copy diagnostics' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const copied = JSON.parse(String(await page.evaluate('navigator.clipboard.readText()')));
      expect(copied).toMatchObject({ mode: 'sandbox', nodes: [{ isAlive: true, role: 'all' }] });
      for (const secret of [...Object.values(console.bundle.keys), console.bundle.workspaceId])
        expect(JSON.stringify(copied)).not.toContain(secret);
      // A backup that is late and a certificate that ends soon are told beside what they are of.
      const { database } = console.bundle;
      const endsAt = new Date(Date.now() + 3 * 86_400_000);
      const until = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(endsAt);
      await noteBackup(database, new Date(Date.now() - 50 * 3_600_000));
      await noteBackupSchedule(database, { everyHours: 24, lookedAt: new Date() });
      await database`
        insert into nodes (id, host, process_id, role, version, started_at, seen_at, memory_bytes, connections, certificate_ends_at)
        values ('other', 'api-2', 1, 'api', '1', now(), now(), 1, 1, ${endsAt})`;
      await page.getByRole('region', { name: 'Database' }).getByText('Late').waitFor();
      await page.getByRole('region', { name: 'Database' }).getByText('2 d ago, every day').waitFor();
      await page.getByRole('region', { name: 'Nodes' }).getByText(`Certificate until ${until}`).waitFor();
      await expectAccessible(page);
      await page.goto(console.home);
      const verdict = page.getByRole('region', { name: 'Verdict' });
      await verdict.getByText('The newest backup is 50 hours old; one is due every 24 hours.').waitFor();
      await verdict.getByText(/^The certificate of api-2 expires on .*, in [23] days\.$/).waitFor();
      await expectAccessible(page);
      await verdict.getByRole('link', { name: 'Open the system page' }).first().click();
      await page.getByRole('heading', { name: 'System', level: 1 }).waitFor();
      expect(faults).toEqual([]);
      await context.close();
    });
  });
});

describe('the alerts page', () => {
  describeScreen('alerts in Chromium', () => {
    let console: ConsoleBrowser;
    const received: { type: string; alert: { subject: string } }[] = [];
    const receiver = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        received.push(JSON.parse(text));
        response.end();
      });
    });
    beforeAll(async () => {
      console = await startConsoleBrowser();
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    });
    afterAll(async () => {
      receiver.close();
      await console?.stop();
    });

    test('turns red within 30 s of an FCM failure, notifies by webhook and email with advice, and turns green again by itself', async () => {
      const { bundle } = console;
      const { page, context, faults } = await console.openSignedIn();
      await page.getByRole('link', { name: 'Alerts' }).click();
      await page.getByText('All clear').waitFor();
      await page.getByText('No past alerts').waitFor();
      const { port } = receiver.address() as AddressInfo;
      await page.getByLabel('Webhook').fill(`http://127.0.0.1:${port}/alerts`);
      await page.getByRole('combobox', { name: 'Email addresses' }).fill('ops@example.com');
      await page.keyboard.press('Enter');
      await page.getByLabel('Queue delayed').uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Alert settings saved').waitFor();
      await page.getByRole('button', { name: 'Send a test' }).click();
      await until(async () => received.length === 1);
      expect(received[0]!.type).toBe('alert.test');
      await expectAccessible(page);

      const denied = { error: { status: 'PERMISSION_DENIED', message: 'FCM API has not been used in this project' } };
      await bundle.call('POST', '/sandbox/faults', { body: { fcm: { status: 403, body: JSON.stringify(denied) } } });
      const brokenAt = performance.now();
      await bundle.push({
        campaignName: 'Spring sale',
        targetPlatform: ['ANDROID'],
        targetAudience: 'All Users',
        payload: { ANDROID: { title: 'Hello', message: 'There' } },
        campaignDelivery: { type: 'soon' },
      });
      const open = page.getByRole('region', { name: 'Open alerts' });
      await open.getByText('FCM (Android) rejects the credential', { exact: false }).waitFor();
      await open.getByText('Fix the account at the provider', { exact: false }).waitFor();
      expect(performance.now() - brokenAt).toBeLessThan(30_000);
      await expectAccessible(page);
      await until(async () => received.some(({ type }) => type === 'alert.opened'));
      const emails = await bundle.database`select subject from mails where subject like '%Alert: FCM (Android)'`;
      expect(emails).toHaveLength(1);

      await bundle.call('POST', '/sandbox/faults', { body: {} });
      await page.getByText('All clear').waitFor({ timeout: 90_000 });
      await page.getByRole('region', { name: 'Past alerts' }).getByText('Provider rejects messages').waitFor();
      await until(async () => received.some(({ type }) => type === 'alert.closed'));
      // What waited is sent, although nobody pressed anything.
      await until(async () => (await bundle.database`select 1 from campaigns where status = 'SENT'`).length > 0);

      await page.getByRole('link', { name: 'Metrics' }).click();
      await page.getByRole('img', { name: /^Sent\. Last: FCM/ }).waitFor({ timeout: 30_000 });
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Week' }).click();
      await page.waitForURL('**/metrics?span=week');
      await page.getByText('per 2 h').first().waitFor();
      expect(faults).toEqual([]);
      await context.close();
    }, 180_000);
  });
});

describe('the API log', () => {
  const nothing = { keyId: undefined, statusClass: undefined, path: undefined, text: undefined };
  const unasked = { ...nothing, from: undefined, before: undefined };

  test('pages through calls newest first without a gap, and reads rejected ones through an index', async () => {
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

  test('reads a bounded number of calls in a sparse search, and continues there on the next page', async () => {
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
    const access = { installation: ['owner' as const], workspaces: {} };
    const session = { sessionId: '', stage: 'OPEN' as const, openedAt: at };
    const reader = { kind: 'account' as const, id: null, name: 'Olga', email: null, access, ...session };
    const walk = async (search: object) => {
      const pages: { ids: number[]; searchedUntil: number | null }[] = [];
      for (let after: CallQuery['after'] | undefined; ;) {
        const asked = { ...unasked, reader, isRefused: undefined, ...search, after, workspaceId, ofNobody: false };
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

    test('finds and explains a rejected call, and says when there are no callbacks and emails', async () => {
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
      await page.getByRole('button', { name: 'Send again: Your file' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
      // There is no mail server here, so it is kept, and no longer one of those that failed.
      await page.getByText('mailbox full').waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'All', exact: true }).click();
      await page.getByText('no mail server is set').first().waitFor();
      await page.getByRole('button', { name: 'attempts of Your file' }).click();
      await page.getByText('1 of resend 1').waitFor();
      await expectAccessible(page);
      expect(faults).toEqual([]);
      await context.close();
    }, 120_000);

    test('lists an undelivered batch of events with its last response, and sends it again', async () => {
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
      await page.getByText('1 batch is sent again').waitFor();
      await stream.getByText('HTTP 503').waitFor({ state: 'detached' });
      const [line] =
        await bundle.database`select action, object_id from audit_log where action = 'event-stream.resend'`;
      expect(line).toEqual({ action: 'event-stream.resend', object_id: id });
      expect(faults).toEqual([]);
      await context.close();
    }, 60_000);
  });
});

describe('the deliveries page', () => {
  describeScreen('the delivery log in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());

    test('finds a message by filters kept in the address, and opens its response and content', async () => {
      const { bundle } = console;
      const { page, context, faults } = await console.openSignedIn();
      await page.getByRole('link', { name: 'Delivery log' }).click();
      await page.getByText('Nothing sent yet').waitFor();
      await expectAccessible(page);

      const sent = await bundle.push({
        campaignName: 'Traced',
        targetPlatform: ['ANDROID', 'IOS'],
        targetAudience: 'All Users',
        payload: { ANDROID: { title: 'Hello', message: 'There' }, IOS: { title: 'Hello', message: 'There' } },
        campaignDelivery: { type: 'soon' },
      });
      const campaignId = sent.json().cid as string;
      await until(
        async () =>
          (await bundle.database`select 1 from readable_deliveries as deliveries where outcome = 'ACCEPTED'`).length ===
          2,
      );
      await page.getByRole('button', { name: 'Filters' }).click();
      await page.getByRole('combobox', { name: 'Campaign' }).fill('trac');
      await page.getByRole('option', { name: /^Traced/ }).click();
      await page.getByLabel('Platform').selectOption('IOS');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      const row = page.getByRole('row').filter({ hasText: 'Traced' });
      await row.getByText('iOS').waitFor();
      expect(await row.count()).toBe(1);
      expect(new URL(page.url()).search).toBe(`?campaign=${campaignId}&platform=IOS`);
      await page.getByRole('group', { name: 'Chosen filters' }).getByText('Campaign: Traced').waitFor();

      await row.getByRole('link').first().click();
      const opened = page.getByRole('region', { name: 'Message details' });
      await opened.getByText('none after').waitFor();
      await opened.getByText('"title": "Hello"').waitFor();
      await page.reload();
      await opened.getByRole('button', { name: "Copy provider's id of the message" }).waitFor();
      await expectAccessible(page);
      await opened.getByRole('link', { name: 'Close' }).click();
      await opened.waitFor({ state: 'detached' });

      await page.getByRole('button', { name: 'Filters' }).click();
      await page.getByLabel('Outcome').selectOption('FAILED');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByText('No matching messages').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    });
  });
});

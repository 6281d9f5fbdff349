import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteBackup, noteBackupSchedule } from '../../src/storage/backup.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

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

  test('says that all is well, then what a broken provider says, in light, dark and on a phone; numbers lead to their rows', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn({ viewport: { width: 390, height: 844 } });
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await verdict.getByText('All is well').waitFor();
    await verdict.getByText('No campaign is being sent; none is scheduled.').waitFor();
    const nextYear = new Date().getFullYear() + 1;
    await push('After new year', { campaignDelivery: { type: 'later', date: `01/02/${nextYear}`, time: '09:00 AM' } });
    await verdict.getByText(/After new year is next, in \d+/).waitFor();
    await push('Spring sale');
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
    await verdict.getByText('1 thing keeps messages from people').waitFor();
    await verdict
      .getByText('FCM (Android) says: PERMISSION_DENIED: The sender is not the one of this project')
      .waitFor();
    await page.getByRole('region', { name: 'Providers' }).getByText('rejects the credential').waitFor();
    await expectAccessible(page);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await verdict.getByRole('link', { name: 'Open the campaign' }).click();
    await page.getByRole('heading', { name: 'Summer sale', level: 1 }).waitFor();
    await bundle.call('POST', '/sandbox/faults', { body: {} });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the system page shows nodes, queues and jobs, and copies them as JSON', async () => {
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
    await verdict.getByText(/^The certificate of api-2 ends on .*, in [23] days\.$/).waitFor();
    await expectAccessible(page);
    await verdict.getByRole('link', { name: 'Open the system page' }).first().click();
    await page.getByRole('heading', { name: 'System', level: 1 }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});

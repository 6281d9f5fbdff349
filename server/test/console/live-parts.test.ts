import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nextSeen } from '../../../console/src/parts/lists/use-arrivals.ts';
import { until } from '../carillon-bundle.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { findMisses } from './hit-test.ts';

describe('rows that arrive', () => {
  const list = (of: string, ...keys: string[]) => ({ of, keys });

  test('are those that the latest change of the same list added', () => {
    const first = nextSeen(undefined, list('all', 'b', 'a'));
    expect([...first.arrived]).toEqual([]);
    const second = nextSeen(first, list('all', 'd', 'c', 'b'));
    expect([...second.arrived]).toEqual(['d', 'c']);
    // The same rows again, and fewer of them: they stay marked.
    expect(nextSeen(second, list('all', 'd', 'c', 'b'))).toBe(second);
    expect(nextSeen(second, list('all', 'd', 'c'))).toBe(second);
    expect([...nextSeen(second, list('all', 'e', 'd', 'c')).arrived]).toEqual(['e']);
  });

  test('are none when the filters change', () => {
    const first = nextSeen(undefined, list('all', 'a'));
    expect([...nextSeen(first, list('refused', 'b', 'c')).arrived]).toEqual([]);
  });
});

describeScreen('what moves on the screens in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  const push = (campaignName: string) =>
    console.bundle.push({
      campaignName,
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Hello', message: 'There' } },
      campaignDelivery: { type: 'soon' },
    });

  test('the delivery log shows new messages without a reload while it is live', async () => {
    const { bundle } = console;
    await push('Before');
    await until(async () => (await bundle.database`select 1 from campaigns where status = 'SENT'`)[0]);
    const { page, context, faults } = await console.openSession();
    await page.goto(`${console.home}/deliveries`);
    const rows = page.getByRole('region', { name: 'Deliveries' });
    await rows.getByText('Before').first().waitFor();
    const live = page.getByRole('button', { name: 'Live' });
    expect(await live.getAttribute('aria-pressed')).toBe('false');
    await live.click();
    await page.waitForURL('**/deliveries?live=on');
    await push('After');
    await rows.getByText('After').first().waitFor();
    await rows.locator('[data-arrived]').first().waitFor();
    expect(await rows.locator('[data-arrived]').getByText('Before').count()).toBe(0);
    await expectAccessible(page);
    // On a phone each row is a block: its titles are next to the values, and nothing is cut off.
    await page.setViewportSize({ width: 390, height: 844 });
    const outcome = rows.locator('td[data-title="Outcome"]').first();
    await expect
      .poll(() => outcome.evaluate((cell) => (globalThis as any).getComputedStyle(cell, '::before').content))
      .toBe('"Outcome"');
    await expect.poll(() => rows.evaluate(({ scrollWidth, clientWidth }: any) => scrollWidth - clientWidth)).toBe(0);
    expect(await findMisses(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    // A search stays live; an older page does not change.
    await page.getByRole('textbox', { name: 'User id' }).fill('ada');
    await page.getByRole('button', { name: 'Search', exact: true }).last().click();
    await page.waitForURL('**/deliveries?**live=on**');
    await live.click();
    await expect.poll(() => new URL(page.url()).search).toBe('?user=ada');
    expect(faults).toEqual([]);
    await context.close();
  }, 120_000);

  test('the bell counts the open alerts on every screen, and lists what to do', async () => {
    const { page, context, faults } = await console.openSession();
    const alert = (id: string, more: object) => ({
      id: id.repeat(24),
      workspaceId: console.bundle.workspaceId,
      kind: 'provider',
      subject: 'fcm',
      what: 'FCM (Android) rejects messages.',
      todo: 'Connect a credential that the provider accepts.',
      openedAt: '2026-01-01T00:00:00.000Z',
      closedAt: null,
      ...more,
    });
    const closed = alert('2', { what: 'It is over.', closedAt: '2026-01-02T00:00:00.000Z' });
    await page.route('**/console/api/alerts?*', (asked) =>
      asked.fulfill({ json: { alerts: [alert('1', {}), closed] } }),
    );
    await page.goto(`${console.home}/templates`);
    await page.getByRole('button', { name: '1 open alert' }).click();
    const list = page.getByRole('dialog', { name: 'Open alerts' });
    await list.getByText('FCM (Android) rejects messages.').waitFor();
    await list.getByText('Connect a credential that the provider accepts.').waitFor();
    expect(await list.getByText('It is over.').count()).toBe(0);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: '1 open alert' }).click();
    await list.getByRole('link', { name: 'All alerts' }).click();
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
    await list.waitFor({ state: 'hidden' });

    await page.unroute('**/console/api/alerts?*');
    await page.route('**/console/api/alerts?*', (asked) => asked.fulfill({ json: { alerts: [closed] } }));
    await page.goto(`${console.home}/templates`);
    await page.getByRole('button', { name: 'Alerts: none' }).click();
    await list.getByText('No problem blocks delivery.').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  }, 120_000);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describeScreen('campaigns in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  const send = async (campaignName: string, more: Record<string, unknown> = {}): Promise<string> => {
    const answer = await console.bundle.push({
      campaignName,
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Hello', message: 'There' } },
      campaignDelivery: { type: 'soon' },
      ...more,
    });
    return answer.json().cid as string;
  };
  const later = { campaignDelivery: { type: 'later', date: '01/01/2099', time: '10:00 AM' } };

  test('without any the screen shows the command that makes one; with some, the address holds the search and the view', async () => {
    const { page, context, faults } = await console.openSignedIn();
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
    await page.getByText('Nothing sent yet').waitFor();
    await page.getByText('X-SVC-PushAPI-Signature').waitFor();
    await expectAccessible(page);

    await send('Spring sale', { ...later, campaignTags: ['spring'] });
    await send('Winter sale', later);
    await page.getByLabel('Name contains').fill('sale');
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Any of these tags').fill('spring');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL('**/campaigns?name=sale&tag=spring');
    // The screen looks for new campaigns by itself, and may have shown both before the search.
    await page.getByRole('link', { name: 'Winter sale' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Spring sale' }).waitFor();
    expect(new URL(page.url()).search).toBe('?name=sale&tag=spring');
    const curl = await page.getByRole('region', { name: 'curl command' }).textContent();
    expect(curl).toContain('/v5/campaigns/search');
    expect(curl).toContain('{"limit":15,"page":1,"campaign_fields":{"name":"sale","tags":["spring"]}}');

    // The view goes along with the filters, and the whole of it survives a reload.
    await page.getByRole('navigation', { name: 'Views' }).getByText('Scheduled').click();
    await page.waitForURL('**/campaigns?name=sale&tag=spring&view=scheduled');
    await page.reload();
    await page.getByRole('link', { name: 'Spring sale' }).waitFor();
    expect(await page.getByLabel('Name contains', { exact: true }).inputValue()).toBe('sale');
    await page.getByRole('navigation', { name: 'Views' }).getByText('History').click();
    await page.getByText('No matching campaigns').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Spring sale' }).waitFor();
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the report of a campaign counts along while it is sent, and every word says what it counts', async () => {
    const { page, context, faults } = await console.openSession();
    const id = await send('Counted along', later);
    await page.goto(`${console.home}/campaigns/${id}`);
    await page.getByRole('heading', { name: 'Counted along' }).waitFor();
    await page.getByText('Next occurrence:').waitFor();
    await page.getByText('Nothing tried yet.').waitFor();
    expect(await page.locator('[data-step="Accepted"]').textContent()).toBe('0 devices');
    await page.getByRole('note', { name: /^Reachable:/ }).focus();
    await page.getByRole('tooltip').getByText('accept push messages').waitFor();

    // Its moment comes, and the page shows it without being asked.
    await console.bundle.database`
      update campaigns set next_at = created_at where id = ${id}`;
    await page.locator('[data-step="Accepted"]:not(:text-is("0 devices"))').waitFor();
    await page.getByText('Sent', { exact: true }).first().waitFor();
    const reachable = await page.locator('[data-step="Reachable"]').textContent();
    expect(await page.locator('[data-step="Accepted"]').textContent()).toBe(reachable);
    await page.getByText('Every device that was tried took its message.').waitFor();
    await page.locator('.uplot canvas').waitFor();
    await page.getByText('Show as a table').click();
    await page.getByRole('region', { name: 'Over time' }).waitFor();
    await expectAccessible(page);
    // On a phone nothing but its tables scrolls sideways.
    await page.setViewportSize({ width: 375, height: 800 });
    await page.locator('.uplot canvas').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a report in which all wait for another attempt says why and until when', async () => {
    const { page, context, faults } = await console.openSession();
    const fault = { fcm: { status: 503, headers: { 'retry-after': '600' } } };
    await console.bundle.call('POST', '/sandbox/faults', { body: fault });
    const id = await send('To a provider that is busy');
    await page.goto(`${console.home}/campaigns/${id}`);
    await page.getByText(/wait(s)? \(Android\): FCM answered 503, try 1, next at/).waitFor();
    expect(await page.getByText('took its message').count()).toBe(0);
    await console.bundle.call('POST', '/sandbox/faults', { body: {} });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('stopping asks first, names what it hits, and a clone leads to the draft', async () => {
    const { page, context, faults } = await console.openSession();
    const id = await send('To be stopped', later);
    await page.goto(`${console.home}/campaigns/${id}`);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('a stopped campaign cannot be restarted').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('Scheduled', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped', { exact: true }).first().waitFor();
    await page.getByText('stopped by Console').waitFor();

    await page.getByRole('button', { name: 'Clone' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Clone' }).click();
    await page.getByRole('heading', { name: 'To be stopped (copy)' }).waitFor();
    await page.getByText('Draft', { exact: true }).first().waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});

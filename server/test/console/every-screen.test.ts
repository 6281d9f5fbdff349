import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readScreens } from '../../../scripts/read-screens.ts';
import { until } from '../carillon-bundle.ts';
import { bothSchemes, describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { findUnedited } from './find-unedited.ts';
import { findMisses } from './hit-test.ts';

const inCity = {
  filter_operator: 'and',
  filters: [{ filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'exists' }],
};

const addresses = readScreens().map(({ address }) => address);

describeScreen('every screen in Chromium', () => {
  let console: ConsoleBrowser;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    console = await startConsoleBrowser();
    const { bundle } = console;
    const { cid } = (
      await bundle.push({
        campaignName: 'Spring sale',
        targetPlatform: ['ANDROID', 'IOS'],
        targetAudience: 'All Users',
        payload: { ANDROID: { title: 'Hello', message: 'There' }, IOS: { title: 'Hello', message: 'There' } },
        campaignDelivery: { type: 'soon' },
      })
    ).json();
    await until(async () => (await bundle.database`select 1 from campaigns where status = 'SENT'`).length > 0);
    const [user] = await bundle.database`select id from users where customer_id = 'ada'`;
    await bundle.database`
      insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
        created_at, updated_at)
      values (${'5'.repeat(24)}, ${bundle.workspaceId}, 'Lapsed', 'FILE', 'READY', 'API', 'u_em', 'string', 'test', now(), now())`;
    Object.assign(ids, {
      workspaceId: bundle.workspaceId,
      campaignId: cid,
      userId: String(user!.id),
      segmentId: '5'.repeat(24),
    });
  });
  afterAll(() => console?.stop());

  test('has one heading, an address of its own, texts of the sizes and words that are meant, and no finding of axe, in both schemes and on a phone', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn();
    // What is linked in the navigation is in the list of screens, so that none is walked past.
    const linked = await page
      .getByRole('navigation')
      .first()
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => new URL((link as unknown as { href: string }).href).pathname));
    const known = addresses.map((address) => `/console${address.replace('$workspaceId', bundle.workspaceId)}`);
    expect(linked.length).toBeGreaterThan(5);
    // The documentation is no screen of the console.
    expect(linked.filter((address) => !known.includes(address))).toEqual(['/docs']);

    // A draft to be edited; what was sent cannot be.
    const copy = await page.request.post(
      `${bundle.url}/console/api/campaigns/${ids.campaignId}/clone?workspaceId=${bundle.workspaceId}`,
    );
    const { id: draftId } = (await copy.json()) as { id: string };
    // Of the two segments one has filters to change.
    const built = await page.request.post(
      `${bundle.url}/console/api/segments/filter?workspaceId=${bundle.workspaceId}`,
      { data: { name: 'Of a city', included_filters: inCity } },
    );
    const { id: filterId } = (await built.json()) as { id: string };

    const walked: string[] = [];
    const unedited: string[] = [];
    const waiting = [...addresses];
    /** On a phone too a finger reaches all that is there, and nothing is wider than the screen. */
    async function walkOnPhone(page: Page, address: string): Promise<void> {
      const desk = page.viewportSize()!;
      await page.setViewportSize({ width: 390, height: 844 });
      // The list of screens slides out first.
      await expect.poll(() => findMisses(page), { message: `${address} on a phone` }).toEqual([]);
      await page.setViewportSize(desk);
    }
    async function walk(page: Page): Promise<void> {
      for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
        const given = {
          ...ids,
          ...(address.endsWith('/edit') && { campaignId: draftId }),
          ...(address.endsWith('/filter') && { segmentId: filterId }),
        } as Record<string, string>;
        const path = address.replace(/\$([A-Za-z]+)/g, (_whole, name: string) => given[name] ?? name);
        // As somebody who typed the address.
        await page.goto(`${bundle.url}/console${path}`);
        const heading = page.getByRole('heading', { level: 1 });
        const nothing = page.getByText('Page not found');
        await heading
          .or(nothing)
          .first()
          .waitFor()
          .catch((cause: unknown) => {
            throw new Error(`${path} shows neither a heading nor that it is none`, { cause });
          });
        if (await nothing.isVisible()) continue;
        await page.waitForLoadState('networkidle').catch(() => {});
        expect(await heading.count(), address).toBe(1);
        await expectAccessible(page, bothSchemes);
        expect(await findMisses(page), address).toEqual([]);
        unedited.push(...(await findUnedited(page)).map((fault) => `${address}: ${fault}`));
        await walkOnPhone(page, address);
        walked.push(address);
      }
    }
    // Two pages side by side: one waits for the network to be idle while the other is looked at.
    const second = await console.openSignedIn();
    await Promise.all([walk(page), walk(second.page)]);
    expect(walked.sort()).toEqual([...addresses].sort());
    expect(unedited).toEqual([]);
    expect([...faults, ...second.faults]).toEqual([]);
    await second.context.close();
    await context.close();
  }, 600_000);
});

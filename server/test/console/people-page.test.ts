import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { expectAccessible, hasChromium, skipReason, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describe.skipIf(!hasChromium)(`people in Chromium${skipReason}`, () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('a word finds a person, whose devices, messages and reasons are shown; erasing names what it hits', async () => {
    const { bundle } = console;
    const sent = await bundle.push({
      campaignName: 'Spring',
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Hello', message: 'There' } },
      campaignDelivery: { type: 'soon' },
    });
    const campaignId = sent.json().cid as string;
    await until(async () => (await bundle.database`select 1 from deliveries`).length > 0);
    const [device] = await bundle.database`select push_id from devices where platform = 'ANDROID'`;
    const [owner] = await bundle.database`
      select users.customer_id from devices join users on users.id = devices.user_id where push_id = ${device!.push_id}`;
    const customerId = String(owner!.customer_id);

    const { page, context, faults } = await console.openSignedIn();
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByText('Nobody was looked for').waitFor();
    await expectAccessible(page);
    const find = async (word: string) => {
      await page.getByRole('textbox', { name: 'User id, device token' }).fill(word);
      await page.getByRole('button', { name: 'Find' }).click();
    };
    await find('nobody at all');
    await page.getByText('Nobody is known by that').waitFor();
    await find(`${customerId}@example.com`);
    await page.getByRole('cell', { name: 'attribute u_em' }).waitFor();
    await find(customerId);
    await page.getByRole('cell', { name: 'user id', exact: true }).waitFor();
    await find(String(device!.push_id));
    await page.getByRole('cell', { name: 'device token' }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe(device!.push_id);
    await expectAccessible(page);

    await page.getByRole('link', { name: customerId }).click();
    await page.getByRole('heading', { name: customerId, level: 1 }).waitFor();
    await page.getByText(`${customerId}@example.com`).waitFor();
    await page.getByText('takes messages').waitFor();
    await page.getByRole('region', { name: 'Messages' }).getByText('ACCEPTED').waitFor();
    await page.getByRole('link', { name: 'Explain Spring' }).click();
    await page
      .getByText('took it', { exact: false })
      .or(page.getByText('accepted', { exact: false }))
      .first()
      .waitFor();
    expect(new URL(page.url()).search).toBe(`?campaign=${campaignId}`);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Erase' }).click();
    await page.getByText('2 attributes, 1 device').waitFor();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
    await page.getByText('This person is to be erased').waitFor();
    const [erasure] = await bundle.database`select id, state, due_at - requested_at = interval '24 hours' as delayed
      from erasures`;
    expect(erasure).toMatchObject({ state: 'PENDING', delayed: true });
    // The log says that, and not whom.
    const [line] = await bundle.database`select * from audit_log where action = 'person.erase'`;
    expect(line).toMatchObject({ object_id: erasure!.id, object_name: null });
    // Ids are random hex and may hold any short name; what the line says of the person is in these two.
    expect(JSON.stringify([line!.detail, line!.object_name])).not.toContain(customerId);
    expect(faults).toEqual([]);
    await context.close();
  }, 60_000);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { describeScreen, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { startWalk } from './start-walk.ts';

describeScreen('three walks that are counted, in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  const push = (body: { campaignName: string } & Record<string, unknown>) =>
    console.bundle.push({
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Hello', message: 'There' } },
      campaignDelivery: { type: 'soon' },
      ...body,
    });

  test('a personalised campaign for three platforms is scheduled in at most 20 actions from the overview', async () => {
    const { page, context, faults } = await console.openSignedIn({ viewport: { width: 1280, height: 900 } });
    const walk = startWalk(page, 'a personalised scheduled campaign for three platforms');
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
    await page.getByRole('link', { name: 'New campaign' }).click();
    // The list that is left has a field of a like name.
    await page.getByRole('heading', { name: 'New campaign', level: 1 }).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Winter thanks');
    await page.getByLabel('Web', { exact: true }).check();
    await page.getByLabel('Everyone').check();
    await page.getByRole('region', { name: 'Who would be reached now' }).locator('[data-count="reached"]').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();

    await page.getByRole('textbox', { name: 'Title' }).fill('Thank you, ');
    await page.getByRole('button', { name: 'Insert an attribute into Title' }).click();
    const attributes = page.getByRole('dialog');
    await attributes.locator('input:focus').waitFor();
    await attributes.getByRole('button', { name: /First Name/ }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('Your winter coat is on its way.');
    await page.getByRole('tab', { name: /Web/ }).click();
    await page.getByRole('textbox', { name: 'A click opens' }).fill('https://example.com/coat');
    await page.getByRole('textbox', { name: 'Icon', exact: true }).fill('https://example.com/icon.png');
    await page.getByRole('button', { name: 'Next' }).click();

    await page.getByLabel('Once, at a set time').check();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('on Android, iOS and Web', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Schedule' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Schedule' }).click();
    await page.getByRole('heading', { name: 'Winter thanks', level: 1 }).waitFor();
    await page.getByText('Scheduled', { exact: true }).first().waitFor();
    expect(walk.end()).toBeLessThanOrEqual(20);
    const [stored] = await console.bundle.database`
      select status, platforms, content from campaigns where name = 'Winter thanks'`;
    expect(stored).toMatchObject({ status: 'SCHEDULED', platforms: ['ANDROID', 'IOS', 'WEB'] });
    expect(JSON.stringify(stored!.content).match(/Thank you, \{\{ UserAttribute\['First Name'\] \}\}/g)).toHaveLength(
      3,
    );
    expect(faults).toEqual([]);
    await context.close();
  }, 120_000);

  test('who did not get it, and why, is two clicks from the report', async () => {
    const { bundle } = console;
    await bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
      headers: bundle.basic(),
      body: { type: 'customer', customer_id: 'lost', attributes: {} },
    });
    await bundle.call('POST', `/v1/device/${bundle.workspaceId}`, {
      headers: bundle.basic(),
      body: {
        type: 'device',
        customer_id: 'lost',
        device_id: 'old phone',
        attributes: { platform: 'ANDROID', push_id: 'magic-rejected-1' },
      },
    });
    const { cid } = (await push({ campaignName: 'To everybody' })).json();
    await until(async () => (await bundle.database`select 1 from campaigns where id = ${cid} and status = 'SENT'`)[0]);
    const { page, context, faults } = await console.openSession({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${console.home}/campaigns/${cid}`);
    await page.getByRole('heading', { name: 'To everybody', level: 1 }).waitFor();
    const walk = startWalk(page, 'who did not get it, and why, from the report');
    await page.getByRole('group', { name: 'Not delivered' }).getByRole('link').click();
    // The reason, by the provider's code with what to do, is there by now; the number leads to whom it concerns.
    await page.getByRole('region', { name: 'Not delivered, and what to do' }).getByText('Android, rejected').waitFor();
    await page
      .getByRole('region', { name: 'Not delivered, and what to do' })
      .getByRole('link', { name: '1', exact: true })
      .click();
    await page.getByRole('region', { name: 'Deliveries' }).getByRole('link', { name: 'lost' }).waitFor();
    expect(walk.end()).toBe(2);
    // Their page says it in a sentence.
    await page.getByRole('region', { name: 'Deliveries' }).getByRole('link', { name: 'lost' }).click();
    const why = page.getByRole('region', { name: 'Did they get it, and why?' });
    await why.getByText('To everybody', { exact: true }).waitFor();
    await why.getByText('old phone', { exact: false }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  }, 120_000);

  test('a provider that breaks turns the overview red within 30 s, one click says what to do, and it is green again by itself', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn({ viewport: { width: 1280, height: 900 } });
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await verdict.getByText('All is well').waitFor();
    const denied = { error: { status: 'PERMISSION_DENIED', message: 'FCM API has not been used in this project' } };
    const walk = startWalk(page, 'a provider breaks: red, what to do, green again');
    await bundle.call('POST', '/sandbox/faults', { body: { fcm: { status: 403, body: JSON.stringify(denied) } } });
    const brokenAt = performance.now();
    await push({ campaignName: 'Into the fault' });
    await verdict.getByText('1 thing keeps messages from people').waitFor();
    const redAfterSeconds = (performance.now() - brokenAt) / 1000;
    expect(redAfterSeconds).toBeLessThan(30);
    await verdict.getByText('FCM API has not been used in this project', { exact: false }).waitFor();
    await verdict
      .getByText('Connect a credential that the provider takes, or mend its account', { exact: false })
      .waitFor();
    await verdict.getByRole('link', { name: 'Open the providers' }).click();
    await page
      .getByRole('region', { name: 'FCM (Android)' })
      .getByRole('button', { name: 'Check FCM (Android)' })
      .waitFor();
    expect(walk.actions).toHaveLength(1);
    await page.goBack();
    await bundle.call('POST', '/sandbox/faults', { body: {} });
    const mendedAt = performance.now();
    await verdict.getByText('All is well').waitFor({ timeout: 90_000 });
    await until(
      async () => (await bundle.database`select 1 from campaigns where name = 'Into the fault' and status = 'SENT'`)[0],
    );
    const greenAfterSeconds = (performance.now() - mendedAt) / 1000;
    process.stdout.write(
      `red after ${redAfterSeconds.toFixed(1)} s, green ${greenAfterSeconds.toFixed(1)} s after it was mended\n`,
    );
    expect(walk.end()).toBe(1);
    expect(faults).toEqual([]);
    await context.close();
  }, 180_000);
});

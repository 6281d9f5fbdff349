import { execFile } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { realProviderEndpoints } from '../../src/providers/registry.ts';
import { startSimulators } from '../../src/providers/simulator/start-simulators.ts';
import type { Simulators } from '../../src/providers/simulator/start-simulators.ts';
import { readConfig } from '../../src/start/config.ts';
import { startCarillon } from '../../src/start/node/start-carillon.ts';
import type { Carillon } from '../../src/start/node/start-carillon.ts';
import { until } from '../carillon-bundle.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { describeScreen, expectAccessible, openBrowser, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { startWalk } from './start-walk.ts';

describe('the integrator walk', () => {
  const run = promisify(execFile);

  describeScreen('an integrator in Chromium', () => {
    let console: ConsoleBrowser;
    let receiver: Server;
    const received: { id: string; body: string }[] = [];
    beforeAll(async () => {
      console = await startConsoleBrowser();
      receiver = createServer(async (request, response) => {
        let body = '';
        for await (const piece of request) body += piece;
        if (request.url === '/people.csv') return response.end('ada@example.com\n');
        received.push({ id: String(request.headers['webhook-id']), body });
        return response.end();
      });
      receiver.listen(0, '127.0.0.1');
      await once(receiver, 'listening');
    });
    afterAll(async () => {
      receiver?.close();
      await console?.stop();
    });

    test('creates a key, runs its call, breaks it, reads why, fixes it, sees the phone, and gets a callback twice', async () => {
      const { bundle } = console;
      const { page, context, faults } = await console.openSignedIn();
      const open = (screen: string) => page.getByRole('navigation').first().getByRole('link', { name: screen }).click();
      /** Runs what the page shows as it stands, in a shell. */
      const shell = async (text: string) => JSON.parse((await run('/bin/sh', ['-c', text])).stdout) as any;

      await open('Keys');
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Kind').selectOption('push');
      await page.getByRole('textbox', { name: 'Name' }).fill('Shop');
      await page.getByRole('button', { name: 'Create key' }).click();
      const command = await page.getByRole('region', { name: 'curl command' }).innerText();
      expect(command).toContain(bundle.workspaceId);

      // The name is part of what is signed; changed in the body alone, the signature is of another call.
      const broken = command.replace('"campaignName":"Hello from Carillon"', '"campaignName":"Hello from the shop"');
      expect(broken).not.toBe(command);
      expect(await shell(broken)).toMatchObject({ status: 'Fail', Error_Message: 'Signature is not verified' });

      // It names the workspace, whose people look for it there.
      await open('API log');
      await page.getByRole('navigation', { name: 'Views' }).getByText('Refused').click();
      const calls = page.getByRole('region', { name: 'Calls' });
      // Until the views have changed, what was first in the list before still stands there.
      await calls
        .getByRole('row', { name: /sendpush/ })
        .getByRole('link')
        .click();
      const why = page.getByRole('region', { name: 'Call details' });
      await why.getByRole('alert').getByText('Signature is not verified').waitFor();
      await why.getByText(`${bundle.workspaceId}|Hello from the shop|<push key>`, { exact: false }).waitFor();
      await why.getByText('What to do: Sign exactly', { exact: false }).waitFor();
      await why.getByText('"campaignName": "Hello from the shop"', { exact: false }).waitFor();
      await expectAccessible(page);

      const mended = broken.replace('|Hello from Carillon|', '|Hello from the shop|');
      expect(await shell(mended)).toMatchObject({ status: 'Success' });
      await open('Sandbox');
      await page
        .getByRole('article', { name: 'Android of ada, ada-device' })
        .getByText('Sent with a key of this workspace')
        .waitFor();

      const { port } = receiver.address() as AddressInfo;
      const segment = await bundle.call('POST', '/v2/custom-segments/file-segment', {
        headers: { ...bundle.basic(), 'svc-appkey': bundle.workspaceId, 'svc-dbname': bundle.block.dbName! },
        body: {
          name: 'Lapsed',
          attribute_name: 'u_em',
          attribute_type: 'string',
          file_url: `http://127.0.0.1:${port}/people.csv`,
          expiry_time: 30,
          callback_url: `http://127.0.0.1:${port}/hook`,
        },
      });
      expect([segment.status, segment.text]).toEqual([202, expect.any(String)]);
      await open('API log');
      await page.getByRole('navigation', { name: 'Views' }).getByText('Callbacks').click();
      const callbacks = page.getByRole('region', { name: 'Callbacks', exact: true });
      await callbacks.getByText('DELIVERED').waitFor();
      expect(received).toHaveLength(1);
      await callbacks.getByRole('button', { name: 'Send again' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
      await callbacks.getByText('after 1 resend', { exact: false }).waitFor();
      await expect.poll(() => received.length, { timeout: 15_000 }).toBe(2);
      expect(received[1]).toEqual(received[0]);
      expect(faults).toEqual([]);
      await context.close();
    }, 180_000);
  });
});

describe('the marketer walk', () => {
  const shots = process.env.SHOTS;

  describeScreen('a marketer’s day in Chromium', () => {
    let console: ConsoleBrowser;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());

    const step = (page: Page, name: string) =>
      page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: new RegExp(name) });
    const stateOf = (page: Page, name: string) => step(page, name).getAttribute('data-state');
    const shoot = async (page: Page, name: string) => {
      if (shots === undefined) return;
      await page.emulateMedia({ colorScheme: 'light' });
      await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
    };

    test('turns a file into a segment, sends it a personal campaign at its time, and shows it on the phone', async () => {
      const { bundle } = console;
      await bundle.database`update workspaces set time_zone = 'America/New_York' where id = ${bundle.workspaceId}`;
      const owner = await console.openSession();
      const invited = await owner.page.request.post(`${bundle.url}/console/api/invitations`, {
        data: { email: 'mara@example.com', role: 'marketer' },
      });
      const { page, context, faults } = await console.openPage({ viewport: { width: 1280, height: 900 } });
      // Without a public URL a link is a path: the page that shows it completes it with its own origin.
      await page.goto(new URL(((await invited.json()) as { link: string }).link, bundle.url).href);
      await page.getByRole('textbox', { name: 'Name' }).fill('Mara');
      await page.getByLabel('New password').fill('nine green bottles');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

      // The file.
      await page.getByRole('link', { name: 'Segments' }).click();
      await page.getByRole('link', { name: 'Create from file' }).click();
      await page.locator('input[type="file"]').setInputFiles({
        name: 'buyers.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('First name,Email\nAda,ada@example.com\nGrace,grace@example.com\nNo,nobody@example.com\n'),
      });
      await page.getByText('Of the first 3 values, 2 match a user by u_em.', { exact: false }).waitFor();
      await page.getByRole('textbox', { name: 'Segment name' }).fill('Winter buyers');
      await page.getByRole('button', { name: 'Create segment' }).click();
      await page.getByRole('group', { name: 'Unmatched values' }).getByText('nobody@example.com').waitFor();
      await shoot(page, 'file');

      // Whom it is for.
      await page.getByRole('link', { name: 'Send to segment' }).click();
      await page.getByRole('heading', { name: 'New campaign', level: 1 }).waitFor();
      await page.getByRole('textbox', { name: 'Name' }).fill('Winter thanks');
      await page.getByRole('button', { name: 'Remove Winter buyers' }).waitFor();
      const count = page.getByRole('region', { name: 'Who would be reached now' });
      await count.locator('[data-count="reached"]').getByText('2', { exact: true }).waitFor();
      await count.getByText('of 2 people would get it').waitFor();
      await shoot(page, 'audience');

      // What they see, through the eyes of one of them.
      await page.getByRole('button', { name: 'Next' }).click();
      await page.waitForURL('**/campaigns/new?*step=content*');
      await expect.poll(() => stateOf(page, 'Audience')).toBe('done');
      // What the server says of it may move what is below; a click on something that moves is lost. The answer to what
      // was there before may still be on its way.
      const checked = page.waitForResponse(
        (response) =>
          response.url().includes('/composer/check') && response.request().postData()?.includes('Thank you, ') === true,
      );
      await page.getByRole('textbox', { name: 'Title' }).fill('Thank you, ');
      await checked;
      await page.getByRole('button', { name: 'Insert an attribute into Title' }).click();
      const attributes = page.getByRole('dialog');
      // It stands where it will stay as soon as one can write in it.
      await attributes.locator('input:focus').waitFor();
      // By its keys: what is below the field may still move, and a click on something that moves is lost.
      await attributes.getByRole('button', { name: /First Name/ }).press('Enter');
      await expect
        .poll(async () => [await attributes.count(), await page.getByRole('textbox', { name: 'Title' }).inputValue()])
        .toEqual([0, "Thank you, {{ UserAttribute['First Name'] }}"]);
      await page.getByRole('textbox', { name: 'Message' }).fill('Your winter coat is on its way.');
      const android = page.getByRole('article', { name: 'Preview on Android' });
      await android.getByText('Nothing would be sent to this user').waitFor();
      await page.getByRole('button', { name: 'Preview as ada' }).click();
      await android.locator('[data-shown="title"]').getByText('Thank you, Ada').waitFor();
      await page.getByRole('article', { name: 'Preview on iOS' }).getByText('Thank you, Ada').waitFor();
      await shoot(page, 'content');

      // When.
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByLabel('Once, at a set time').check();
      const occurrences = page.getByRole('region', { name: 'When it is sent' });
      await occurrences.getByText(/America\/New_York \(UTC-0[45]:00\)/).waitFor();
      await page.getByRole('button', { name: 'Add goal' }).click();
      await page.getByRole('textbox', { name: 'Goal', exact: true }).fill('Bought');
      await page.getByRole('textbox', { name: 'Event', exact: true }).fill('purchase');
      await shoot(page, 'schedule');

      // All of it, in sentences.
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('people in “Winter buyers”, on Android and iOS', { exact: false }).waitFor();
      await page.getByText('2 of them would be reached now', { exact: false }).waitFor();
      await page.getByText('Android and iOS: the template of title fails', { exact: false }).waitFor();
      await expectAccessible(page);
      await shoot(page, 'review');

      // A test first; others that are marked for tests are offered.
      await page.getByRole('group', { name: 'Marked for tests' }).getByRole('button', { name: 'grace' }).waitFor();
      await page.getByRole('button', { name: 'Send test' }).click();
      await page.getByText('ada: sent').waitFor();

      // It begins hours from now, so it asks nothing: until then it can be made a draft again.
      await page.getByRole('button', { name: 'Schedule' }).click();
      await page.getByRole('heading', { name: 'Winter thanks', level: 1 }).waitFor();
      await page.getByText('Scheduled', { exact: true }).first().waitFor();
      await page.getByText('by Mara').waitFor();
      await page.getByText('Next occurrence:').waitFor();
      const before = await bundle.inbox();

      // Its time comes, and the report shows it without being asked.
      const report = page.url();
      const clock = owner.page;
      await clock.goto(`${console.home}/sandbox`);
      for (let hour = 0; hour < 2; hour += 1) {
        await clock.getByRole('button', { name: '+ 1 hour' }).click();
        await clock.getByText(`${hour + 1} h 0 min ahead of real time`).waitFor();
      }
      expect(page.url()).toBe(report);
      await page.getByText('Sent', { exact: true }).first().waitFor();
      const accepted = await page.locator('[data-step="Accepted"]').textContent();
      expect(accepted).toBe(await page.locator('[data-step="Reachable"]').textContent());
      await shoot(page, 'report');

      // And the phone has it, with the name.
      const phones = clock.getByRole('region', { name: 'On the phones' });
      await phones.getByText('Thank you, Ada').first().waitFor();
      await phones.getByText('Thank you, Grace').first().waitFor();
      await phones.getByText('Your winter coat is on its way.').first().waitFor();
      await shoot(clock, 'phones');
      const arrived = (await bundle.inbox()).length - before.length;
      expect(`${arrived} devices`).toBe(accepted);
      expect(faults).toEqual([]);
      await context.close();
      await owner.context.close();
      // Every step is looked at by axe twice, which takes its time on a busy machine.
    }, 300_000);
  });
});

describe('the operator walk', () => {
  const keys = (): { privateKey: string; publicKeyPem: string } => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return {
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      publicKeyPem: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string,
    };
  };
  const good = keys();
  const keyFile = (privateKey: string): string =>
    JSON.stringify({
      type: 'service_account',
      project_id: 'shop-4711',
      private_key_id: 'abc123',
      private_key: privateKey,
      client_email: 'sender@shop-4711.iam.gserviceaccount.com',
    });

  describeScreen("an operator's first day in Chromium", () => {
    let bundle: TestDatabase;
    let simulators: Simulators;
    let carillon: Carillon;
    let browser: Browser;
    let folder: string;
    let workspaceId: string;

    // A server in production mode whose FCM and APNs are stand-ins behind the same HTTP/2 requests.
    beforeAll(async () => {
      bundle = await createTestDatabase();
      folder = await mkdtemp(join(tmpdir(), 'carillon-operator-'));
      const log = makeLog({ level: 'silent', pretty: false });
      const account = { projectId: 'shop-4711', clientEmail: 'sender@shop-4711.iam.gserviceaccount.com' };
      simulators = await startSimulators({
        clock: makeClock(),
        log,
        secret: randomBytes(32),
        accounts: [{ workspaceId: 'any', fcm: { ...account, publicKeyPem: good.publicKeyPem } }],
        onDelivered: async () => {},
      });
      const { fcm, apns } = simulators.endpoints;
      const config = readConfig({
        environment: {
          DATABASE_URL: bundle.url,
          CARILLON_DATA_DIR: folder,
          CARILLON_LOG_LEVEL: 'silent',
          CARILLON_MASTER_KEY: randomBytes(32).toString('hex'),
        },
        arguments: ['--production', '--port', '0'],
      });
      carillon = await startCarillon(config, {
        providers: { ...realProviderEndpoints, fcm, apns: { production: apns, sandbox: apns } },
      });
      workspaceId = await insertTestWorkspace(bundle.database, new Date());
      browser = await openBrowser();
    });
    afterAll(async () => {
      await carillon?.stop();
      await simulators?.stop();
      await bundle?.drop();
      await rm(folder, { recursive: true, force: true });
    });

    /** One person with a phone, and a campaign to everybody that is sent at once. */
    async function send(name: string): Promise<void> {
      const { database } = bundle;
      const now = new Date();
      const id = randomBytes(12).toString('hex');
      await database`
        insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
        values (${workspaceId}, 7, ${'1'.repeat(24)}, 'ana', ${now}, ${now}) on conflict do nothing`;
      await database`
        insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
          created_at, updated_at)
        values (${workspaceId}, 7, ${'0'.repeat(24)}, ${'1'.repeat(24)}, 'phone', 'ANDROID', ${`token-${'a'.repeat(140)}`}, 'ACTIVE',
          ${now}, ${now}, ${now}) on conflict do nothing`;
      await database`
        insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
          created_by, created_at, updated_at)
        values (${id}, ${workspaceId}, ${name}, 'CONSOLE', 'ONE_TIME', 'ALL_USERS', '{ANDROID}',
          '{"ANDROID": {"title": "Hello", "message": "Spring", "richContent": [], "additionalActions": []}}',
          '{"kind": "soon"}', 'SENDING', 'Olga', ${now}, ${now})`;
      await database`
        insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at)
        values (${id}, ${workspaceId}, ${id}, 1, 'QUEUED', ${now}, ${new Date(now.getTime() + 86_400_000)}, ${now})`;
    }

    test('creates an owner by the first link, rejects and explains a wrong key, checks a valid one, and reports a provider that rejects', async () => {
      const context = await browser.newContext();
      context.setDefaultTimeout(20_000);
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(String(error)));

      await page.goto(await carillon.createConsoleLink());
      await page.getByLabel('Name').fill('Olga');
      await page.getByLabel('Email address').fill('olga@example.com');
      await page.getByLabel('New password').fill('nine green bottles');
      await page.getByRole('button', { name: 'Create account' }).click();
      const verdict = page.getByRole('region', { name: 'Verdict' });
      await verdict.getByText('No provider is connected, so no message can be sent.').waitFor();
      await expectAccessible(page);
      await verdict.getByRole('link', { name: 'Open the providers' }).click();

      const fcm = page.getByRole('region', { name: 'FCM (Android)' });
      const field = fcm.getByLabel('Key file of the service account');
      await field.fill('this is no key');
      await fcm.getByRole('button', { name: 'Check and connect' }).click();
      await fcm.getByText('The key file is not JSON.').waitFor();
      await field.fill(keyFile(keys().privateKey));
      await fcm.getByRole('button', { name: 'Check and connect' }).click();
      await fcm.getByText('TOKEN_REFUSED').waitFor();
      await fcm.getByText('Make a new key of the service account').waitFor();
      await expectAccessible(page);
      await field.fill(keyFile(good.privateKey));
      await fcm.getByRole('button', { name: 'Check and connect' }).click();
      await fcm.getByText('The provider accepts it').waitFor();
      await fcm.getByText('shop-4711', { exact: true }).waitFor();
      // The key is in no field, no answer and no line of the log.
      expect(await page.content()).not.toContain('PRIVATE KEY');

      const web = page.getByRole('region', { name: 'Web Push' });
      await web.getByLabel('Contact').fill('mailto:push@example.com');
      await web.getByRole('button', { name: 'Check and connect' }).click();
      await web.getByText('The two keys are a pair').waitFor();
      await web.getByText("applicationServerKey: 'B").waitFor();
      await expectAccessible(page);

      await page.getByRole('link', { name: 'Overview' }).click();
      await verdict.getByText('All is well').waitFor();
      await send('Spring sale');
      await page.getByRole('link', { name: 'Details' }).click();
      await page.getByRole('region', { name: 'The last hour' }).getByText('Android, accepted').waitFor();
      await page.getByRole('link', { name: 'Summary' }).click();
      await verdict.getByText('All is well').waitFor();

      const denied = { error: { status: 'PERMISSION_DENIED', message: 'FCM API has not been used in this project' } };
      await simulators.setFaults({ fcm: { status: 403, body: JSON.stringify(denied) } });
      await send('Summer sale');
      await verdict.getByText('1 problem is blocking delivery').waitFor();
      const words = 'PERMISSION_DENIED: FCM API has not been used in this project';
      await verdict.getByText(`FCM (Android) says: ${words}`).waitFor();
      await page.getByRole('link', { name: 'Details' }).click();
      await page.getByRole('region', { name: 'Providers' }).getByText(`Says: ${words}`).waitFor();
      await expectAccessible(page);

      await page.getByRole('link', { name: 'Connect and check' }).click();
      await fcm.getByRole('button', { name: 'Check FCM (Android)' }).click();
      await fcm.getByText('The provider refuses it').waitFor();
      await fcm.getByText('FCM API has not been used in this project').waitFor();
      await fcm.getByRole('button', { name: 'Remove FCM (Android)' }).click();
      await page.getByRole('dialog').getByText('1 device is reached through it; 1 send is under way.').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await simulators.setFaults({});
      await fcm.getByRole('button', { name: 'Check FCM (Android)' }).click();
      await fcm.getByText('The provider accepts it').waitFor();
      expect(faults).toEqual([]);
      const log = await bundle.database<{ action: string }[]>`
        select distinct action from audit_log where action like 'credential.%' order by action`;
      expect(log.map(({ action }) => action)).toEqual(['credential.check', 'credential.connect']);
      await context.close();
    }, 120_000);
  });
});

describe('three walks', () => {
  describeScreen('three counted walks in Chromium', () => {
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

    test('schedule a personalised campaign for three platforms in at most 20 actions from the overview', async () => {
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
      // The preview loads the picture from its site.
      await page.route('https://example.com/icon.png', (asked) =>
        asked.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
      );
      await page.getByRole('textbox', { name: 'Icon', exact: true }).fill('https://example.com/icon.png');
      await page.getByRole('button', { name: 'Next' }).click();

      await page.getByLabel('Once, at a set time').check();
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('on Android, iOS and Web', { exact: false }).waitFor();
      await page.getByRole('button', { name: 'Schedule' }).click();
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

    test('show in two clicks from the report who did not get it, and why', async () => {
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
      await until(
        async () => (await bundle.database`select 1 from campaigns where id = ${cid} and status = 'SENT'`)[0],
      );
      const { page, context, faults } = await console.openSession({ viewport: { width: 1280, height: 900 } });
      await page.goto(`${console.home}/campaigns/${cid}`);
      await page.getByRole('heading', { name: 'To everybody', level: 1 }).waitFor();
      const walk = startWalk(page, 'who did not get it, and why, from the report');
      await page.getByRole('group', { name: 'Not delivered' }).getByRole('link').click();
      // The reason, by the provider's code with what to do, is there by now; the number leads to whom it concerns.
      await page
        .getByRole('region', { name: 'Not delivered, and what to do' })
        .getByText('Android, rejected')
        .waitFor();
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

    test('turn the overview red within 30 s of a provider failure, advise in one click, and turn it green again by itself', async () => {
      const { bundle } = console;
      const { page, context, faults } = await console.openSignedIn({ viewport: { width: 1280, height: 900 } });
      const verdict = page.getByRole('region', { name: 'Verdict' });
      await verdict.getByText('All is well').waitFor();
      const denied = { error: { status: 'PERMISSION_DENIED', message: 'FCM API has not been used in this project' } };
      const walk = startWalk(page, 'a provider breaks: red, what to do, green again');
      await bundle.call('POST', '/sandbox/faults', { body: { fcm: { status: 403, body: JSON.stringify(denied) } } });
      const brokenAt = performance.now();
      await push({ campaignName: 'Into the fault' });
      await verdict.getByText('1 problem is blocking delivery').waitFor();
      const redAfterSeconds = (performance.now() - brokenAt) / 1000;
      expect(redAfterSeconds).toBeLessThan(30);
      await verdict.getByText('FCM API has not been used in this project', { exact: false }).waitFor();
      await verdict
        .getByText('Connect a credential that the provider accepts, or fix its account', { exact: false })
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
        async () =>
          (await bundle.database`select 1 from campaigns where name = 'Into the fault' and status = 'SENT'`)[0],
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
});

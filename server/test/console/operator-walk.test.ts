import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeClock } from '../../src/clock.ts';
import { readConfig } from '../../src/start/config.ts';
import { startSimulators } from '../../src/providers/simulator/start-simulators.ts';
import type { Simulators } from '../../src/providers/simulator/start-simulators.ts';
import { makeLog } from '../../src/log.ts';
import { startCarillon } from '../../src/start/node/start-carillon.ts';
import type { Carillon } from '../../src/start/node/start-carillon.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { realProviderEndpoints } from '../../src/providers/registry.ts';
import { describeScreen, expectAccessible, openBrowser } from './console-browser.ts';

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

  test('the first link makes an owner, a wrong key is refused and explained, the right one is checked, all is well; then the provider refuses and the overview says so', async () => {
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
    await verdict.getByText('No provider is connected: no message can be sent.').waitFor();
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
    await page.getByRole('region', { name: 'The last hour' }).getByText('Android, accepted').waitFor();
    await verdict.getByText('All is well').waitFor();

    const denied = { error: { status: 'PERMISSION_DENIED', message: 'FCM API has not been used in this project' } };
    await simulators.setFaults({ fcm: { status: 403, body: JSON.stringify(denied) } });
    await send('Summer sale');
    await verdict.getByText('1 thing keeps messages from people').waitFor();
    const words = 'PERMISSION_DENIED: FCM API has not been used in this project';
    await verdict.getByText(`FCM (Android) says: ${words}`).waitFor();
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

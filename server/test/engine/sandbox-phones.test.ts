import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeSimulatedCredentials } from '../../src/app/sandbox/simulated-credentials.ts';
import { makeManualClock } from '../../src/clock.ts';
import { encryptionContext, makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { App } from '../../src/domain/apps.ts';
import type { Message } from '../../src/domain/content/message.ts';
import type { Platform } from '../../src/domain/content/content.ts';
import type { ProviderCredential, ProviderCredentials } from '../../src/domain/delivery/providers.ts';
import { makeDelivery } from '../../src/providers/deliver.ts';
import type { Delivery } from '../../src/providers/deliver.ts';
import { realProviderEndpoints } from '../../src/providers/registry.ts';
import { makeSimulatedSubscription } from '../../src/providers/webpush/simulated-browser.ts';
import { startSandboxPhones } from '../../src/engine/sandbox-phones.ts';
import type { SandboxPhones } from '../../src/engine/sandbox-phones.ts';
import { makeLog } from '../../src/log.ts';
import { upsertProviderCredential } from '../../src/storage/keys/provider-credentials.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { makeMessage } from './delivery/make-message.ts';

const now = new Date('2026-03-02T12:00:00Z');
const secret = Buffer.alloc(32, 5);
const encryption = makeEncryption(Buffer.alloc(32, 1));
const log = makeLog({ level: 'silent', pretty: false });
const clock = makeManualClock(now);

let testDatabase: TestDatabase;
let workspaceId: string;
let made: Awaited<ReturnType<typeof makeSimulatedCredentials>>;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  workspaceId = await insertTestWorkspace(testDatabase.database, now);
  made = await makeSimulatedCredentials('shop');
});
afterAll(() => testDatabase.drop());

let phones: SandboxPhones;
let delivery: Delivery;
beforeEach(async () => {
  const { database } = testDatabase;
  await database.unsafe('delete from sandbox_messages; delete from apps; delete from provider_credentials');
  for (const credential of Object.values(made)) await store(credential);
  clock.anchor(now);
  await start();
});
afterEach(() => stop());

async function start(): Promise<void> {
  const { database } = testDatabase;
  phones = await startSandboxPhones({ database, encryption, clock, log, secret, simulatorsRunIn: 'this thread' });
  const endpoints = { ...realProviderEndpoints, simulators: phones.endpoints };
  delivery = makeDelivery({ clock, log, allowedNetworks: [], endpoints });
}

async function stop(): Promise<void> {
  await delivery.close();
  await phones.stop();
}

async function store(credential: ProviderCredential, of = workspaceId): Promise<void> {
  const name = { workspaceId: of, provider: credential.provider, appId: 'default' };
  const encrypted = encryption.encrypt(
    Buffer.from(JSON.stringify(credential)),
    encryptionContext.providerCredential(name),
  );
  await upsertProviderCredential(testDatabase.database, {
    ...{ ...name, encrypted, summary: {}, simulated: credential.simulated, at: now },
  });
}

const addresses: Record<Platform, string> = {
  ANDROID: `token-${'a'.repeat(140)}`,
  IOS: 'ab'.repeat(32),
  WEB: makeSimulatedSubscription({ secret, id: 'browser' }),
};

type Sending = { credentials?: ProviderCredentials; provider?: 'hms' | null; message?: Partial<Message> };

async function send(platform: Platform, { credentials, provider = null, message = {} }: Sending = {}): Promise<string> {
  const outcome = await delivery.deliver({
    message: { ...makeMessage(platform, '1'), workspaceId, ...message } as Message,
    device: { deviceId: '1', platform, provider, pushId: addresses[platform] },
    credentials: credentials ?? made,
  });
  return 'code' in outcome ? `${outcome.kind} ${outcome.code}` : outcome.kind;
}

async function readInbox() {
  await phones.settle();
  const rows = await testDatabase.database`
    select id, workspace_id as "workspaceId", platform, title, campaign_id as "campaignId" from sandbox_messages order by id`;
  return [...rows];
}

test('shows the messages that each provider accepted for a workspace with simulated credentials in order', async () => {
  expect(await send('ANDROID')).toBe('accepted');
  await phones.settle();
  expect(await send('IOS')).toBe('accepted');
  await phones.settle();
  expect(await send('WEB')).toBe('accepted');
  await phones.settle();
  expect(await send('ANDROID', { provider: 'hms' })).toBe('accepted');
  const inbox = await readInbox();
  expect(inbox.map(({ platform }) => platform)).toEqual(['ANDROID', 'IOS', 'WEB', 'ANDROID']);
  expect(inbox[0]).toMatchObject({ workspaceId, title: 'Title' });
});

test('sorts new messages after old ones, even after the clock was moved back', async () => {
  await send('ANDROID');
  const [before] = await readInbox();
  await stop();
  clock.anchor(new Date(now.getTime() - 3_600_000));
  await start();
  await send('ANDROID');
  const [first, second] = await readInbox();
  expect(first).toEqual(before);
  expect(second!.id > first!.id).toBe(true);
});

test('rejects a credential of another workspace, another key and another secret, as the providers do', async () => {
  const others = await makeSimulatedCredentials('shop');
  expect(await send('IOS', { credentials: others })).toBe('stopped InvalidProviderToken');
  expect((await send('WEB', { credentials: others })).split(' ')[0]).not.toBe('accepted');
  const strangers = await makeSimulatedCredentials('stranger');
  for (const platform of ['ANDROID', 'IOS', 'WEB'] as const)
    expect((await send(platform, { credentials: strangers })).split(' ')[0]).not.toBe('accepted');
  expect((await send('ANDROID', { credentials: strangers, provider: 'hms' })).split(' ')[0]).not.toBe('accepted');
  expect(await readInbox()).toEqual([]);
});

test('accepts a workspace with later credentials once they are read again', async () => {
  const later = await makeSimulatedCredentials('later');
  const other = await insertTestWorkspace(testDatabase.database, now);
  for (const credential of Object.values(later)) await store(credential, other);
  const sending = { credentials: later, message: { workspaceId: other } };
  expect((await send('IOS', sending)).split(' ')[0]).not.toBe('accepted');
  await phones.refreshAccounts();
  expect(await send('IOS', sending)).toBe('accepted');
  expect(await send('IOS')).toBe('accepted');
  expect((await readInbox()).map(({ workspaceId: of }) => of)).toEqual([other, workspaceId]);
});

const app = (platform: Platform, identifier: string): App => ({
  ...{ platform, appId: 'courier', name: 'Courier', identifier, restrictsPackage: false },
  environment: platform === 'IOS' ? 'sandbox' : null,
});

async function addApp({ platform, appId, name, identifier, environment }: App): Promise<void> {
  await testDatabase.database`
    insert into apps (workspace_id, platform, app_id, name, identifier, environment, created_at)
    values (${workspaceId}, ${platform}, ${appId}, ${name}, ${identifier}, ${environment}, ${now})`;
}

test('registers the iPhone app of a team before messages are sent to its devices, once', async () => {
  const courier = app('IOS', 'com.example.courier');
  await addApp(courier);
  const apns = { ...made.apns, topic: courier.identifier };
  const sending = { credentials: { apns } };
  expect((await send('IOS', sending)).split(' ')[0]).not.toBe('accepted');
  // Apps of other platforms have no topic at Apple.
  await phones.learnApps({ workspaceId, apps: [app('ANDROID', 'com.example.courier')] });
  expect((await send('IOS', sending)).split(' ')[0]).not.toBe('accepted');
  await phones.learnApps({ workspaceId, apps: [courier] });
  expect(await send('IOS', sending)).toBe('accepted');
  expect(await send('IOS')).toBe('accepted');
  // It is known: nobody is asked about it again.
  await testDatabase.database`delete from provider_credentials`;
  await phones.learnApps({ workspaceId, apps: [courier] });
  expect(await send('IOS', sending)).toBe('accepted');
  await phones.learnApps({ workspaceId, apps: [courier, app('IOS', 'com.example.other')] });
  expect((await send('IOS', sending)).split(' ')[0]).not.toBe('accepted');
});

test('notifies a waiting caller of a message, and stops waiting after the time', async () => {
  let isOver = false;
  const waiting = phones.waitForMessage(60_000).then(() => void (isOver = true));
  await phones.waitForMessage(0.5);
  expect(isOver).toBe(false);
  await send('ANDROID');
  await waiting;
  expect(await readInbox()).toHaveLength(1);
});

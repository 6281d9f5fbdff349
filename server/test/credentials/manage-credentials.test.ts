import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  checkCredential,
  connectCredential,
  listCredentials,
  removeCredential,
  useSimulatedCredential,
} from '../../src/app/credentials.ts';
import type { CredentialDependencies } from '../../src/app/credentials.ts';
import { readProviderHealth } from '../../src/app/system/provider-health.ts';
import { makeManualClock } from '../../src/clock.ts';
import { adviseOnCheck } from '../../src/domain/credentials/checks.ts';
import type { CredentialCheck } from '../../src/domain/credentials/checks.ts';
import { parseProviderKey } from '../../src/domain/credentials/credentials.ts';
import type { GivenKey } from '../../src/domain/delivery/providers.ts';
import { encryptionContext, makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { WebPushCredential } from '../../src/domain/providers/webpush.ts';
import { makeAskProvider } from '../../src/providers/check-credential.ts';
import { realProviderEndpoints } from '../../src/providers/registry.ts';
import { makeLog } from '../../src/log.ts';
import { listProviderCredentials } from '../../src/storage/keys/provider-credentials.ts';
import { startDeliveryBundle } from '../engine/delivery/delivery-bundle.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const start = new Date('2026-03-01T10:00:00Z');
const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const apns: GivenKey = {
  provider: 'apns',
  privateKey: String(pem),
  teamId: 'TEAM123456',
  keyId: 'KEY1234567',
  topic: 'com.example.app',
  environment: 'production',
};
const actor = { kind: 'account', id: null, name: 'Olga' } as const;
let bundle: TestDatabase;
let workspaceId: string;
let answer: CredentialCheck = { verdict: 'ACCEPTED', words: 'BadDeviceToken' };
const clock = makeManualClock(start);
let deps: CredentialDependencies;

beforeAll(async () => {
  bundle = await createTestDatabase();
  workspaceId = await insertTestWorkspace(bundle.database, start);
  deps = {
    database: bundle.database,
    clock,
    encryption: makeEncryption(Buffer.alloc(32, 7)),
    ask: async () => answer,
    isSandbox: false,
    onChanged: async () => {},
  };
});
afterAll(() => bundle.drop());

const stored = async () => (await listCredentials(deps, workspaceId)).find(({ provider }) => provider === 'apns')!;
/** The VAPID key of a workspace as it is stored. */
async function openStored(ofWorkspace: string) {
  const [row] = (await listProviderCredentials(bundle.database, ofWorkspace)).filter(
    ({ provider }) => provider === 'webpush',
  );
  const context = encryptionContext.providerCredential(row!);
  const opened = JSON.parse(deps.encryption.decrypt(row!.encrypted, context).toString()) as WebPushCredential;
  return opened;
}
const actions = async () =>
  (
    await bundle.database<
      { action: string; detail: object }[]
    >`select action, detail from audit_log where workspace_id = ${workspaceId} order by id`
  ).map(({ action, detail }) => [action, JSON.stringify(detail)] as const);

describe('a credential', () => {
  test('that is no key, or that the provider refuses, is not stored; the words say why and what to do', async () => {
    const given = { ...apns, teamId: 'short' } as GivenKey;
    await expect(connectCredential(deps, { actor, workspaceId, given, unasked: 'refuse' })).rejects.toMatchObject({
      code: 'PROVIDER_KEY_INVALID',
      context: { reason: 'The team id must be ten capital letters and digits' },
    });
    answer = { verdict: 'REFUSED', words: 'InvalidProviderToken' };
    await expect(connectCredential(deps, { actor, workspaceId, given: apns, unasked: 'store' })).rejects.toMatchObject({
      code: 'PROVIDER_REFUSED',
      context: { reason: expect.stringMatching(/^InvalidProviderToken\. Apple does not know this key/) },
    });
    expect((await stored()).connected).toBeNull();
  });

  test('that nobody could be asked about is stored only on demand, and says so', async () => {
    answer = { verdict: 'UNKNOWN', words: 'NOT_CONNECTED' };
    const connect = (unasked: 'store' | 'refuse') =>
      connectCredential(deps, { actor, workspaceId, given: apns, unasked });
    await expect(connect('refuse')).rejects.toMatchObject({ code: 'PROVIDER_NOT_ASKED' });
    expect((await connect('store')).check).toMatchObject({ verdict: 'UNKNOWN', words: 'NOT_CONNECTED', at: start });
  });

  test('of browsers takes the place of another key only if that is named; with the same key it is plainly replaced', async () => {
    answer = { verdict: 'ACCEPTED', words: 'a pair' };
    const ofSite = await insertTestWorkspace(bundle.database, start);
    const subject = 'mailto:push@example.com';
    const connect = (
      more: { subject?: string; keys?: { publicKey: string; privateKey: string } } = {},
      typed?: string,
    ) =>
      connectCredential(deps, {
        ...{ actor, workspaceId: ofSite, unasked: 'refuse', inPlaceOf: typed },
        given: { provider: 'webpush', subject, keys: undefined, ...more },
      });
    const { summary } = await connect();
    const publicKey = summary.publicKey!;
    for (const typed of [undefined, '', publicKey.slice(0, 7), 'anything'])
      await expect(connect({}, typed)).rejects.toMatchObject({
        code: 'CREDENTIAL_IN_USE',
        context: { reason: expect.stringContaining(publicKey.slice(0, 8)) },
      });
    const { privateKey } = await openStored(ofSite);
    const same = await connect({ subject: 'mailto:other@example.com', keys: { publicKey, privateKey } });
    expect(same.summary.publicKey).toBe(publicKey);
    const next = await connect({}, publicKey.slice(0, 8));
    expect(next.summary.publicKey).not.toBe(publicKey);
  });

  test('of browsers gets another contact and keeps its pair where no keys are given', async () => {
    answer = { verdict: 'ACCEPTED', words: 'a pair' };
    const ofSite = await insertTestWorkspace(bundle.database, start);
    const connect = (subject: string) =>
      connectCredential(deps, {
        ...{ actor, workspaceId: ofSite, unasked: 'refuse' },
        given: { provider: 'webpush', subject, keys: undefined },
      });
    const { summary } = await connect('mailto:push@example.com');
    const changed = await connect('https://example.com/contact');
    expect(changed.summary).toEqual({ publicKey: summary.publicKey, subject: 'https://example.com/contact' });
    const opened = await openStored(ofSite);
    expect(opened).toMatchObject({ subject: 'https://example.com/contact', publicKey: summary.publicKey });
    expect(() => parseProviderKey({ provider: 'webpush', subject: opened.subject, keys: opened })).not.toThrow();
  });

  test('of browsers whose stored contact Apple refuses is shown as refused, whatever its last check said', async () => {
    answer = { verdict: 'ACCEPTED', words: 'a pair' };
    const ofSite = await insertTestWorkspace(bundle.database, start);
    const given = { provider: 'webpush', subject: 'mailto:push@example.com', keys: undefined } as const;
    await connectCredential(deps, { actor, workspaceId: ofSite, unasked: 'refuse', given });
    // As it was stored before such contacts were refused.
    await bundle.database`
      update provider_credentials set summary = summary || '{"subject": "mailto:push@localhost"}'
      where workspace_id = ${ofSite} and provider = 'webpush'`;
    const listed = await listCredentials(deps, ofSite);
    const { connected } = listed.find(({ provider }) => provider === 'webpush')!;
    const words = expect.stringMatching(/^The subject names localhost, .*BadJwtToken/);
    expect(connected!.check).toEqual({
      ...{ verdict: 'REFUSED', words, at: start },
      advice: expect.stringContaining('with another contact and no keys'),
    });
    const health = await readProviderHealth(bundle.database, { workspaceId: ofSite, at: start });
    expect(health.find(({ provider }) => provider === 'webpush')!.check).toEqual({
      verdict: 'REFUSED',
      words,
      at: start,
    });
  });

  test('is checked: words and time are kept; replacing it forgets them for those about the new one', async () => {
    clock.advance(60_000);
    answer = { verdict: 'REFUSED', words: 'ExpiredProviderToken' };
    const { check } = await checkCredential(deps, { actor, workspaceId, provider: 'apns' });
    expect(check).toMatchObject({ verdict: 'REFUSED', words: 'ExpiredProviderToken', at: clock.now() });
    answer = { verdict: 'ACCEPTED', words: 'BadDeviceToken' };
    const given = { ...apns, keyId: 'KEY7654321' } as GivenKey;
    await connectCredential(deps, { actor, workspaceId, given, unasked: 'refuse' });
    const { connected } = await stored();
    expect(connected).toMatchObject({ summary: { keyId: 'KEY7654321' }, check: { verdict: 'ACCEPTED' } });
  });

  test('that a send needs is not removed unless that is said; the log has each step and no key', async () => {
    const { database } = bundle;
    await database`
      insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
        created_by, created_at, updated_at)
      values ('c1', ${workspaceId}, 'Spring', 'CONSOLE', 'ONE_TIME', 'ALL_USERS', '{IOS,ANDROID}', '{}', '{}', 'SENDING',
        'test', ${start}, ${start})`;
    await database`
      insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at)
      values ('r1', ${workspaceId}, 'c1', 1, 'SENDING', ${start}, ${start}, ${start}, ${start})`;
    expect((await stored()).hits).toEqual({ devices: 0, runs: 1 });
    const remove = (whileSending: 'pause' | 'refuse') =>
      removeCredential(deps, { actor, workspaceId, provider: 'apns', whileSending });
    await expect(remove('refuse')).rejects.toMatchObject({
      code: 'CREDENTIAL_IN_USE',
      context: { reason: 'one send needs it' },
    });
    await remove('pause');
    await expect(remove('pause')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await stored()).connected).toBeNull();
    const lines = await actions();
    expect(lines.map(([action]) => action).sort()).toEqual([
      'credential.check',
      'credential.connect',
      'credential.remove',
      'credential.replace',
    ]);
    for (const [, detail] of lines) expect(detail).not.toContain('PRIVATE KEY');
  });

  test('of another workspace is not there, and production has no simulator to go back to', async () => {
    await expect(listCredentials(deps, 'OTHER')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const of = { actor, workspaceId, provider: 'fcm' } as const;
    await expect(checkCredential(deps, of)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(useSimulatedCredential(deps, of)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

test.each([
  [
    { provider: 'fcm', verdict: 'REFUSED', words: 'TOKEN_REFUSED: the service account was refused' },
    'clock of this machine',
  ],
  [{ provider: 'fcm', verdict: 'REFUSED', words: 'PERMISSION_DENIED: no' }, 'Firebase Cloud Messaging API'],
  [{ provider: 'apns', verdict: 'REFUSED', words: 'TopicDisallowed' }, 'bundle id'],
  [{ provider: 'apns', verdict: 'REFUSED', words: 'SomethingNew' }, 'Make a new key'],
  [{ provider: 'apns', verdict: 'UNKNOWN', words: 'NOT_CONNECTED' }, 'firewall'],
  [{ provider: 'apns', verdict: 'UNKNOWN', words: 'PROXY_AUTH' }, 'CARILLON_OUTGOING_PROXY'],
  [{ provider: 'fcm', verdict: 'ACCEPTED', words: 'INVALID_ARGUMENT' }, 'Nothing to do'],
] as const)('%j: says what to do', (check, todo) => {
  expect(adviseOnCheck(check)).toContain(todo);
});

describe('asking', () => {
  let phones: Awaited<ReturnType<typeof startDeliveryBundle>>;
  beforeAll(async () => {
    phones = await startDeliveryBundle();
  });
  afterAll(() => phones.stop());
  const log = makeLog({ level: 'silent', pretty: false });

  test('goes to the simulators in a sandbox, and ends in time when the provider is silent', async () => {
    const options = {
      clock: phones.clock,
      log,
      allowedNetworks: [],
      endpoints: { ...realProviderEndpoints, simulators: phones.simulators.endpoints },
    };
    expect(await makeAskProvider(options)(phones.credentials.fcm)).toMatchObject({ verdict: 'ACCEPTED' });
    const counters = await phones.simulators.counters();
    expect(counters.ANDROID.received).toBe(1);
    await phones.simulators.setFaults({ fcm: { delayMilliseconds: 60_000 } });
    const ask = makeAskProvider({ ...options, maxMilliseconds: 50 });
    expect(await ask(phones.credentials.fcm)).toEqual({ verdict: 'UNKNOWN', words: 'no answer within 0.05 seconds' });
  });

  test('a simulated credential without simulators is nobody to ask', async () => {
    const ask = makeAskProvider({ clock: phones.clock, log, allowedNetworks: [], endpoints: realProviderEndpoints });
    expect((await ask(phones.credentials.apns)).verdict).toBe('UNKNOWN');
  });
});

import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  checkCredential as checkStoredCredential,
  connectCredential,
  listCredentials,
  removeCredential,
  saveProviderCredential,
  useSimulatedCredential,
} from '../../src/app/credentials.ts';
import type { CredentialDependencies } from '../../src/app/credentials.ts';
import { createKey } from '../../src/app/keys/keys.ts';
import { readProviderHealth } from '../../src/app/system/provider-health.ts';
import { makeManualClock } from '../../src/clock.ts';
import { adviseOnCheck } from '../../src/domain/credentials/checks.ts';
import type { CredentialCheck } from '../../src/domain/credentials/checks.ts';
import { parseProviderKey } from '../../src/domain/credentials/credentials.ts';
import { encryptionContext, makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { GivenKey, ProviderCredential } from '../../src/domain/delivery/providers.ts';
import { parseApnsKey } from '../../src/domain/providers/apns.ts';
import { parseFcmKeyFile } from '../../src/domain/providers/fcm.ts';
import { parseHmsKey } from '../../src/domain/providers/hms.ts';
import { ProviderKeyError } from '../../src/domain/providers/key-fields.ts';
import { parseWebPushKey } from '../../src/domain/providers/webpush.ts';
import type { WebPushCredential } from '../../src/domain/providers/webpush.ts';
import { ensureWebhookSecret } from '../../src/engine/outbox/callbacks.ts';
import { makeLog } from '../../src/log.ts';
import { checkCredential, makeAskProvider } from '../../src/providers/check-credential.ts';
import { realProviderEndpoints } from '../../src/providers/registry.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { listProviderCredentials } from '../../src/storage/keys/provider-credentials.ts';
import { startDeliveryBundle } from '../engine/delivery/delivery-bundle.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

describe('credentials', () => {
  const pem = (key: { export(options: object): string | Buffer }) =>
    key.export({ type: 'pkcs8', format: 'pem' }) as string;
  const rsa = pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
  const p256 = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
  const account = {
    type: 'service_account',
    project_id: 'my-project',
    private_key_id: 'abc123',
    private_key: rsa,
    client_email: 'sender@my-project.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  };

  describe("a service account's key file", () => {
    test('is read as it is given by Google', () => {
      expect(parseFcmKeyFile(JSON.stringify(account))).toEqual({
        provider: 'fcm',
        projectId: 'my-project',
        clientEmail: account.client_email,
        privateKeyId: 'abc123',
        privateKey: rsa,
        simulated: false,
      });
    });

    test.each([
      ['no JSON', 'x'],
      ['another kind of account', JSON.stringify({ ...account, type: 'authorized_user' })],
      [
        "a token address that is not Google's (fault 3.9)",
        JSON.stringify({ ...account, token_uri: 'https://evil.example/token' }),
      ],
      ['no project', JSON.stringify({ ...account, project_id: undefined })],
      ['a project with a slash', JSON.stringify({ ...account, project_id: 'a/../b' })],
      [
        'a broken key',
        JSON.stringify({ ...account, private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----' }),
      ],
      ['a key of another kind', JSON.stringify({ ...account, private_key: p256 })],
      [
        'a weak key',
        JSON.stringify({
          ...account,
          private_key: pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey),
        }),
      ],
      ['a file of 20 KB', JSON.stringify({ ...account, padding: 'x'.repeat(20_000) })],
    ])('%s is refused, and no key material is in the message', (_name, text) => {
      expect(() => parseFcmKeyFile(text)).toThrow(ProviderKeyError);
      expect(() => parseFcmKeyFile(text)).not.toThrow(/MII/);
    });
  });

  describe('a key as editors and environment variables leave it (field B15)', () => {
    const lines = (text: string) => JSON.stringify(text).slice(1, -1);
    test.each<[string, string]>([
      ['a byte order mark', `\uFEFF${JSON.stringify(account)}`],
      ['a private key with the two characters of a line end', JSON.stringify({ ...account, private_key: lines(rsa) })],
      [
        'a private key with line ends of Windows',
        JSON.stringify({ ...account, private_key: rsa.replaceAll('\n', '\r\n') }),
      ],
    ])('is read with %s', (_what, text) => {
      expect(parseFcmKeyFile(text).privateKey).toBe(rsa);
    });

    test.each([`\uFEFF${p256}`, lines(p256), p256.replaceAll('\n', '\r\n')])(
      'is read as a .p8 file: %j',
      (privateKey) => {
        const ids = { teamId: 'TEAM123456', keyId: 'KEY1234567', topic: 'com.example.app' };
        expect(parseApnsKey({ privateKey, ...ids, environment: 'production' }).privateKey).toBe(p256);
      },
    );

    test.each([
      [rsa, /private key alone/],
      [Buffer.from(JSON.stringify(account)).toString('base64'), /looks like base64/],
      [JSON.stringify(JSON.stringify(account)).slice(1, -1), /quotes are escaped/],
    ])('names the cause if it is not a key file: %j', (text, cause) => {
      expect(() => parseFcmKeyFile(text)).toThrow(cause);
    });
  });

  describe('an APNs key', () => {
    const key = {
      privateKey: p256,
      teamId: 'TEAM123456',
      keyId: 'KEY1234567',
      topic: 'com.example.app',
      environment: 'production' as const,
    };
    test('is read with its ids', () => {
      expect(parseApnsKey(key)).toMatchObject({ provider: 'apns', teamId: 'TEAM123456', simulated: false });
    });
    test.each([
      [{ privateKey: rsa }],
      [{ privateKey: 'x' }],
      [{ teamId: 'short' }],
      [{ keyId: 'lower12345' }],
      [{ topic: 'a b' }],
    ])('%j is refused', (wrong) => {
      expect(() => parseApnsKey({ ...key, ...wrong })).toThrow(ProviderKeyError);
    });
  });

  describe('VAPID keys', () => {
    test('are made when none are given, and read back', () => {
      const made = parseWebPushKey({ subject: 'mailto:a@example.com', keys: undefined });
      expect(parseWebPushKey({ subject: made.subject, keys: made })).toEqual(made);
    });
    test('that are no pair, or a subject that is no contact, are refused', () => {
      const [one, two] = [1, 2].map(() => parseWebPushKey({ subject: 'mailto:a@example.com', keys: undefined }));
      const mixed = { publicKey: one!.publicKey, privateKey: two!.privateKey };
      expect(() => parseWebPushKey({ subject: 'mailto:a@example.com', keys: mixed })).toThrow(ProviderKeyError);
      expect(() => parseWebPushKey({ subject: 'a@example.com', keys: undefined })).toThrow(ProviderKeyError);
    });
  });

  describe('asking the provider', () => {
    let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
    beforeAll(async () => {
      bundle = await startDeliveryBundle();
    });
    afterAll(() => bundle.stop());

    test('a good credential is taken and nothing reaches a phone', async () => {
      for (const credential of Object.values(bundle.credentials))
        expect(await checkCredential(bundle, credential)).toMatchObject({ verdict: 'ACCEPTED' });
      // In the words of the provider, about the device that no phone is.
      expect((await checkCredential(bundle, bundle.credentials.apns)).words).toContain('BadDeviceToken');
      expect(bundle.delivered).toEqual([]);
    });

    test("another key is refused with the provider's own words", async () => {
      const { fcm, apns } = bundle.credentials;
      const other = { ...fcm, privateKey: rsa, privateKeyId: 'other' };
      expect(await checkCredential(bundle, other)).toMatchObject({
        verdict: 'REFUSED',
        words: expect.stringContaining('TOKEN_REFUSED'),
      });
      expect(await checkCredential(bundle, { ...apns, privateKey: p256, keyId: 'OTHERKEY01' })).toMatchObject({
        verdict: 'REFUSED',
        words: expect.stringContaining('InvalidProviderToken'),
      });
    });
  });

  describe('carillon workspaces and credentials', () => {
    const run = promisify(execFile);
    const cli = join(import.meta.dirname, '..', '..', 'src', 'cli', 'carillon.ts');

    test('make a workspace, store VAPID keys, list without secrets, remove; what is wrong is one sentence and code 2', async () => {
      const { url, database, drop } = await createTestDatabase();
      const folder = await mkdtemp(join(tmpdir(), 'carillon-credentials-'));
      const carillon = async (...words: string[]) => {
        const { PATH, NODE_COMPILE_CACHE } = process.env;
        const environment = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: url, CARILLON_DATA_DIR: folder };
        return run(process.execPath, ['--disable-warning=ExperimentalWarning', cli, ...words], {
          env: environment,
        }).then(
          ({ stdout }) => ({ code: 0, text: stdout }),
          ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
        );
      };
      try {
        const made = await carillon(
          'workspaces',
          'create',
          '--name',
          'Shop',
          '--id',
          'SHOP',
          '--time-zone',
          'Europe/Zurich',
        );
        expect(made).toEqual({ code: 0, text: 'Workspace      SHOP\nDatabase name  shop\n' });
        expect((await carillon('workspaces', 'create', '--name', 'Shop', '--id', 'SHOP')).text).toBe(
          'carillon: There is a workspace SHOP already.\n',
        );
        expect((await carillon('workspaces', 'create', '--name', 'X', '--time-zone', 'Mars/Base')).code).toBe(2);
        const changes = ['--devices-per-minute', '5000', '--campaign-versioning', 'on', '--time-zone', 'Asia/Calcutta'];
        changes.push('--v1-bare-array', 'off', '--earlier-statistics', 'on');
        expect((await carillon('workspaces', 'set', 'SHOP', ...changes)).text).toBe('Changed workspace SHOP.\n');
        expect((await carillon('workspaces', 'set', 'SHOP', '--name', 'Store')).code).toBe(0);
        const columns = database`name, time_zone, devices_per_minute, campaign_versioning, v1_search_bare_array,
          earlier_statistics`;
        const [changed] = await database`select ${columns} from workspaces`;
        expect(Object.values(changed!)).toEqual(['Store', 'Asia/Calcutta', 5_000, true, false, true]);
        await carillon('workspaces', 'set', 'SHOP', '--devices-per-minute', 'none');
        expect((await database`select devices_per_minute as rate from workspaces`)[0]!.rate).toBeNull();
        expect((await carillon('workspaces', 'set', 'SHOP', '--devices-per-minute', '0')).code).toBe(2);
        expect((await carillon('workspaces', 'set', 'NONE', '--name', 'X')).text).toBe(
          'carillon: There is no workspace NONE.\n',
        );
        const set = await carillon(
          'credentials',
          'set',
          'webpush',
          '--subject',
          'mailto:a@example.com',
          '--workspace',
          'SHOP',
        );
        expect(set.text).toMatch(
          /^webpush stored for SHOP: taken. The two keys are a pair[^\n]*\nPublic key for subscribing browsers: B/,
        );
        const listed = await carillon('credentials', 'list', '--workspace', 'SHOP');
        expect(listed.text).toMatch(/^webpush {2}real/);
        const keyFile = join(folder, 'key.json');
        await writeFile(keyFile, JSON.stringify({ ...account, type: 'other' }));
        const refused = await carillon('credentials', 'set', 'fcm', '--file', keyFile, '--workspace', 'SHOP');
        expect(refused).toEqual({ code: 2, text: expect.stringContaining('not that of a service account') });
        const [row] = await database`select count(*) as n from provider_credentials`;
        expect(row!.n).toBe(1);
        expect((await carillon('credentials', 'remove', 'webpush', '--workspace', 'SHOP')).code).toBe(0);
        expect((await carillon('credentials', 'remove', 'webpush', '--workspace', 'SHOP')).code).toBe(2);
      } finally {
        await drop();
        await rm(folder, { recursive: true });
      }
    });
  });
});

describe('a dump', () => {
  const at = new Date('2026-03-01T12:00:00Z');

  test('no private key, secret of callbacks or push key is in a dump of the database (fault 3.12 check 20)', async () => {
    const bundle = await createTestDatabase();
    try {
      const { database } = bundle;
      const encryption = makeEncryption(Buffer.alloc(32, 7));
      const workspaceId = await insertTestWorkspace(database, at);
      const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
      const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
      const scalar = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }).d!;
      const pem = (key: typeof rsa): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
      const credentials: ProviderCredential[] = [
        {
          provider: 'fcm',
          projectId: 'shown',
          clientEmail: 'shown@example.com',
          privateKeyId: 'hidden-key-id',
          privateKey: pem(rsa),
          simulated: false,
        },
        {
          provider: 'apns',
          teamId: 'TEAM',
          keyId: 'KEY',
          privateKey: pem(curve),
          topic: 'com.example',
          environment: 'production',
          simulated: false,
        },
        {
          provider: 'webpush',
          publicKey: 'shown',
          privateKey: scalar,
          subject: 'mailto:shown@example.com',
          simulated: false,
        },
      ];
      const { secret } = await inTransaction(database, async (tx) => {
        for (const credential of credentials)
          await saveProviderCredential({ encryption }, tx, { workspaceId, appId: 'default', credential, at });
        return createKey({ encryption }, tx, { workspaceId, kind: 'push', name: 'Shop', at });
      });
      const webhookSecret = await ensureWebhookSecret({ database, encryption }, workspaceId);

      const dump = await dumpAll(database);
      expect(dump).toContain('shown@example.com');
      const lineOf = (key: typeof rsa): string => pem(key).split('\n')[1]!;
      const secrets = ['hidden-key-id', 'PRIVATE KEY', lineOf(rsa), lineOf(curve), scalar, secret, webhookSecret];
      for (const text of [...secrets, secret.slice(4), webhookSecret.slice(6)])
        for (const spelling of [
          text,
          Buffer.from(text).toString('hex'),
          Buffer.from(text).toString('base64').replace(/=+$/, ''),
        ])
          expect(dump.includes(spelling), text.slice(0, 12)).toBe(false);
      // The bytes of the scalar and of the secret, in whatever spelling they were given.
      for (const bytes of [Buffer.from(scalar, 'base64url'), Buffer.from(webhookSecret.slice(6), 'base64')])
        expect(dump).not.toContain(bytes.toString('hex'));
    } finally {
      await bundle.drop();
    }
  });
});

describe('the key of Huawei', () => {
  const key = { clientId: '104729811', clientSecret: 'c0ffee'.repeat(8) };

  test('an OAuth client of Huawei is that of a project or of an app', () => {
    expect(parseHmsKey({ ...key, projectId: '388421841222125673' })).toEqual({
      ...key,
      ...{ provider: 'hms', owner: { kind: 'project', id: '388421841222125673' }, simulated: false },
    });
    expect(parseHmsKey({ ...key, huaweiAppId: '104729811' }).owner).toEqual({ kind: 'app', id: '104729811' });
  });

  test.each([
    ['neither of them', {}, 'The id of the project or of the app'],
    ['both of them', { projectId: '1', huaweiAppId: '2' }, 'one of the two'],
    ['a client id that is no number', { projectId: '1', clientId: 'client' }, 'client id must be a number'],
    ['a project whose id is a path', { projectId: '../1' }, 'project id must be a number'],
    [
      'a secret with a line break',
      { projectId: '1', clientSecret: 'secret\nsecret' },
      'form of a Huawei client secret',
    ],
  ])('%s is refused, without a word of the secret', (_name, given, words) => {
    const parse = () => parseHmsKey({ ...key, ...given });
    expect(parse).toThrow(words.replace('The id', 'the id'));
    expect(parse).not.toThrow(key.clientSecret);
  });
});

describe('changes of credentials', () => {
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
      await expect(
        connectCredential(deps, { actor, workspaceId, given: apns, unasked: 'store' }),
      ).rejects.toMatchObject({
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
      const { check } = await checkStoredCredential(deps, { actor, workspaceId, provider: 'apns' });
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
      await expect(checkStoredCredential(deps, of)).rejects.toMatchObject({ code: 'NOT_FOUND' });
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

  /** The VAPID key of a workspace as it is stored. */
  async function openStored(ofWorkspace: string) {
    const [row] = (await listProviderCredentials(bundle.database, ofWorkspace)).filter(
      ({ provider }) => provider === 'webpush',
    );
    const context = encryptionContext.providerCredential(row!);
    const opened = JSON.parse(deps.encryption.decrypt(row!.encrypted, context).toString()) as WebPushCredential;
    return opened;
  }
});

/** Every row of every table as text; bytes are hexadecimal there. */
async function dumpAll(database: Database): Promise<string> {
  const tables = await database<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`;
  const texts: string[] = [];
  for (const { name } of tables)
    texts.push(JSON.stringify(await database`select t::text as row from ${database(name)} as t`));
  return texts.join('\n');
}

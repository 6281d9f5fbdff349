import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProviderKeyError } from '../../src/domain/providers/key-fields.ts';
import { parseApnsKey } from '../../src/domain/providers/apns.ts';
import { parseFcmKeyFile } from '../../src/domain/providers/fcm.ts';
import { parseWebPushKey } from '../../src/domain/providers/webpush.ts';
import { checkCredential } from '../../src/providers/check-credential.ts';
import { startDeliveryBundle } from '../engine/delivery/delivery-bundle.ts';
import { createTestDatabase } from '../test-database.ts';

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
      JSON.stringify({ ...account, private_key: pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey) }),
    ],
    ['a file of 20 KB', JSON.stringify({ ...account, padding: 'x'.repeat(20_000) })],
  ])('%s is refused, and no key material is in the message', (_name, text) => {
    expect(() => parseFcmKeyFile(text)).toThrow(ProviderKeyError);
    expect(() => parseFcmKeyFile(text)).not.toThrow(/MII/);
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
      return run(process.execPath, ['--disable-warning=ExperimentalWarning', cli, ...words], { env: environment }).then(
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
      expect((await carillon('workspaces', 'set', 'SHOP', ...changes)).text).toBe('Changed workspace SHOP.\n');
      expect((await carillon('workspaces', 'set', 'SHOP', '--name', 'Store')).code).toBe(0);
      const columns = database`name, time_zone, devices_per_minute, campaign_versioning, v1_search_bare_array`;
      const [changed] = await database`select ${columns} from workspaces`;
      expect(Object.values(changed!)).toEqual(['Store', 'Asia/Calcutta', 5_000, true, false]);
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

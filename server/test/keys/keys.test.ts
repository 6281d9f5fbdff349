import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authenticateKey, listPushSecrets } from '../../src/app/keys/authenticate-key.ts';
import { archiveKey, createKey, editKey, regenerateKey } from '../../src/app/keys/keys.ts';
import type { CreateKeyCommand } from '../../src/app/keys/keys.ts';
import { makeManualClock } from '../../src/clock.ts';
import type { KeySettings } from '../../src/domain/access/keys.ts';
import { DecryptionError, makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { readBasic } from '../../src/http/route/auth.ts';
import type { Database } from '../../src/storage/database.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

describe('keys', () => {
  const at = new Date('2026-03-01T12:00:00Z');
  const encryption = makeEncryption(Buffer.alloc(32, 7));
  let bundle: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    ({ database } = bundle);
  });
  afterAll(() => bundle.drop());

  const archive = ({ at: now, ...key }: { workspaceId: string; keyId: string; at: Date }) =>
    archiveKey({ database, clock: makeManualClock(now) }, { ...key, actor: { kind: 'system', name: 'a test' } });

  const outcome = async (workspaceId: string, secret: string) =>
    (await authenticateKey({ database }, { workspaceId, secret, at })).outcome;

  describe('creating', () => {
    test.each([
      ['oauth', 'cok_', ['data', 'segmentation', 'push', 'campaign']],
      ['data', 'cdk_', ['data', 'segmentation']],
      ['push', 'cpk_', ['push']],
      ['campaigns', 'cck_', ['campaign']],
      ['app', 'cak_', ['app']],
    ] as const)('a key of kind %s has a recognisable secret and its default scopes', async (kind, prefix, scopes) => {
      const { key, secret } = await setup({ kind });
      expect(secret).toMatch(new RegExp(`^${prefix}[A-Za-z0-9_-]{43}$`));
      expect(key).toMatchObject({ kind, scopes, generation: 1, accessTokenMinutes: 15, archivedAt: null });
      // The key of an app is public.
      expect(key.secretHint).toBe(kind === 'app' ? secret : `${prefix}…${secret.slice(-4)}`);
    });

    test('the secret is 32 bytes of the given source in base64url', async () => {
      const { secret } = await setup({ random: (bytes) => Buffer.alloc(bytes, 0xfb) });
      expect(secret).toBe(`cdk_${Buffer.alloc(32, 0xfb).toString('base64url')}`);
      expect(secret).not.toMatch(/[+/=|]/);
    });

    test.each<[string, Partial<KeySettings>]>([
      ['name', { name: '' }],
      ['name', { name: '   ' }],
      ['name', { name: 'x'.repeat(101) }],
      ['name', { name: 'a\0b' }],
      ['name', { name: '\ud800' }],
      ['scopes', { scopes: [] }],
      ['scopes', { scopes: ['data', 'everything'] }],
      ['accessTokenMinutes', { accessTokenMinutes: 4 }],
      ['accessTokenMinutes', { accessTokenMinutes: 61 }],
      ['accessTokenMinutes', { accessTokenMinutes: 15.5 }],
    ])('a bad %s is refused when creating and when editing (fact 1)', async (field, settings) => {
      const { workspaceId, create, key } = await setup();
      const refusal = { code: 'PARAMETER_INVALID', context: { field } };
      await expect(create(settings)).rejects.toMatchObject(refusal);
      await expect(editKey({ database }, { workspaceId, keyId: key.id, ...settings })).rejects.toMatchObject(refusal);
    });

    test('a name may have 100 characters beyond the basic plane, and lifetimes of 5 and 60 minutes', async () => {
      const { key } = await setup({ name: '😀'.repeat(100), accessTokenMinutes: 5 });
      expect(key).toMatchObject({ name: '😀'.repeat(100), accessTokenMinutes: 5 });
      expect((await setup({ accessTokenMinutes: 60 })).key.accessTokenMinutes).toBe(60);
    });
  });

  describe('authenticating', () => {
    test('the right pair gives the key without its hash', async () => {
      const { workspaceId, key, secret } = await setup();
      const found = await authenticateKey({ database }, { workspaceId, secret, at });
      const numbers = { number: expect.any(Number), workspaceNumber: expect.any(Number) };
      expect(found).toEqual({ outcome: 'ok', key: { ...key, ...numbers } });
    });

    test('a wrong secret, another workspace and impossible ids are unknown', async () => {
      const [own, other] = [await setup(), await setup()];
      expect(await outcome(own.workspaceId, `${own.secret}x`)).toBe('unknown');
      expect(await outcome(other.workspaceId, own.secret)).toBe('unknown');
      for (const id of ['', 'NOBODY', 'a\0b', 'x'.repeat(65), '\ud800', `${own.workspaceId} `]) {
        expect(await outcome(id, own.secret)).toBe('unknown');
      }
      expect(await outcome(own.workspaceId, '')).toBe('unknown');
      expect(await outcome(own.workspaceId, 'x\0'.repeat(10_000))).toBe('unknown');
    });

    test('a workspace of another data center is unknown (decision D1)', async () => {
      const { workspaceId, secret } = await setup();
      const through = (dataCenter: string) => authenticateKey({ database }, { workspaceId, secret, at, dataCenter });
      expect((await through('01')).outcome).toBe('ok');
      expect((await through('02')).outcome).toBe('unknown');
    });

    test('use is noted to the minute', async () => {
      const { workspaceId, key, secret } = await setup();
      const useAt = async (seconds: number) => {
        await authenticateKey({ database }, { workspaceId, secret, at: new Date(at.getTime() + seconds * 1000) });
        const [row] = await database<{ used: Date }[]>`
          select last_used_at as used from api_keys where id = ${key.id}`;
        return (row!.used.getTime() - at.getTime()) / 1000;
      };
      expect([await useAt(0), await useAt(59), await useAt(60)]).toEqual([0, 0, 60]);
    });
  });

  describe('changing', () => {
    test('an archived key is unknown from then on; archiving again changes nothing', async () => {
      const { workspaceId, key, secret } = await setup();
      const id = { workspaceId, keyId: key.id };
      await archive({ ...id, at });
      expect(await outcome(workspaceId, secret)).toBe('unknown');
      await archive({ ...id, at: new Date(at.getTime() + 1000) });
      const [row] = await database<{ at: Date }[]>`select archived_at as at from api_keys where id = ${key.id}`;
      expect(row!.at).toEqual(at);
      await expect(regenerateKey({ database, encryption }, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(editKey({ database }, { ...id, name: 'New' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    test('a regenerated key has a new secret of the same kind and the old one fails at once', async () => {
      const { workspaceId, key, secret } = await setup({ kind: 'push' });
      const renewed = await regenerateKey({ database, encryption }, { workspaceId, keyId: key.id });
      expect(renewed.key).toMatchObject({ id: key.id, kind: 'push', generation: 2 });
      expect(renewed.secret).toMatch(/^cpk_/);
      expect(await outcome(workspaceId, secret)).toBe('unknown');
      expect(await outcome(workspaceId, renewed.secret)).toBe('ok');
      expect(await listPushSecrets({ database, encryption }, workspaceId)).toEqual([
        { keyId: key.id, name: 'Backend', secret: renewed.secret, lastUsedAt: expect.any(Date) },
      ]);
    });

    test('only the settings that are given change; the kind never does', async () => {
      const { workspaceId, key } = await setup({ kind: 'oauth' });
      const id = { workspaceId, keyId: key.id };
      const edit = (settings: Partial<KeySettings>) => editKey({ database }, { ...id, ...settings });
      expect(await edit({ name: 'Renamed' })).toEqual({ ...key, name: 'Renamed' });
      expect(await edit({ scopes: ['push'] })).toEqual({ ...key, name: 'Renamed', scopes: ['push'] });
      expect(await edit({ accessTokenMinutes: 30 })).toMatchObject({ accessTokenMinutes: 30, kind: 'oauth' });
    });

    test('a key of another workspace is not found, and stays as it is', async () => {
      const [own, stranger] = [await setup(), await setup()];
      const id = { workspaceId: stranger.workspaceId, keyId: own.key.id };
      const notFound = { code: 'NOT_FOUND' };
      await expect(archive({ ...id, at })).rejects.toMatchObject(notFound);
      await expect(regenerateKey({ database, encryption }, id)).rejects.toMatchObject(notFound);
      await expect(editKey({ database }, { ...id, name: 'Mine' })).rejects.toMatchObject(notFound);
      const found = await authenticateKey({ database }, { workspaceId: own.workspaceId, secret: own.secret, at });
      expect(found).toMatchObject({ outcome: 'ok', key: { name: 'Backend' } });
    });
  });

  describe('push secrets', () => {
    test('are those of active push keys of that workspace, oldest first', async () => {
      const { workspaceId, create } = await setup({ kind: 'data' });
      const later = (seconds: number) => new Date(at.getTime() + seconds * 1000);
      const [first, second, archived] = [
        await create({ kind: 'push', name: 'First', at: later(1) }),
        await create({ kind: 'push', name: 'Second', at: later(2) }),
        await create({ kind: 'push', name: 'Archived', at: later(3) }),
      ];
      await archive({ workspaceId, keyId: archived.key.id, at });
      expect(await listPushSecrets({ database, encryption }, workspaceId)).toEqual([
        { keyId: first.key.id, name: 'First', secret: first.secret, lastUsedAt: null },
        { keyId: second.key.id, name: 'Second', secret: second.secret, lastUsedAt: null },
      ]);
      for (const id of ['NOBODY', 'a\0b']) expect(await listPushSecrets({ database, encryption }, id)).toEqual([]);
    });

    test('an encrypted secret copied to another key cannot be decrypted (fault 3.12 check 21)', async () => {
      const { workspaceId, create, key } = await setup({ kind: 'push' });
      const second = await create({ at: new Date(at.getTime() + 1000) });
      await database`
        update api_keys set secret_sealed = (select secret_sealed from api_keys where id = ${key.id})
        where id = ${second.key.id}`;
      await expect(listPushSecrets({ database, encryption }, workspaceId)).rejects.toThrow(DecryptionError);
    });
  });

  async function setup(command: Partial<CreateKeyCommand> = {}) {
    const workspaceId = await insertTestWorkspace(database, at);
    const create = (more: Partial<CreateKeyCommand> = {}) =>
      createKey({ encryption }, database, { workspaceId, kind: 'data', name: 'Backend', at, ...command, ...more });
    return { workspaceId, create, ...(await create()) };
  }
});

describe('basic authentication', () => {
  const encode = (text: string | Buffer) => Buffer.from(text as string).toString('base64');

  test.each<[string, string, { username: string; password: string }]>([
    ['a pair', `Basic ${encode('WS1:key')}`, { username: 'WS1', password: 'key' }],
    ['RFC 7617 §2', 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', { username: 'Aladdin', password: 'open sesame' }],
    ['RFC 7617 §2.1, UTF-8', 'Basic dGVzdDoxMjPCow==', { username: 'test', password: '123£' }],
    ['the scheme in any spelling', `bASIC ${encode('a:b')}`, { username: 'a', password: 'b' }],
    ['a colon in the password', `Basic ${encode('a:b:c')}`, { username: 'a', password: 'b:c' }],
    ['empty parts', `Basic ${encode(':')}`, { username: '', password: '' }],
  ])('%s is read', (_name, authorization, credentials) => {
    expect(readBasic({ authorization })).toEqual(credentials);
  });

  test.each<[string, string | undefined]>([
    ['no header', undefined],
    ['another scheme', `Bearer ${encode('a:b')}`],
    ['no credentials', 'Basic'],
    ['nothing after the scheme', 'Basic '],
    ['no colon', `Basic ${encode('ab')}`],
    ['base64url', `Basic ${encode('??>>:~~~').replaceAll('/', '_').replaceAll('+', '-')}`],
    ['missing padding', `Basic ${encode('a:bc').replaceAll('=', '')}`],
    ['two values', `Basic ${encode('a:b')} ${encode('a:b')}`],
    ['plain text', 'Basic WS1:key'],
    ['bytes that are not UTF-8', `Basic ${encode(Buffer.from([0x61, 0x3a, 0xff]))}`],
  ])('%s is no credentials', (_name, authorization) => {
    expect(readBasic(authorization === undefined ? {} : { authorization })).toBeUndefined();
  });
});

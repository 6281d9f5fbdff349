import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../src/app/keys/keys.ts';
import { hashSecret } from '../../src/domain/access/keys.ts';
import type { KeyKind } from '../../src/domain/access/keys.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { makeId } from '../../src/domain/ids.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import {
  archiveApiKey,
  findApiKey,
  findApiKeyBySecretHash,
  insertApiKey,
  listActiveApiKeys,
  listApiKeys,
  replaceApiKeySecret,
  setAccessTokenMinutes,
  setApiKeyName,
  setApiKeyScopes,
  touchApiKey,
} from '../../src/storage/keys/api-keys.ts';
import {
  deleteExpiredAccessTokens,
  deleteExpiredRefreshTokens,
  findAccessToken,
  findRefreshToken,
  revokeAccessToken,
  revokeAccessTokensOfRefresh,
  revokeRefreshToken,
} from '../../src/storage/keys/tokens.ts';
import { findWorkspace, findWorkspaceByDbName, insertWorkspace } from '../../src/storage/workspaces.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const at = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number) => new Date(at.getTime() + seconds * 1000);

describe('API keys', () => {
  let bundle: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    ({ database } = bundle);
  });
  afterAll(() => bundle.drop());

  let made = 0;

  test('are found by id and by secret within their workspace', async () => {
    const [own, other] = [await insertTestWorkspace(database, at), await insertTestWorkspace(database, at)];
    const key = await insert(own);
    const secretHash = hashSecret(`secret ${made}`);
    expect(await findApiKey(database, { workspaceId: own, id: key.id })).toEqual(key);
    expect(await findApiKey(database, { workspaceId: other, id: key.id })).toBeUndefined();
    const found = await findApiKeyBySecretHash(database, { workspaceId: own, secretHash });
    const numbers = { number: expect.any(Number), workspaceNumber: expect.any(Number) };
    expect(found).toEqual({ ...key, ...numbers, secretHash, dataCenter: '01' });
    expect(await findApiKeyBySecretHash(database, { workspaceId: other, secretHash })).toBeUndefined();
  });

  test('are listed per workspace: active ones of a kind oldest first, all of them newest first', async () => {
    const [own, other] = [await insertTestWorkspace(database, at), await insertTestWorkspace(database, at)];
    const [first, second, data] = [await insert(own, 'push'), await insert(own, 'push'), await insert(own)];
    await insert(other, 'push');
    const ids = (keys: { id: string }[]) => keys.map(({ id }) => id);
    const active = async () => ids(await listActiveApiKeys(database, { workspaceIds: [own], kind: 'push' }));
    expect(await active()).toEqual([first.id, second.id]);
    expect(await archiveApiKey(database, { workspaceId: own, id: first.id, at })).toBe(true);
    expect(await active()).toEqual([second.id]);
    expect(ids(await listApiKeys(database, own))).toEqual([data.id, second.id, first.id]);
  });

  test('are changed only in their workspace and only while they are not archived', async () => {
    const [own, other] = [await insertTestWorkspace(database, at), await insertTestWorkspace(database, at)];
    const key = await insert(own);
    const changes = (workspaceId: string) => {
      const id = { workspaceId, id: key.id };
      const secret = { secretHash: hashSecret('new'), encryptedSecret: null, secretHint: 'cdk_…wxyz' };
      return Promise.all([
        setApiKeyName(database, { ...id, name: 'New' }),
        setApiKeyScopes(database, { ...id, scopes: ['push'] }),
        setAccessTokenMinutes(database, { ...id, accessTokenMinutes: 60 }),
        replaceApiKeySecret(database, { ...id, ...secret }).then((changed) => changed !== undefined),
      ]);
    };
    expect(await changes(other)).toEqual([false, false, false, false]);
    expect(await findApiKey(database, { workspaceId: own, id: key.id })).toEqual(key);
    expect(await changes(own)).toEqual([true, true, true, true]);
    expect(await findApiKey(database, { workspaceId: own, id: key.id })).toEqual({
      ...key,
      name: 'New',
      scopes: ['push'],
      accessTokenMinutes: 60,
      secretHint: 'cdk_…wxyz',
      generation: 2,
    });
    expect(await archiveApiKey(database, { workspaceId: other, id: key.id, at })).toBe(false);
    expect(await archiveApiKey(database, { workspaceId: own, id: key.id, at })).toBe(true);
    expect(await archiveApiKey(database, { workspaceId: own, id: key.id, at })).toBe(false);
    expect(await changes(own)).toEqual([false, false, false, false]);
  });

  test('have their use recorded at most once a minute, and a locked row is skipped, not waited for', async () => {
    const workspaceId = await insertTestWorkspace(database, at);
    const { id } = await insert(workspaceId);
    const used = async () => (await findApiKey(database, { workspaceId, id }))!.lastUsedAt;
    await touchApiKey(database, { id, at });
    await touchApiKey(database, { id, at: after(59) });
    expect(await used()).toEqual(at);
    await touchApiKey(database, { id, at: after(60) });
    expect(await used()).toEqual(after(60));
    await inTransaction(database, async (tx) => {
      await tx`select 1 from api_keys where id = ${id} for update`;
      await touchApiKey(database, { id, at: after(600) });
    });
    expect(await used()).toEqual(after(60));
    // As whoever stores a token of the key does.
    await inTransaction(database, async (tx) => {
      await tx`select 1 from api_keys where id = ${id} for key share`;
      await touchApiKey(database, { id, at: after(600) });
    });
    expect(await used()).toEqual(after(600));
  });

  test('need an encrypted secret for push in the table, and must not have one otherwise', async () => {
    const workspaceId = await insertTestWorkspace(database, at);
    const key = await insert(workspaceId);
    await expect(database`update api_keys set secret_sealed = 'x' where id = ${key.id}`).rejects.toMatchObject({
      code: '23514',
    });
    const push = await insert(workspaceId, 'push');
    await expect(database`update api_keys set secret_sealed = null where id = ${push.id}`).rejects.toMatchObject({
      code: '23514',
    });
  });

  function insert(workspaceId: string, kind: KeyKind = 'data') {
    made += 1;
    return insertApiKey(database, {
      id: makeId(after(made)),
      workspaceId,
      kind,
      name: `Key ${made}`,
      scopes: ['data', 'segmentation'],
      secretHash: hashSecret(`secret ${made}`),
      encryptedSecret: kind === 'push' ? Buffer.from('sealed') : null,
      secretHint: 'cdk_…abcd',
      accessTokenMinutes: 15,
      createdAt: at,
    });
  }
});

describe('tokens', () => {
  let bundle: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    ({ database } = bundle);
  });
  afterAll(() => bundle.drop());

  let made = 0;

  test('are found with their key and workspace', async () => {
    const { key, refreshTokenHash, insertAccess } = await setup();
    const { tokenHash } = await insertAccess();
    const shared = { ...key, keyGeneration: 1, revokedAt: null, dataCenter: '01' };
    expect(await findAccessToken(database, tokenHash)).toEqual({ ...shared, tokenHash, expiresAt: after(900) });
    expect(await findRefreshToken(database, refreshTokenHash)).toEqual({
      ...shared,
      ...{ number: expect.any(Number), workspaceNumber: expect.any(Number) },
      tokenHash: refreshTokenHash,
      expiresAt: after(1000),
      secretRequiredAtRefresh: false,
    });
    expect(await findAccessToken(database, refreshTokenHash)).toBeUndefined();
    expect(await findRefreshToken(database, tokenHash)).toBeUndefined();
  });

  test('are revoked once, by token and workspace', async () => {
    const [own, other] = [await setup(), await setup()];
    const [first, second] = [await own.insertAccess(), await own.insertAccess()];
    const foreign = { workspaceId: other.workspaceId, at };
    expect(await revokeAccessToken(database, { ...foreign, tokenHash: first.tokenHash })).toBe(false);
    expect(await revokeRefreshToken(database, { ...foreign, tokenHash: own.refreshTokenHash })).toBeUndefined();
    const mine = { workspaceId: own.workspaceId, at };
    expect(await revokeAccessToken(database, { ...mine, tokenHash: first.tokenHash })).toBe(true);
    expect(await revokeAccessToken(database, { ...mine, tokenHash: first.tokenHash })).toBe(false);
    expect((await findAccessToken(database, second.tokenHash))!.revokedAt).toBeNull();
    expect(await revokeRefreshToken(database, { ...mine, tokenHash: own.refreshTokenHash })).toEqual({
      keyId: own.key.id,
      expiresAt: after(1000),
    });
    expect(await revokeAccessTokensOfRefresh(database, { refreshTokenHash: own.refreshTokenHash, at })).toBe(1);
    expect((await findAccessToken(database, second.tokenHash))!.revokedAt).toEqual(at);
  });

  test('are removed by the clean-up if they expired before the instant, not at it', async () => {
    const { refreshTokenHash, insertAccess } = await setup();
    const [old, edge] = [await insertAccess(899), await insertAccess(900)];
    await deleteExpiredAccessTokens(database, after(900));
    expect(await findAccessToken(database, old.tokenHash)).toBeUndefined();
    expect(await findAccessToken(database, edge.tokenHash)).toBeDefined();
    await deleteExpiredRefreshTokens(database, after(1000));
    expect(await findRefreshToken(database, refreshTokenHash)).toBeDefined();
    expect(await deleteExpiredRefreshTokens(database, after(1001))).toBeGreaterThan(0);
    expect(await findRefreshToken(database, refreshTokenHash)).toBeUndefined();
  });

  test('are checked by one lookup through indexes', async () => {
    const { insertAccess } = await setup();
    const { tokenHash } = await insertAccess();
    const plan = await inTransaction(database, async (tx) => {
      await tx`set local enable_seqscan = off`;
      return tx`
        explain select 1 from access_tokens
        join api_keys on api_keys.id = access_tokens.key_id
        join workspaces on workspaces.id = access_tokens.workspace_id
        where access_tokens.token_hash = ${tokenHash}`;
    });
    expect(JSON.stringify(plan)).not.toContain('Seq Scan');
  });

  async function setup() {
    const workspaceId = await insertTestWorkspace(database, at);
    const encryption = makeEncryption(Buffer.alloc(32, 7));
    const { key } = await createKey({ encryption }, database, { workspaceId, kind: 'oauth', name: 'Key', at });
    const refreshTokenHash = hashSecret(`refresh ${(made += 1)}`);
    // Without an access token: each test adds its own.
    await database`
      insert into refresh_tokens (token_hash, workspace_id, key_id, key_generation, issued_at, expires_at)
      values (${refreshTokenHash}, ${workspaceId}, ${key.id}, 1, ${at}, ${after(1000)})`;
    const insertAccess = async (seconds = 900) => {
      const tokenHash = hashSecret(`access ${(made += 1)}`);
      await database`
        insert into access_tokens (
          token_hash, workspace_id, key_id, key_generation, refresh_token_hash, issued_at, expires_at
        )
        values (${tokenHash}, ${workspaceId}, ${key.id}, 1, ${refreshTokenHash}, ${at}, ${after(seconds)})`;
      return { tokenHash };
    };
    return { workspaceId, key, refreshTokenHash, insertAccess };
  }
});

describe('workspaces', () => {
  const createdAt = new Date('2026-03-01T12:00:00Z');
  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
  });
  afterAll(() => bundle.drop());

  test('are found by id and by database name, byte for byte', async () => {
    const { database } = bundle;
    const given = { id: 'DEMO01', dbName: 'demo_db', name: 'Demo', timeZone: 'Asia/Kolkata' };
    await insertWorkspace(database, { ...given, createdAt });
    const stored = {
      ...given,
      dataCenter: '01',
      secretRequiredAtRefresh: false,
      signatureV2Required: false,
      pushBodies: 'lenient',
      androidPayload: { mode: 'data', pushFrom: 'carillon', dataPrefix: null },
    };
    expect(await findWorkspace(database, 'DEMO01')).toEqual(stored);
    expect(await findWorkspaceByDbName(database, 'demo_db')).toEqual(stored);
    expect(await findWorkspace(database, 'demo01')).toBeUndefined();
    expect(await findWorkspaceByDbName(database, 'DEMO_DB')).toBeUndefined();
  });

  test('report a taken id or database name, reject an id with a pipe, and store nothing', async () => {
    const { database } = bundle;
    const insert = (id: string, dbName: string) =>
      insertWorkspace(database, { id, dbName, name: 'X', timeZone: 'UTC', createdAt, dataCenter: '101' });
    expect(await insert('A1', 'a1')).toBe(true);
    expect(await insert('A1', 'a2')).toBe(false);
    expect(await insert('A2', 'a1')).toBe(false);
    await expect(insert('A|2', 'a2')).rejects.toMatchObject({ code: '23514' });
    expect(await findWorkspace(database, 'A1')).toMatchObject({ dbName: 'a1', dataCenter: '101' });
    expect(await findWorkspace(database, 'A2')).toBeUndefined();
  });
});

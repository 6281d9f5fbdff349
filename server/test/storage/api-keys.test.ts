import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import type { KeyKind } from '../../src/domain/access/keys.ts';
import { hashSecret } from '../../src/domain/access/keys.ts';
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
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const at = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number) => new Date(at.getTime() + seconds * 1000);
let bundle: TestDatabase;
let database: Database;
beforeAll(async () => {
  bundle = await createTestDatabase();
  ({ database } = bundle);
});
afterAll(() => bundle.drop());

let made = 0;
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

test('a key is found by id and by secret within its workspace', async () => {
  const [own, other] = [await insertTestWorkspace(database, at), await insertTestWorkspace(database, at)];
  const key = await insert(own);
  const secretHash = hashSecret(`secret ${made}`);
  expect(await findApiKey(database, { workspaceId: own, id: key.id })).toEqual(key);
  expect(await findApiKey(database, { workspaceId: other, id: key.id })).toBeUndefined();
  const found = await findApiKeyBySecretHash(database, { workspaceId: own, secretHash });
  expect(found).toEqual({ ...key, secretHash, dataCenter: '01' });
  expect(await findApiKeyBySecretHash(database, { workspaceId: other, secretHash })).toBeUndefined();
});

test('lists hold the keys of the workspace: active ones of a kind oldest first, all of them newest first', async () => {
  const [own, other] = [await insertTestWorkspace(database, at), await insertTestWorkspace(database, at)];
  const [first, second, data] = [await insert(own, 'push'), await insert(own, 'push'), await insert(own)];
  await insert(other, 'push');
  const ids = (keys: { id: string }[]) => keys.map(({ id }) => id);
  const active = async () => ids(await listActiveApiKeys(database, { workspaceId: own, kind: 'push' }));
  expect(await active()).toEqual([first.id, second.id]);
  expect(await archiveApiKey(database, { workspaceId: own, id: first.id, at })).toBe(true);
  expect(await active()).toEqual([second.id]);
  expect(ids(await listApiKeys(database, own))).toEqual([data.id, second.id, first.id]);
});

test('a change reaches a key of that workspace that is not archived, and no other', async () => {
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

test('use is written at most once a minute, and a locked row is skipped, not waited for', async () => {
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

test('the table refuses an encrypted secret on a key that is not for push, and a push key without one', async () => {
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

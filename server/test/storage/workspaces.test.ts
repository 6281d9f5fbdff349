import { afterAll, beforeAll, expect, test } from 'vitest';
import { findWorkspace, findWorkspaceByDbName, insertWorkspace } from '../../src/storage/workspaces.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

const createdAt = new Date('2026-03-01T12:00:00Z');
let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

test('a workspace is found by id and by database name, byte for byte', async () => {
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

test('a taken id or database name is told, an id with a pipe is refused, and nothing is stored', async () => {
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

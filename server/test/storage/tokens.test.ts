import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { hashSecret } from '../../src/domain/access/keys.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import {
  deleteExpiredAccessTokens,
  deleteExpiredRefreshTokens,
  findAccessToken,
  findRefreshToken,
  insertAccessToken,
  insertTokens,
  revokeAccessToken,
  revokeAccessTokensOfRefresh,
  revokeRefreshToken,
} from '../../src/storage/keys/tokens.ts';
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
async function setup() {
  const workspaceId = await insertTestWorkspace(database, at);
  const encryption = makeEncryption(Buffer.alloc(32, 7));
  const { key } = await createKey({ encryption }, database, { workspaceId, kind: 'oauth', name: 'Key', at });
  const owner = { workspaceId, keyId: key.id, keyGeneration: 1, issuedAt: at };
  const refreshTokenHash = hashSecret(`refresh ${(made += 1)}`);
  // Without an access token: each test adds its own.
  await database`
    insert into refresh_tokens (token_hash, workspace_id, key_id, key_generation, issued_at, expires_at)
    values (${refreshTokenHash}, ${workspaceId}, ${key.id}, 1, ${at}, ${after(1000)})`;
  const insertAccess = async (seconds = 900) => {
    const tokenHash = hashSecret(`access ${(made += 1)}`);
    const stored = await insertAccessToken(database, {
      ...owner,
      tokenHash,
      refreshTokenHash,
      expiresAt: after(seconds),
    });
    return { tokenHash, stored };
  };
  return { workspaceId, key, refreshTokenHash, insertAccess };
}

test('of tokens stored together those of a key that was removed meanwhile are left out, and the others are found', async () => {
  const { workspaceId, key } = await setup();
  const tokensOf = (keyId: string) => ({
    ...{ workspaceId, keyId, keyGeneration: 1, issuedAt: at },
    refreshTokenHash: hashSecret(`refresh ${(made += 1)}`),
    accessTokenHash: hashSecret(`access ${(made += 1)}`),
    refreshExpiresAt: after(1000),
    accessExpiresAt: after(900),
  });
  const all = [tokensOf(key.id), tokensOf('0'.repeat(24)), tokensOf(key.id)];
  expect(await insertTokens(database, all)).toEqual([true, false, true]);
  for (const { keyId, refreshTokenHash, accessTokenHash } of all) {
    const expected = keyId === key.id ? { id: keyId, workspaceId, keyGeneration: 1 } : undefined;
    const [refresh, access] = [
      await findRefreshToken(database, refreshTokenHash),
      await findAccessToken(database, accessTokenHash),
    ];
    if (!expected) expect([refresh, access]).toEqual([undefined, undefined]);
    else {
      expect(refresh).toMatchObject({ ...expected, expiresAt: after(1000) });
      expect(access).toMatchObject({ ...expected, expiresAt: after(900) });
    }
    const revoked = await revokeAccessTokensOfRefresh(database, { refreshTokenHash, at });
    expect(revoked).toBe(expected ? 1 : 0);
  }
});

test('a token is found with its key and workspace', async () => {
  const { key, refreshTokenHash, insertAccess } = await setup();
  const { tokenHash, stored } = await insertAccess();
  expect(stored).toBe(true);
  const shared = { ...key, keyGeneration: 1, revokedAt: null, dataCenter: '01' };
  expect(await findAccessToken(database, tokenHash)).toEqual({ ...shared, tokenHash, expiresAt: after(900) });
  expect(await findRefreshToken(database, refreshTokenHash)).toEqual({
    ...shared,
    tokenHash: refreshTokenHash,
    expiresAt: after(1000),
    secretRequiredAtRefresh: false,
  });
  expect(await findAccessToken(database, refreshTokenHash)).toBeUndefined();
  expect(await findRefreshToken(database, tokenHash)).toBeUndefined();
});

test('revoking concerns the named token of the named workspace, once', async () => {
  const [own, other] = [await setup(), await setup()];
  const [first, second] = [await own.insertAccess(), await own.insertAccess()];
  const foreign = { workspaceId: other.workspaceId, at };
  expect(await revokeAccessToken(database, { ...foreign, tokenHash: first.tokenHash })).toBe(false);
  expect(await revokeRefreshToken(database, { ...foreign, tokenHash: own.refreshTokenHash })).toBe(false);
  const mine = { workspaceId: own.workspaceId, at };
  expect(await revokeAccessToken(database, { ...mine, tokenHash: first.tokenHash })).toBe(true);
  expect(await revokeAccessToken(database, { ...mine, tokenHash: first.tokenHash })).toBe(false);
  expect((await findAccessToken(database, second.tokenHash))!.revokedAt).toBeNull();
  expect(await revokeRefreshToken(database, { ...mine, tokenHash: own.refreshTokenHash })).toBe(true);
  expect(await revokeAccessTokensOfRefresh(database, { refreshTokenHash: own.refreshTokenHash, at })).toBe(1);
  expect((await findAccessToken(database, second.tokenHash))!.revokedAt).toEqual(at);
});

test('a refresh concurrent with a revocation leaves no live access token', async () => {
  const { workspaceId, refreshTokenHash, insertAccess } = await setup();
  let waiting: ReturnType<typeof insertAccess> | undefined;
  await inTransaction(database, async (tx) => {
    await revokeRefreshToken(tx, { tokenHash: refreshTokenHash, workspaceId, at });
    // Waits for this transaction on the row of the refresh token, then sees that it is revoked.
    waiting = insertAccess();
    await blockedBackends(1);
    await revokeAccessTokensOfRefresh(tx, { refreshTokenHash, at });
  });
  expect((await waiting!).stored).toBe(false);
});

/** Returns when so many statements of this database wait for a lock. */
async function blockedBackends(count: number): Promise<void> {
  for (;;) {
    const [row] = await database<{ waiting: number }[]>`
      select count(*)::integer as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    if (row!.waiting >= count) return;
  }
}

test('clean-up forgets what expired before the instant, not at it', async () => {
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

test('a check of a token is one look-up by indexes', async () => {
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

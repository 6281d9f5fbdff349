import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { answerOnce } from '../../src/app/idempotency.ts';
import { createKey } from '../../src/app/keys/keys.ts';
import { listPushSecrets } from '../../src/app/keys/authenticate-key.ts';
import { rotateMasterKey } from '../../src/app/system/master-key.ts';
import {
  DecryptionError,
  makeEncryption,
  masterKeyIdOf,
  encryptionContext,
} from '../../src/domain/crypto/encryption.ts';
import { makeReportNode } from '../../src/engine/monitoring/report-node.ts';
import { makeJobBook } from '../../src/engine/jobs/job.ts';
import { checkMasterKey } from '../../src/start/database/open-installation.ts';
import type { GivenKeys } from '../../src/start/database/open-installation.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { countUnderOtherKeys, encryptedColumns } from '../../src/storage/installation/encrypted-values.ts';
import { findInstallation } from '../../src/storage/installation/installation.ts';
import { storeWebhookSecret } from '../../src/storage/workspaces.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const at = new Date('2026-03-01T12:00:00Z');
const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const toKeyId = masterKeyIdOf(newKey);
const both = { masterKey: oldKey, nextMasterKey: newKey };
const onlyOld = { masterKey: oldKey, nextMasterKey: undefined };
const onlyNew = { masterKey: newKey, nextMasterKey: undefined };

let bundle: TestDatabase;
let clock: ReturnType<typeof makeManualClock>;
beforeEach(async () => {
  bundle = await createTestDatabase();
  clock = makeManualClock(at);
});
afterEach(() => bundle.drop());

const open = (keys: GivenKeys) => checkMasterKey(bundle.database, { ...keys, at });

async function makeNode(keys: GivenKeys, id: string) {
  const { encryption } = await open(keys);
  const node = { id, role: 'all', version: '1.2.3', simulators: null, connections: 10 } as const;
  const deps = { database: bundle.database, clock, encryption, node, book: makeJobBook() };
  const job = makeReportNode({ ...deps, findUrl: () => undefined, findCertificateEnd: () => undefined });
  const report = async () => {
    clock.advance(5_000);
    await job.runOnce(clock.now());
  };
  await report();
  return { encryption, report };
}

/** `whileWaiting` stands for the time that passes. */
async function rotate(whileWaiting: () => Promise<void> = async () => {}) {
  const { encryption } = await open(both);
  const waitedFor: string[] = [];
  const result = await rotateMasterKey(
    { database: bundle.database, clock, encryption, wait: whileWaiting },
    { toKeyId, onProgress: (progress) => progress.kind === 'waiting' && waitedFor.push(progress.for) },
  );
  return { result, waitedFor };
}

const underOtherKeys = async (): Promise<number> => {
  let values = 0;
  for (const column of encryptedColumns) values += await countUnderOtherKeys(bundle.database, column, toKeyId);
  return values;
};

test('an open transaction of another database of the same server holds nothing up', async () => {
  await open(onlyOld);
  const neighbour = await createTestDatabase();
  await inTransaction(neighbour.database, async (tx) => {
    await tx`create table written (id int)`;
    expect(await rotate()).toMatchObject({ result: { outcome: 'rotated' }, waitedFor: [] });
  });
  await neighbour.drop();
});

test('every column that holds encrypted bytes is one that a rotation knows', async () => {
  const columns = await bundle.database<{ name: string }[]>`
    select attrelid::regclass || '.' || attname as name from pg_attribute
    join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and atttypid = 'bytea'::regtype
      and not attisdropped and (attname ~ 'sealed|encrypted' or attname = 'master_key_check')`;
  expect(encryptedColumns.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(
    columns.map(({ name }) => name).sort(),
  );
});

test('a value of every column is readable under the new key alone, with 0 left under the old one (fault 3.12 check 22)', async () => {
  const { encryption, secrets } = await open(onlyOld);
  const workspaceId = await insertTestWorkspace(bundle.database, at);
  const { secret } = await createKey({ encryption }, bundle.database, { workspaceId, kind: 'push', name: 'a', at });
  const keyHash = Buffer.alloc(32, 7);
  const encrypt = (context: string): Buffer => encryption.encrypt('readable', context);
  const sql = bundle.database;
  await sql`update workspaces set webhook_secret_sealed = ${encrypt(encryptionContext.webhookSecret({ workspaceId }))}`;
  await sql`update installation set demo_seed_sealed = ${encrypt(encryptionContext.demoSeed())}`;
  const provider = 'apns';
  const appId = 'shop';
  await sql`insert into provider_credentials (workspace_id, provider, app_id, sealed, summary, simulated, updated_at)
    values (${workspaceId}, ${provider}, ${appId}, ${encrypt(encryptionContext.providerCredential({ workspaceId, provider, appId }))}, '{}', false, ${at})`;
  await sql`insert into provider_tokens (key, sealed, issued_at)
    values ('team', ${encrypt(encryptionContext.providerToken({ key: 'team' }))}, ${at})`;
  const accountId = '6'.repeat(24);
  await sql`insert into accounts (id, email, name, created_at) values (${accountId}, 'a@b.example', 'Ada', ${at})`;
  await sql`insert into account_authenticators (account_id, secret_sealed, created_at)
    values (${accountId}, ${encrypt(encryptionContext.authenticator({ accountId }))}, ${at})`;
  await sql`insert into company_sign_ins (state_hash, browser_hash, sealed, expires_at)
    values (${keyHash}, ${keyHash}, ${encrypt(encryptionContext.companySignIn())}, ${at})`;
  await sql`insert into token_secrets (number, secret_sealed, created_at)
    values (1, ${encrypt(encryptionContext.tokenSecret({ number: 1 }))}, ${at})`;
  const stream = '5'.repeat(24);
  await sql`insert into event_streams (id, workspace_id, url, secret_sealed, events, user_attributes, device_attributes,
      created_at, updated_at)
    values (${stream}, ${workspaceId}, 'https://a.example', ${encrypt(encryptionContext.eventStreamSecret({ workspaceId, id: stream }))},
      '{clicked}', '{}', '{}', ${at}, ${at})`;
  const identityKey = { workspaceId, id: '6'.repeat(24) };
  await sql`insert into identity_keys (workspace_id, id, algorithm, secret_sealed, created_at)
    values (${workspaceId}, ${identityKey.id}, 'HS256', ${encrypt(encryptionContext.identityKey(identityKey))}, ${at})`;
  const operation = 'push';
  await sql`insert into idempotency_keys (workspace_id, operation, key_hash, body_hash, answer_sealed, created_at)
    values (${workspaceId}, ${operation}, ${keyHash}, ${keyHash},
      ${encrypt(encryptionContext.idempotentAnswer({ workspaceId, operation, keyHash }))}, ${at})`;
  expect(await underOtherKeys()).toBe(encryptedColumns.length);

  expect(await rotate()).toMatchObject({ result: { outcome: 'rotated', values: encryptedColumns.length - 1 } });
  expect(await underOtherKeys()).toBe(0);
  // What was signed before it is still valid after it.
  expect((await open(onlyNew)).secrets).toEqual(secrets);
  const alone = { database: bundle.database, encryption: makeEncryption(newKey) };
  expect(await listPushSecrets(alone, workspaceId)).toMatchObject([{ secret }]);
  const decrypted = await Promise.all([
    sql`select webhook_secret_sealed as v from workspaces`.then(([row]) => [
      row!.v,
      encryptionContext.webhookSecret({ workspaceId }),
    ]),
    sql`select demo_seed_sealed as v from installation`.then(([row]) => [row!.v, encryptionContext.demoSeed()]),
    sql`select secret_sealed as v from identity_keys`.then(([row]) => [
      row!.v,
      encryptionContext.identityKey(identityKey),
    ]),
    sql`select sealed as v from provider_credentials`.then(([row]) => [
      row!.v,
      encryptionContext.providerCredential({ workspaceId, provider, appId }),
    ]),
    sql`select sealed as v from provider_tokens`.then(([row]) => [
      row!.v,
      encryptionContext.providerToken({ key: 'team' }),
    ]),
    sql`select sealed as v from company_sign_ins`.then(([row]) => [row!.v, encryptionContext.companySignIn()]),
    sql`select answer_sealed as v from idempotency_keys`.then(([row]) => [
      row!.v,
      encryptionContext.idempotentAnswer({ workspaceId, operation, keyHash }),
    ]),
  ]);
  for (const [value, context] of decrypted)
    expect(alone.encryption.decrypt(value, context).toString()).toBe('readable');
});

test('keeps the secrets of the installation through a rotation', async () => {
  const { secrets } = await open(onlyOld);
  expect(secrets.interactions).not.toEqual(secrets.simulator);
  expect((await open(both)).secrets).toEqual(secrets);
  await rotate();
  expect((await open(onlyNew)).secrets).toEqual(secrets);
});

test('a value copied to another workspace cannot be decrypted, neither before nor after a rotation (fault 3.12 check 21)', async () => {
  const { encryption } = await open(both);
  const [one, two] = [
    await insertTestWorkspace(bundle.database, at),
    await insertTestWorkspace(bundle.database, new Date(at.getTime() + 1000)),
  ];
  for (const workspaceId of [one, two])
    await createKey({ encryption }, bundle.database, { workspaceId, kind: 'push', name: 'a', at });
  await bundle.database`
    update api_keys set secret_sealed = (select secret_sealed from api_keys where workspace_id = ${one})
    where workspace_id = ${two}`;
  const deps = { database: bundle.database, encryption };
  await expect(listPushSecrets(deps, two)).rejects.toThrow(DecryptionError);
  expect((await rotate()).result).toEqual({ outcome: 'unreadable values', places: ['api_keys.secret_sealed'] });
  await expect(listPushSecrets(deps, two)).rejects.toThrow(DecryptionError);
  expect(await listPushSecrets({ ...deps, encryption: makeEncryption(newKey) }, one)).toHaveLength(1);
});

test('nothing changes as long as a living node does not know the new key', async () => {
  await makeNode(onlyOld, 'behind');
  await makeNode(both, 'ready');
  expect((await rotate()).result).toMatchObject({ outcome: 'nodes without the key', hosts: [expect.any(String)] });
  expect(await findInstallation(bundle.database)).toMatchObject({
    masterKeyId: masterKeyIdOf(oldKey),
    rotatingFromKeyId: null,
  });
});

test('it ends when every living node encrypts under the new key and what they encrypted before is stored', async () => {
  const node = await makeNode(both, 'serving');
  const workspaceId = await insertTestWorkspace(bundle.database, at);
  const stale = node.encryption.encrypt('old', encryptionContext.webhookSecret({ workspaceId }));
  let storeStale = (): void => {};
  const released = new Promise<void>((resolve) => (storeStale = resolve));
  let begun = (): void => {};
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  // A transaction of the node from before it heard of the change, which stores last of all.
  const slow = inTransaction(bundle.database, async (tx) => {
    await storeWebhookSecret(tx, { workspaceId, encrypted: stale });
    begun();
    await released;
  });
  await hasBegun;
  const expected: string[] = [];
  let waits = 0;
  const { result, waitedFor } = await rotate(async () => {
    waits += 1;
    expected.push(node.encryption.masterKeyIds()[0]!);
    if (waits <= 2) return node.report();
    if (waits === 6) {
      storeStale();
      await slow;
    }
  });
  expect(result.outcome).toBe('rotated');
  expect(expected.slice(0, 2)).toEqual([masterKeyIdOf(oldKey), toKeyId]);
  expect(waitedFor.slice(0, 2)).toEqual(['nodes', 'nodes']);
  expect(new Set(waitedFor.slice(2))).toEqual(new Set(['transactions']));
  expect(await underOtherKeys()).toBe(0);
});

test('a node that does not end keeps the rotation open: nothing is lost, and no node starts without the old key', async () => {
  await makeNode(both, 'stuck');
  const keepAlive = async () => {
    await bundle.database`update nodes set seen_at = ${clock.now()}`;
  };
  expect((await rotate(keepAlive)).result).toEqual({ outcome: 'unfinished', waitedFor: 'nodes' });
  await expect(open(onlyNew)).rejects.toMatchObject({
    code: 'MASTER_KEY_WRONG',
    message: `The rotation from the master key ${masterKeyIdOf(oldKey)} to ${toKeyId} has not ended; give both keys (CARILLON_MASTER_KEY, CARILLON_MASTER_KEY_NEXT) and run: carillon master-key rotate.`,
  });
  clock.advance(31_000);
  expect((await rotate()).result.outcome).toBe('rotated');
  await open(onlyNew);
  await expect(open(onlyOld)).rejects.toThrow(DecryptionError);
});

test('a node that was not given the key in use says so with every report', async () => {
  const node = await makeNode(onlyOld, 'left behind');
  await bundle.database`delete from nodes`;
  await rotate();
  await expect(node.report()).rejects.toThrow(`The master key ${toKeyId}, under which everything is encrypted`);
});

test('answers of requests are read under either key while both are valid', async () => {
  const { encryption } = await open(both);
  const workspaceId = await insertTestWorkspace(bundle.database, at);
  const request = { workspaceId, operation: 'token', key: 'k', rawBody: '{}', at };
  const ask = () => answerOnce({ database: bundle.database, encryption }, request, async () => ({ n: Math.random() }));
  const first = await ask();
  await rotate();
  expect(await ask()).toEqual(first);
});

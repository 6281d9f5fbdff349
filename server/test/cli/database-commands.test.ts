import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { listPushSecrets } from '../../src/app/keys/authenticate-key.ts';
import { makeClock } from '../../src/clock.ts';
import { encryptionContext, makeEncryption, masterKeyIdOf } from '../../src/domain/crypto/encryption.ts';
import { makeLog } from '../../src/log.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import { countUnderOtherKeys, encryptedColumns } from '../../src/storage/installation/encrypted-values.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { fullTest } from '../full-test.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { runCommand, startCommand } from './run-command.ts';

describe('database command', () => {
  let [bundle, dataFolder]: [TestDatabase, string] = [undefined!, ''];
  beforeAll(async () => {
    [bundle, dataFolder] = [await createTestDatabase(), await mkdtemp(join(tmpdir(), 'carillon-database-command-'))];
  });
  afterAll(async () => {
    await bundle.drop();
    await rm(dataFolder, { recursive: true });
  });

  const run = (databaseUrl: string, words: string) =>
    runCommand({ config: { databaseUrl, dataFolder } }, words.split(' '));

  describe('on PostgreSQL without the extension', () => {
    test('distributing is refused before anything is changed, and the message says what is missing: 21', async (context) => {
      context.skip(inject('workerUrls') !== null, 'this database is distributed');
      const refused = await run(bundle.url, 'database distribute');
      expect(refused).toEqual({ code: 21, stdout: '', stderr: expect.stringContaining('has no extension Citus') });
      const settings = await bundle.database`
        select 1 from pg_db_role_setting where setdatabase = (select oid from pg_database where datname = current_database())`;
      expect(settings.count).toBe(0);
    });

    test('the status says that nothing is distributed', async (context) => {
      context.skip(inject('workerUrls') !== null, 'this database is distributed');
      expect(await run(bundle.url, 'database status')).toEqual({
        code: 0,
        stdout: 'Not distributed: every table is in this database alone.\n',
        stderr: '',
      });
    });
  });

  test.each([['0'], ['3'], ['512'], ['1e2'], ['many']])('%s shards are refused: 2', async (shards) => {
    const refused = await run(bundle.url, `database distribute --shards ${shards}`);
    expect(refused).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining('a power of two from 1 to 256') });
  });

  test('the embedded database is one server and cannot be distributed: 2', async () => {
    const refused = await run('', 'database distribute');
    expect(refused).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining('DATABASE_URL is not set') });
  });
});

describe('master key command', () => {
  const nextMasterKey = randomBytes(32);
  const toKeyId = masterKeyIdOf(nextMasterKey);
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle({ CARILLON_MASTER_KEY_NEXT: nextMasterKey.toString('base64') });
  });
  afterAll(() => bundle?.stop());

  const underOtherKeys = async (): Promise<number> => {
    let values = 0;
    for (const column of encryptedColumns) values += await countUnderOtherKeys(bundle.database, column, toKeyId);
    return values;
  };

  const operation = 'push';
  const answers = 5_000;

  fullTest('a rotation that is killed goes on when it is run again, while the node serves (FULL=1)', async () => {
    await storeAnswers();
    const push = async (campaignName: string) =>
      (
        await bundle.push({
          ...{ campaignName, targetPlatform: ['ANDROID'], targetAudience: 'User' },
          targetUserAttributes: {
            attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
            comparisonParameter: 'is',
            attributeValue: 'ada',
          },
          payload: { ANDROID: { title: 'On its way', message: 'Shipped' } },
          campaignDelivery: { type: 'soon' },
        })
      ).json();

    const killed = startCommand(bundle, ['master-key', 'rotate']);
    killed.stdout.on('data', (piece) => String(piece).includes('idempotency_keys') && killed.kill('SIGKILL'));
    await once(killed, 'close');
    const left = await underOtherKeys();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(answers);
    expect(await push('Between two keys')).toMatchObject({ status: 'Success' });
    const status = await runCommand(bundle, ['master-key', 'status']);
    expect(status.stdout).toMatch(new RegExp(`Key in use +${toKeyId}\nRotating from +[0-9a-f]{8}\n`));
    expect(status.stdout).toMatch(new RegExp(`idempotency_keys.answer_sealed +${left}\n`));

    const resumed = await runCommand(bundle, ['master-key', 'rotate']);
    expect([resumed.code, resumed.stderr]).toEqual([0, '']);
    expect(resumed.stdout).toContain(`${left} values re-encrypted, 0 left under another key.`);
    expect(await underOtherKeys()).toBe(0);
    expect(await push('Under the new key')).toMatchObject({ status: 'Success' });

    const { workspaceId, database } = bundle;
    const alone = makeEncryption(nextMasterKey);
    expect(await listPushSecrets({ database, encryption: alone }, workspaceId)).toMatchObject([
      { secret: bundle.keys.push },
    ]);
    const rows = await database<{ keyHash: Buffer; answer: Buffer }[]>`
      select key_hash as "keyHash", answer_sealed as answer from idempotency_keys where answer_sealed is not null`;
    expect(rows.length).toBeGreaterThanOrEqual(answers);
    for (const { keyHash, answer } of rows)
      expect(
        alone.decrypt(answer, encryptionContext.idempotentAnswer({ workspaceId, operation, keyHash })).toString(),
      ).toBe('{}');
    const after = await runCommand(bundle, ['master-key', 'status']);
    expect(after.stdout).toContain('(no rotation is under way)');
    expect(after.stdout).toMatch(new RegExp(`\\d+ +${toKeyId} +[0-9a-f]{8}\n`));
  });

  /** Answers of requests, as many as a busy workspace keeps. */
  async function storeAnswers(): Promise<void> {
    const { workspaceId, config } = bundle;
    const installation = await openInstallation(config, {
      clock: makeClock(),
      log: makeLog({ level: 'silent', pretty: false }),
    });
    const keyHashes = Array.from({ length: answers }, () => randomBytes(32));
    const encrypted = keyHashes.map((keyHash) =>
      installation.encryption.encrypt('{}', encryptionContext.idempotentAnswer({ workspaceId, operation, keyHash })),
    );
    await bundle.database`
      insert into idempotency_keys (workspace_id, operation, key_hash, body_hash, answer_sealed, created_at)
      select ${workspaceId}, ${operation}, key_hash, key_hash, answer, now()
      from unnest(${keyHashes}::bytea[], ${encrypted}::bytea[]) as stored (key_hash, answer)`;
    await installation.close();
  }
});

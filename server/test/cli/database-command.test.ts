import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { runCommand } from './run-command.ts';

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

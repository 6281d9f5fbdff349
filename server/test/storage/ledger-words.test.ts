import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fragment, Queryable } from '../../src/storage/database.ts';
import {
  outcomeLetters,
  outcomeWord,
  platformLetters,
  platformWord,
  joinIdBytes,
} from '../../src/storage/ledger/ledger-encoding.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import type { TestDatabase } from '../test-database.ts';

let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

test('ids that are stored as one value are all of one length, or refused: none moves those behind it', () => {
  const [one, other] = ['019ca9450a00389dc9cf0434', 'ffffffffffffffffffffffff'];
  expect(joinIdBytes([one, other]).toString('hex')).toBe(one + other);
  for (const wrong of ['', 'ff', `${one}ff`, 'g'.repeat(24)])
    expect(() => joinIdBytes([one, wrong, other])).toThrow(RangeError);
  // Together as long as two.
  expect(() => joinIdBytes([`${one}ff`, other.slice(2)])).toThrow(RangeError);
});

test('the readable ledger says each letter as its word, of the run and the workspace that the row is of', async () => {
  const { database } = bundle;
  const at = new Date('2026-03-01T09:00:00Z');
  const workspaceId = await insertTestWorkspace(database, at);
  const runId = '0'.repeat(24);
  await insertSentRun(database, { workspaceId, id: runId, at });
  await database`update runs set locales = '{de,fr}' where id = ${runId}`;
  await database`select make_day_partition('deliveries', ${at}::date)`;
  const rows = Object.entries(platformLetters).flatMap(([platform, platformLetter], index) =>
    Object.entries(outcomeLetters).map(([outcome, letter]) => ({
      stored: { platform: platformLetter, outcome: letter, bucket: index, retry_at: outcome === 'WAITING' ? at : null },
      read: { platform, outcome, variation: 3, locale: 'fr', workspace_id: workspaceId, run_id: runId },
    })),
  );
  for (const [index, { stored }] of rows.entries())
    await database`
      insert into deliveries (sent_at, retry_at, run_number, day, workspace_number, bucket, attempts, platform, outcome, user_id,
        device_id, variation, locale)
      select ${at}::timestamptz, ${stored.retry_at}::timestamptz, runs.number, ${at}::date, workspaces.number, ${stored.bucket}::smallint, 1, ${stored.platform}::"char",
        ${stored.outcome}::"char", decode(${index.toString(16).padStart(24, '0')}, 'hex'), decode(${'ab'.repeat(12)}, 'hex'), '3', 'B'
      from runs join workspaces on workspaces.id = runs.workspace_id where runs.id = ${runId}`;
  const read = await database`
    select platform, outcome, variation, locale, workspace_id, run_id, user_id, device_id from readable_deliveries order by user_id`;
  expect(read).toEqual(
    rows.map((row, index) => ({
      ...row.read,
      user_id: index.toString(16).padStart(24, '0'),
      device_id: 'ab'.repeat(12),
    })),
  );
});

type Word = (tx: Queryable, column: Fragment) => Fragment;

test.each([
  ['platform', platformLetters as Record<string, string>, platformWord as Word],
  ['outcome', outcomeLetters as Record<string, string>, outcomeWord as Word],
])('the database reads the letter of each %s as the word that it was stored for', async (_what, letters, wordOf) => {
  const { database } = bundle;
  const read: Record<string, unknown> = {};
  for (const [word, letter] of Object.entries(letters)) {
    const [row] = await database`select ${wordOf(database, database`letter`)} as word
      from (select ${letter}::"char" as letter) as stored`;
    read[word] = row!.word;
  }
  expect(read).toEqual(Object.fromEntries(Object.keys(letters).map((word) => [word, word])));
  expect(new Set(Object.values(letters)).size).toBe(Object.keys(letters).length);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fragment, Queryable } from '../../src/storage/database.ts';
import { outcomeLetters, outcomeWord, platformLetters, platformWord } from '../../src/storage/ledger/ledger-words.ts';
import { joinIdBytes } from '../../src/storage/ledger/ledger-bytes.ts';
import { createTestDatabase } from '../test-database.ts';
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

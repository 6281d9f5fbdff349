import { afterAll, beforeAll, expect, test } from 'vitest';
import { aloneWithBackups } from '../../src/storage/backup.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

const alone = (work: () => Promise<unknown>) => aloneWithBackups(bundle.application.acrossWorkspaces(), work);

test('whoever asks right after one that failed is not told that another is at it', async () => {
  for (let time = 0; time < 50; time += 1) {
    await expect(alone(() => Promise.reject(new Error('the disk is full')))).rejects.toThrow('the disk is full');
    expect(await alone(async () => time)).toBe(time);
  }
});

test('whoever asks meanwhile is', async () => {
  expect(await alone(() => alone(async () => 'both at once'))).toBe('locked');
});

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, inject, test } from 'vitest';
import { BackupRefusedError, makeBackup } from '../../src/app/system/backup.ts';
import { createTestDatabase } from '../test-database.ts';

beforeEach(({ skip }) => skip(inject('workerUrls') === null, 'needs a cluster (npm run test:citus)'));

test('rejects a backup of a cluster, says how it is backed up, and leaves nothing', async () => {
  const { application, drop } = await createTestDatabase();
  const parent = await mkdtemp(join(tmpdir(), 'carillon-backup-'));
  const made = makeBackup(application.acrossWorkspaces(), { folder: join(parent, 'made'), carillonVersion: '1.2.3' });
  const refused = await made.catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(BackupRefusedError);
  expect((refused as Error).message).toContain('node by node (docs/backup.md)');
  expect(await readdir(parent)).toEqual([]);
  await rm(parent, { recursive: true });
  await drop();
});

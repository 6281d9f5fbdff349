import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { makeBackup, verifyBackup } from '../../src/app/system/backup.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makeScheduledBackups } from '../../src/engine/scheduled-backups.ts';
import { makeReadDatabaseSamples } from '../../src/engine/monitoring/metric-samples.ts';
import { makeLog } from '../../src/log.ts';
import { checkMasterKey } from '../../src/start/database/open-installation.ts';
import { findNewestBackup, noteBackup } from '../../src/storage/backup.ts';
import { startSmallDisk } from '../rig/databases.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

const at = new Date('2026-03-01T12:00:00Z');
const hour = 3_600_000;
let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
  await checkMasterKey(bundle.database, { masterKey: Buffer.alloc(32, 1), nextMasterKey: undefined, at });
});
afterAll(() => bundle.drop());

let parent: string;
let folder: string;
let clock: ReturnType<typeof makeManualClock>;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'carillon-backups-'));
  folder = join(parent, 'backups');
  clock = makeManualClock(at);
});
afterEach(() => rm(parent, { recursive: true, force: true }));
beforeEach(({ skip }) =>
  skip(inject('workerUrls') !== null, 'a cluster is backed up node by node (backup-of-cluster.test.ts)'),
);

function makeJob(meanwhile = async () => {}) {
  const database = bundle.application.acrossWorkspaces();
  return makeScheduledBackups({
    ...{ database, clock, folder, everyHours: 24, kept: 2, log: makeLog({ level: 'silent', pretty: false }) },
    async backUp(made) {
      await meanwhile();
      return makeBackup(database, { folder: made, carillonVersion: '1.2.3' });
    },
  });
}

test('of two nodes that share a folder one makes a backup, the next when it is a day old, and the newest two are kept', async () => {
  const nodes = [makeJob(), makeJob()];
  const look = () => Promise.all(nodes.map((job) => job.runOnce(clock.now())));
  await look();
  expect(await readdir(folder)).toEqual(['carillon-20260301T120000Z']);
  await verifyBackup(join(folder, 'carillon-20260301T120000Z'));
  clock.advance(23.9 * hour);
  await look();
  expect(await readdir(folder)).toHaveLength(1);
  for (let day = 0; day < 2; day += 1) {
    clock.advance(24 * hour);
    await look();
  }
  expect((await readdir(folder)).sort()).toEqual(['carillon-20260303T115400Z', 'carillon-20260304T115400Z']);
});

test('a folder without a manifest is not counted, an unfinished one is removed, and what is somebody else’s stays', async () => {
  const half = join(folder, 'carillon-20260301T110000Z');
  await mkdir(half, { recursive: true });
  await mkdir(join(folder, 'carillon-20260301T113000Z.unfinished'));
  await mkdir(join(folder, 'carillon-monday'));
  await writeFile(join(folder, 'notes.txt'), '');
  await makeJob().runOnce(clock.now());
  expect((await readdir(folder)).sort()).toEqual([
    'carillon-20260301T110000Z',
    'carillon-20260301T120000Z',
    'carillon-monday',
    'notes.txt',
  ]);
});

test('a fault is told at every look until a backup is made, which is tried again after an hour', async () => {
  await writeFile(folder, 'a file where the folder should be');
  const job = makeJob();
  await expect(job.runOnce(clock.now())).rejects.toMatchObject({ code: 'ENOTDIR' });
  await rm(folder);
  clock.advance(0.9 * hour);
  await expect(job.runOnce(clock.now())).rejects.toMatchObject({ code: 'ENOTDIR' });
  clock.advance(0.2 * hour);
  await job.runOnce(clock.now());
  expect(await readdir(folder)).toHaveLength(1);
  expect(await job.runOnce(clock.now())).toBe(0);
});

test('while the first is being made nobody knows that one is due, and so is told that it is late', async () => {
  const database = bundle.application.acrossWorkspaces();
  await bundle.database`update installation set backup_made_at = null, backup_hours = null`;
  const readSchedule = async () => (await findNewestBackup(database)).schedule;
  let during: unknown;
  const job = makeJob(async () => void (during = await readSchedule()));
  await job.runOnce(clock.now());
  expect([during, await readSchedule()]).toEqual([null, { everyHours: 24, lookedAt: clock.realNow() }]);
});

test('how often one is due is known to all nodes, also while none can be made', async () => {
  await writeFile(folder, 'a file where the folder should be');
  const job = makeJob();
  const database = bundle.application.acrossWorkspaces();
  for (const _look of [1, 2]) {
    clock.advance(60_000);
    await expect(job.runOnce(clock.now())).rejects.toMatchObject({ code: 'ENOTDIR' });
    expect((await findNewestBackup(database)).schedule).toEqual({ everyHours: 24, lookedAt: clock.realNow() });
  }
});

test('how old the newest backup is, is told to Prometheus: of none the age of the installation, and no older one makes it younger', async () => {
  const database = bundle.application.acrossWorkspaces();
  await database`update installation set backup_made_at = null`;
  const readAge = async () => {
    clock.advance(60_000);
    const samples = await makeReadDatabaseSamples({ database, clock })();
    return samples.carillon_backup_age_seconds;
  };
  clock.advance(30 * hour);
  expect(await readAge()).toEqual([{ labels: {}, value: 30 * 3600 + 60 }]);
  await makeJob().runOnce(clock.now());
  expect(await readAge()).toEqual([{ labels: {}, value: 60 }]);
  // The node that makes them is gone, and a database that was restored knows of an earlier one.
  clock.advance(40 * hour);
  expect(await readAge()).toEqual([{ labels: {}, value: 40 * 3600 + 120 }]);
  await noteBackup(database, at);
  expect(await readAge()).toEqual([{ labels: {}, value: 40 * 3600 + 180 }]);
  await database`update installation set backup_made_at = ${at}`;
  clock.advance(-30 * hour);
  await makeJob().runOnce(clock.now());
  expect(await readAge()).toEqual([{ labels: {}, value: 10 * 3600 + 240 }]);
});

test('a disk that a backup fills is told, nothing of it stays, and the backups there are stay', async (context) => {
  const disk = await startSmallDisk(1);
  if ('refused' in disk) return context.skip(disk.refused);
  try {
    folder = join(disk.path, 'backups');
    const job = makeJob();
    await job.runOnce(clock.now());
    await disk.fill();
    clock.advance(25 * hour);
    await expect(job.runOnce(clock.now())).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await readdir(folder)).toEqual(['carillon-20260301T120000Z']);
    await disk.empty();
    clock.advance(hour);
    await job.runOnce(clock.now());
    expect(await readdir(folder)).toHaveLength(2);
    // Filled while it is written: the look at the space before came too early.
    await disk.fill();
    const made = join(disk.path, 'made');
    const backup = makeBackup(bundle.application.acrossWorkspaces(), { folder: made, carillonVersion: '1.2.3' });
    await expect(backup).rejects.toMatchObject({
      name: 'BackupNotWrittenError',
      message: expect.stringContaining('ENOSPC'),
    });
    expect((await readdir(disk.path)).sort()).toEqual(['backups', 'filling']);
  } finally {
    await disk.remove();
  }
});

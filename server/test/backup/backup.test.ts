import { cp, mkdir, mkdtemp, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import {
  BackupRefusedError,
  makeBackup,
  openBackup,
  restoreBackup,
  verifyBackup,
} from '../../src/app/system/backup.ts';
import { makeManualClock } from '../../src/clock.ts';
import { leftOutTables, writeManifest } from '../../src/domain/operations/backup.ts';
import { makeReadDatabaseSamples } from '../../src/engine/monitoring/metric-samples.ts';
import { makeScheduledBackups } from '../../src/engine/scheduled-backups.ts';
import { makeLog } from '../../src/log.ts';
import { checkMasterKey } from '../../src/start/database/open-installation.ts';
import {
  aloneWithBackups,
  findNewestBackup,
  listStoredTables,
  noteBackup,
  readBackupFacts,
} from '../../src/storage/backup.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { makeDay } from '../../src/storage/day-partitions.ts';
import { dumpSchema } from '../dump-schema.ts';
import { makeNextMigrations } from '../next-migrations.ts';
import { startSmallDisk } from '../rig/databases.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { createEmptyDatabase } from './empty-database.ts';
import type { EmptyDatabase } from './empty-database.ts';

const at = new Date('2026-03-01T12:00:00Z');

describe('backup', () => {
  const carillonVersion = '1.2.3';
  const keys = { masterKey: Buffer.alloc(32, 1), nextMasterKey: undefined };

  let source: TestDatabase;
  let parent: string;
  let whole: string;
  const isOnCluster = inject('workerUrls') !== null;
  beforeAll(async () => {
    if (isOnCluster) return;
    source = await createTestDatabase();
    parent = await mkdtemp(join(tmpdir(), 'carillon-backup-'));
    whole = join(parent, 'whole');
    await checkMasterKey(source.database, { ...keys, at });
    await fill(source.database);
    await makeBackup(source.application.acrossWorkspaces(), { folder: whole, carillonVersion });
  });
  afterAll(async () => {
    if (isOnCluster) return;
    await source.drop();
    await rm(parent, { recursive: true, force: true });
  });
  beforeEach(({ skip }) => skip(isOnCluster, 'a cluster is backed up node by node (backup.test.ts)'));

  let target: EmptyDatabase | undefined;
  let restored: EmptyDatabase;
  afterEach(async () => {
    await target?.drop();
    target = undefined;
  });

  const restore = async (folder: string, into: EmptyDatabase, more: { migrationsFolder?: string } = {}) =>
    restoreBackup(into.owner, { folder, manifest: await openBackup(folder), campaigns: 'hold', ...more });

  describe('a restored database', () => {
    beforeAll(async () => {
      if (isOnCluster) return;
      restored = await createEmptyDatabase();
      await restore(whole, restored);
    });
    afterAll(() => restored?.drop());

    test('has the same schema, the same rows, and goes on with the same numbers', async () => {
      expect(await dumpSchema(restored.database)).toBe(await dumpSchema(source.database));
      const rows = await digestRows(restored.database);
      expect(rows).toEqual(await digestRows(source.database));
      expect(rows.users).toMatch(/ 2000 /);
      const [next] = await restored.database<{ number: number }[]>`
        insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at)
        select 'next', workspace_id, campaign_id, 1, 'QUEUED', day, send_until, created_at from runs limit 1
        returning number`;
      expect(next!.number).toBe(8);
    });

    test('has the policies and foreign keys that it had, and its days are days of their tables', async () => {
      const readWalls = (database: Database) => database`
        select relname, relrowsecurity, relforcerowsecurity,
          array(select polname::text from pg_policy where polrelid = pg_class.oid and polname <> 'across_workspaces' order by 1) as policies,
          array(select conname::text from pg_constraint where conrelid = pg_class.oid and contype = 'f' and convalidated order by 1) as keys,
          pg_get_expr(relpartbound, oid) as bound
        from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by relname`;
      expect(await readWalls(restored.database)).toEqual(await readWalls(source.database));
    });

    test('ends every token that was issued before it, because some may have been revoked since the backup', async () => {
      const epochs = await Promise.all(
        [source, restored].map(async ({ database }) => {
          const [row] = await database<{ epoch: number }[]>`select token_epoch as epoch from installation`;
          return row!.epoch;
        }),
      );
      // In seconds: a second restore of the same backup gets another one.
      expect(epochs).toEqual([1, expect.toSatisfy((epoch: number) => epoch > 1_700_000_000)]);
    });

    test('holds no token, session or link that may have been ended since', async () => {
      const stored = (await openBackup(whole)).tables.map(({ name }) => name);
      expect(stored).not.toContain('access_tokens');
      expect(stored).toContain('api_keys');
      const all = (await listStoredTables(source.database)).map(({ name }) => name);
      expect(Object.keys(leftOutTables).filter((name) => !all.includes(name))).toEqual([]);
      expect(all.filter((name) => !stored.includes(name)).sort()).toEqual(Object.keys(leftOutTables).sort());
    });
  });

  test('a backup of an older version is brought to this version’s schema while it is restored', async () => {
    const next = await makeNextMigrations(`alter table users add column of_next text not null default 'x'`);
    target = await createEmptyDatabase();
    try {
      const { migrations } = await restore(whole, target, { migrationsFolder: next.folder });
      expect(migrations).toEqual([next.name]);
    } finally {
      await next.remove();
    }
    const users = await target.database`
      select to_jsonb(users) ->> 'of_next' as added, count(*)::int as users from users group by 1`;
    expect(users).toEqual([{ added: 'x', users: 2_000 }]);
    expect((await dumpSchema(target.database)).replace(/ {2}of_next .*\n/, '')).toBe(await dumpSchema(source.database));
  });

  describe('what is refused', () => {
    let blank: EmptyDatabase;
    beforeAll(async () => {
      if (isOnCluster) return;
      blank = await createEmptyDatabase();
    });
    afterAll(() => blank?.drop());

    /** A copy of the whole backup in which something is wrong. */
    async function spoil(name: string, change: (folder: string) => Promise<void>): Promise<string> {
      const folder = join(parent, name);
      await cp(whole, folder, { recursive: true });
      await change(folder);
      return folder;
    }
    const users = 'tables/users.copy.gz';

    test.each([
      [
        'a file that was cut',
        (folder: string) => truncate(join(folder, users), 100),
        /users\.copy\.gz is torn: 100 bytes/,
      ],
      ['a file that is missing', (folder: string) => rm(join(folder, users)), /users\.copy\.gz is missing/],
      [
        'a file of the same length in which one bit is another',
        async (folder: string) => {
          const bytes = await readFile(join(folder, users));
          bytes[bytes.length >> 1]! ^= 1;
          await writeFile(join(folder, users), bytes);
        },
        /users\.copy\.gz is (?:torn|not the file that was written)/,
      ],
      [
        'a manifest that was edited',
        async (folder: string) => {
          const path = join(folder, 'backup.json');
          await writeFile(path, (await readFile(path, 'utf8')).replace('"rows": 2000', '"rows": 1999'));
        },
        /backup\.json was changed, or is torn/,
      ],
      ['a folder without a manifest', (folder: string) => rm(join(folder, 'backup.json')), /holds no whole backup/],
    ])('%s is refused by its name, and nothing is restored', async (name, change, message) => {
      const folder = await spoil(name, change);
      await expect(verifyBackup(folder)).rejects.toThrow(message);
      await expect(restore(folder, blank)).rejects.toThrow(message);
      expect(await countTables(blank)).toBe(0);
    });

    test('what has the right digest and other rows than were written is refused when it has been read', async () => {
      const folder = await spoil('other rows', async (spoiled) => {
        const manifest = await openBackup(spoiled);
        manifest.tables.find(({ name }) => name === 'users')!.rows = 1_999;
        await writeFile(join(spoiled, 'backup.json'), writeManifest(manifest));
      });
      await expect(restore(folder, blank)).rejects.toThrow(/users\.copy\.gz has other rows than were written/);
      expect(await countTables(blank)).toBe(0);
    });

    test('a database that holds something is not restored into', async () => {
      target = await createEmptyDatabase();
      await target.owner`create table mine (id integer)`;
      await expect(restore(whole, target)).rejects.toThrow(/not empty/);
      expect(await countTables(target)).toBe(1);
    });

    test('a backup of a newer version is refused before anything is made', async () => {
      const folder = await spoil('newer', async (spoiled) => {
        const manifest = await openBackup(spoiled);
        manifest.migrations.push({ name: '999999_later.sql', digest: 'x' });
        await writeFile(join(spoiled, 'backup.json'), writeManifest(manifest));
      });
      await expect(restore(folder, blank)).rejects.toMatchObject({ name: 'SchemaTooNewError' });
      expect(await countTables(blank)).toBe(0);
    });

    test('a backup of a version before 0.1.0 is refused before anything is made', async () => {
      const folder = await spoil('before 0.1.0', async (spoiled) => {
        const manifest = await openBackup(spoiled);
        manifest.migrations = [{ name: '000001_foundation.sql', digest: 'x' }];
        await writeFile(join(spoiled, 'backup.json'), writeManifest(manifest));
      });
      await expect(restore(folder, blank)).rejects.toThrow(/^A version of Carillon before 0\.1\.0 made this backup/);
      expect(await countTables(blank)).toBe(0);
    });

    test('a folder that is there is not written into', async () => {
      await expect(makeBackup(source.database, { folder: whole, carillonVersion })).rejects.toThrow(/is there already/);
      await verifyBackup(whole);
    });
  });

  test('a backup is of one instant, whatever is committed while it is made', async () => {
    const { application } = source;
    const across = application.acrossWorkspaces();
    const folder = join(parent, 'one instant');
    let isDone = false;
    // Two tables far apart in the alphabet get their rows in one transaction.
    const writing = (async () => {
      for (let number = 0; !isDone; number += 1)
        await inTransaction(across, async (tx) => {
          const [workspace] = await tx<{ id: string }[]>`select id from workspaces limit 1`;
          await tx`insert into business_events (id, workspace_id, name, attributes, created_by, created_at)
            values (${`event${number}`}, ${workspace!.id}, ${`event ${number}`}, '[]', 'somebody', ${at})`;
          await tx`insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
            values (${workspace!.id}, 1, ${`late${number}`}, ${`late ${number}`}, '{}', ${at}, ${at})`;
        });
    })();
    const manifest = await makeBackup(across, { folder, carillonVersion });
    isDone = true;
    await writing;
    const rowsOf = (table: string): number => manifest.tables.find(({ name }) => name === table)!.rows;
    expect(rowsOf('users') - 2_000).toBe(rowsOf('business_events'));
  });

  test('a backup that is broken off leaves nothing', async () => {
    const folder = join(parent, 'broken off');
    const stop = new AbortController();
    stop.abort(new Error('the node stops'));
    await expect(makeBackup(source.database, { folder, carillonVersion, signal: stop.signal })).rejects.toThrow(
      'the node stops',
    );
    expect((await readdir(parent)).filter((name) => name.startsWith('broken off'))).toEqual([]);
  });
});

describe('the lock of a backup', () => {
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
});

describe('a backup of a cluster', () => {
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
});

describe('scheduled backups', () => {
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
  beforeEach(({ skip }) => skip(inject('workerUrls') !== null, 'a cluster is backed up node by node (backup.test.ts)'));

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
});

/** Rows with every kind of trouble: lines and tabs in texts, nulls, bytes, arrays, days of a partitioned table, numbers. */
async function fill(database: Database): Promise<void> {
  const workspaceId = await insertTestWorkspace(database, at);
  await database`update workspaces set name = ${'two\nlines\tand \\ a \\N, \u{1f514}'} where id = ${workspaceId}`;
  for (const day of ['2026-02-28', '2026-03-01']) await makeDay(database, { table: 'events', day });
  await database`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select ${workspaceId}, number % 256, 'user' || number, 'customer ' || number, jsonb_build_object('n', number, 'x', E'\\\\ "'), ${at}, ${at}
    from generate_series(1, 2000) as number`;
  await database`
    insert into installations (workspace_id, bucket, id, secret_hash, key_id, registration, created_at, refreshed_at)
    select ${workspaceId}, number, 'installation ' || number, sha256(number::text::bytea), 'key', '{"pushId": "a\\tb"}', ${at}, ${at}
    from generate_series(1, 20) as number`;
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, tags, status,
      created_by, created_at, updated_at)
    values ('campaign', ${workspaceId}, 'Spring', 'CONSOLE', 'ONE_TIME', 'ALL_USERS', '{ANDROID,IOS}', '{}', '{}', '{"a,b","c \\\\ d"}',
      'DRAFT', 'somebody', ${at}, ${at})`;
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at)
    select 'run' || number, ${workspaceId}, 'campaign', 1, 'QUEUED', '2026-03-01', ${at}, ${at} from generate_series(1, 7) as number`;
}

/** Of each table that is backed up: how many rows, and a digest of all of them. */
async function digestRows(database: Database): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const { name, columns } of await listStoredTables(database)) {
    if (Object.hasOwn(leftOutTables, name)) continue;
    const [row] = await database<{ text: string }[]>`
      select count(*) || ' ' || coalesce(md5(string_agg(line, E'\n' order by line collate "C")), '') as text
      from (select ${lineOf(database, name)} as line from ${database(name)}) as lines`;
    digests[name] = `${columns.length} ${row!.text}`;
  }
  return digests;
}

/** A row as text, without the epoch of tokens, which a restore raises. */
const lineOf = (database: Database, name: string) =>
  name === 'installation'
    ? database`(to_jsonb(installation) - 'token_epoch')::text`
    : database`(${database(name)}.*)::text`;

async function countTables({ database }: EmptyDatabase): Promise<number> {
  return (await readBackupFacts(database)).tables;
}

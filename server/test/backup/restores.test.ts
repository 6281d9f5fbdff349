import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/start/config.ts';
import { findRunningPostgres } from '../../src/start/embedded-postgres/embedded-postgres.ts';
import { startCarillon } from '../../src/start/node/start-carillon.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import { runCommand } from '../cli/run-command.ts';
import { pushContent } from '../rig/caller.ts';
import { findDatabaseRefusal, startFleetDatabase } from '../rig/fleet.ts';
import { createEmptyDatabase } from './empty-database.ts';
import type { EmptyDatabase } from './empty-database.ts';

const users = 400;

type Delivered = { devices: number; accepted: number };

describe('a campaign in flight', () => {
  const windowDevices = 10;

  test.skipIf(process.env.FULL !== '1')(
    'a campaign that was being sent is held by a restore, loses nobody, and goes on where the backup was made (FULL=1)',
    async () => {
      const masterKey = randomBytes(32).toString('base64');
      const bundle = await startCarillonBundle({
        CARILLON_MASTER_KEY: masterKey,
        CARILLON_WINDOW_DEVICES: String(windowDevices),
        CARILLON_WORKER_CHUNKS: '1',
      });
      const folder = await mkdtemp(join(tmpdir(), 'carillon-in-flight-'));
      const target = await createEmptyDatabase();
      const environment = { CARILLON_MASTER_KEY: masterKey };
      const beside = {
        config: { databaseUrl: bundle.applicationUrl, dataFolder: bundle.config.dataFolder },
        environment,
      };
      const restoredSettings = {
        ...environment,
        DATABASE_URL: target.applicationUrl,
        CARILLON_DATABASE_OWNER_URL: target.ownerUrl,
      };
      try {
        const file = join(folder, 'users.ndjson');
        await runCommand(beside, ['sandbox', 'generate-users', '--users', String(users), '--out', file]);
        await runCommand(beside, ['import', file]);
        const slow = { delayMilliseconds: 60 };
        await bundle.call('POST', '/sandbox/faults', { body: { fcm: slow, apns: slow, webpush: slow } });
        const body = { ...pushContent, campaignName: 'In flight', targetAudience: 'All Users', requestId: 'one' };
        const answer = await bundle.push(body);
        expect(answer.text).toContain('Success');
        await until(async () => (await countAccepted(bundle)).devices > users / 4);

        const backup = join(folder, 'backup');
        expect(await runCommand(beside, ['backup', '--out', backup])).toMatchObject({ code: 0, stderr: '' });
        // What was sent after the backup, and is in none: the database is lost now.
        await bundle.carillon.stop();
        const lost = await countAccepted(bundle);

        const restored = await runCommand(
          {
            config: { databaseUrl: target.applicationUrl, dataFolder: bundle.config.dataFolder },
            environment: restoredSettings,
          },
          ['restore', '--from', backup, '--json'],
        );
        expect(restored).toMatchObject({ code: 0, stderr: '' });
        const { held } = JSON.parse(restored.stdout) as { held: { id: string; name: string }[] };
        expect(held.map(({ name }) => name)).toEqual(['In flight']);
        const before = await countAccepted(target);
        expect(before.devices).toBeGreaterThan(0);
        expect(before.devices).toBeLessThanOrEqual(lost.devices);
        expect(before.devices).toBeLessThan(users);

        const config = readConfig({
          environment: {
            ...restoredSettings,
            CARILLON_DATA_DIR: bundle.config.dataFolder!,
            CARILLON_LOG_LEVEL: 'silent',
          },
          arguments: ['--port', '0', '--seed', '7'],
        });
        const carillon = await startCarillon(config);
        try {
          const [campaign] =
            await target.database`select status, status_reason as reason from campaigns where id = ${held[0]!.id}`;
          expect(campaign).toEqual({ status: 'PAUSED', reason: 'paused by the restore of a backup' });
          expect(await countAccepted(target)).toEqual(before);
          const words = ['campaigns', 'resume', held[0]!.id, '--workspace', bundle.workspaceId];
          const settings = {
            config: { databaseUrl: target.applicationUrl, dataFolder: config.dataFolder },
            environment,
          };
          expect(await runCommand(settings, words)).toMatchObject({ code: 0, stderr: '' });
          await until(async () => {
            const [run] = await target.database`select status from runs`;
            return run!.status === 'SENT';
          });
          // One row for each device that there is, the demo's own users among them.
          const [devices] = await target.database<{ count: number }[]>`select count(*) as count from devices`;
          expect(devices!.count).toBeGreaterThanOrEqual(users);
          expect(await countAccepted(target)).toEqual({ devices: devices!.count, accepted: devices!.count });
        } finally {
          await carillon.stop();
        }
      } finally {
        await bundle.stop().catch(() => {});
        await target.drop();
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});

const refusal = findDatabaseRefusal('empty');
const skipReason = refusal === undefined ? '' : ` (skipped: ${refusal})`;

describe.runIf(process.env.FULL === '1' && refusal === undefined)(`another major version (FULL=1)${skipReason}`, () => {
  test('a database of PostgreSQL 15 is carried over to the embedded one by a backup: its users, and the campaign that was being sent', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'carillon-other-major-'));
    const keyFile = join(folder, 'master.key');
    const masterKey = randomBytes(32).toString('base64');
    await writeFile(keyFile, masterKey);
    const old = await startFleetDatabase('empty', []);
    const oldSettings = {
      DATABASE_URL: old.url,
      CARILLON_DATABASE_OWNER_URL: old.ownerUrl,
      CARILLON_MASTER_KEY: masterKey,
    };
    const bundle = await startCarillonBundle({
      ...oldSettings,
      CARILLON_WINDOW_DEVICES: '10',
      CARILLON_WORKER_CHUNKS: '1',
    });
    try {
      const [{ server_version: version }] = (await old.observer`show server_version`) as [{ server_version: string }];
      expect(version).toMatch(/^15\./);
      const beside = { config: bundle.config, environment: oldSettings };
      const file = join(folder, 'users.ndjson');
      await runCommand(beside, ['sandbox', 'generate-users', '--users', String(users), '--out', file]);
      await runCommand(beside, ['import', file]);
      const slow = { delayMilliseconds: 60 };
      await bundle.call('POST', '/sandbox/faults', { body: { fcm: slow, apns: slow, webpush: slow } });
      const body = { ...pushContent, campaignName: 'Carried over', targetAudience: 'All Users', requestId: 'one' };
      expect((await bundle.push(body)).text).toContain('Success');
      await until(async () => {
        const [row] = await old.observer`select count(*) as devices from readable_deliveries`;
        return row!.devices > users / 4;
      });
      await bundle.carillon.stop();
      const backup = join(folder, 'backup');
      expect(await runCommand(beside, ['backup', '--out', backup])).toMatchObject({ code: 0, stderr: '' });
      const [before] = await old.observer`
        select (select count(*) from users) as users, (select count(*) from devices) as devices,
          (select count(*) from readable_deliveries) as deliveries`;
      expect(before!.deliveries).toBeLessThan(before!.devices);

      const embedded = { config: { databaseUrl: undefined, dataFolder: join(folder, 'data') } };
      const words = ['restore', '--from', backup, '--campaigns', 'resume', '--key', keyFile];
      expect(await runCommand(embedded, words)).toMatchObject({ code: 0, stderr: '' });
      const carillon = await startCarillon(
        readConfig({
          environment: { CARILLON_DATA_DIR: embedded.config.dataFolder, CARILLON_LOG_LEVEL: 'silent' },
          arguments: ['--port', '0', '--seed', '7'],
        }),
      );
      const database = openDatabase({
        url: await superuserUrl(embedded.config.dataFolder),
        connections: 1,
        name: 'observer',
      });
      try {
        await until(async () => (await database`select status from runs where status = 'SENT'`).length === 1);
        const [after] = await database`
          select (select count(*) from users) as users, (select count(*) from devices) as devices,
            (select count(*) from readable_deliveries where outcome = 'ACCEPTED') as deliveries`;
        expect(after).toEqual({ ...before, deliveries: before!.devices });
        expect(carillon.block.workspaceId).toBe(bundle.workspaceId);
      } finally {
        await database.end();
        await carillon.stop();
      }
    } finally {
      await bundle.stop().catch(() => {});
      await old.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }, 120_000);
});

async function countAccepted({ database }: Pick<EmptyDatabase, 'database'>): Promise<Delivered> {
  const [row] = await database<Delivered[]>`
    select count(*) as devices, count(*) filter (where outcome = 'ACCEPTED') as accepted from readable_deliveries`;
  return row!;
}

async function superuserUrl(dataFolder: string): Promise<string> {
  const folder = join(dataFolder, 'postgres');
  const url = new URL((await findRunningPostgres(folder))!.url);
  const { superuser } = JSON.parse(await readFile(join(folder, 'passwords.json'), 'utf8')) as { superuser: string };
  return Object.assign(url, { username: 'postgres', password: superuser }).href;
}

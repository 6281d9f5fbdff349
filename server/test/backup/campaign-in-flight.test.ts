import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/start/config.ts';
import { startCarillon } from '../../src/start/node/start-carillon.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import { runCommand } from '../cli/run-command.ts';
import { pushContent } from '../rig/caller.ts';
import { createEmptyDatabase } from './empty-database.ts';
import type { EmptyDatabase } from './empty-database.ts';

const users = 400;
const windowDevices = 10;

type Delivered = { devices: number; accepted: number };

async function countAccepted({ database }: Pick<EmptyDatabase, 'database'>): Promise<Delivered> {
  const [row] = await database<Delivered[]>`
    select count(*) as devices, count(*) filter (where outcome = 'ACCEPTED') as accepted from readable_deliveries`;
  return row!;
}

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
        const settings = { config: { databaseUrl: target.applicationUrl, dataFolder: config.dataFolder }, environment };
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

import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findRunningPostgres } from '../../src/start/embedded-postgres/embedded-postgres.ts';
import { readConfig } from '../../src/start/config.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { startCarillon } from '../../src/start/node/start-carillon.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import { runCommand } from '../cli/run-command.ts';
import { pushContent } from '../rig/caller.ts';
import { findDatabaseRefusal, startFleetDatabase } from '../rig/fleet.ts';

const users = 400;
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

async function superuserUrl(dataFolder: string): Promise<string> {
  const folder = join(dataFolder, 'postgres');
  const url = new URL((await findRunningPostgres(folder))!.url);
  const { superuser } = JSON.parse(await readFile(join(folder, 'passwords.json'), 'utf8')) as { superuser: string };
  return Object.assign(url, { username: 'postgres', password: superuser }).href;
}

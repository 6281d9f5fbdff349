import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from './run-command.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());
beforeEach(async () => {
  await bundle.database`
    update devices set state = 'ACTIVE', gone_at = null, gone_reason = null, suspected_code = null, suspected_sends = null,
      suspected_since = null, suspected_at = null`;
});

const run = (...parameters: string[]) => runCommand(bundle, parameters);

/** The devices of the demo, as they were before the last send of three. */
async function suspectAll(): Promise<{ id: string; customerId: string }[]> {
  const { database } = bundle;
  await database`
    update devices set suspected_code = 'BadDeviceToken', suspected_sends = 2, suspected_since = '2026-03-01T10:00:00Z',
      suspected_at = '2026-03-03T10:00:00Z'`;
  const rows = await database<{ id: string; customerId: string }[]>`
    select devices.id, users.customer_id as "customerId"
    from devices join users on users.workspace_id = devices.workspace_id and users.bucket = devices.bucket
      and users.id = devices.user_id
    where devices.workspace_id = ${bundle.workspaceId} order by devices.id desc`;
  return [...rows];
}

test('lists suspected devices with their users, and keeps the one that is named', async () => {
  const [device, ...others] = await suspectAll();
  const { id, customerId } = device!;
  await bundle.database`
    update devices set state = 'GONE', suspected_sends = 3, suspected_at = '2026-03-04T10:00:00Z',
      gone_at = '2026-03-04T10:00:00Z', gone_reason = 'BadDeviceToken'
    where id = ${id}`;
  const listed = await run('devices', 'suspected', '--json');
  const rows = listed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows[0]).toMatchObject({
    ...{ id, user: customerId, code: 'BadDeviceToken', sends: '3', audience: 'left' },
    ...{ since: '2026-03-01T10:00:00.000Z', last: '2026-03-04T10:00:00.000Z' },
  });
  expect(rows.slice(1).map((row) => [row.id, row.audience])).toEqual(others.map((other) => [other.id, 'in']));
  expect((await run('devices', 'suspected')).stdout).toMatch(/^ID +USER +DEVICE +PLATFORM +CODE +SENDS/);

  expect(await run('devices', 'keep', id)).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: `Kept: device ${id} is not suspected any more, and its strikes start from zero.\n`,
  });
  const [kept] = await bundle.database`select state, suspected_sends from devices where id = ${id}`;
  expect(kept).toEqual({ state: 'ACTIVE', suspected_sends: null });
  const [line] = await bundle.database`
    select actor_id, actor_name, detail->>'code' as code from audit_log where action = 'person.device-keep'`;
  expect(line).toEqual({ actor_id: null, actor_name: 'the command line', code: 'BadDeviceToken' });
  expect((await run('devices', 'suspected', '--json')).stdout).not.toContain(id);
  const json = await run('devices', 'keep', others[0]!.id, '--json');
  expect(JSON.parse(json.stdout)).toEqual({ workspaceId: bundle.workspaceId, id: others[0]!.id });
});

test('prints all of more than one page, also of devices that failed in the same window', async () => {
  await suspectAll();
  const { database, workspaceId } = bundle;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, suspected_code, suspected_sends,
      suspected_since, suspected_at, registered_at, created_at, updated_at)
    select ${workspaceId}, users.bucket, lpad(to_hex(number), 24, '0'), users.id, 'phone ' || number, 'ANDROID',
      'push-' || number, 'ACTIVE', 'INVALID_ARGUMENT', 1, '2026-03-05', '2026-03-05', now(), now(), now()
    from generate_series(1, 130) as number,
      lateral (select bucket, id from users where workspace_id = ${workspaceId} order by id limit 1) as users`;
  try {
    const { stdout } = await run('devices', 'suspected', '--json');
    expect(stdout.match(/INVALID_ARGUMENT/g)).toHaveLength(130);
  } finally {
    await database`delete from devices where suspected_code = 'INVALID_ARGUMENT'`;
  }
});

test('ends with 2 where there is no such suspected device or workspace', async () => {
  for (const id of ['0'.repeat(24), 'x'])
    expect(await run('devices', 'keep', id)).toEqual({
      ...{ code: 2, stdout: '' },
      stderr: `carillon: There is no suspected device ${id} in workspace ${bundle.workspaceId}; see: carillon devices suspected.\n`,
    });
  expect(await run('devices', 'suspected', '--workspace', 'nobody')).toMatchObject({
    ...{ code: 2, stderr: 'carillon: There is no workspace nobody.\n' },
  });
});

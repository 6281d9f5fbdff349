import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bucketOf } from '../../src/domain/users/users.ts';
import { idBytes } from '../../src/storage/ledger/ledger-encoding.ts';
import { ledgerRun } from '../ledger-run.ts';
import { makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';

let bundle: AccountsBundle;
let cookie: string;
beforeAll(async () => {
  bundle = await makeAccountsBundle();
  cookie = await bundle.createOwner();
  const { database, workspaceId } = bundle;
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
      created_by, created_at, updated_at)
    values ('c', ${workspaceId}, 'C', 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}', '{}', '{}', 'SENT', 'test',
      ${start}, ${start})`;
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
    values ('r', ${workspaceId}, 'c', 1, 'SENT', '2026-03-01', '2026-03-02', ${start}, ${start}, ${start})`;
  await database`select make_day_partition('deliveries', '2026-03-01')`;
});
afterAll(() => bundle.end());
beforeEach(async () => {
  for (const table of ['deliveries', 'devices', 'users', 'audit_log'])
    await bundle.database.unsafe(`delete from ${table}`);
});

const idOf = (number: number): string => number.toString(16).padStart(24, '0');
const after = (hours: number) => new Date(start.getTime() + hours * 3_600_000);
const list = async (more = '') =>
  (await bundle.call('GET', `people/suspected-devices?workspaceId=${bundle.workspaceId}${more}`, { cookie })).body;
const names = async () => (await list()).devices.map((device: { deviceId: string }) => device.deviceId);
const keep = async (number: number) =>
  (
    await bundle.call('POST', `people/${idOf(number)}/devices/${idOf(number)}/keep?workspaceId=${bundle.workspaceId}`, {
      cookie,
    })
  ).status;
const deviceOf = async (number: number) =>
  (await bundle.call('GET', `people/${idOf(number)}?workspaceId=${bundle.workspaceId}`, { cookie })).body.user
    .devices[0];

type Strikes = { sends?: number; hours?: number; state?: string; blockedState?: string };

/** A user with one device, `phone <number>`, whose last strike was at that minute. */
async function addSuspect(number: number, { sends = 1, hours = 0, state = 'ACTIVE', blockedState }: Strikes = {}) {
  const { database, workspaceId } = bundle;
  const [customerId, id] = [`user ${number}`, idOf(number)];
  const lastAt = new Date(start.getTime() + number * 60_000);
  const since = new Date(lastAt.getTime() - hours * 3_600_000);
  const isGone = state === 'GONE';
  await database`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    values (${workspaceId}, ${bucketOf(customerId)}, ${id}, ${customerId}, ${start}, ${start})`;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, gone_at, gone_reason,
      blocked_state, blocked_at, suspected_code, suspected_sends, suspected_since, suspected_at, registered_at, created_at, updated_at)
    values (${workspaceId}, ${bucketOf(customerId)}, ${id}, ${id}, ${`phone ${number}`}, 'IOS', ${id}, ${state},
      ${isGone ? lastAt : null}, ${isGone ? 'BadDeviceToken' : null}, ${blockedState ?? null}, ${blockedState ? lastAt : null}, 'BadDeviceToken', ${sends},
      ${since}, ${lastAt}, ${start}, ${start}, ${start})`;
}

async function addDelivery(number: number, { outcome, at }: { outcome: string; at: Date }): Promise<void> {
  const { runNumber, workspaceNumber } = await ledgerRun(bundle.database, 'r');
  await bundle.database`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, attempts, sent_at)
    values ('2026-03-01', ${workspaceNumber}, ${bucketOf(`user ${number}`)}, ${runNumber}, ${idBytes(idOf(number))},
      ${idBytes(idOf(number))}, 'I', ${outcome}::"char", 1, ${at})`;
}

describe('suspected devices', () => {
  test('are listed with their users and strikes, the latest first, and whether they left the audience', async () => {
    await addSuspect(1);
    await addSuspect(2, { sends: 3, hours: 80, state: 'GONE' });
    expect(await list()).toEqual({
      devices: [
        {
          ...{
            id: idOf(2),
            userId: idOf(2),
            customerId: 'user 2',
            deviceId: 'phone 2',
            platform: 'IOS',
            provider: null,
          },
          state: 'GONE',
          suspicion: {
            ...{ code: 'BadDeviceToken', sends: 3, leavesAfterSends: 3, leavesAfterHours: 72, hasLeft: true },
            ...{ since: '2026-02-26T02:02:00.000Z', lastAt: '2026-03-01T10:02:00.000Z' },
          },
        },
        {
          ...{
            id: idOf(1),
            userId: idOf(1),
            customerId: 'user 1',
            deviceId: 'phone 1',
            platform: 'IOS',
            provider: null,
          },
          state: 'ACTIVE',
          suspicion: {
            ...{ code: 'BadDeviceToken', sends: 1, leavesAfterSends: 3, leavesAfterHours: 72, hasLeft: false },
            ...{ since: '2026-03-01T10:01:00.000Z', lastAt: '2026-03-01T10:01:00.000Z' },
          },
        },
      ],
      next: null,
    });
    expect((await deviceOf(1)).suspicion).toMatchObject({ sends: 1, leavesAfterSends: 3, hasLeft: false });
  });

  test('are not those that a provider called dead after their first strike', async () => {
    await addSuspect(1, { state: 'GONE' });
    expect(await names()).toEqual([]);
    expect((await deviceOf(1)).suspicion).toBeNull();
  });

  test('are not those that accepted a message after their last strike', async () => {
    for (const number of [1, 2, 3]) await addSuspect(number);
    await addDelivery(1, { outcome: 'A', at: after(1) });
    await addDelivery(2, { outcome: 'A', at: after(0) });
    await addDelivery(3, { outcome: 'R', at: after(1) });
    expect(await names()).toEqual(['phone 3', 'phone 2']);
    expect((await deviceOf(1)).suspicion).toBeNull();
    expect((await deviceOf(2)).suspicion).not.toBeNull();
  });

  test('come in pages, none twice and none left out, though those that recovered are passed over', async () => {
    for (let number = 1; number <= 120; number += 1) await addSuspect(number);
    for (let number = 100; number <= 110; number += 1) await addDelivery(number, { outcome: 'A', at: after(24) });
    const pages: string[][] = [];
    let next = '';
    do {
      const page = await list(next);
      pages.push(page.devices.map((device: { deviceId: string }) => device.deviceId));
      next = page.next === null ? '' : `&after=${encodeURIComponent(page.next)}`;
    } while (next !== '' && pages.length < 10);
    const expected = Array.from({ length: 120 }, (_, index) => 120 - index).filter(
      (number) => number < 100 || number > 110,
    );
    expect(pages.flat()).toEqual(expected.map((number) => `phone ${number}`));
    expect(pages.map(({ length }) => length)).toEqual([50, 50, 9]);
  });

  test('of another workspace are not listed', async () => {
    expect((await bundle.call('GET', 'people/suspected-devices?workspaceId=other', { cookie })).status).toBe(404);
  });
});

describe('keeping a suspected device', () => {
  const strikes = async (number: number) =>
    (
      await bundle.database`
        select state, blocked_state, gone_at, gone_reason, suspected_code, suspected_sends, suspected_since, suspected_at
        from devices where id = ${idOf(number)}`
    )[0];
  const forgotten = {
    ...{ gone_at: null, gone_reason: null, suspected_code: null, suspected_sends: null, suspected_since: null },
    suspected_at: null,
  };

  test('forgets its strikes, and the audit log says what they were and names no device', async () => {
    await addSuspect(1, { sends: 2 });
    expect(await keep(1)).toBe(204);
    expect(await strikes(1)).toEqual({ state: 'ACTIVE', blocked_state: null, ...forgotten });
    const lines = await bundle.database`
      select actor_name, object_kind, object_id, object_name, detail from audit_log where action = 'person.device-keep'`;
    const detail = { platform: 'IOS', code: 'BadDeviceToken', sends: 2 };
    expect([...lines]).toEqual([
      { actor_name: 'Olga', object_kind: 'person', object_id: idOf(1), object_name: null, detail },
    ]);
  });

  test('brings back one that left the audience because of them', async () => {
    await addSuspect(1, { sends: 3, hours: 72, state: 'GONE' });
    expect(await keep(1)).toBe(204);
    expect(await strikes(1)).toEqual({ state: 'ACTIVE', blocked_state: null, ...forgotten });
    expect(await names()).toEqual([]);
  });

  test('brings back one that was blocked after it left when it is unblocked, and does not unblock it', async () => {
    await addSuspect(1, { sends: 3, hours: 72, state: 'BLOCKED', blockedState: 'GONE' });
    expect(await keep(1)).toBe(204);
    expect(await strikes(1)).toEqual({ state: 'BLOCKED', blocked_state: 'ACTIVE', ...forgotten });
  });

  test('leaves one gone that a provider called dead', async () => {
    await addSuspect(1, { state: 'GONE' });
    expect(await keep(1)).toBe(204);
    expect(await strikes(1)).toMatchObject({ state: 'GONE', gone_reason: 'BadDeviceToken', suspected_code: null });
  });

  test('leaves the choice of a user who wants no messages', async () => {
    await addSuspect(1, { state: 'OPTED_OUT' });
    expect(await keep(1)).toBe(204);
    expect(await strikes(1)).toMatchObject({ state: 'OPTED_OUT', suspected_code: null });
  });

  test('is not possible where there is none, and writes no line', async () => {
    await addSuspect(1);
    expect(await keep(1)).toBe(204);
    expect(await keep(1)).toBe(404);
    expect(await keep(2)).toBe(404);
    expect(await bundle.database`select 1 from audit_log where action = 'person.device-keep'`).toHaveLength(1);
  });
});

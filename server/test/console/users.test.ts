import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import { bucketOf } from '../../src/domain/users/users.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { idBytes } from '../../src/storage/ledger/ledger-encoding.ts';
import { listTimelineEntries } from '../../src/storage/users/user-records.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';
import { ledgerRun } from '../ledger-run.ts';
import { makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';
import { openSignedInClient } from './signed-in-client.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One node for all sections, because a start takes a second of processor time. */
let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

describe('user changes', () => {
  let bundle: AccountsBundle;
  let cookie: string;
  let names = 0;
  let customerId: string;
  let id: string;
  beforeAll(async () => {
    bundle = await makeAccountsBundle();
    cookie = await bundle.createOwner();
  });
  afterAll(() => bundle.end());
  beforeEach(async () => {
    customerId = `person ${(names += 1)}`;
    id = (await call('POST', 'people', { customerId })).body.id;
  });
  const call = (method: Method, path: string, body?: unknown) => {
    const [address, query = ''] = path.split('?');
    const asked = `${address}?workspaceId=${bundle.workspaceId}&${query}`;
    return bundle.call(method, asked, { cookie, ...(body === undefined ? {} : { body }) });
  };
  const read = async () => (await call('GET', `people/${id}`)).body.user;
  const change = (attributes: Record<string, unknown>) => call('PATCH', `people/${id}/attributes`, { attributes });
  const addPhone = async (token: string) => {
    const device = { deviceId: 'phone', attributes: { platform: 'ANDROID', push_id: token } };
    expect((await call('POST', `people/${id}/devices`, device)).status).toBe(204);
    return (await read()).devices[0].id as string;
  };
  const lines = (action: string) => bundle.database`
    select object_id, object_name, detail from audit_log where action = ${action} and object_id = ${id} order by id`;

  describe('attributes', () => {
    test('keep their types, change one by one and are found by their new values', async () => {
      await change({ city: 'Lisbon', orders: 7, isMember: true, sizes: ['S', 'M'], address: { zip: '1100' } });
      expect((await change({ city: null, orders: 8, sizes: { addValueToArrayField: ['L'] } })).status).toBe(204);
      expect((await read()).attributes).toEqual({
        orders: 8,
        isMember: true,
        sizes: ['S', 'M', 'L'],
        address: { zip: '1100' },
      });
      const found = await bundle.database`
        select attribute, type, value from identifiers where user_id = ${id} order by attribute`;
      expect([...found]).toEqual([{ attribute: 'orders', type: 'double', value: '8' }]);
    });

    test.each([
      [{ id: 'x' }, 'id', 'is a reserved name'],
      [{ _id: 'x' }, '_id', 'is a reserved name'],
      [{ svc_score: 1 }, 'svc_score', 'is a reserved name'],
      [{ 'device:push_id': 'x' }, 'device:push_id', 'is a reserved name'],
      [{ ['n'.repeat(257)]: 1 }, 'n'.repeat(50), 'must have at most 256 characters'],
    ])('are rejected like by the data API, without a change: %j', async (attributes, field, reason) => {
      const answer = await change({ city: 'Lisbon', ...attributes });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'DATA_VALUE_INVALID', field, detail: reason });
      expect((await read()).attributes).toEqual({});
      expect(await lines('person.attributes')).toHaveLength(0);
    });

    test('are recorded in the audit log by name, without a value or the user', async () => {
      await change({ city: 'Lisbon', plan: null });
      expect([...(await lines('person.attributes'))]).toEqual([
        { object_id: id, object_name: null, detail: { changed: ['city'], removed: ['plan'] } },
      ]);
    });

    test('are not changed for a user of another workspace', async () => {
      const answer = await bundle.call('PATCH', `people/${id}/attributes?workspaceId=other`, {
        cookie,
        body: { attributes: { city: 'Lisbon' } },
      });
      expect(answer.status).toBe(404);
      expect((await read()).attributes).toEqual({});
    });
  });

  describe('test users', () => {
    test('are the marked users', async () => {
      const listed = async () => (await call('GET', 'people/for-tests')).body.users.map((user: any) => user.customerId);
      expect(await listed()).not.toContain(customerId);
      expect((await call('PUT', `people/${id}/test`, { isTest: true })).status).toBe(204);
      expect(await listed()).toContain(customerId);
      expect((await read()).isTest).toBe(true);
      bundle.clock.advance(1);
      await call('PUT', `people/${id}/test`, { isTest: false });
      expect(await listed()).not.toContain(customerId);
      expect((await lines('person.test')).map(({ detail }) => detail)).toEqual([{ isTest: true }, { isTest: false }]);
    });

    test.each([
      [{ deviceId: 'd', attributes: { platform: 'TV', push_id: 't' } }, 'platform'],
      [{ deviceId: 'd', attributes: { platform: 'ANDROID' } }, 'push_id'],
      [{ deviceId: 'd', attributes: { platform: 'iOS', push_id: 'not hex' } }, 'push_id'],
      [{ deviceId: '', attributes: { platform: 'ANDROID', push_id: 't' } }, 'device_id'],
    ])('reject the device %j like the data API', async (device, field) => {
      const answer = await call('POST', `people/${id}/devices`, device);
      expect([answer.status, answer.body.field]).toEqual([400, field]);
      expect((await read()).devices).toEqual([]);
    });
  });

  describe('a device', () => {
    const act = (device: string, action: string) => call('POST', `people/${id}/devices/${device}/${action}`);
    const stateOf = async () => (await read()).devices[0]?.state;

    test('is blocked, and unblocked to its previous state', async () => {
      const device = await addPhone('block-me');
      await act(device, 'opt-out');
      expect(await stateOf()).toBe('OPTED_OUT');
      expect((await act(device, 'block')).status).toBe(204);
      expect(await stateOf()).toBe('BLOCKED');
      // What the person wants meanwhile holds afterwards.
      await act(device, 'opt-in');
      expect(await stateOf()).toBe('BLOCKED');
      await act(device, 'unblock');
      expect(await stateOf()).toBe('ACTIVE');
    });

    test('cannot be opted in if it is gone', async () => {
      const device = await addPhone('gone-one');
      await bundle.database`update devices set state = 'GONE', gone_at = now() where id = ${device}`;
      const answer = await act(device, 'opt-in');
      expect([answer.status, answer.body.code]).toEqual([400, 'PARAMETER_INVALID']);
      expect(await stateOf()).toBe('GONE');
    });

    test('is removed with its address, which another user may then have', async () => {
      const device = await addPhone('lent');
      expect((await act(device, 'remove')).status).toBe(204);
      expect((await read()).devices).toEqual([]);
      const left = await bundle.database`
        select 1 from push_addresses where device_row_id = ${device} union all
        select 1 from identifiers where user_id = ${id}`;
      expect(left).toHaveLength(0);
    });

    test('is not found if it belongs to another user', async () => {
      const device = await addPhone('mine');
      id = (await call('POST', 'people', { customerId: 'somebody else' })).body.id;
      expect((await act(device, 'block')).status).toBe(404);
    });
  });

  describe('a user who is removed by a concurrent transaction', () => {
    const device = { deviceId: 'late', attributes: { platform: 'ANDROID', push_id: 'late' } };
    test.each([
      ['device-add', { method: 'POST', path: 'devices', body: device }],
      ['attributes', { method: 'PATCH', path: 'attributes', body: { attributes: { city: 'Lisbon' } } }],
      ['test', { method: 'PUT', path: 'test', body: { isTest: true } }],
    ] as const)('is not found for %s, and the audit log has no line', async (action, { method, path, body }) => {
      const { database } = bundle;
      let answer: ReturnType<typeof call> | undefined;
      await inTransaction(database, async (tx) => {
        await tx`delete from users where id = ${id}`;
        answer = call(method, `people/${id}/${path}`, body);
        await expect.poll(() => isAnybodyWaiting(database)).toBe(true);
      });
      expect((await answer!).status).toBe(404);
      expect(await lines(`person.${action}`)).toHaveLength(0);
    });
  });

  describe('the timeline', () => {
    async function addHistory(device: string): Promise<void> {
      const { database, workspaceId } = bundle;
      const [user] = await database`select bucket from users where id = ${id}`;
      const bucket = user!.bucket as number;
      await database`create table if not exists events_20260301 partition of events
        for values from ('2026-03-01') to ('2026-03-02')`;
      await database`create table if not exists deliveries_20260301 partition of deliveries
        for values from ('2026-03-01') to ('2026-03-02')`;
      const campaign = id.replace(/^./, 'c');
      const run = id.replace(/^./, 'd');
      await database`
        insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
          created_by, created_at, updated_at)
        values (${campaign}, ${workspaceId}, 'Spring', 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}', '{}', '{}', 'SENT',
          'test', '2026-03-01', '2026-03-01')`;
      await database`
        insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
        values (${run}, ${workspaceId}, ${campaign}, 1, 'SENT', '2026-03-01', '2026-03-02', '2026-03-01', '2026-03-01',
          '2026-03-01')`;
      const { runNumber, workspaceNumber } = await ledgerRun(database, run);
      await database`
        insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, code,
          attempts, sent_at)
        values ('2026-03-01', ${workspaceNumber}, ${bucket}, ${runNumber}, ${idBytes(device)}, ${idBytes(id)}, 'A',
          'A', null, 1, '2026-03-01T10:05:00Z'),
          ('2026-03-01', ${workspaceNumber}, ${bucket}, ${runNumber}, ${idBytes('e'.repeat(24))}, ${idBytes(id)}, 'I',
          'G', 'Unregistered', 1, '2026-03-01T10:05:00Z')`;
      await database`
        insert into device_interactions (workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, action,
          report_digests, count, first_at)
        select ${workspaceId}, ${bucket}, ${campaign}, ${device}, kind, ${run}, 'ANDROID', action, '{"\\\\x01"}', 1, at
        from (values ('IMPRESSION', null, timestamptz '2026-03-01T10:06:00Z'), ('CLICK', 'buy', '2026-03-01T10:07:00Z'))
          as given (kind, action, at)`;
      await database`
        insert into events (day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at,
          device_row_id)
        select '2026-03-01', ${workspaceId}, ${bucket}, ${id} || number, ${id}, 'bought', jsonb_build_object('n', number),
          '2026-03-01T10:08:00Z', '2026-03-01T10:09:00Z', ${device}
        from generate_series(1, 120) as number`;
    }

    async function readAll(): Promise<{ entries: any[]; pages: number }> {
      const entries: any[] = [];
      let after = '';
      for (let pages = 1; ; pages += 1) {
        const { body } = await call('GET', `people/${id}/timeline?${after}`);
        entries.push(...body.entries);
        if (body.next === null) return { entries, pages };
        after = `after=${encodeURIComponent(body.next)}`;
      }
    }

    test('lists a change at its sandbox time, above what was received before', async () => {
      const hour = 3_600_000;
      bundle.clock.setOffset(30 * 24 * hour);
      await change({ city: 'Lisbon' });
      bundle.clock.setOffset(29 * 24 * hour);
      await addPhone('ahead');
      bundle.clock.setOffset(0);
      const { entries } = await readAll();
      const hours = ({ at }: { at: string }) => (Date.parse(at) - bundle.clock.realNow().getTime()) / hour;
      expect(entries.map((entry) => [entry.name ?? entry.kind, hours(entry)])).toEqual(
        expect.arrayContaining([
          ['person.device-add', 29 * 24],
          ['DEVICE_REGISTERED', 29 * 24],
          ['CREATED', 0],
        ]),
      );
      expect([entries[0].name, hours(entries[0])]).toEqual(['person.attributes', 30 * 24]);
      // The audit log says when its user acted.
      expect(
        await bundle.database`select at from audit_log where action = 'person.attributes' and object_id = ${id}`,
      ).toEqual([{ at: bundle.clock.realNow() }]);
    });

    test('lists events, messages, device reports and manual changes, newest first, without duplicates or gaps', async () => {
      const device = await addPhone('history');
      await addHistory(device);
      bundle.clock.advance(600_000);
      await change({ city: 'Lisbon' });
      const { entries, pages } = await readAll();
      expect(pages).toBe(3);
      expect(entries.map(({ key }) => key)).toHaveLength(new Set(entries.map(({ key }) => key)).size);
      const times = entries.map(({ at }) => at);
      expect(times).toEqual(times.toSorted().toReversed());
      const kinds = entries.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'EVENT')).toHaveLength(120);
      expect(kinds.filter((kind) => kind !== 'EVENT' && !kind.startsWith('DEVICE') && kind !== 'CREATED')).toEqual(
        expect.arrayContaining(['CHANGED', 'CLICK', 'IMPRESSION', 'MESSAGE', 'MESSAGE']),
      );
      const of = (kind: string) => entries.filter((entry) => entry.kind === kind);
      expect(of('CLICK')).toMatchObject([{ name: 'Spring', deviceId: 'phone', detail: { count: 1, action: 'buy' } }]);
      expect(of('MESSAGE').map(({ outcome, code, deviceId }) => [outcome, code, deviceId])).toEqual(
        expect.arrayContaining([
          ['ACCEPTED', null, 'phone'],
          ['GONE', 'Unregistered', null],
        ]),
      );
      expect(of('CHANGED')[0]).toMatchObject({
        name: 'person.attributes',
        detail: { by: 'Olga', changed: ['city'] },
      });
      expect(of('EVENT')[0]).toMatchObject({ name: 'bought', deviceId: 'phone' });
      expect(of('CREATED')).toHaveLength(1);
      // The smallest pages are cut at moments of one instant and still fit together.
      const [user] = await bundle.database`select bucket from users where id = ${id}`;
      const key = { workspaceId: bundle.workspaceId, bucket: user!.bucket as number, userId: id };
      const keys: string[] = [];
      let after: { place: string; key: string } | undefined;
      for (;;) {
        const page = await listTimelineEntries(bundle.database, { ...key, after, limit: 7 });
        if (page.length === 0) break;
        keys.push(...page.map(({ key }) => key));
        after = page.at(-1);
      }
      expect(keys).toEqual(entries.map(({ key }) => key));
    });

    test('is not found for an unknown user', async () => {
      expect((await call('GET', `people/${'0'.repeat(24)}/timeline`)).status).toBe(404);
    });
  });

  describe('an erasure', () => {
    const keep = () => call('DELETE', `people/${id}/erasure`);
    const listStates = async () =>
      (
        await bundle.database`select state from erasures where user_ids @> ${bundle.database.json([[await bucket(), id]])}`
      ).map(({ state }) => state as string);
    const bucket = async () => (await bundle.database`select bucket from users where id = ${id}`)[0]!.bucket as number;

    test('is cancelled while it waits, recorded without the user, and can be requested again', async () => {
      const { erasure } = (await call('POST', `people/${id}/erase`)).body;
      expect((await read()).erasure).toMatchObject({ id: erasure.id });
      expect((await keep()).status).toBe(204);
      expect((await read()).erasure).toBeNull();
      expect(await listStates()).toEqual([]);
      const kept = await bundle.database`
        select object_id, object_name, detail from audit_log where action = 'person.erase-cancel' and object_id = ${erasure.id}`;
      expect([...kept]).toEqual([{ object_id: erasure.id, object_name: null, detail: {} }]);
      expect((await call('POST', `people/${id}/erase`)).body.erasure.id).not.toBe(erasure.id);
      expect(await listStates()).toEqual(['PENDING']);
    });

    test('cannot be cancelled if none waits or it has begun', async () => {
      expect((await keep()).status).toBe(404);
      await call('POST', `people/${id}/erase`);
      await bundle.database`
        update erasures set state = 'REMOVED', removed_at = requested_at
        where user_ids @> ${bundle.database.json([[await bucket(), id]])}`;
      expect((await keep()).status).toBe(404);
      expect(await listStates()).toEqual(['REMOVED']);
      expect((await call('DELETE', `people/${'0'.repeat(24)}/erasure`)).status).toBe(404);
    });
  });
});

type Strikes = { sends?: number; hours?: number; state?: string; blockedState?: string };

describe('suspected devices', () => {
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
      await bundle.call(
        'POST',
        `people/${idOf(number)}/devices/${idOf(number)}/keep?workspaceId=${bundle.workspaceId}`,
        {
          cookie,
        },
      )
    ).status;
  const deviceOf = async (number: number) =>
    (await bundle.call('GET', `people/${idOf(number)}?workspaceId=${bundle.workspaceId}`, { cookie })).body.user
      .devices[0];

  describe('the list of suspected devices', () => {
    test('has their users and strikes, latest first, and whether they left the audience', async () => {
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

    test('omits devices that a provider reported as gone after their first strike', async () => {
      await addSuspect(1, { state: 'GONE' });
      expect(await names()).toEqual([]);
      expect((await deviceOf(1)).suspicion).toBeNull();
    });

    test('omits devices that accepted a message after their last strike', async () => {
      for (const number of [1, 2, 3]) await addSuspect(number);
      await addDelivery(1, { outcome: 'A', at: after(1) });
      await addDelivery(2, { outcome: 'A', at: after(0) });
      await addDelivery(3, { outcome: 'R', at: after(1) });
      expect(await names()).toEqual(['phone 3', 'phone 2']);
      expect((await deviceOf(1)).suspicion).toBeNull();
      expect((await deviceOf(2)).suspicion).not.toBeNull();
    });

    test('is paged without duplicates or gaps, skipping recovered devices', async () => {
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

    test('is not available for another workspace', async () => {
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

    test('clears its strikes, and records them in the audit log without the device', async () => {
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

    test('restores one that left the audience because of them', async () => {
      await addSuspect(1, { sends: 3, hours: 72, state: 'GONE' });
      expect(await keep(1)).toBe(204);
      expect(await strikes(1)).toEqual({ state: 'ACTIVE', blocked_state: null, ...forgotten });
      expect(await names()).toEqual([]);
    });

    test('restores a blocked one that had left when it is unblocked, and does not unblock it', async () => {
      await addSuspect(1, { sends: 3, hours: 72, state: 'BLOCKED', blockedState: 'GONE' });
      expect(await keep(1)).toBe(204);
      expect(await strikes(1)).toEqual({ state: 'BLOCKED', blocked_state: 'ACTIVE', ...forgotten });
    });

    test('does not restore one that a provider reported as gone', async () => {
      await addSuspect(1, { state: 'GONE' });
      expect(await keep(1)).toBe(204);
      expect(await strikes(1)).toMatchObject({ state: 'GONE', gone_reason: 'BadDeviceToken', suspected_code: null });
    });

    test('keeps the choice of a user who opted out', async () => {
      await addSuspect(1, { state: 'OPTED_OUT' });
      expect(await keep(1)).toBe(204);
      expect(await strikes(1)).toMatchObject({ state: 'OPTED_OUT', suspected_code: null });
    });

    test('fails if there is none, and writes no line', async () => {
      await addSuspect(1);
      expect(await keep(1)).toBe(204);
      expect(await keep(1)).toBe(404);
      expect(await keep(2)).toBe(404);
      expect(await bundle.database`select 1 from audit_log where action = 'person.device-keep'`).toHaveLength(1);
    });
  });

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
});

describe('the place search', () => {
  let cookie: string;
  let campaignId: string;
  let responseId: string;
  beforeAll(async () => {
    ({ cookie } = await openSignedInClient(bundle));
    const pushed = await bundle.push({
      campaignName: 'Spring sale',
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Hello', message: 'There' } },
      campaignDelivery: { type: 'soon' },
    });
    ({ cid: campaignId, responseId } = pushed.json());
    await until(async () => (await bundle.database`select 1 from campaigns where status = 'SENT'`).length > 0);
    const at = new Date();
    await bundle.database`
      insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
        created_at, updated_at)
      values (${'5'.repeat(24)}, ${bundle.workspaceId}, 'Lapsed in spring', 'FILE', 'READY', 'API', 'u_em', 'string', 'test',
        ${at}, ${at})`;
  });

  const [run, phone] = [
    async () => (await bundle.database<{ id: string }[]>`select id from runs where campaign_id = ${campaignId}`)[0]!.id,
    async () =>
      (
        await bundle.database<{ id: string; userId: string; deviceId: string; pushId: string }[]>`
          select devices.id, user_id as "userId", device_id as "deviceId", push_id as "pushId" from devices
          join users on users.bucket = devices.bucket and users.id = devices.user_id
          where customer_id = 'ada' and platform = 'ANDROID'`
      )[0]!,
  ];

  test('finds campaigns and segments by a part of the name, and a user by the whole id', async () => {
    expect(await find(' SPRING ')).toEqual([
      `campaign ${campaignId} Spring sale`,
      `segment ${'5'.repeat(24)} Lapsed in spring`,
    ]);
    const { userId } = await phone();
    expect(await find('ada')).toContain(`user ${userId} ada`);
    expect(await find('nothing has this name')).toEqual([]);
  });

  test('leads from an id of any kind to its screen', async () => {
    const { id, userId, deviceId } = await phone();
    expect(await find(campaignId)).toEqual([`campaign ${campaignId} Spring sale`]);
    expect(await find(await run())).toEqual([`run ${campaignId} Spring sale`]);
    expect(await find(responseId)).toEqual([`campaign ${campaignId} Spring sale`]);
    expect(await find('5'.repeat(24))).toEqual([`segment ${'5'.repeat(24)} Lapsed in spring`]);
    expect(await find(userId)).toEqual([`user ${userId} ada`]);
    expect(await find(id.toUpperCase())).toEqual([`device ${userId} ${deviceId}`]);
    const [key] = await bundle.database<{ id: string; name: string }[]>`select id, name from api_keys limit 1`;
    expect(await find(key!.id)).toEqual([`key ${key!.id} ${key!.name}`]);
    await until(async () => (await bundle.database`select 1 from api_log`).length > 0);
    const [call] = await bundle.database<{ id: string }[]>`select id from api_log limit 1`;
    expect(await find(call!.id)).toEqual([`call ${call!.id} POST /v2.1/transaction/sendpush`]);
  });

  test('leads from the report token of a device to its row in the delivery log', async () => {
    const { id, userId, deviceId, pushId } = await phone();
    const message = (await bundle.inbox()).find(({ deviceToken }) => deviceToken === pushId);
    const token = message.payload.data.svc_report_token as string;
    const [place] = await find(token);
    expect(place).toMatch(
      new RegExp(`^delivery \\d{4}-\\d\\d-\\d\\d~\\d+~${userId}~${await run()}~${id} ${deviceId}$`),
    );
  });

  test('finds nothing that the role may not open', async () => {
    const invited = await bundle.call('POST', '/console/api/invitations', {
      headers: { cookie },
      body: { email: 'olga@example.com', role: 'analyst' },
    });
    const code = String(invited.json().link).split('=').at(-1)!;
    const accepted = await bundle.call('POST', '/console/api/invitation/acceptance', {
      body: { code, name: 'Olga', password: 'nine more green bottles' },
    });
    const analyst = accepted.headers.get('set-cookie')!.split(';', 1)[0]!;
    expect(await find('ada', analyst)).toEqual([]);
    expect(await find((await phone()).id, analyst)).toEqual([]);
    expect(await find('spring', analyst)).toHaveLength(2);
  });

  async function find(word: string, as = cookie): Promise<string[]> {
    const query = new URLSearchParams({ workspaceId: bundle.workspaceId, q: word });
    const answer = await bundle.call('GET', `/console/api/places?${query}`, { headers: { cookie: as } });
    expect(answer.status).toBe(200);
    return answer.json().places.map(({ kind, id, name }: Record<string, string>) => `${kind} ${id} ${name}`);
  }
});

describe('the explanation of a message', () => {
  let client: ConsoleClient;
  let cookie: string;
  beforeAll(async () => {
    ({ client, cookie } = await openSignedInClient(bundle));
  });

  test('explains to a signed-in user of the console why a user got a campaign', async () => {
    const { workspaceId, database } = bundle;
    const answer = await bundle.push({
      ...{ campaignName: 'Explained', targetAudience: 'All Users', targetPlatform: ['ANDROID'] },
      ...{ payload: { ANDROID: { title: 'T', message: 'M' } }, campaignDelivery: { type: 'soon' } },
    });
    const { cid: campaignId } = answer.json() as { cid: string };
    await until(
      async () => (await database`select status from campaigns where id = ${campaignId}`)[0]?.status === 'SENT',
    );
    const [user] = await database`
      select users.customer_id as id from devices join users on users.id = devices.user_id and users.bucket = devices.bucket where platform = 'ANDROID' limit 1`;
    const asked = { workspaceId, campaignId, customerId: user!.id as string };
    const told = await client.deliveries.explain(asked);
    expect(told).toMatchObject({ campaign: { id: campaignId, status: 'SENT', nextAt: null }, step: 'ACCEPTED' });
    expect(told.explanation).toMatch(/^The provider accepted the message at .*Z\.$/);
    expect(told.runs[0]!.devices.map(({ step }) => step)).toContain('ACCEPTED');
    expect(told.runs[0]!.createdAt).toMatch(/^\d{4}-/);
    expect(await client.deliveries.explain({ ...asked, customerId: 'nobody' })).toMatchObject({
      step: 'UNKNOWN_PERSON',
      runs: [],
    });
    const status = async (query: Record<string, string>, headers = { cookie }): Promise<number> =>
      (await bundle.call('GET', `/console/api/explain?${new URLSearchParams(query)}`, { headers })).status;
    expect(await status({ ...asked, campaignId: '0'.repeat(24) })).toBe(404);
    expect(await status({ ...asked, campaignId: 'x' })).toBe(400);
    expect(await status(asked, { cookie: '' })).toBe(401);
  });
});

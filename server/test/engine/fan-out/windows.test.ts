import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bucketOf } from '../../../src/domain/users/users.ts';
import type { DeliverToDevices } from '../../../src/engine/fan-out/deliver-to-devices.ts';
import { makeRetryDeliveries } from '../../../src/engine/fan-out/retry-deliveries.ts';
import { WindowFailedError, WindowRefusedError, makeSendWindow } from '../../../src/engine/fan-out/send-window.ts';
import type { Search } from '../../../src/engine/fan-out/send-window.ts';
import type { DeviceResult } from '../../../src/engine/fan-out/settle-outcome.ts';
import { makeWindowTurns } from '../../../src/engine/fan-out/work-chunks.ts';
import type { Delivery } from '../../../src/storage/ledger/deliveries.ts';
import type { DueDelivery } from '../../../src/storage/ledger/due-deliveries.ts';
import { claimedBy, makeFanOutBundle, start } from './fan-out-bundle.ts';
import type { ClaimedBy, FanOutBundle } from './fan-out-bundle.ts';

type More = { settings?: object; variants?: object };

type Given = (place: number, base: Delivery) => Partial<DeviceResult>;

describe('stored windows', () => {
  const later = (seconds: number): Date => new Date(start.getTime() + seconds * 1000);
  const phones = 24;

  let bundle: FanOutBundle;
  beforeAll(async () => {
    bundle = await makeFanOutBundle();
    await bundle.addDevices(phones);
    // Of one platform, so that there are as many as users.
    await bundle.database`update devices set platform = 'ANDROID'`;
  });
  afterAll(() => bundle.drop());
  beforeEach(async () => {
    bundle.clock.anchor(start);
    const tables = [
      'chunks',
      'run_cursors',
      'run_counts',
      'run_variations',
      'deliveries',
      'send_budgets',
      'push_requests',
    ];
    await bundle.database.unsafe(
      [...tables, 'user_messages', 'event_streams', 'runs', 'campaign_names', 'campaigns']
        .map((table) => `delete from ${table}`)
        .join('; '),
    );
    await bundle.database`update devices set state = 'ACTIVE', gone_at = null, gone_reason = null`;
  });

  const parts = (deliverToDevices: DeliverToDevices) => ({
    ...{ database: bundle.database, clock: bundle.clock, log: bundle.log, outcomes: bundle.outcomes, deliverToDevices },
    personaliseDevices: async <Device>(_run: unknown, devices: Device[]) => devices,
  });

  const first = { bucket: 0, position: '' };

  describe('a window', () => {
    test('contains as many devices as fit, each once, until none is left', async () => {
      const { run, chunk } = await begin();
      const { asked, sendWindow } = makeWindow();
      let cursor = first;
      const kinds: string[] = [];
      for (let count = 0; count < 3; count += 1) {
        const result = await sendWindow({ run, chunk, cursor });
        kinds.push(result.kind);
        if (result.kind === 'sent') cursor = result.cursor;
      }
      expect(asked.map(({ length }) => length)).toEqual([10, 10, 4]);
      expect(new Set(asked.flat()).size).toBe(phones);
      expect(kinds).toEqual(['sent', 'sent', 'ended']);
      const [row] = await bundle.database`select state from chunks`;
      expect(row).toEqual({ state: 'DONE' });
      expect(await countersOf(run.id)).toEqual([`ACCEPTED ${phones}`]);
    });

    test('ends the chunk after the last device, and is lost if the chunk belongs to another worker', async () => {
      const { run, chunk } = await begin();
      const { asked, sendWindow } = makeWindow(undefined, phones);
      const all = await sendWindow({ run, chunk, cursor: first });
      expect(all.kind).toBe('sent');
      const cursor = { bucket: 255, position: 'z' };
      expect(await sendWindow({ run, chunk: { ...chunk, owner: 'other' }, cursor })).toEqual({ kind: 'lost' });
      expect(await sendWindow({ run, chunk, cursor })).toEqual({ kind: 'ended' });
      expect(asked).toHaveLength(1);
    });

    test('is not sent for a chunk of another worker, or for a paused run', async () => {
      const { run, chunk } = await begin();
      const { asked, sendWindow } = makeWindow();
      expect(await sendWindow({ run, chunk: { ...chunk, attempt: 9 }, cursor: first })).toEqual({ kind: 'lost' });
      await bundle.database`update runs set status = 'PAUSED', status_reason = 'r'`;
      expect(await sendWindow({ run, chunk, cursor: first })).toEqual({ kind: 'lost' });
      expect(asked).toEqual([]);
    });

    test('covers one bucket of an audience of unknown size, and skips empty ones', async () => {
      const { run, chunk } = await begin();
      const { asked, sendWindow } = makeWindow();
      let cursor = first;
      for (let windows = 0; windows < 2 * phones; windows += 1) {
        const result = await sendWindow({ run: { ...run, audienceDevices: null }, chunk, cursor });
        if (result.kind !== 'sent') break;
        cursor = result.cursor;
      }
      expect(new Set(asked.flat()).size).toBe(phones);
      const rows = await bundle.database<{ devices: number }[]>`
        select count(*)::int as devices from devices group by bucket order by bucket`;
      expect(asked.map(({ length }) => length)).toEqual(rows.map(({ devices }) => devices));
    });

    test('stores nothing if its chunk was taken while it was sent', async () => {
      const { run, chunk, runId } = await begin();
      const { deliverToDevices } = makeDeliver();
      const sendWindow = makeSendWindow({
        ...parts(async (part, addressees) => {
          await bundle.database`update chunks set attempt = attempt + 1`;
          return deliverToDevices(part, addressees);
        }),
        windowDevices: 10,
      });
      expect(await sendWindow({ run, chunk, cursor: first })).toEqual({ kind: 'lost' });
      expect(await bundle.ledger(runId)).toEqual([]);
      expect(await bundle.database`select 1 from run_cursors`).toHaveLength(0);
    });

    test('counts by outcome, bucket and content, and removes devices that are gone', async () => {
      const variants = { locales: ['default', 'de'], percents: [100], contents: [[{ ANDROID: {} }, { ANDROID: {} }]] };
      const { run, chunk, runId } = await begin({ variants });
      const { sendWindow } = makeWindow((place, delivery) =>
        place === 0
          ? { delivery: { ...delivery, outcome: 'GONE' }, gone: { code: '410', goneSince: start } }
          : place < 3
            ? { delivery: { ...delivery, outcome: 'WAITING', retryAt: later(60) } }
            : {},
      );
      await sendWindow({ run, chunk, cursor: first });
      expect(await countersOf(runId)).toEqual(['ACCEPTED default 7', 'GONE default 1', 'WAITING default 2']);
      const gone = await bundle.database`select gone_reason as code, gone_at as at from devices where state = 'GONE'`;
      expect([...gone]).toEqual([{ code: '410', at: start }]);
      const [counted] = await bundle.database`
        select count(*)::int as wrong from (
          select bucket, outcome, sum(devices) as devices from run_counts where run_id = ${runId} group by bucket, outcome
        ) as counted
        full join (
          select bucket, outcome, count(*) as devices from readable_deliveries where run_id = ${runId} group by bucket, outcome
        ) as stored using (bucket, outcome)
        where counted.devices is distinct from stored.devices`;
      expect(counted).toEqual({ wrong: 0 });
    });

    test('marks accepted messages for event streams, if there are any', async () => {
      const { database, workspaceId } = bundle;
      await database`
        insert into event_streams (id, workspace_id, url, secret_sealed, events, user_attributes, device_attributes, created_at,
          updated_at)
        values ('stream', ${workspaceId}, 'https://receiver.example/', 'a', '{delivered}', '{}', '{}', ${start}, ${start})`;
      const { run, chunk, runId } = await begin();
      const { sendWindow } = makeWindow((place, delivery) =>
        place < 4 ? { delivery: { ...delivery, outcome: 'REJECTED' } } : {},
      );
      await sendWindow({ run, chunk, cursor: first });
      const marks = await database`select run_id as "runId", events, at from event_stream_marks`;
      expect([...marks]).toEqual([{ runId, events: 6, at: start }]);
    });

    test('is half as large during a search, with the remaining suspects next', async () => {
      const { run, chunk } = await begin();
      const searchOf = async (search: Search | undefined) => {
        const { asked, sendWindow } = makeWindow();
        const result = await sendWindow({ run, chunk, cursor: first, search });
        const [row] = await bundle.database`
          select suspect_devices as suspects, set_aside as "setAside" from chunks`;
        return { sent: asked[0]?.length, next: result.kind === 'sent' ? result.search : result.kind, ...row };
      };
      expect(await searchOf({ suspectDevices: 9, treatment: 'send' })).toEqual({
        ...{ sent: 4, next: { suspectDevices: 5, treatment: 'send' }, suspects: 5, setAside: 0 },
      });
      expect(await searchOf({ suspectDevices: 1, treatment: 'send' })).toEqual({
        ...{ sent: 1, next: undefined, suspects: null, setAside: 0 },
      });
      expect(await searchOf(undefined)).toEqual({ sent: 10, next: undefined, suspects: null, setAside: 0 });
      await bundle.database`delete from deliveries`;
      // The one that was found is not sent to.
      expect(await searchOf({ suspectDevices: 1, treatment: 'set aside' })).toEqual({
        ...{ sent: undefined, next: undefined, suspects: null, setAside: 1 },
      });
      const rows = await bundle.database`select code from deliveries`;
      expect([...rows]).toEqual([{ code: 'SET_ASIDE' }]);
    });

    test('keeps the stored rows if it is sent a second time, and counts only new ones', async () => {
      const { run, chunk, runId } = await begin();
      await makeWindow(undefined, 4).sendWindow({ run, chunk, cursor: first });
      await bundle.database`delete from run_cursors`;
      const { sendWindow } = makeWindow((_place, delivery) => ({ delivery: { ...delivery, outcome: 'REJECTED' } }));
      expect((await sendWindow({ run, chunk, cursor: first })).kind).toBe('sent');
      expect(await countersOf(runId)).toEqual(['ACCEPTED 4', 'REJECTED 6']);
      expect(await bundle.ledger(runId)).toEqual([
        { outcome: 'ACCEPTED', devices: 4 },
        { outcome: 'REJECTED', devices: 6 },
      ]);
    });

    test('reports whether it could not be sent or not be stored, and passes a database fault on', async () => {
      const { run, chunk } = await begin();
      const failing = (error: Error) => {
        const deliver: DeliverToDevices = () => Promise.reject(error);
        return makeSendWindow({ ...parts(deliver), windowDevices: 10 })({ run, chunk, cursor: first });
      };
      await expect(failing(new Error('a surprise'))).rejects.toBeInstanceOf(WindowFailedError);
      await expect(failing(Object.assign(new Error('away'), { code: '57P01' }))).rejects.toMatchObject({
        code: '57P01',
      });
      const { sendWindow } = makeWindow((_place, delivery) => ({
        delivery: { ...delivery, deviceId: 'not hexadecimal' },
      }));
      await expect(sendWindow({ run, chunk, cursor: first })).rejects.toBeInstanceOf(WindowRefusedError);
    });

    test('is as large as the quota of a throttled run, and returns what it did not send', async () => {
      // Four a second, and twenty are held at most.
      const { run, chunk } = await begin({ settings: { devicesPerMinute: 260 } });
      const held = { outcome: 'WAITING', code: 'QUIET_HOURS', attempts: 0, retryAt: later(60) } as const;
      const half = makeWindow((place, delivery) => (place < 2 ? { delivery: { ...delivery, ...held } } : {}));
      const all = makeWindow(undefined, 100);
      const tokens = async () =>
        (await bundle.database<{ tokens: number }[]>`select tokens from send_budgets`)[0]!.tokens;
      const cursorAfter = (result: Awaited<ReturnType<typeof all.sendWindow>>) => {
        if (result.kind !== 'sent') throw new Error(result.kind);
        return result.cursor;
      };
      const second = cursorAfter(await half.sendWindow({ run, chunk, cursor: first }));
      expect([half.asked[0]!.length, await tokens()]).toEqual([4, 2]);
      const third = cursorAfter(await all.sendWindow({ run, chunk, cursor: second }));
      expect([all.asked[0]!.length, await tokens()]).toEqual([2, 0]);
      expect(await all.sendWindow({ run, chunk, cursor: third })).toEqual({ kind: 'throttled', until: later(1) });
      bundle.clock.anchor(later(10));
      await all.sendWindow({ run, chunk, cursor: third });
      expect([all.asked[1]!.length, await tokens()]).toEqual([18, 2]);
    });
  });

  describe('a waiting delivery', () => {
    const settled: DueDelivery[][] = [];

    function retry(given?: Given, by: ClaimedBy = claimedBy[0]!) {
      settled.length = 0;
      const { asked, deliverToDevices } = makeDeliver(given);
      const job = makeRetryDeliveries({
        ...{ ...parts(deliverToDevices), isCluster: async () => by === 'one bucket' },
        onSettled: (due) => void settled.push([...due]),
      });
      return job.runOnce(bundle.clock.now()).then((count) => ({ count, asked }));
    }

    /** A window of which the first six wait a minute, for the given reason. */
    async function wait(more: More & { code?: string; attempts?: number } = {}) {
      const { code = 'UNAVAILABLE', attempts = 1, ...options } = more;
      const begun = await begin(options);
      const { sendWindow } = makeWindow((place, delivery) =>
        place < 6 ? { delivery: { ...delivery, outcome: 'WAITING', code, attempts, retryAt: later(60) } } : {},
      );
      await sendWindow({ ...begun, cursor: first });
      bundle.clock.anchor(later(60));
      return begun;
    }

    test('is sent when it is due, not before, and counted once', async () => {
      const { runId } = await wait();
      bundle.clock.anchor(later(59.999));
      expect((await retry()).count).toBe(0);
      bundle.clock.anchor(later(60));
      for (const [look, by] of claimedBy.entries()) {
        const { count, asked } = await retry(undefined, by);
        expect([count, asked.flat().length]).toEqual(look === 0 ? [6, 6] : [0, 0]);
        expect(settled.flat().length).toBe(asked.flat().length);
        expect(await countersOf(runId)).toEqual(['ACCEPTED 10']);
      }
    });

    test('is claimed bucket by bucket on a cluster, with the same counts', async () => {
      const { runId } = await wait();
      const { count, asked } = await retry(
        (place, delivery) => (place === 0 ? { delivery: { ...delivery, outcome: 'REJECTED' } } : {}),
        'one bucket',
      );
      expect([count, new Set(asked.flat()).size]).toEqual([6, 6]);
      expect(asked.length).toBeGreaterThan(1);
      expect(await countersOf(runId)).toEqual(['ACCEPTED 9', 'REJECTED 1']);
    });

    test('keeps waiting with its attempt if the outcome says so, without a count', async () => {
      const { runId } = await wait();
      await retry((_place, delivery) => ({
        delivery: { ...delivery, outcome: 'WAITING', code: 'STILL', retryAt: later(180) },
      }));
      expect(await countersOf(runId)).toEqual(['ACCEPTED 4', 'WAITING 6']);
      const rows = await bundle.database`
        select distinct code, attempts, retry_at as "retryAt", lease_until as "leaseUntil" from deliveries where outcome = 'W'`;
      expect([...rows]).toEqual([{ code: 'STILL', attempts: 2, retryAt: later(180), leaseUntil: null }]);
    });

    test('ends without a request if its device left in the meantime', async () => {
      const { runId } = await wait();
      await bundle.database`update devices set state = 'GONE', gone_at = ${start}, gone_reason = 'a'`;
      const { count, asked } = await retry();
      expect([count, asked.flat()]).toEqual([6, []]);
      expect(await countersOf(runId)).toEqual(['ACCEPTED 4', 'GONE 6']);
      const rows = await bundle.database`select distinct code, attempts from deliveries where outcome = 'G'`;
      expect([...rows]).toMatchObject([{ code: 'DEVICE_LEFT' }]);
    });

    test('is quarantined if its workers died at every attempt', async () => {
      const { runId } = await wait({ attempts: 8 });
      const { asked } = await retry();
      expect(asked.flat()).toEqual([]);
      expect(await countersOf(runId)).toEqual(['ACCEPTED 4', 'FAILED 6']);
    });

    test('is sent with one more attempt, the eighth being the last', async () => {
      await wait({ attempts: 7 });
      const { asked } = await retry((_place, delivery) => {
        expect(delivery.attempts).toBe(8);
        return {};
      });
      expect(asked.flat()).toHaveLength(6);
    });

    test('is marked for event streams, and its dead devices are removed', async () => {
      const { database, workspaceId } = bundle;
      await wait();
      await database`
        insert into event_streams (id, workspace_id, url, secret_sealed, events, user_attributes, device_attributes, created_at,
          updated_at)
        values ('stream', ${workspaceId}, 'https://receiver.example/', 'a', '{delivered}', '{}', '{}', ${start}, ${start})`;
      await retry((place, delivery) =>
        place === 0 ? { delivery: { ...delivery, outcome: 'GONE' }, gone: { code: '410', goneSince: later(60) } } : {},
      );
      // One mark for each claim: on a cluster one for each bucket.
      const marks = await database`select sum(events)::int as events, at from event_stream_marks group by at`;
      expect([...marks]).toEqual([{ events: 5, at: later(60) }]);
      expect(await database`select 1 from devices where state = 'GONE'`).toHaveLength(1);
    });

    test('is released from quiet hours at the pace of its run, and waits as long as its quota requires', async () => {
      // Of one bucket, so that they are one claim on a cluster, too.
      await bundle.database`update devices set state = 'GONE', gone_at = ${start}, gone_reason = 'a'`;
      const neighbours = Array.from({ length: 4_000 }, (_, number) => `near-${number}`).filter(
        (id) => bucketOf(id) === 7,
      );
      await bundle.addDevicesOf(neighbours.slice(0, 10));
      const { runId, run, chunk } = await begin({ settings: { devicesPerMinute: 65 } });
      const setBudget = (tokens: number, at: Date) => bundle.database`
        insert into send_budgets (key, tokens, refilled_at, busy_since) values (${`run:${runId}`}, ${tokens}, ${at}, ${at})
        on conflict (key) do update set tokens = excluded.tokens, refilled_at = excluded.refilled_at`;
      await setBudget(5, start);
      const held = { outcome: 'WAITING', code: 'QUIET_HOURS', attempts: 0, retryAt: later(60) } as const;
      await makeWindow((_place, delivery) => ({ delivery: { ...delivery, ...held } })).sendWindow({
        run,
        chunk,
        cursor: first,
      });
      bundle.clock.anchor(later(60));
      await setBudget(2, later(60));
      // One of the two is held again, and leaves its quota to others.
      const { asked } = await retry((place, delivery) =>
        place === 0 ? { delivery: { ...delivery, ...held, retryAt: later(600) } } : {},
      );
      expect(asked.map(({ length }) => length)).toEqual([2]);
      const rows = await bundle.database<{ retryAt: Date; attempts: number }[]>`
        select retry_at as "retryAt", attempts from deliveries where outcome = 'W' order by retry_at`;
      expect(rows.map(({ retryAt }) => retryAt)).toEqual([later(61), later(61.847), later(62.77), later(600)]);
      expect(rows.every(({ attempts }) => attempts === 0)).toBe(true);
      expect(await countersOf(runId)).toEqual(['ACCEPTED 1', 'WAITING 4']);
      const [budget] = await bundle.database`select tokens from send_budgets`;
      expect(budget).toEqual({ tokens: 1 });
      await bundle.database`delete from devices where bucket = 7 and push_id like 'push-near-%'`;
      await bundle.database`delete from users where bucket = 7 and customer_id like 'near-%'`;
    });

    test('counts towards no cap if no device accepts it in the end', async () => {
      await wait({ settings: { ownDelayHours: 1 } });
      const count = async () =>
        (await bundle.database`select 1 from user_messages where cardinality(run_ids) > 0`).length;
      expect(await count()).toBe(10);
      await bundle.database`
        update chunks set state = 'DONE', owner = null, lease_until = null, ended_at = ${start}`;
      await retry((place, delivery) => (place < 2 ? { delivery: { ...delivery, outcome: 'FAILED' } } : {}));
      expect(await count()).toBe(8);
    });

    test('is not sent for a paused run', async () => {
      await wait();
      await bundle.database`update runs set status = 'PAUSED', status_reason = 'r'`;
      for (const by of claimedBy) expect(await retry(undefined, by)).toEqual({ count: 0, asked: [] });
    });

    test('is not sent while outcomes wait to be stored', async () => {
      await wait();
      const { deliverToDevices, asked } = makeDeliver();
      const outcomes = { ...bundle.outcomes, waiting: () => 1 };
      const job = makeRetryDeliveries({
        ...{ ...parts(deliverToDevices), outcomes, isCluster: async () => false, onSettled: () => {} },
      });
      expect(await job.runOnce(bundle.clock.now())).toBe(0);
      expect(asked).toEqual([]);
    });
  });

  /** A run that has started, and its only chunk. */
  async function begin({ settings = {}, variants }: More = {}) {
    const { runId } = await bundle.accept({ settings });
    if (variants) await bundle.database`update campaigns set variants = ${bundle.database.json(variants)}`;
    await bundle.release();
    return { runId, chunk: (await bundle.claim('worker'))!, run: await bundle.run(runId) };
  }

  function makeWindow(given?: Given, windowDevices = 10) {
    const { asked, deliverToDevices } = makeDeliver(given);
    return { asked, sendWindow: makeSendWindow({ ...parts(deliverToDevices), windowDevices }) };
  }

  /** Each counter that is not nothing, added up over the buckets. */
  async function countersOf(runId: string): Promise<string[]> {
    const rows = await bundle.database<{ line: string }[]>`
      select concat_ws(' ', outcome, nullif(variation, 0), nullif(locale, ''), sum(devices)) as line from run_counts
      where run_id = ${runId} group by outcome, variation, locale having sum(devices) <> 0 order by 1`;
    return rows.map(({ line }) => line);
  }
});

describe('the concurrency of windows', () => {
  test('allows usual windows at the same time, each with its own result', async () => {
    const { take, end, open } = makeWindows();
    take('usual', 'one');
    take('usual', 'other');
    await setImmediate();
    expect(open).toEqual(['one', 'other']);
    expect(await end('other')).toBe('other is over');
    expect(await end('one')).toBe('one is over');
  });

  test('makes a searching window wait for all open ones, and later ones wait for it', async () => {
    const { take, end, open } = makeWindows();
    take('usual', 'one');
    take('usual', 'other');
    take('alone', 'search');
    take('usual', 'late');
    await setImmediate();
    expect(open).toEqual(['one', 'other']);
    await end('one');
    expect(open).toEqual(['other']);
    await end('other');
    expect(open).toEqual(['search']);
    await end('search');
    expect(open).toEqual(['late']);
  });

  test('opens two searching windows one after the other, and usual ones after both', async () => {
    const { take, end, open } = makeWindows();
    take('alone', 'first');
    take('alone', 'second');
    take('usual', 'usual');
    await setImmediate();
    expect(open).toEqual(['first']);
    await end('first');
    expect(open).toEqual(['second']);
    await end('second');
    expect(open).toEqual(['usual']);
  });

  test('continues after a failed window as after a completed one', async () => {
    const { take, end, fail, open } = makeWindows();
    take('usual', 'usual');
    take('alone', 'search');
    await setImmediate();
    await fail('usual');
    expect(open).toEqual(['search']);
    take('usual', 'next');
    await fail('search');
    expect(open).toEqual(['next']);
    expect(await end('next')).toBe('next is over');
  });
});

/**
 * What becomes of each device, by its place among all that are asked for, which may be several windows or claims; all are
 * accepted unless it says otherwise.
 */
function makeDeliver(given: Given = () => ({})) {
  const asked: string[][] = [];
  const deliverToDevices: DeliverToDevices = async (_run, addressees) => {
    const before = asked.flat().length;
    asked.push(addressees.map(({ device }) => device.id));
    return addressees.map(({ device, attempt }, index): DeviceResult => {
      const place = before + index;
      const { bucket, id: deviceId, userId, platform } = device;
      const base: Delivery = {
        ...{ bucket, deviceId, userId, platform, outcome: 'ACCEPTED', code: null, providerMessageId: null },
        ...{ attempts: attempt, retryAt: null },
      };
      return { delivery: base, ...given(place, base) };
    });
  };
  return { asked, deliverToDevices };
}

/** Windows by name that last until they are ended; `open` are those at work. */
function makeWindows() {
  const turns = makeWindowTurns();
  const open: string[] = [];
  const ends = new Map<string, { resolve(): void; reject(error: Error): void }>();
  const taken = new Map<string, Promise<string>>();
  return {
    open,
    take(kind: 'usual' | 'alone', name: string): void {
      const work = async (): Promise<string> => {
        open.push(name);
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        ends.set(name, { resolve, reject });
        try {
          await promise;
        } finally {
          open.splice(open.indexOf(name), 1);
        }
        return `${name} is over`;
      };
      const result = turns.take(kind, work);
      result.catch(() => {});
      taken.set(name, result);
    },
    /** What its taker got. */
    async end(name: string): Promise<string> {
      ends.get(name)!.resolve();
      const result = await taken.get(name)!;
      await setImmediate();
      return result;
    },
    async fail(name: string): Promise<void> {
      ends.get(name)!.reject(new Error(`${name} failed`));
      await expect(taken.get(name)).rejects.toThrow(`${name} failed`);
      await setImmediate();
    },
  };
}

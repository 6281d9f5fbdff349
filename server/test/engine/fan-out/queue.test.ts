import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeWorkspace, parseControls } from '../../../src/app/workspaces.ts';
import type { WorkspaceControlTexts } from '../../../src/app/workspaces.ts';
import { timeZoneAliases } from '../../../src/domain/timing/local-time.ts';
import { quietUntil } from '../../../src/domain/workspace-controls.ts';
import { makePersonaliseDevices } from '../../../src/engine/fan-out/compose-message.ts';
import { makeDeliverToEligible } from '../../../src/engine/fan-out/deliver-to-eligible.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { WorkspaceChanges } from '../../../src/storage/workspaces.ts';
import { makeExperimentBundle } from '../../experiments/experiment-bundle.ts';
import type { ExperimentBundle } from '../../experiments/experiment-bundle.ts';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { AcceptOptions, FanOutBundle } from './fan-out-bundle.ts';

const hour = 3_600_000;

describe('the queue', () => {
  const phones = 60;
  const open = { queuing_enabled: true, queue_duration: 12 };
  let bundle: ExperimentBundle;
  beforeAll(async () => {
    bundle = await makeExperimentBundle();
    await bundle.addPhones(phones);
  });
  afterAll(() => bundle.close());
  beforeEach(async () => {
    bundle.answer(() => ({ kind: 'accepted' }));
    bundle.sent.length = 0;
    // A day that knows nothing of the one before.
    bundle.clock.advance(60 * 24 * hour);
    await setControls({ frequencyCaps: 'none', quietHours: 'none', quietMode: 'HOLD', minimumDelay: 'none' });
  });

  const ledgerOf = async (campaignId: string) =>
    Object.fromEntries(
      (
        await bundle.database`
          select outcome || coalesce(' ' || code, '') as what, count(*)::int as devices from readable_deliveries
          where campaign_id = ${campaignId} group by 1 order by 1`
      ).map(({ what, devices }) => [what, devices]),
    );

  test('sends once to users over the cap as soon as a message has left its window', async () => {
    await setControls({ frequencyCaps: '1/6h' });
    await bundle.live();
    expect(await bundle.deliver()).toHaveLength(phones);
    const sentAt = bundle.clock.now();
    bundle.clock.advance(hour);
    const id = await bundle.live({ delivery_controls: open });
    expect(await bundle.deliver()).toEqual([]);
    expect(await ledgerOf(id)).toEqual({ 'WAITING FREQUENCY_CAP': phones });
    expect((await bundle.get(id)).status).toBe('SENDING');
    const told = await bundle.explain(id, 'user-1');
    expect(told.runs[0]).toMatchObject({ step: 'FREQUENCY_CAP' });
    expect(told.runs[0].devices[0].until).toBe(new Date(sentAt.getTime() + 6 * hour).toISOString());
    bundle.clock.advance(sentAt.getTime() + 6 * hour - bundle.clock.now().getTime() - 1);
    expect(await retryAll()).toBe(0);
    bundle.clock.advance(1);
    expect(await retryAll()).toBe(phones);
    expect(new Set(bundle.sent.map(({ pushId }) => pushId)).size).toBe(phones);
    while ((await bundle.end()) > 0);
    expect(await ledgerOf(id)).toEqual({ ACCEPTED: phones });
    expect((await bundle.get(id)).status).toBe('SENT');
  });

  test('checks again at the due time, and waits for messages sent in between, until the queue ends', async () => {
    await setControls({ frequencyCaps: '1/8h' });
    await bundle.live();
    await bundle.deliver();
    bundle.clock.advance(hour);
    const id = await bundle.live({ delivery_controls: open });
    await bundle.deliver();
    bundle.clock.advance(7.5 * hour);
    // Somebody else is faster: the queue ends before his message has left the cap.
    await bundle.live();
    expect(await bundle.deliver()).toHaveLength(phones);
    expect(await retryAll()).toBe(0);
    expect(await ledgerOf(id)).toEqual({ 'WITHHELD FREQUENCY_CAP': phones });
    while ((await bundle.end()) > 0);
    expect((await bundle.get(id)).status).toBe('SENT');
    expect(
      (await bundle.variations(id, { startDate: '2026-01-01', endDate: '2027-01-01' })).all_variations,
    ).toMatchObject({
      failure_breakdown: { FREQUENCY_CAP: phones },
    });
  });

  test('waits for a minimum delay and for quiet hours that drop messages, unlike a campaign without a queue', async () => {
    await setControls({ minimumDelay: '120' });
    await bundle.live();
    await bundle.deliver();
    const plain = await bundle.live();
    const queued = await bundle.live({ delivery_controls: open });
    expect(await bundle.deliver()).toEqual([]);
    expect(await ledgerOf(plain)).toEqual({ 'WITHHELD MINIMUM_DELAY': phones });
    expect(await ledgerOf(queued)).toEqual({ 'WAITING MINIMUM_DELAY': phones });
    bundle.clock.advance(2 * hour);
    expect(await retryAll()).toBe(phones);
    const now = bundle.clock.now().toISOString().slice(11, 13);
    const next = String((Number(now) + 3) % 24).padStart(2, '0');
    await setControls({ minimumDelay: 'none', quietHours: `${now}:00-${next}:00`, quietMode: 'DROP' });
    const night = await bundle.live({ delivery_controls: open });
    expect(await bundle.deliver()).toEqual([]);
    expect(await ledgerOf(night)).toEqual({ 'WAITING QUIET_HOURS': phones });
    bundle.clock.advance(3 * hour);
    expect(await retryAll()).toBe(phones);
    while ((await bundle.end()) > 0);
  });

  test('survives its worker: another sends the claimed messages to the same devices under the same ids', async () => {
    await setControls({ frequencyCaps: '1/6h' });
    await bundle.live();
    await bundle.deliver();
    const id = await bundle.live({ delivery_controls: open });
    await bundle.deliver();
    bundle.sent.length = 0;
    bundle.clock.advance(6 * hour);
    bundle.answer(() => new Promise(() => {}));
    void bundle.retry();
    while (bundle.sent.length < phones) await new Promise((resolve) => setTimeout(resolve, 2));
    const first = bundle.sent.map(({ messageId }) => messageId);
    bundle.answer(() => ({ kind: 'accepted' }));
    expect(await retryAll()).toBe(0);
    bundle.clock.advance(61_000);
    await Promise.all([bundle.retry(), bundle.retry()]);
    while ((await bundle.retry()) > 0);
    expect(await ledgerOf(id)).toEqual({ ACCEPTED: phones });
    expect(
      bundle.sent
        .slice(phones)
        .map(({ messageId }) => messageId)
        .toSorted(),
    ).toEqual(first.toSorted());
    while ((await bundle.end()) > 0);
  });

  test('ends with a stop of the campaign', async () => {
    await setControls({ frequencyCaps: '1/6h' });
    await bundle.live();
    await bundle.deliver();
    const id = await bundle.live({ delivery_controls: open });
    await bundle.deliver();
    expect((await bundle.act(id, 'STOP')).statusCode).toBe(200);
    bundle.clock.advance(6 * hour);
    expect(await retryAll()).toBe(0);
    expect(await ledgerOf(id)).toEqual({ 'EXPIRED STOPPED': phones });
  });

  test('enforces a limit of the campaign: a number of its messages to a user within a time, in both spellings', async () => {
    const start = new Date(bundle.clock.now().getTime() + hour);
    const periodic = (controls: object) => ({
      ...{ campaign_delivery_type: 'PERIODIC', delivery_controls: controls },
      scheduling_details: {
        delivery_type: 'AT_FIXED_TIME',
        start_time: start.toISOString().slice(0, 19),
        periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 5 },
      },
    });
    const window = { enabled: true, max_count: 2, window_value: 3, window_unit: 'DAYS' };
    const sentDaily: Record<string, number[]> = {};
    const ids = [
      await bundle.live(periodic({ limit_send_config: window })),
      await bundle.live(periodic({ send_limit_value: 2, send_limit_granularity_in_hours: 72 })),
    ];
    bundle.clock.advance(start.getTime() + 60_000 - bundle.clock.now().getTime());
    for (let day = 0; day < 5; day += 1) {
      while ((await bundle.fire()) > 0);
      await bundle.deliver();
      for (const id of ids) {
        const { ACCEPTED: accepted = 0 } = await ledgerOf(id);
        (sentDaily[id] ??= []).push(accepted / phones);
      }
      bundle.clock.advance(24 * hour);
    }
    for (const id of ids) expect(sentDaily[id]).toEqual([1, 2, 2, 3, 4]);
    expect(await ledgerOf(ids[0]!)).toEqual({ ACCEPTED: 4 * phones, 'WITHHELD CAMPAIGN_SEND_LIMIT': phones });
    const told = await bundle.explain(ids[0]!, 'user-1');
    expect(told.runs.map(({ step }: { step: string }) => step)).toEqual([
      ...['ACCEPTED', 'ACCEPTED', 'CAMPAIGN_SEND_LIMIT', 'ACCEPTED', 'ACCEPTED'],
    ]);
  });

  test.each<[object, string]>([
    [{ send_limit_value: 1 }, 'send_limit_granularity_in_hours'],
    [{ send_limit_granularity_in_hours: 1 }, 'send_limit_value'],
    [{ limit_send_config: { enabled: true, max_count: 1, window_value: 1 } }, 'limit_send_config.window_unit'],
    [{ limit_send_config: { enabled: true } }, 'limit_send_config.max_count'],
  ])('rejects a draft with half a limit, %j, when it is published', async (controls, field) => {
    const id = await bundle.draft({ delivery_controls: controls });
    const { valid, errors } = (await bundle.call('POST', `/v5/campaigns/${id}/validate`)).json().data;
    expect([valid, errors[0].field]).toEqual([false, `delivery_controls.${field}`]);
  });

  function setControls(texts: Partial<WorkspaceControlTexts>): Promise<void> {
    const changes = parseControls({ ...texts } as WorkspaceControlTexts);
    return changeWorkspace(bundle, { id: bundle.workspaceId, ...changes } as never);
  }

  /** Sends what is due. @returns to how many phones */
  async function retryAll(): Promise<number> {
    const before = bundle.sent.length;
    while ((await bundle.retry()) > 0);
    return bundle.sent.length - before;
  }
});

describe('eligibility', () => {
  let bundle: FanOutBundle;
  beforeEach(async () => {
    bundle = await makeFanOutBundle();
  });
  afterEach(() => bundle.drop());

  const codes = async (runId: string) =>
    Object.fromEntries(
      (
        await bundle.database`
          select coalesce(code, outcome) as code, count(*) as devices from readable_deliveries as deliveries where run_id = ${runId}
          group by 1 order by 1`
      ).map((row) => [row.code as string, row.devices as number]),
    );

  describe('a frequency cap', () => {
    test('withholds messages above it with a row in the ledger, and passes them when its time is over', async () => {
      await bundle.addDevices(40);
      await setControls({ frequencyCaps: '2/1d,3/7d' });
      expect((await send()).counters).toEqual({ ACCEPTED: 40 });
      expect((await send()).counters).toEqual({ ACCEPTED: 40 });
      const third = await send();
      expect(third.counters).toEqual({ WITHHELD: 40 });
      expect(await codes(third.runId)).toEqual({ FREQUENCY_CAP: 40 });
      await bundle.end();
      expect(await bundle.states(third.campaignId)).toEqual({ campaign: 'SENT', run: 'SENT', reason: null });
      bundle.clock.advance(24 * hour);
      expect((await send()).counters).toEqual({ ACCEPTED: 40 });
      bundle.clock.advance(24 * hour);
      expect((await send()).counters).toEqual({ WITHHELD: 40 });
      expect(bundle.sent).toHaveLength(120);
    });

    test('applies to users: a message to two devices of a user counts once, even in two windows', async () => {
      await bundle.addDevices(12);
      await bundle.database`
        insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
          created_at, updated_at)
        select workspace_id, bucket, left(id, 16) || translate(right(id, 8), '0123456789abcdef', '123456789abcdef0'), user_id, 'tablet', platform, push_id || '-2', state,
          registered_at, created_at, updated_at from devices`;
      await setControls({ frequencyCaps: '1/1d' });
      expect((await send({}, 1)).counters).toEqual({ ACCEPTED: 24 });
      expect((await send({}, 1)).counters).toEqual({ WITHHELD: 24 });
    });

    test('holds for campaigns sent concurrently by several workers, and loses no message', async () => {
      await bundle.addDevices(120);
      await setControls({ frequencyCaps: '1/1d' });
      const runs = [await bundle.accept(), await bundle.accept(), await bundle.accept()];
      while ((await bundle.release()) > 0);
      await Promise.all([
        bundle.work({ owner: 'one', windowDevices: 7 }),
        bundle.work({ owner: 'two', windowDevices: 11 }),
      ]);
      const pushes = bundle.sent.map(({ pushId }) => pushId);
      expect(new Set(pushes).size).toBe(120);
      expect(pushes).toHaveLength(120);
      const counters = await Promise.all(runs.map(({ runId }) => bundle.counters(runId)));
      const sum = (outcome: string) => counters.reduce((total, counted) => total + (counted[outcome] ?? 0), 0);
      expect([sum('ACCEPTED'), sum('WITHHELD')]).toEqual([120, 240]);
    });

    test('is not used twice by a window that is sent again after a crash', async () => {
      await bundle.addDevices(10);
      await setControls({ frequencyCaps: '2/1d' });
      await send();
      const { runId } = await bundle.accept();
      await bundle.release();
      const [run, chunk] = [await bundle.run(runId), (await bundle.claim('first'))!];
      bundle.answer(() => new Promise(() => {}));
      const before = bundle.sent.length;
      void bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
      while (bundle.sent.length < before + 10) await new Promise((resolve) => setTimeout(resolve, 2));
      bundle.answer(() => ({ kind: 'accepted' }));
      bundle.clock.advance(61_000);
      await bundle.work({ owner: 'second' });
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 10 });
      const [row] = await bundle.database`select max(cardinality(run_ids)) as most from user_messages`;
      expect(row!.most).toBe(2);
    });

    test('does not count a message that no device accepted, immediately or after its attempts', async () => {
      await bundle.addDevices(30);
      await setControls({ frequencyCaps: '1/1d' });
      bundle.answer(({ pushId }) => {
        const number = Number(pushId.split('-').at(-1));
        if (number < 10) return { kind: 'rejected', code: 'TOO_BIG', detail: '' };
        return number < 20 ? { kind: 'unknown', code: 'TIMEOUT' } : { kind: 'accepted' };
      });
      const first = await send();
      expect(first.counters).toEqual({ ACCEPTED: 10, REJECTED: 10, WAITING: 10 });
      for (let round = 0; round < 20; round += 1) {
        bundle.clock.advance(20 * 60_000);
        await bundle.retry();
      }
      expect(await bundle.counters(first.runId)).toEqual({ ACCEPTED: 10, REJECTED: 10, FAILED: 10 });
      bundle.answer(() => ({ kind: 'accepted' }));
      expect((await send()).counters).toEqual({ ACCEPTED: 20, WITHHELD: 10 });
    });

    test('does not stop a push that ignores it, which counts only if requested (fact 3.4)', async () => {
      await bundle.addDevices(6);
      await setControls({ frequencyCaps: '2/1d' });
      await send({ settings: { ignoresCap: true, countsForCap: true } });
      await send({ settings: { ignoresCap: true, countsForCap: false } });
      expect((await send()).counters).toEqual({ ACCEPTED: 6 });
      expect((await send()).counters).toEqual({ WITHHELD: 6 });
      expect((await send({ settings: { ignoresCap: true, countsForCap: false } })).counters).toEqual({ ACCEPTED: 6 });
    });

    test('applies to pushes to named users like to others', async () => {
      await bundle.addDevices(3);
      await setControls({ frequencyCaps: '1/1d' });
      const targetUsers = [await bundle.userOf('user-1')];
      expect((await send({ targetUsers })).counters).toEqual({ ACCEPTED: 1 });
      expect((await send({ targetUsers })).counters).toEqual({ WITHHELD: 1 });
      expect((await send()).counters).toEqual({ ACCEPTED: 2, WITHHELD: 1 });
    });

    test('keeps thirty days of records per user, the longest possible cap or delay', async () => {
      await bundle.addDevices(1);
      await setControls({ frequencyCaps: '3/1d' });
      for (let day = 0; day < 33; day += 1) {
        bundle.clock.advance(24 * hour);
        await send();
      }
      const [row] = await bundle.database`select cardinality(run_ids) as kept, revision from user_messages`;
      expect(row).toEqual({ kept: 30, revision: 33 });
    });
  });

  describe('a minimum delay', () => {
    test('stops only another campaign that comes too soon and respects it', async () => {
      await bundle.addDevices(5);
      await setControls({ minimumDelay: '60' });
      await send();
      bundle.clock.advance(hour - 1);
      const tooSoon = await send({ settings: { ignoresMinimumDelay: false } });
      expect(await codes(tooSoon.runId)).toEqual({ MINIMUM_DELAY: 5 });
      bundle.clock.advance(1);
      expect((await send({ settings: { ignoresMinimumDelay: false } })).counters).toEqual({ ACCEPTED: 5 });
      expect((await send()).counters).toEqual({ ACCEPTED: 5 });
    });

    test('applies to a campaign with its own delay without settings of the workspace', async () => {
      await bundle.addDevices(5);
      const first = await send({ settings: { ownDelayHours: 2 } });
      const again = async () => {
        const [run] = await bundle.database`
          insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at)
          select to_char(row_number() over () + extract(epoch from ${bundle.clock.now()}::timestamptz), 'FM000000000000000000000000'),
            workspace_id, campaign_id, 1, 'QUEUED', day, ${new Date(bundle.clock.now().getTime() + hour)}, ${bundle.clock.now()}
          from runs where id = ${first.runId} returning id`;
        while ((await bundle.release()) > 0);
        await bundle.work();
        return codes(run!.id as string);
      };
      bundle.clock.advance(hour);
      expect(await again()).toEqual({ MINIMUM_DELAY: 5 });
      bundle.clock.advance(hour);
      expect(await again()).toEqual({ ACCEPTED: 5 });
    });
  });

  describe('quiet hours', () => {
    test('hold each user until the morning in the zone of the user, then send once, and the run ends', async () => {
      // 12:00 UTC: 21:00 in Tokyo, 23:00 in Melbourne, 05:00 in Los Angeles.
      await zoned(6, 'Asia/Tokyo');
      await zoned(6, 'Australia/Melbourne');
      await zoned(6, 'America/Los_Angeles');
      await bundle.addDevices(6);
      await setControls({ quietHours: '22:00-08:00' });
      const { runId, campaignId, counters } = await send();
      expect(counters).toEqual({ ACCEPTED: 12, WAITING: 12 });
      expect(await codes(runId)).toEqual({ ACCEPTED: 12, QUIET_HOURS: 12 });
      await bundle.end();
      expect((await bundle.states(campaignId)).run).toBe('SENDING');
      bundle.clock.advance(4 * hour - 1);
      expect(await bundle.retry()).toBe(0);
      bundle.clock.advance(1);
      expect(await bundle.retry()).toBe(6);
      expect(bundle.sent.filter(({ pushId }) => pushId.includes('Los_Angeles'))).toHaveLength(6);
      bundle.clock.advance(5 * hour);
      expect(await bundle.retry()).toBe(6);
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 24 });
      expect(bundle.sent).toHaveLength(24);
      const [most] =
        await bundle.database`select max(attempts) as attempts from readable_deliveries as deliveries where run_id = ${runId}`;
      expect(most!.attempts).toBe(1);
      await bundle.end();
      expect((await bundle.states(campaignId)).run).toBe('SENT');
    });

    test('count a held message when it is sent', async () => {
      await zoned(5, 'America/Los_Angeles');
      await setControls({ quietHours: '22:00-08:00', frequencyCaps: '1/1d' });
      const held = await send();
      const urgent = await send({ settings: { bypassesQuietHours: true } });
      expect(urgent.counters).toEqual({ ACCEPTED: 5 });
      bundle.clock.advance(4 * hour);
      await bundle.retry();
      expect(await codes(held.runId)).toEqual({ FREQUENCY_CAP: 5 });
      expect(await bundle.counters(held.runId)).toEqual({ WITHHELD: 5 });
    });

    test('drop messages if the workspace says so', async () => {
      await zoned(5, 'America/Los_Angeles');
      await setControls({ quietHours: '22:00-08:00', quietMode: 'DROP' });
      const { runId, counters } = await send();
      expect(counters).toEqual({ WITHHELD: 5 });
      expect(await codes(runId)).toEqual({ QUIET_HOURS: 5 });
    });

    test('hold a message that a provider asked to retry', async () => {
      await bundle.addDevices(3);
      await setControls({ quietHours: '12:01-13:00', frequencyCaps: '1/1d' });
      bundle.answer(() => ({ kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: 60 }));
      const { runId, counters } = await send();
      expect(counters).toEqual({ WAITING: 3 });
      bundle.answer(() => ({ kind: 'accepted' }));
      bundle.clock.advance(5 * 60_000);
      await bundle.retry();
      expect(await codes(runId)).toEqual({ QUIET_HOURS: 3 });
      expect(bundle.sent).toHaveLength(3);
      bundle.clock.advance(hour);
      await bundle.retry();
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 3 });
    });

    test('release a throttled run at its pace', async () => {
      await zoned(30, 'America/Los_Angeles');
      await setControls({ quietHours: '22:00-08:00' });
      const { runId } = await bundle.accept({ settings: { devicesPerMinute: 65 } });
      await bundle.release();
      const workers = [bundle.startWorkers({ windowDevices: 10 })];
      while ((await bundle.counters(runId)).WAITING !== 30) {
        await bundle.settled(runId, workers);
        bundle.clock.advance(10_000);
      }
      await workers[0]!.stop();
      bundle.clock.advance(5 * hour);
      const bySecond: number[] = [];
      while (((await bundle.counters(runId)).ACCEPTED ?? 0) < 30) {
        const before = bundle.sent.length;
        while ((await bundle.retry()) > 0);
        bySecond.push(bundle.sent.length - before);
        bundle.clock.advance(1_000);
        expect(bySecond.length).toBeLessThan(120);
      }
      for (let from = 0; from < bySecond.length; from += 1)
        expect(bySecond.slice(from, from + 60).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(65);
      expect(bySecond[0]).toBeLessThan(30);
    });

    test('return the quota of a throttled run for users who are held', async () => {
      await zoned(5, 'America/Los_Angeles');
      await setControls({ quietHours: '22:00-08:00', frequencyCaps: '1/1d' });
      const held = await send({ settings: { devicesPerMinute: 65 } });
      expect(held.counters).toEqual({ WAITING: 5 });
      expect((await send({ settings: { bypassesQuietHours: true } })).counters).toEqual({ ACCEPTED: 5 });
      bundle.clock.advance(4 * hour);
      await bundle.retry();
      expect(await codes(held.runId)).toEqual({ FREQUENCY_CAP: 5 });
      const [budget] = await bundle.database`select tokens from send_budgets where key = ${`run:${held.runId}`}`;
      expect(budget!.tokens).toBe(5);
    });
  });

  describe('a workspace without caps, quiet hours and delays', () => {
    test('causes no additional query in a run, and no records of its users', async () => {
      await bundle.addDevices(20);
      const { runId } = await send();
      expect((await bundle.database`select 1 from user_messages`).length).toBe(0);
      const ask = () => {
        throw new Error('the database was asked');
      };
      const database = Object.assign(ask, {
        kind: 'database',
        reach: { pool: { nextReceipt: ask } },
      }) as unknown as Database;
      const delivered: string[] = [];
      const deliver = makeDeliverToEligible({
        ...{ database, clock: bundle.clock, log: bundle.log },
        personaliseDevices: makePersonaliseDevices({ database }),
        async deliverToDevices(_run, addressees) {
          delivered.push(...addressees.map(({ device }) => device.id));
          return [];
        },
      });
      const device = {
        id: 'd',
        bucket: 0,
        userId: 'u',
        platform: 'ANDROID',
        provider: null,
        pushId: 'p',
        pushIdType: null,
        appId: null,
      } as const;
      await deliver(await bundle.run(runId), [{ device, attempt: 1 }]);
      expect(delivered).toEqual(['d']);
      await setControls({ frequencyCaps: '1/1d' });
      await expect(deliver(await bundle.run(runId), [{ device, attempt: 1 }])).rejects.toThrow(
        'the database was asked',
      );
    });
  });

  describe('the controls of a workspace', () => {
    test.each<[Partial<WorkspaceControlTexts>, string]>([
      [{ frequencyCaps: '5' }, 'Frequency caps are up to 5 rules such as 2/1d,5/7d'],
      [{ quietHours: '22-8' }, 'Quiet hours are two different times such as 22:00-08:00, or none.'],
      [{ minimumDelay: '0' }, 'The minimum delay is 1 to 10080 minutes, or none.'],
      [{ zoneAttribute: ' ' }, 'The attribute takes 1 to 256 characters.'],
    ])('are rejected with the possible values for %j', (texts, sentence) => {
      expect(() => parseControls(texts as WorkspaceControlTexts)).toThrow(sentence);
    });

    test('are kept when others change, and the table accepts nothing that the rules reject', async () => {
      await setControls({ frequencyCaps: '2/1d', quietHours: '22:00-08:00', minimumDelay: '60' });
      await setControls({ quietMode: 'DROP' });
      const read = async () =>
        (
          await bundle.database`
      select cap_messages, cap_hours, quiet_from, quiet_to, quiet_mode, minimum_delay_minutes from workspaces`
        )[0];
      expect(await read()).toEqual({
        ...{ cap_messages: [2], cap_hours: [24], quiet_from: '22:00', quiet_to: '08:00', quiet_mode: 'DROP' },
        minimum_delay_minutes: 60,
      });
      await setControls({ frequencyCaps: 'none', quietHours: 'none', minimumDelay: 'none' });
      expect(await read()).toMatchObject({
        cap_hours: [],
        quiet_from: null,
        quiet_to: null,
        minimum_delay_minutes: null,
      });
      const { database } = bundle;
      for (const wrong of [
        database`update workspaces set cap_messages = '{1}'`,
        database`update workspaces set cap_messages = '{0}', cap_hours = '{24}'`,
        database`update workspaces set cap_messages = '{1}', cap_hours = '{721}'`,
        database`update workspaces set quiet_from = '22:00'`,
        database`update workspaces set quiet_from = '22:00', quiet_to = '22:00'`,
        database`update workspaces set quiet_from = '9:00', quiet_to = '22:00'`,
        database`update workspaces set minimum_delay_minutes = 0`,
      ])
        await expect(wrong).rejects.toMatchObject({ code: '23514' });
    });
  });

  describe('a user with a stored time zone name outside the IANA names', () => {
    test('is held in the quiet hours of the meant zone, or fails alone, while all others are reached', async () => {
      const aliases = Object.keys(timeZoneAliases);
      const unknown = ['Mars/Phobos', '+05:30'];
      for (const name of [...aliases, ...unknown]) await zoned(1, name);
      await bundle.addDevices(40, 'plain');
      await setControls({ quietHours: '22:00-08:00' });
      const sent = await send();
      const noted = await bundle.database`
        select users.attributes ->> 'time_zone' as zone, outcome, code, retry_at as "retryAt"
        from readable_deliveries as deliveries join users on users.bucket = deliveries.bucket and users.id = deliveries.user_id
        where run_id = ${sent.runId}`;
      expect(noted).toHaveLength(aliases.length + unknown.length + 40);
      for (const { zone, outcome, code, retryAt } of noted) {
        if (zone === null) expect([outcome, code]).toEqual(['ACCEPTED', null]);
        else if (unknown.includes(zone as string)) expect([outcome, code]).toEqual(['FAILED', 'TIME_ZONE_UNKNOWN']);
        else {
          const question = { at: bundle.clock.now(), timeZone: timeZoneAliases[zone as string]!.zone };
          const until = quietUntil({ from: '22:00', to: '08:00', mode: 'HOLD' }, question);
          expect([zone, outcome, retryAt]).toEqual([zone, until ? 'WAITING' : 'ACCEPTED', until ?? null]);
        }
      }
      bundle.clock.advance(12 * hour);
      while ((await bundle.retry()) > 0);
      await bundle.end();
      expect(await bundle.states(sent.campaignId)).toEqual({ campaign: 'SENT', run: 'SENT', reason: null });
      expect(await bundle.counters(sent.runId)).toEqual({ ACCEPTED: 65, FAILED: 2 });
    });
  });

  function setControls(texts: Partial<WorkspaceControlTexts>): Promise<void> {
    const changes = parseControls({ ...texts } as WorkspaceControlTexts);
    return changeWorkspace(bundle, { id: bundle.workspaceId, ...changes } as WorkspaceChanges & { id: string });
  }

  /** Accepts a campaign and sends all of it. @returns what became of its devices */
  async function send(options: AcceptOptions = {}, windowDevices = 10) {
    const accepted = await bundle.accept(options);
    while ((await bundle.release()) > 0);
    await bundle.work({ windowDevices });
    return { ...accepted, counters: await bundle.counters(accepted.runId) };
  }

  async function zoned(count: number, timeZone: string): Promise<void> {
    await bundle.addDevices(count, timeZone);
    await bundle.database`
      update users set attributes = jsonb_build_object('time_zone', ${timeZone}::text)
      where customer_id like ${`${timeZone}-%`}`;
  }
});

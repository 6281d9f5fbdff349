import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeCampaignState } from '../../src/app/campaigns/change-campaign-state.ts';
import type { CampaignAction } from '../../src/domain/campaigns/campaign.ts';
import { parseTiming } from '../../src/domain/timing/push-timing.ts';
import type { TimingInput } from '../../src/domain/timing/push-timing.ts';
import type { Timing } from '../../src/domain/timing/timing.ts';
import { makeFireDueCampaigns } from '../../src/engine/scheduler.ts';
import { makeLog } from '../../src/log.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { makeFanOutBundle } from './fan-out/fan-out-bundle.ts';
import type { AcceptOptions, FanOutBundle } from './fan-out/fan-out-bundle.ts';

type Campaign = {
  deliveryType?: string;
  timing?: object;
  settings?: object;
  selector?: object;
  nextAt?: Date;
  status?: string;
};

describe('due campaigns', () => {
  const now = new Date('2026-03-02T12:00:00Z');
  const hoursAfter = (hours: number): Date => new Date(now.getTime() + hours * 3_600_000);

  let testDatabase: TestDatabase;
  let workspaceId: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    workspaceId = await insertTestWorkspace(testDatabase.database, now);
  });
  afterAll(() => testDatabase.drop());
  beforeEach(async () => {
    // Deleted, not truncated: of small tables that takes a tenth of the time.
    const tables = ['chunks', 'runs', 'campaigns', 'identifiers'];
    await testDatabase.database.unsafe(tables.map((table) => `delete from ${table}`).join('; '));
  });

  const identifier = (value: string) => ({ attribute: 'shop', isCustom: true, values: [value] });
  const laterAt = (at: Date) => {
    const text = at.toISOString();
    return { kind: 'later', at: text, date: text.slice(0, 10), time: text.slice(11, 19), timeZone: 'UTC' };
  };
  const daily = {
    ...{ kind: 'periodic', repeatAfterDays: 1, firstDate: '2026-03-02', endDate: '2026-12-31' },
    ...{ time: '12:00', timeZone: 'UTC' },
  };

  let told: number;

  test('count campaigns that fired and requests that started together, and wake once', async () => {
    expect(await fire()).toBe(0);
    expect(told).toBe(0);
    await addCampaign('campaign');
    await addCampaign('campaign of run', { status: 'SENDING' });
    await addJoinedRun('run', { selector: identifier('nobody') });
    expect(await fire()).toBe(2);
    expect(told).toBe(1);
  });

  test('wake the workers for a run to an audience and for one to named users', async () => {
    await addCampaign('audience');
    await fire();
    expect(told).toBe(1);
    await addIdentifier('one', 1);
    await addCampaign('named', { selector: identifier('one') });
    await fire();
    expect(told).toBe(1);
  });

  test.each(['BUSINESS_EVENT_TRIGGERED', 'EVENT_TRIGGERED'])(
    'end at their expiry, without a send, if they are of type %s',
    async (deliveryType) => {
      await addCampaign('campaign', { deliveryType });
      expect(await fire()).toBe(1);
      expect(await readCampaign('campaign')).toEqual({ status: 'RETIRED', reason: null, nextAt: null });
      expect(await readRuns()).toEqual([]);
    },
  );

  test('give a message its lifetime from the firing, extended by zones and best times', async () => {
    const settings = { ttlMinutes: { ANDROID: 120, IOS: 60, WEB: 60 } };
    const livesUntil = async (timing: object): Promise<Date> => {
      await testDatabase.database.unsafe('delete from runs; delete from campaigns');
      await addCampaign('campaign', { settings, timing });
      await fire();
      return (await readRuns())[0]!.sendUntil as Date;
    };
    const bestTime = { windowHours: 5, ifUnknown: 'SEND_AT_START', ifOutside: 'SEND_AT_END' };
    expect(await livesUntil({})).toEqual(hoursAfter(2));
    expect(await livesUntil({ bestTime })).toEqual(hoursAfter(7));
    // From UTC+14 to UTC-12.
    expect(await livesUntil({ inUserZone: 'SEND' })).toEqual(hoursAfter(28));
  });

  test('are late only if they are late in the last zone, if they are sent zone by zone', async () => {
    const dueAt = hoursAfter(-27);
    const timing = { inUserZone: 'SEND' };
    await addCampaign('in time', { timing, nextAt: dueAt });
    await addCampaign('too late', { timing, nextAt: new Date(dueAt.getTime() - 1) });
    await addCampaign('in one zone', { nextAt: dueAt });
    await fire();
    expect((await readRuns()).map(({ campaignId, status }) => [campaignId, status])).toEqual([
      ['in one zone', 'MISSED'],
      ['in time', 'QUEUED'],
      ['too late', 'MISSED'],
    ]);
  });

  test('reach at most a hundred named users, as when the request was accepted (decision D32)', async () => {
    await addIdentifier('hundred', 100);
    await addIdentifier('more', 101);
    for (const value of ['hundred', 'more', 'nobody']) await addCampaign(value, { selector: identifier(value) });
    await addCampaign('unknown', { selector: { attribute: 'no such', isCustom: false, values: ['a'] } });
    await fire();
    expect(await readRuns()).toMatchObject([
      { campaignId: 'hundred', status: 'SENDING', reason: null, users: 100 },
      {
        ...{ campaignId: 'more', status: 'FAILED', users: null },
        reason: 'targetUserAttributes: matches more than 100 users',
      },
      { campaignId: 'nobody', status: 'SENT', reason: null, users: 0 },
      { campaignId: 'unknown', status: 'FAILED', reason: 'targetUserAttributes.attribute is unknown' },
    ]);
    expect(await readCampaign('hundred')).toMatchObject({ status: 'SENDING', reason: null });
    expect(await readCampaign('nobody')).toMatchObject({ status: 'SENT', reason: null });
    expect(await readCampaign('more')).toEqual({
      ...{ status: 'FAILED', nextAt: null },
      reason: 'targetUserAttributes: matches more than 100 users',
    });
    const [row] = await testDatabase.database`select target_users as users from runs where campaign_id = 'hundred'`;
    expect(row!.users).toContainEqual([100, 'user 100']);
  });

  test('continue at the next occurrence after a failed run if they are periodic', async () => {
    const selector = { attribute: 'no such', isCustom: false, values: ['a'] };
    await addCampaign('campaign', { deliveryType: 'PERIODIC', timing: daily, selector });
    await fire();
    expect(await readRuns()).toMatchObject([{ status: 'FAILED' }]);
    expect(await readCampaign('campaign')).toEqual({ status: 'ACTIVE', reason: null, nextAt: hoursAfter(24) });
  });

  test('fail with the reason if they are one-time and were missed (decision D37)', async () => {
    await addCampaign('campaign', { nextAt: hoursAfter(-2) });
    await fire();
    expect(await readCampaign('campaign')).toEqual({
      ...{ status: 'FAILED', nextAt: null },
      reason: 'MISSED: 120 minutes late; at most 60 are allowed (CARILLON_LATE_SEND_MINUTES)',
    });
  });

  test('apply the same rules to a request that joined a campaign: current users, at most an hour late', async () => {
    await addIdentifier('one', 1);
    await addIdentifier('more', 101);
    const due: [id: string, value: string, dueAt: Date][] = [
      ['a', 'one', hoursAfter(-1)],
      ['b', 'one', new Date(hoursAfter(-1).getTime() - 1)],
      ['c', 'more', now],
      ['d', 'nobody', now],
      ['e', 'one', hoursAfter(1)],
    ];
    for (const [id, value, dueAt] of due) {
      await addCampaign(`campaign of ${id}`, {
        status: 'SENDING',
        settings: { ttlMinutes: { ANDROID: 180, IOS: 1, WEB: 1 } },
      });
      await addJoinedRun(id, { selector: identifier(value), dueAt });
    }
    expect(await fire()).toBe(4);
    expect(told).toBe(1);
    expect(await readRuns()).toMatchObject([
      { status: 'SENDING', reason: null, users: 1, sendUntil: hoursAfter(3) },
      { status: 'MISSED', reason: '60 minutes late; at most 60 are allowed (CARILLON_LATE_SEND_MINUTES)' },
      { status: 'FAILED', reason: 'targetUserAttributes: matches more than 100 users' },
      { status: 'SENT', users: 0 },
      { status: 'QUEUED', users: null },
    ]);
    const statuses = await Promise.all(
      due.map(async ([id]) => (await readCampaign(`campaign of ${id}`))!.status as string),
    );
    expect(statuses).toEqual(['SENDING', 'SENT', 'FAILED', 'SENT', 'SENDING']);
  });

  async function addCampaign(id: string, { deliveryType = 'ONE_TIME', ...more }: Campaign = {}): Promise<void> {
    const { database } = testDatabase;
    const { settings = {}, selector, nextAt = now, timing = {} } = more;
    await database`
      insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, settings,
        status, next_at, target_selector, created_by, created_at, updated_at)
      values (${id}, ${workspaceId}, ${id}, 'PUSH_API', ${deliveryType}, ${selector ? 'USER' : 'ALL_USERS'}, '{ANDROID}',
        '{}', ${database.json({ ...laterAt(nextAt), ...timing })}, ${database.json(settings)},
        ${more.status ?? (deliveryType === 'ONE_TIME' ? 'SCHEDULED' : 'ACTIVE')}, ${more.status === undefined ? nextAt : null},
        ${selector ? database.json(selector) : null}, 'test', ${now}, ${now})`;
  }

  /** A run of a request that joined a scheduled campaign. */
  async function addJoinedRun(
    id: string,
    { selector, dueAt = now }: { selector: object; dueAt?: Date },
  ): Promise<void> {
    const { database } = testDatabase;
    await database`
      insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, target_selector, due_at)
      values (${id}, ${workspaceId}, ${`campaign of ${id}`}, 0, 'QUEUED', '2026-03-02', ${now}, ${now},
        ${database.json(selector)}, ${dueAt})`;
  }

  async function addIdentifier(value: string, users: number): Promise<void> {
    await testDatabase.database`
      insert into identifiers (workspace_id, bucket, attribute, type, value, user_id)
      select ${workspaceId}, number % 256, 'shop', 'string', ${value}, 'user ' || number from generate_series(1, ${users}) as number`;
  }

  /** @returns how much the job did */
  async function fire(at = now): Promise<number> {
    told = 0;
    const log = makeLog({ level: 'silent', pretty: false });
    const onFired = (): void => void (told += 1);
    return makeFireDueCampaigns({ database: testDatabase.database, log, lateSendMinutes: 60, onFired }).runOnce(at);
  }

  async function readCampaign(id: string) {
    const [row] = await testDatabase.database`
      select status, status_reason as reason, next_at as "nextAt" from campaigns where id = ${id}`;
    return row;
  }

  async function readRuns() {
    const rows = await testDatabase.database`
      select campaign_id as "campaignId", status, status_reason as reason, send_until as "sendUntil",
        jsonb_array_length(target_users) as users from runs order by campaign_id, moment`;
    return [...rows];
  }
});

describe('the firing of campaigns', () => {
  let bundle: FanOutBundle;
  beforeEach(async () => {
    bundle = await makeFanOutBundle();
  });
  afterEach(() => bundle.drop());

  const minute = 60_000;

  const setClock = (instant: string): void => bundle.clock.anchor(new Date(instant));

  /** Accepts a campaign of the timing at the clock's time. */
  const schedule = async (input: Partial<TimingInput>, options: AcceptOptions = {}): Promise<string> =>
    (await bundle.accept({ ...options, timing: timing(input) })).campaignId;

  const occurrences = async (campaignId: string): Promise<string[]> =>
    (await runs(campaignId)).map(({ occurrence }) => occurrence);

  const change = (campaignId: string, action: CampaignAction) =>
    changeCampaignState(bundle, {
      workspaceId: bundle.workspaceId,
      campaignId,
      action,
      actor: { kind: 'system', name: 'a test' },
    });

  describe('an occurrence', () => {
    test('is fired once per campaign by 8 schedulers at the same time, for 1,000 due campaigns (fault F15, reliability R4)', async () => {
      await schedule({ type: 'later', date: '03/01/2026', time: '01:00 PM' });
      await bundle.database`
        insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
          next_at, created_by, created_at, updated_at)
        select lpad(to_hex(number), 24, '0'), workspace_id, name || number, source,
          case when number % 2 = 0 then 'PERIODIC' else 'ONE_TIME' end, audience, platforms, content,
          case when number % 2 = 0 then '{"kind": "periodic", "firstDate": "2026-03-01", "endDate": "2026-03-31",
            "time": "13:00", "timeZone": "UTC", "repeatAfterDays": 1}' else timing end,
          case when number % 2 = 0 then 'ACTIVE' else 'SCHEDULED' end,
          next_at, created_by, created_at, updated_at
        from campaigns cross join generate_series(1, 999) as number`;
      setClock('2026-03-01T13:00:00.400Z');
      const fired = await Promise.all(Array.from({ length: 8 }, () => fire()));
      expect(fired.reduce((sum, count) => sum + count, 0)).toBe(1_000);
      const [row] = await bundle.database`
        select count(*) as runs, count(distinct campaign_id) as campaigns, count(distinct moment) as moments,
          count(*) filter (where status = 'QUEUED') as queued from runs`;
      expect(row).toEqual({ runs: 1_000, campaigns: 1_000, moments: 1, queued: 1_000 });
      const states = await bundle.database`select status, count(*) from campaigns group by status order by status`;
      expect([...states]).toEqual([
        { status: 'ACTIVE', count: 499 },
        { status: 'SENDING', count: 501 },
      ]);
    });

    test('is not fired before its time', async () => {
      const id = await schedule({ type: 'later', date: '03/02/2026', time: '09:00 AM' });
      await fireAt('2026-03-02T08:59:59.999Z');
      expect(await runs(id)).toEqual([]);
      await fireAt('2026-03-02T09:00:00.000Z');
      expect(await runs(id)).toEqual([{ occurrence: '2026-03-02T09:00:00.000Z', status: 'QUEUED', reason: null }]);
      expect(await campaign(id)).toEqual({ status: 'SENDING', reason: null, nextAt: undefined });
    });

    test('gives the message its time to live from the firing, not from the request', async () => {
      await bundle.addDevices(3);
      const id = await schedule({ type: 'later', date: '03/20/2026', time: '09:00 AM' });
      await fireAt('2026-03-20T09:00:00Z');
      const [run] = await bundle.database`select send_until, day::text as day from runs where campaign_id = ${id}`;
      expect(run).toEqual({ send_until: new Date('2026-03-21T21:00:00Z'), day: '2026-03-20' });
      await workAll();
      expect(bundle.sent).toHaveLength(3);
      expect((await campaign(id)).status).toBe('SENT');
    });

    test('at 02:30 in New York happens once on the day that skips it (fault F9)', async () => {
      setClock('2026-03-06T12:00:00Z');
      const id = await schedule({ time: '02:30 AM', timezone: 'America/New_York' });
      await fireAt('2026-03-07T07:30:00Z', '2026-03-08T06:30:00Z', '2026-03-08T07:30:00Z', '2026-03-09T06:30:00Z');
      expect(await occurrences(id)).toEqual([
        '2026-03-07T07:30:00.000Z',
        '2026-03-08T07:30:00.000Z',
        '2026-03-09T06:30:00.000Z',
      ]);
    });

    test('at 01:30 in New York happens once on the day that has it twice (fault F10)', async () => {
      setClock('2026-10-31T12:00:00Z');
      const id = await schedule({ time: '01:30 AM', timezone: 'America/New_York' });
      await fireAt('2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z', '2026-11-02T06:30:00Z');
      expect(await occurrences(id)).toEqual(['2026-11-01T05:30:00.000Z', '2026-11-02T06:30:00.000Z']);
    });

    test('every third day keeps its local time over both clock changes (fault F11)', async () => {
      setClock('2026-03-06T15:00:00Z');
      const id = await schedule({ time: '09:00 AM', timezone: 'America/New_York', repeatAfter: '3' });
      // Each hour from 11:00 to 16:00 UTC; 09:00 there is 13:00 or 14:00. One at any other hour of the day would be MISSED.
      for (let at = bundle.clock.now().getTime(); at < Date.parse('2026-11-05T00:00:00Z'); at += 60 * minute)
        if (Math.abs(new Date(at).getUTCHours() - 13.5) < 3) await fireAt(new Date(at).toISOString());
      const all = await occurrences(id);
      expect(all.slice(0, 3)).toEqual([
        '2026-03-07T14:00:00.000Z',
        '2026-03-10T13:00:00.000Z',
        '2026-03-13T13:00:00.000Z',
      ]);
      expect(all.at(-1)).toBe('2026-11-02T14:00:00.000Z');
      expect(all).toHaveLength(81);
      expect((await runs(id)).every(({ status }) => status === 'QUEUED')).toBe(true);
    });
  });

  describe('a downtime (decision D37, fault F14)', () => {
    test('sends the occurrence once, late, after ten minutes', async () => {
      const id = await schedule({ type: 'later', date: '03/02/2026', time: '09:00 AM' });
      await fireAt('2026-03-02T09:10:00Z', '2026-03-02T09:11:00Z');
      expect(await runs(id)).toEqual([{ occurrence: '2026-03-02T09:00:00.000Z', status: 'QUEUED', reason: null }]);
    });

    test.each([
      { what: '60 minutes are sent', at: '2026-03-02T10:00:00.000Z', status: 'SENDING', run: 'QUEUED' },
      { what: 'a millisecond more is missed', at: '2026-03-02T10:00:00.001Z', status: 'FAILED', run: 'MISSED' },
    ])('has a limit for a one-time campaign: $what', async ({ at, status, run }) => {
      const id = await schedule({ type: 'later', date: '03/02/2026', time: '09:00 AM' });
      await fireAt(at);
      expect((await campaign(id)).status).toBe(status);
      expect((await runs(id)).map((row) => row.status)).toEqual([run]);
    });

    test('fails a missed one-time campaign with MISSED, and sends nothing', async () => {
      await bundle.addDevices(3);
      const id = await schedule({ type: 'later', date: '03/02/2026', time: '09:00 AM' });
      await fireAt('2026-03-02T11:00:00Z');
      await workAll();
      const reason = '120 minutes late; at most 60 are allowed (CARILLON_LATE_SEND_MINUTES)';
      expect(await campaign(id)).toEqual({ status: 'FAILED', reason: `MISSED: ${reason}`, nextAt: undefined });
      expect(await runs(id)).toEqual([{ occurrence: '2026-03-02T09:00:00.000Z', status: 'MISSED', reason }]);
      expect(bundle.sent).toEqual([]);
    });

    test('leaves MISSED rows of a daily campaign and one late send after three days, never a burst', async () => {
      const id = await schedule({ time: '09:00 AM' });
      await fireAt('2026-03-05T09:20:00Z');
      expect((await runs(id)).map(({ occurrence, status }) => `${occurrence.slice(5, 16)} ${status}`)).toEqual([
        '03-02T09:00 MISSED',
        '03-03T09:00 MISSED',
        '03-04T09:00 MISSED',
        '03-05T09:00 QUEUED',
      ]);
      expect(await campaign(id)).toEqual({ status: 'ACTIVE', reason: null, nextAt: '2026-03-06T09:00:00.000Z' });
    });

    test('sends nothing after three days if it ends too late for the last occurrence', async () => {
      const id = await schedule({ time: '09:00 AM' });
      await fireAt('2026-03-05T12:00:00Z');
      expect((await runs(id)).map(({ status }) => status)).toEqual(['MISSED', 'MISSED', 'MISSED', 'MISSED']);
      expect(await campaign(id)).toMatchObject({ status: 'ACTIVE', nextAt: '2026-03-06T09:00:00.000Z' });
    });

    test('sends only the last occurrence even with a limit of a week', async () => {
      const id = await schedule({ time: '09:00 AM' });
      setClock('2026-03-05T12:00:00Z');
      await fire({ lateSendMinutes: 10_080 });
      expect((await runs(id)).map(({ status }) => status)).toEqual(['MISSED', 'MISSED', 'MISSED', 'QUEUED']);
    });

    test('leaves the scheduler the minute it needs with a limit of 0', async () => {
      const ids = [
        await schedule({ type: 'later', date: '03/02/2026', time: '09:00 AM' }),
        await schedule({ type: 'later', date: '03/02/2026', time: '08:58 AM' }),
      ];
      setClock('2026-03-02T09:00:59Z');
      await fire({ lateSendMinutes: 0 });
      expect((await Promise.all(ids.map(runs))).flat().map(({ status }) => status)).toEqual(['QUEUED', 'MISSED']);
    });

    test('is recorded in bounded batches after a year, every occurrence once, by competing schedulers', async () => {
      const id = await schedule({ time: '09:00 AM', endDate: '12/31/2027' });
      setClock('2027-03-05T09:30:00Z');
      const job = makeFireDueCampaigns({ ...bundle, lateSendMinutes: 60, onFired() {} });
      expect(await job.runOnce(bundle.clock.now())).toBe(1);
      expect(await runs(id)).toHaveLength(100);
      await Promise.all(Array.from({ length: 4 }, () => fire()));
      const all = await runs(id);
      expect(all).toHaveLength(369);
      expect(new Set(all.map(({ occurrence }) => occurrence)).size).toBe(369);
      expect(all.filter(({ status }) => status === 'QUEUED').map(({ occurrence }) => occurrence)).toEqual([
        '2027-03-05T09:00:00.000Z',
      ]);
    });
  });

  describe('a periodic campaign', () => {
    test('is RETIRED when no occurrence is left and its last run has ended (decision D46)', async () => {
      await bundle.addDevices(4);
      const id = await schedule({ time: '09:00 AM', endDate: '03/03/2026' });
      await fireAt('2026-03-02T09:00:00Z');
      await workAll();
      expect(await campaign(id)).toMatchObject({ status: 'ACTIVE', nextAt: '2026-03-03T09:00:00.000Z' });
      await fireAt('2026-03-03T09:00:00Z');
      await bundle.end();
      expect(await campaign(id), 'its last run is under way').toMatchObject({ status: 'ACTIVE', nextAt: undefined });
      await workAll();
      expect(await campaign(id)).toMatchObject({ status: 'RETIRED' });
      expect((await runs(id)).map(({ status }) => status)).toEqual(['SENT', 'SENT']);
      expect(bundle.sent).toHaveLength(8);
    });

    test('is RETIRED, too, if its last occurrence was missed', async () => {
      const id = await schedule({ time: '09:00 AM', endDate: '03/02/2026' });
      await fireAt('2026-03-04T09:00:00Z');
      expect(await bundle.end()).toBe(1);
      expect((await campaign(id)).status).toBe('RETIRED');
    });

    test('continues after a failed run', async () => {
      const segmentId = 'f'.repeat(24);
      const id = await schedule({ time: '09:00 AM', endDate: '03/03/2026' }, { segmentId });
      await fireAt('2026-03-02T09:00:00Z');
      await workAll();
      expect(await runs(id)).toMatchObject([{ status: 'FAILED', reason: 'the segment no longer exists' }]);
      expect((await campaign(id)).status).toBe('ACTIVE');
      await fireAt('2026-03-03T09:00:00Z');
      await workAll();
      expect((await campaign(id)).status).toBe('RETIRED');
    });

    test('reaches the current members of its segment at each occurrence', async () => {
      await bundle.addDevices(6);
      const segmentId = 'a'.repeat(24);
      const { database, workspaceId } = bundle;
      await database`
        insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version,
          created_by, created_at, updated_at)
        values (${segmentId}, ${workspaceId}, 'Some', 'FILE', 'READY', 'API', 'u_em', 'string', 1, 'test',
          ${bundle.clock.now()}, ${bundle.clock.now()})`;
      const addMembers = (version: number, customerIds: string[]) => database`
        insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
        select workspace_id, bucket, ${segmentId}, id, ${version}::int from users where customer_id = any(${customerIds})`;
      await addMembers(1, ['user-0', 'user-1']);
      const id = await schedule({ time: '09:00 AM' }, { segmentId });
      await fireAt('2026-03-02T09:00:00Z');
      await workAll();
      expect(bundle.sent.map(({ pushId }) => pushId).sort()).toEqual(['push-user-0', 'push-user-1']);
      await addMembers(2, ['user-5']);
      await database`update segments set version = 2`;
      await fireAt('2026-03-03T09:00:00Z');
      await workAll();
      expect(
        bundle.sent
          .slice(2)
          .map(({ pushId }) => pushId)
          .sort(),
      ).toEqual(['push-user-0', 'push-user-1', 'push-user-5']);
      expect((await runs(id)).map(({ status }) => status)).toEqual(['SENT', 'SENT']);
    });
  });

  describe('pause and resume', () => {
    test('skips occurrences of a paused periodic campaign, which continues with the next one when resumed', async () => {
      const id = await schedule({ time: '09:00 AM' });
      await fireAt('2026-03-02T09:00:00Z');
      await workAll();
      expect(await change(id, 'pause')).toEqual({ kind: 'changed', status: 'PAUSED' });
      await fireAt('2026-03-03T09:00:00Z', '2026-03-04T09:00:00Z', '2026-03-05T08:59:00Z');
      expect(await change(id, 'resume')).toEqual({ kind: 'changed', status: 'ACTIVE' });
      expect(await campaign(id)).toEqual({ status: 'ACTIVE', reason: null, nextAt: '2026-03-05T09:00:00.000Z' });
      await fireAt('2026-03-05T09:00:00Z');
      expect(await occurrences(id)).toEqual(['2026-03-02T09:00:00.000Z', '2026-03-05T09:00:00.000Z']);
    });

    test('retires a periodic campaign that is resumed after its last occurrence', async () => {
      const id = await schedule({ time: '09:00 AM', endDate: '03/02/2026' });
      await change(id, 'pause');
      setClock('2026-03-04T09:00:00Z');
      await change(id, 'resume');
      await bundle.end();
      expect(await campaign(id)).toMatchObject({ status: 'RETIRED', nextAt: undefined });
      expect(await runs(id)).toEqual([]);
    });

    test('keeps the occurrence of a paused one-time campaign, with the rules for late ones when resumed', async () => {
      const [inTime, late] = [
        await schedule({ type: 'later', date: '03/02/2026', time: '09:00 AM' }),
        await schedule({ type: 'later', date: '03/02/2026', time: '07:00 AM' }),
      ];
      for (const id of [inTime, late]) await change(id, 'pause');
      await fireAt('2026-03-02T09:30:00Z');
      expect([await runs(inTime), await runs(late)]).toEqual([[], []]);
      for (const id of [inTime, late]) expect(await change(id, 'resume')).toMatchObject({ status: 'SCHEDULED' });
      await fire();
      expect([(await campaign(inTime)).status, (await campaign(late)).status]).toEqual(['SENDING', 'FAILED']);
    });

    test('stops a campaign in the middle of a send, and reaches the rest when it is resumed', async () => {
      await bundle.addDevices(40);
      const { campaignId, runId } = await bundle.accept();
      await bundle.release();
      const [chunk, run] = [(await bundle.claim('w'))!, await bundle.run(runId)];
      await bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
      expect(await change(campaignId, 'pause')).toEqual({ kind: 'changed', status: 'PAUSED' });
      expect(await bundle.states(campaignId)).toEqual({
        campaign: 'PAUSED',
        run: 'PAUSED',
        reason: 'the campaign is paused',
      });
      const [held] = await bundle.database`select bucket, position from run_cursors order by bucket desc limit 1`;
      expect(await bundle.sendWindow({ run, chunk, cursor: held as never })).toEqual({ kind: 'lost' });
      expect(bundle.sent).toHaveLength(10);
      await bundle.end();
      await change(campaignId, 'resume');
      bundle.clock.advance(2 * minute);
      await workAll();
      expect(new Set(bundle.sent.map(({ deviceId }) => deviceId)).size).toBe(40);
      expect(bundle.sent).toHaveLength(40);
      expect(await bundle.states(campaignId)).toEqual({ campaign: 'SENT', run: 'SENT', reason: null });
    });

    test('delays the start of a waiting run until it is resumed', async () => {
      await bundle.addDevices(5);
      const { campaignId } = await bundle.accept();
      await change(campaignId, 'pause');
      expect(await bundle.release()).toBe(0);
      await change(campaignId, 'resume');
      await workAll();
      expect(bundle.sent).toHaveLength(5);
    });
  });

  describe('a stop', () => {
    test('ends a scheduled or active campaign for good: nothing fires any more', async () => {
      for (const input of [{ type: 'later', date: '03/02/2026' } as const, {}]) {
        const id = await schedule({ time: '09:00 AM', ...input });
        expect(await change(id, 'stop')).toEqual({ kind: 'changed', status: 'STOPPED' });
        await fireAt('2026-03-02T09:00:00Z');
        expect(await runs(id)).toEqual([]);
        expect(await campaign(id)).toEqual({ status: 'STOPPED', reason: 'stopped by a test', nextAt: undefined });
        for (const action of ['pause', 'resume', 'stop'] as const)
          expect(await change(id, action)).toEqual({ kind: 'not-allowed', status: 'STOPPED' });
        setClock('2026-03-01T12:00:00Z');
      }
    });

    test('settles a window in flight, however far the clock is moved before the next check', async () => {
      await bundle.addDevices(10);
      const { campaignId, runId } = await bundle.accept();
      await bundle.release();
      const [chunk, run] = [(await bundle.claim('w'))!, await bundle.run(runId)];
      bundle.answer(async (_device, nth) => {
        if (nth === 1) await change(campaignId, 'stop');
        return { kind: 'unknown', code: 'RESET' };
      });
      await bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
      expect(await bundle.counters(runId)).toEqual({ WAITING: 10 });
      bundle.clock.setOffset(30 * 24 * 60 * minute);
      await bundle.end();
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'EXPIRED', devices: 10 }]);
      expect(await bundle.counters(runId)).toEqual({ EXPIRED: 10 });
    });

    test('ends the run: waiting retries are EXPIRED, and ledger and counters agree', async () => {
      await bundle.addDevices(40);
      bundle.answer((_device, nth) =>
        nth % 2 === 0 ? { kind: 'accepted' } : { kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: 5 },
      );
      const { campaignId, runId } = await bundle.accept();
      await bundle.release();
      const [chunk, run] = [(await bundle.claim('w'))!, await bundle.run(runId)];
      await bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 5, WAITING: 5 });
      await change(campaignId, 'stop');
      expect(await bundle.states(campaignId)).toEqual({
        campaign: 'STOPPED',
        run: 'STOPPED',
        reason: 'the campaign was stopped',
      });
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 5, EXPIRED: 5 });
      expect(await bundle.ledger(runId)).toEqual([
        { outcome: 'ACCEPTED', devices: 5 },
        { outcome: 'EXPIRED', devices: 5 },
      ]);
      bundle.clock.advance(10 * minute);
      expect(await bundle.retry()).toBe(0);
      await bundle.work();
      await bundle.end();
      expect(bundle.sent).toHaveLength(10);
      expect([...(await bundle.database`select state from chunks`)]).toEqual([{ state: 'DONE' }]);
    });

    test('keeps the outcomes of a window in flight, and settles waiting ones', async () => {
      await bundle.addDevices(20);
      const { campaignId, runId } = await bundle.accept();
      await bundle.release();
      const [barrier, sending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      bundle.answer(async (_device, nth) => {
        if (nth === 10) sending.resolve();
        await barrier.promise;
        return nth <= 4 ? { kind: 'accepted' } : { kind: 'wait', code: '503', scope: 'device' };
      });
      const [chunk, run] = [(await bundle.claim('w'))!, await bundle.run(runId)];
      const window = bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
      await sending.promise;
      expect(await change(campaignId, 'stop')).toEqual({ kind: 'changed', status: 'STOPPED' });
      barrier.resolve();
      const stored = await window;
      if (stored.kind !== 'sent') throw new Error(stored.kind);
      expect(await bundle.sendWindow({ run, chunk, cursor: stored.cursor })).toEqual({ kind: 'lost' });
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 4, WAITING: 6 });
      await bundle.end();
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 4, EXPIRED: 6 });
      expect(await bundle.ledger(runId)).toEqual([
        { outcome: 'ACCEPTED', devices: 4 },
        { outcome: 'EXPIRED', devices: 6 },
      ]);
    });

    test('leaves no run of a stopped campaign open, even against 8 schedulers at the same instant', async () => {
      const ids: string[] = [];
      for (let number = 0; number < 30; number += 1) ids.push(await schedule({ time: '09:00 AM' }));
      setClock('2026-03-02T09:00:00Z');
      await Promise.all([...Array.from({ length: 6 }, () => fire()), ...ids.map((id) => change(id, 'stop'))]);
      const [row] = await bundle.database`
        select count(*) filter (where campaigns.status = 'STOPPED') as stopped,
          count(*) filter (where exists (
            select 1 from runs where campaign_id = campaigns.id and runs.status in ('QUEUED', 'SENDING', 'PAUSED')
          )) as open
        from campaigns`;
      expect(row).toEqual({ stopped: 30, open: 0 });
    });

    test('does not find a campaign of another workspace', async () => {
      const id = await schedule({ time: '09:00 AM' });
      expect(
        await changeCampaignState(bundle, {
          workspaceId: 'OTHER',
          campaignId: id,
          action: 'stop',
          actor: { kind: 'system', name: 'a test' },
        }),
      ).toEqual({ kind: 'not-found' });
    });
  });

  test('continues with other due campaigns if one cannot be fired, logs it, and fires it once possible', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1)
      ids.push(await schedule({ type: 'later', date: '03/02/2026', time: '09:00 AM' }));
    const [poisoned, ...others] = ids as [string, string, string];
    const accept = await refuseRuns({ code: '22000', when: `new.campaign_id = '${poisoned}'` });
    await fireAt('2026-03-02T09:00:00Z');
    expect(await runs(poisoned)).toEqual([]);
    for (const id of others) expect(await runs(id)).toMatchObject([{ status: 'QUEUED' }]);
    expect(bundle.lines).toContainEqual(
      expect.objectContaining({ campaignId: poisoned, msg: 'campaign cannot be started; others go before it' }),
    );
    await accept();
    await fireAt('2026-03-02T09:00:02Z');
    expect(await runs(poisoned)).toMatchObject([{ status: 'QUEUED' }]);
  });

  test('fails as a job without blaming a campaign if the database is full, and fires all when it has space again', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 2; count += 1)
      ids.push(await schedule({ type: 'later', date: '03/02/2026', time: '09:00 AM' }));
    const accept = await refuseRuns({ code: '53100' });
    await expect(fireAt('2026-03-02T09:00:00Z')).rejects.toMatchObject({ code: '53100' });
    expect(bundle.lines).toEqual([]);
    await accept();
    await fireAt('2026-03-02T09:00:00Z');
    for (const id of ids) expect(await runs(id)).toMatchObject([{ status: 'QUEUED' }]);
  });

  describe('a campaign to named users', () => {
    const toUser = (customerId: string): AcceptOptions => ({
      audience: { kind: 'user', attribute: 'uid', isCustom: true, values: [customerId] },
      targetUsers: [],
    });
    const tomorrow = { type: 'later', date: '03/02/2026', time: '09:00 AM' } as const;

    test('looks up its users when it fires', async () => {
      const id = await schedule(tomorrow, toUser('late-0'));
      bundle.clock.advance(minute);
      await bundle.addDevices(1, 'late');
      await fireAt('2026-03-02T09:00:00Z');
      expect(await runs(id)).toMatchObject([{ status: 'SENDING' }]);
      await workAll();
      expect(bundle.sent.map(({ pushId }) => pushId)).toEqual(['push-late-0']);
      expect((await campaign(id)).status).toBe('SENT');
    });

    test('ends as SENT without recipients, run and campaign', async () => {
      const id = await schedule(tomorrow, toUser('nobody'));
      await fireAt('2026-03-02T09:00:00Z');
      expect((await campaign(id)).status).toBe('SENT');
      expect((await runs(id)).map(({ status }) => status)).toEqual(['SENT']);
    });
  });

  function timing(input: Partial<TimingInput>): Timing {
    const parsed = parseTiming({ type: 'periodic', endDate: '12/31/2026', repeatAfter: '1', ...input } as TimingInput, {
      now: bundle.clock.now(),
      workspaceTimeZone: 'UTC',
    });
    if ('fault' in parsed) throw new Error(`${parsed.fault.field} ${parsed.fault.reason}`);
    return parsed;
  }

  /** One scheduler, until nothing is due. */
  async function fire({ lateSendMinutes = 60 } = {}): Promise<number> {
    const job = makeFireDueCampaigns({ ...bundle, lateSendMinutes, onFired() {} });
    let fired = 0;
    for (let count = -1; count !== 0; fired += count) count = await job.runOnce(bundle.clock.now());
    return fired;
  }

  /** Moves the clock to each instant and fires there, as the job does second by second. */
  async function fireAt(...instants: string[]): Promise<void> {
    for (const instant of instants) {
      setClock(instant);
      await fire();
    }
  }

  async function runs(campaignId: string): Promise<{ occurrence: string; status: string; reason: string | null }[]> {
    const rows = await bundle.database`
      select moment, status, status_reason as reason from runs where campaign_id = ${campaignId} order by moment, id`;
    return rows.map((row) => ({ occurrence: row.moment?.toISOString() ?? '', status: row.status, reason: row.reason }));
  }

  async function campaign(id: string): Promise<{ status: string; reason: string | null; nextAt: string | undefined }> {
    const [row] = await bundle.database`
      select status, status_reason as reason, next_at from campaigns where id = ${id}`;
    return { status: row!.status, reason: row!.reason, nextAt: row!.next_at?.toISOString() };
  }

  /** Releases, sends and ends everything that can be. */
  async function workAll(): Promise<void> {
    while ((await bundle.release()) > 0);
    await bundle.work();
    while ((await bundle.end()) > 0);
  }

  /** The database refuses new runs, or those for which the condition holds. @returns ends it */
  async function refuseRuns({ code, when = 'true' }: { code: string; when?: string }): Promise<() => Promise<void>> {
    await bundle.database.unsafe(`
    create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'a row that cannot be' using errcode = '${code}'; end $$`);
    await bundle.database.unsafe(`
    create trigger refuse before insert on runs for each row when (${when}) execute function refuse()`);
    return async () => void (await bundle.database.unsafe('drop function refuse() cascade'));
  }
});

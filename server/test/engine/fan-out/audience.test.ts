import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lastIdAt, makeId } from '../../../src/domain/ids.ts';
import { freezeAudience, keepAudience } from '../../../src/engine/fan-out/audience.ts';
import { freezeShares, makeRunVariationOf } from '../../../src/engine/fan-out/experiments.ts';
import { groupBuckets } from '../../../src/engine/fan-out/retry-deliveries.ts';
import { bucketGroup } from '../../../src/engine/fan-out/runs.ts';
import { addLearned } from '../../../src/storage/campaigns/variations.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { campaign, faultsOf } from '../../campaigns/authoring-bundle.ts';
import { makeVariationBundle } from '../../experiments/variation-bundle.ts';
import type { VariationBundle } from '../../experiments/variation-bundle.ts';
import { insertSentRun } from '../../insert-sent-run.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const now = new Date('2026-03-02T12:00:00Z');

type Segment = {
  kind?: string;
  state?: string;
  filters?: object;
  uses?: string[];
  excluded?: object;
  version?: number;
};

describe('the frozen audience', () => {
  let testDatabase: TestDatabase;
  let workspaceId: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    workspaceId = await insertTestWorkspace(testDatabase.database, now);
    const { database } = testDatabase;
    await database`
      insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
      select ${workspaceId}, number, 'user ' || number, 'c' || number, jsonb_build_object('number', number), ${now}, ${now}
      from generate_series(1, 6) as number`;
    // Of five users a phone, of one a second one of another platform, and one is quiet: it allowed pushes on trial.
    const devices: [user: number, platform: string, isProvisional?: boolean][] = [
      [1, 'ANDROID'],
      [2, 'ANDROID'],
      [3, 'IOS'],
      [1, 'IOS'],
      [4, 'IOS', true],
      [5, 'WEB'],
    ];
    for (const [user, platform, isProvisional = false] of devices)
      await database`
        insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, provisional, registered_at,
          created_at, updated_at)
        values (${workspaceId}, ${user}, ${makeId(now)}, ${`user ${user}`}, ${platform}, ${platform}, 'p', 'ACTIVE',
          ${isProvisional}, ${now}, ${now}, ${now})`;
  });
  afterAll(() => testDatabase.drop());
  beforeEach(async () => {
    await testDatabase.database.unsafe('delete from triggers; delete from segment_members; delete from segments');
  });

  const freeze = (more: Partial<RunToSend> = {}) => {
    const run = {
      ...{ id: 'run', workspaceId, canonicalCampaignId: 'campaign', settings: {}, deliveryType: 'ONE_TIME' },
      ...{ platforms: ['ANDROID', 'IOS', 'WEB'], segmentId: null, variants: null, winner: null },
      controls: { controlGroupPercent: 50 },
      ...more,
    } as unknown as RunToSend;
    return freezeAudience(testDatabase.database, { run, now });
  };

  const on = (platform: string, devices: number) => ({
    ...{ platform, devices, users: devices, installed: devices },
  });

  test('consists, for a run to everyone, of all devices of its platforms that are registered so far', async () => {
    expect(await freeze()).toEqual({
      audience: {
        ...{ bound: lastIdAt(now), users: 6, segment: undefined, globalControlPercent: null, groupUsers: null },
        platforms: [on('ANDROID', 2), on('IOS', 3), on('WEB', 1)],
      },
    });
    expect(await freeze({ platforms: ['WEB'] })).toMatchObject({ audience: { platforms: [on('WEB', 1)] } });
    expect(await freeze({ settings: { iosDevices: 'PROVISIONAL' }, platforms: ['IOS'] })).toMatchObject({
      audience: { platforms: [on('IOS', 1)] },
    });
  });

  const withHighNumber = {
    filter_operator: 'and',
    filters: [
      { filter_type: 'user_attributes', name: 'number', data_type: 'double', operator: 'greaterThan', value: 3 },
    ],
  };

  describe('the audience of a run to a segment', () => {
    test('is the current version of a file segment', async () => {
      await addSegment('file');
      await addMember('file', 1);
      await addMember('file', 3, { addedIn: 2 });
      await addMember('file', 2, { removedIn: 2 });
      await addMember('file', 5, { addedIn: 3 });
      expect(await freeze({ segmentId: 'file' })).toEqual({
        audience: {
          ...{ bound: lastIdAt(now), users: 17, globalControlPercent: null, groupUsers: null },
          segment: { id: 'file', version: 2 },
          platforms: [on('ANDROID', 1), on('IOS', 2)],
        },
      });
    });

    test('is evaluated now for a filter segment, and stored under the run', async () => {
      await addSegment('filter', { kind: 'FILTER' });
      expect(await freeze({ segmentId: 'filter' })).toMatchObject({
        audience: { users: 3, segment: { id: 'run', version: 0 }, platforms: [on('IOS', 1), on('WEB', 1)] },
      });
      const rows = await testDatabase.database<{ userId: string }[]>`
        select user_id as "userId" from segment_members where segment_id = 'run' order by 1`;
      expect(rows.map(({ userId }) => userId)).toEqual(['user 4', 'user 5', 'user 6']);
    });

    test.each([
      ['is not there any more', undefined, 'the segment no longer exists'],
      ['is archived', 'ARCHIVED', 'the segment is archived'],
      ['could not be filled', 'FAILED', 'the segment could not be filled: no file'],
    ])('is missing, with the reason, if the segment %s', async (_what, state, reason) => {
      if (state !== undefined) await addSegment('file', { state });
      expect(await freeze({ segmentId: 'file' })).toEqual({ reason });
    });

    test('is missing if the segment refers to an archived one, which is named', async () => {
      await addSegment('file', { state: 'ARCHIVED' });
      const refers = {
        filter_operator: 'and',
        filters: [{ filter_type: 'custom_segments', id: 'file', name: 'the file' }],
      };
      await addSegment('filter', { kind: 'FILTER', filters: refers, uses: ['file'] });
      const reason = 'the segment is archived (segment the file, which this one refers to)';
      expect(await freeze({ segmentId: 'filter' })).toEqual({ reason });
      const campaign = { workspaceId, segmentId: 'filter' } as never;
      const kept = await inTransaction(testDatabase.database, (tx) =>
        keepAudience(tx, { campaign, users: [{ bucket: 4, userId: 'user 4' }], at: now }),
      );
      expect(kept).toEqual(new Set());
    });
  });

  test('consists, for a run started by user events, of the users of its triggers', async () => {
    for (const [user, runId] of [[1, 'run'] as const, [5, 'run'] as const, [3, 'other'] as const])
      await testDatabase.database`
        insert into triggers (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at, received_at, attributes,
          due_at, state, run_id, ended_at)
        values (${workspaceId}, ${user}, ${`user ${user}`}, 'campaign', 'Left', ${now}, ${now}, '{}', ${now}, 'SENT', ${runId},
          ${now})`;
    expect(await freeze({ deliveryType: 'EVENT_TRIGGERED', segmentId: 'file' })).toEqual({
      audience: {
        ...{ bound: lastIdAt(now), users: 2, segment: undefined, globalControlPercent: null, groupUsers: null },
        platforms: [on('ANDROID', 1), on('IOS', 1), on('WEB', 1)],
      },
    });
  });

  describe('the group counts at the start of a run', () => {
    const variants = (more: object = {}) => ({ locales: [], percents: [50, 50], contents: [], ...more }) as never;
    const groupsOf = async (more: Partial<RunToSend>) => {
      const frozen = await freeze(more);
      return 'audience' in frozen ? frozen.audience.groupUsers : frozen;
    };
    const usersOf = (groups: Awaited<ReturnType<typeof groupsOf>>) =>
      (groups as { users: number }[]).reduce((sum, { users }) => sum + users, 0);

    test('include the control groups of the workspace, if the campaign respects it, and of the campaign', async () => {
      const out = { leavesOutGlobalControlGroup: true };
      const all = { ...{ controls: { controlGroupPercent: 100 } as never }, settings: out };
      expect(await freeze(all)).toMatchObject({
        audience: {
          globalControlPercent: 100,
          groupUsers: ['ANDROID', 'IOS', 'WEB'].map((platform, index) => ({
            ...{ platform, group: 'GLOBAL_CONTROL_GROUP', variation: null, users: [2, 3, 1][index] },
          })),
        },
      });
      expect(await groupsOf({ settings: { controlGroupPercent: 100 } })).toMatchObject([
        { group: 'CAMPAIGN_CONTROL_GROUP', users: 2 },
        { group: 'CAMPAIGN_CONTROL_GROUP', users: 3 },
        { group: 'CAMPAIGN_CONTROL_GROUP', users: 1 },
      ]);
    });

    test('are kept per variation if there are several', async () => {
      const groups = await groupsOf({ variants: variants() });
      expect(usersOf(groups)).toBe(6);
      expect(new Set((groups as { variation: number }[]).map(({ variation }) => variation))).toEqual(new Set([1, 2]));
      expect(await groupsOf({ variants: variants({ percents: [100] }) })).toBeNull();
    });

    test('belong to the winner only once one is chosen', async () => {
      expect(await groupsOf({ variants: variants(), winner: 2 })).toEqual(
        ['ANDROID', 'IOS', 'WEB'].map((platform, index) => ({
          ...{ platform, group: null, variation: 2, users: [2, 3, 1][index] },
        })),
      );
    });

    test('have no variations in a learning run, because the assignment is not known yet', async () => {
      const learning = { by: 'CLICKS', floorPercent: 10 };
      expect(await groupsOf({ variants: variants({ learning }) })).toBeNull();
      const withGroup = await groupsOf({ variants: variants({ learning }), settings: { controlGroupPercent: 100 } });
      expect(withGroup).toMatchObject([{ variation: null }, { variation: null }, { variation: null }]);
    });

    test('include only members of the segment', async () => {
      await addSegment('file');
      await addMember('file', 3);
      expect(await groupsOf({ segmentId: 'file', settings: { controlGroupPercent: 100 } })).toEqual([
        { platform: 'IOS', group: 'CAMPAIGN_CONTROL_GROUP', variation: null, users: 1 },
      ]);
    });
  });

  async function addSegment(id: string, { kind = 'FILE', state = 'READY', ...more }: Segment = {}): Promise<void> {
    const { database } = testDatabase;
    const { filters = withHighNumber, uses = [], excluded } = more;
    const isFile = kind === 'FILE';
    const columns = database`${isFile ? 'ID' : null}, ${isFile ? 'string' : null}, ${isFile ? null : database.json(filters)},
    ${excluded ? database.json(excluded) : null}, ${isFile ? null : Buffer.alloc(32)}`;
    await database`
      insert into segments (id, workspace_id, name, kind, state, state_reason, archived_at, source, attribute_name,
        attribute_type, included_filters, excluded_filters, filters_digest, uses_segments, version, user_count, created_by,
        created_at, updated_at)
      values (${id}, ${workspaceId}, ${`the ${id}`}, ${kind}, ${state}, ${state === 'FAILED' ? 'no file' : null},
        ${state === 'ARCHIVED' ? now : null}, 'API', ${columns}, ${uses}, ${more.version ?? 2}, ${isFile ? 17 : null}, 'test',
        ${now}, ${now})`;
  }

  async function addMember(segmentId: string, user: number, { addedIn = 1, removedIn = null as number | null } = {}) {
    await testDatabase.database`
      insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in, removed_in)
      values (${workspaceId}, ${user}, ${segmentId}, ${`user ${user}`}, ${addedIn}, ${removedIn})`;
  }
});

describe('the shares of a learning run', () => {
  let testDatabase: TestDatabase;
  let workspaceId: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    workspaceId = await insertTestWorkspace(testDatabase.database, now);
    await insertSentRun(testDatabase.database, { workspaceId, id: 'run', at: now });
    await testDatabase.database`update runs set learns_by = 'CLICKS', contents_digest = 'digest'`;
  });
  afterAll(() => testDatabase.drop());
  beforeEach(async () => {
    await testDatabase.database`delete from run_variations`;
  });

  const learning = { by: 'CLICKS', floorPercent: 10 } as const;
  const freeze = (buckets: readonly number[]) =>
    freezeShares(testDatabase.database, {
      ...{ run: { id: 'run', workspaceId, canonicalCampaignId: 'run' }, buckets, learning, variations: 2 },
    });

  /** Of the second variation many were clicked, of the first none. */
  const learn = (bucket: number) =>
    addLearned(testDatabase.database, [
      { workspaceId, runId: 'run', bucket, variation: 1, trials: 500, successes: 0 },
      { workspaceId, runId: 'run', bucket, variation: 2, trials: 500, successes: 250 },
    ]);

  test('are empty for an empty bucket list, without a query', async () => {
    const noDatabase = undefined as unknown as Database;
    const asked = { run: { id: 'run', workspaceId, canonicalCampaignId: 'run' }, buckets: [], learning, variations: 2 };
    expect(await freezeShares(noDatabase, asked)).toEqual(new Map());
  });

  test('add up to a whole and try both variations before anything is learned', async () => {
    const shares = await freeze([7]);
    const [first, second] = shares.get(7)!;
    expect(first! + second!).toBe(10_000);
    expect(Math.min(first!, second!)).toBeGreaterThan(3_000);
  });

  test('follow what is known, except for the minimum share, and never change for a bucket', async () => {
    const before = await freeze([7]);
    await learn(9);
    const after = await freeze([3, 7, 3]);
    expect([...after.keys()]).toEqual([3, 7]);
    expect(after.get(7)).toEqual(before.get(7));
    expect(after.get(3)).toEqual([1_000, 9_000]);
    expect(await freeze([3, 7])).toEqual(after);
  });

  test('are equal for buckets that are frozen together', async () => {
    const shares = await freeze([200, 4, 90]);
    expect([...shares.keys()]).toEqual([4, 90, 200]);
    expect(new Set([...shares.values()].map(String)).size).toBe(1);
  });

  test('are equal on nodes that freeze a bucket at the same time', async () => {
    const [one, other] = await Promise.all([freeze([1, 2, 3]), freeze([3, 4])]);
    expect(one.get(3)).toEqual(other.get(3));
  });

  test('decide the variation of each user by the bucket', async () => {
    await learn(9);
    const users = Array.from({ length: 300 }, (_, number) => ({ bucket: number % 3, userId: `user ${number}` }));
    const variants = { locales: [], percents: [50, 50], contents: [[{}], [{}]], learning };
    const run = { id: 'run', workspaceId, canonicalCampaignId: 'run', variants } as unknown as RunToSend;
    const variationOf = (await makeRunVariationOf(testDatabase.database, { run, users }))!;
    const second = users.filter((user) => variationOf(user) === 2).length;
    // Nine tenths of them, as far as chance allows.
    expect(second).toBeGreaterThan(240);
    expect(second).toBeLessThan(295);
  });
});

type Asked = Parameters<typeof bucketGroup>[0];

describe('the bucket group of a window', () => {
  const all = { bucketFrom: 0, bucketTo: 255 };
  const quarter = { bucketFrom: 64, bucketTo: 127 };
  const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, index) => first + index);

  test('is one bucket of a large audience', () => {
    const groups = groupsOf({ run: { audienceDevices: 1_000_000 }, chunk: quarter });
    expect(groups).toEqual(from(64, 64).map((bucket) => [bucket]));
  });

  test('has as many buckets as fill a window', () => {
    // 78 devices a bucket: three of them are 234.
    const groups = groupsOf({ run: { audienceDevices: 20_000 }, chunk: { bucketFrom: 16, bucketTo: 31 } });
    expect(groups).toEqual([from(16, 3), from(19, 3), from(22, 3), from(25, 3), from(28, 3), [31]]);
  });

  test('has many or all buckets of a small audience, and one bucket of an audience of unknown size', () => {
    expect(groupsOf({ run: { audienceDevices: 0 }, chunk: all })).toEqual([from(0, 256)]);
    expect(groupsOf({ run: { audienceDevices: 1_000 }, chunk: all })).toEqual([from(0, 256)]);
    // Four windows of 250 each, and what is left.
    expect(groupsOf({ run: { audienceDevices: 5_000 }, chunk: all }).map(({ length }) => length)).toEqual([
      51, 51, 51, 51, 51, 1,
    ]);
    expect(groupsOf({ run: {}, chunk: all })).toHaveLength(256);
  });

  test('has the buckets of named users, with as many users as fit into a window', () => {
    const users = (bucket: number, count: number) =>
      Array.from({ length: count }, (): [number, string] => [bucket, 'u']);
    const targetUsers = [...users(200, 100), ...users(3, 100), ...users(7, 150), ...users(9, 300)];
    expect(groupsOf({ run: { targetUsers }, chunk: all })).toEqual([[3, 7], [9], [200]]);
    expect(groupsOf({ run: { targetUsers }, chunk: quarter })).toEqual([]);
  });

  test('continues in the bucket of the cursor', () => {
    const run = { targetUsers: null, audienceDevices: 1_000_000, audienceUsers: null, settings: {}, isTest: false };
    const cursor = { bucket: 70, position: 'somebody' };
    expect(bucketGroup({ run, chunk: quarter, cursor, windowDevices: 250 })).toEqual({ buckets: [70], next: 71 });
  });
});

describe('grouping of due buckets', () => {
  const due = (...devices: number[]) =>
    devices.map((count, bucket) => ({ bucket, runNumbers: [bucket % 2], devices: count }));
  const grouped = (devices: number[], maxBuckets: number) =>
    groupBuckets(due(...devices), { maxDevices: 500, maxBuckets }).map(({ buckets, devices: count }) => [
      buckets.join(' '),
      count,
    ]);

  test.each<[string, { devices: number[]; maxBuckets: number; groups: unknown }]>([
    ['nothing due', { devices: [], maxBuckets: 256, groups: [] }],
    ['few devices in one group', { devices: [1, 2, 3], maxBuckets: 256, groups: [['0 1 2', 6]] }],
    [
      'a batch a group, in the order of the buckets',
      {
        devices: [300, 200, 1, 499, 400],
        maxBuckets: 256,
        groups: [
          ['0 1', 500],
          ['2 3', 500],
          ['4', 400],
        ],
      },
    ],
    [
      'a bucket with more than a batch in several groups',
      {
        devices: [1100, 300],
        maxBuckets: 256,
        groups: [
          ['0', 500],
          ['0', 500],
          ['0 1', 400],
        ],
      },
    ],
    [
      'one bucket a group on a cluster',
      {
        devices: [1, 700],
        maxBuckets: 1,
        groups: [
          ['0', 1],
          ['1', 500],
          ['1', 200],
        ],
      },
    ],
  ])('creates %s', (_what, { devices, maxBuckets, groups }) => {
    expect(grouped(devices, maxBuckets)).toEqual(groups);
  });

  test('lists each run of a group once', () => {
    const [group] = groupBuckets(due(1, 1, 1, 1), { maxDevices: 500, maxBuckets: 256 });
    expect(group!.runNumbers).toEqual([0, 1]);
  });
});

describe('a best-time campaign', () => {
  const hour = 3_600_000;
  const phones = 40;
  /** Who opens what is sent at noon how many hours later; the others open nothing. */
  const evening = ['user-0', 'user-1', 'user-2'];
  const atOnce = ['user-3', 'user-4'];
  const night = ['user-5'];
  const seldom = ['user-6'];
  let bundle: VariationBundle;

  beforeAll(async () => {
    bundle = await makeVariationBundle();
    await bundle.addPhones(phones);
    for (let day = 0; day < 3; day += 1) {
      await bundle.live();
      await bundle.deliver();
      bundle.clock.advance(10 * 60_000);
      await bundle.report(atOnce, 'click');
      bundle.clock.advance(7 * hour);
      await bundle.report(day === 0 ? [...evening, ...seldom] : evening, 'click');
      // A click that comes again is none, and one that was seen is not opened.
      await bundle.report(seldom, 'impression');
      bundle.clock.advance(6 * hour);
      await bundle.report(night, 'click');
      advanceTo(new Date(bundle.clock.now().getTime() + 12 * hour));
    }
  });
  afterAll(() => bundle.close());
  beforeEach(() => {
    bundle.sent.length = 0;
  });

  const startAt = (inHours: number) => new Date(bundle.clock.now().getTime() + inHours * hour);
  const best = (start: Date, details?: object) => ({
    scheduling_details: {
      ...{ delivery_type: 'SEND_IN_BTS', start_time: start.toISOString().slice(0, 19), timezone: 'UTC' },
      ...(details && { bts_details: details }),
    },
  });

  const noonAfter = () => {
    const at = startAt(25);
    return new Date(`${at.toISOString().slice(0, 10)}T12:00:00Z`);
  };
  const after = (start: Date, hours: number) => new Date(start.getTime() + hours * hour);

  test('reaches each user once at the usual hour of that user, and the others at the start, in one run', async () => {
    const start = noonAfter();
    const id = await bundle.live(best(start));
    expect((await bundle.get(id)).scheduling_details).toMatchObject({
      delivery_type: 'SEND_IN_BTS',
      bts_details: {
        ...{ window_in_hours: 24, if_best_time_is_unknown: 'SEND_AT_START' },
        if_best_time_is_outside: 'SEND_AT_START',
      },
    });
    const special = [...evening, ...night];
    const first = await at(start);
    expect(first).toHaveLength(phones - special.length);
    for (const name of [...atOnce, ...seldom]) expect(first).toContain(name);
    const told = await bundle.explain(id, evening[0]!);
    expect(told.runs[0]).toMatchObject({
      step: 'BEST_TIME',
      devices: [{ code: 'BEST_TIME', until: after(start, 7).toISOString() }],
    });
    expect(await at(new Date(after(start, 7).getTime() - 1))).toEqual([]);
    expect(await at(after(start, 7))).toEqual(evening);
    expect((await bundle.get(id)).status).toBe('SENDING');
    expect(await at(after(start, 13))).toEqual(night);
    expect((await bundle.get(id)).status).toBe('SENT');
    expect(await bundle.runs(id)).toHaveLength(1);
  });

  test('reaches users with a later best time at the end of its window, and users without one not at all', async () => {
    const start = noonAfter();
    const id = await bundle.live(
      best(start, {
        ...{ window_in_hours: 9, if_best_time_is_outside: 'SEND_AT_END', if_best_time_is_unknown: 'DO_NOT_SEND' },
      }),
    );
    expect(await at(start)).toEqual(atOnce);
    expect(await at(after(start, 7))).toEqual(evening);
    expect(await at(after(start, 9))).toEqual(night);
    const codes = await bundle.database`
      select outcome, code, count(*)::int as devices from readable_deliveries where campaign_id = ${id} group by 1, 2 order by 1`;
    expect([...codes]).toEqual([
      { outcome: 'ACCEPTED', code: null, devices: 6 },
      { outcome: 'WITHHELD', code: 'BEST_TIME', devices: phones - 6 },
    ]);
  });

  test('keeps the hour of each user when a worker crashes while planning or sending', async () => {
    const start = noonAfter();
    const id = await bundle.live(best(start));
    bundle.clock.advance(start.getTime() - bundle.clock.now().getTime());
    await bundle.fire();
    while ((await bundle.release()) > 0);
    const [{ id: runId }] = await bundle.runs(id);
    bundle.answer(() => new Promise(() => {}));
    const chunk = (await bundle.claim('lost'))!;
    void bundle.sendWindow({ run: await bundle.run(runId), chunk, cursor: { bucket: 0, position: '' } });
    while (bundle.sent.length < 3) await new Promise((resolve) => setTimeout(resolve, 2));
    bundle.answer(() => ({ kind: 'accepted' }));
    expect(await at(new Date(start.getTime() + 61_000))).toHaveLength(phones - evening.length - night.length);
    bundle.clock.advance(after(start, 7).getTime() - bundle.clock.now().getTime());
    bundle.answer(() => new Promise(() => {}));
    const before = bundle.sent.length;
    void bundle.retry();
    while (bundle.sent.length < before + evening.length) await new Promise((resolve) => setTimeout(resolve, 2));
    bundle.answer(() => ({ kind: 'accepted' }));
    expect(await at(new Date(bundle.clock.now().getTime() + 61_000))).toEqual(evening);
    expect(await at(after(start, 13))).toEqual(night);
    const [counted] = await bundle.database`
      select count(*)::int as devices, count(*) filter (where outcome = 'ACCEPTED')::int as accepted
      from readable_deliveries where run_id = ${runId}`;
    expect(counted).toEqual({ devices: phones, accepted: phones });
  });

  test('plans again on each day if it is periodic, and returns its settings through V1', async () => {
    const start = noonAfter();
    const id = await bundle.live({
      ...{ campaign_delivery_type: 'PERIODIC' },
      scheduling_details: {
        ...best(start, { window_in_hours: 8 }).scheduling_details,
        periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 2 },
      },
    });
    const found = await bundle.call('POST', '/v1/campaigns/search', {
      ...{ request_id: 'r', limit: 1, page: 1, campaign_fields: { id } },
    });
    expect(found.json()[0]).toMatchObject({
      scheduling_details: { delivery_type: 'SEND_IN_BTS', bts_details: { window_in_hours: 8 } },
    });
    expect(await at(start)).toHaveLength(phones - evening.length);
    expect(await at(after(start, 7))).toEqual(evening);
    expect(await at(after(start, 24))).toHaveLength(phones - evening.length);
    expect(await at(after(start, 31))).toEqual(evening);
  });

  const faults = async (more: object) =>
    faultsOf(await bundle.call('POST', '/v5/campaigns', campaign({ scheduling_details: more })));
  const path = 'scheduling_details.';

  test.each<[string, object, string]>([
    [
      'hours of more than a day',
      best(new Date('2027-01-01'), { window_in_hours: 25 }).scheduling_details,
      `${path}bts_details.window_in_hours must be a whole number from 1 to 24.`,
    ],
    [
      'an unknown member',
      best(new Date('2027-01-01'), { a: 1 }).scheduling_details,
      `${path}bts_details.a is not available in this version.`,
    ],
    [
      'details of another kind of send',
      { delivery_type: 'AT_FIXED_TIME', start_time: '2027-01-01T00:00:00', bts_details: { window_in_hours: 2 } },
      `${path}bts_details needs SEND_IN_BTS.`,
    ],
  ])('is rejected for %s, which are named', async (_name, details, sentence) => {
    expect(await faults(details)).toEqual([sentence]);
  });

  function advanceTo(at: Date): void {
    const noon = new Date(`${at.toISOString().slice(0, 10)}T12:00:00Z`);
    bundle.clock.advance(Math.max(0, noon.getTime() - bundle.clock.now().getTime()));
  }

  /** Everything that is due at the instant. @returns to whom it went, by name */
  async function at(instant: Date): Promise<string[]> {
    bundle.clock.advance(instant.getTime() - bundle.clock.now().getTime());
    await bundle.fire();
    const sent = await bundle.deliver();
    const before = bundle.sent.length;
    while ((await bundle.retry()) > 0);
    while ((await bundle.end()) > 0);
    return [...sent, ...bundle.sent.slice(before).map(({ pushId }) => pushId.replace('push-', ''))].toSorted();
  }
});

/** Every group of a chunk, one after another, each from where the one before ended. */
function groupsOf({ run, chunk }: { run: Partial<Asked['run']>; chunk: Asked['chunk'] }): number[][] {
  const groups: number[][] = [];
  let cursor = { bucket: 0, position: '' };
  for (;;) {
    const asked = {
      run: { targetUsers: null, audienceDevices: null, audienceUsers: null, settings: {}, isTest: false, ...run },
      chunk,
      cursor,
      windowDevices: 250,
    };
    const group = bucketGroup(asked);
    if (!group) return groups;
    groups.push(group.buckets);
    if (group.next === undefined) return groups;
    cursor = { bucket: group.next, position: '' };
  }
}

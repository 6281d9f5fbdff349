import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lastIdAt, makeId } from '../../../src/domain/ids.ts';
import { freezeAudience, keepAudience } from '../../../src/engine/fan-out/audience.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const now = new Date('2026-03-02T12:00:00Z');

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

test('the audience of a run to everybody is all devices of its platforms that registered until now', async () => {
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
  filters: [{ filter_type: 'user_attributes', name: 'number', data_type: 'double', operator: 'greaterThan', value: 3 }],
};

type Segment = {
  kind?: string;
  state?: string;
  filters?: object;
  uses?: string[];
  excluded?: object;
  version?: number;
};

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

describe('the audience of a run to a segment', () => {
  test('of a file is that of its version now', async () => {
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

  test('of filters is found now, and stored under the run', async () => {
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
  ])('that %s is none, with the reason', async (_what, state, reason) => {
    if (state !== undefined) await addSegment('file', { state });
    expect(await freeze({ segmentId: 'file' })).toEqual({ reason });
  });

  test('that refers to one which is archived is none, and names it', async () => {
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

test('the audience of a run that users’ events started is those whose triggers it answers', async () => {
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

describe('users of control groups and of variations are counted at the start', () => {
  const variants = (more: object = {}) => ({ locales: [], percents: [50, 50], contents: [], ...more }) as never;
  const groupsOf = async (more: Partial<RunToSend>) => {
    const frozen = await freeze(more);
    return 'audience' in frozen ? frozen.audience.groupUsers : frozen;
  };
  const usersOf = (groups: Awaited<ReturnType<typeof groupsOf>>) =>
    (groups as { users: number }[]).reduce((sum, { users }) => sum + users, 0);

  test('for the share of the workspace, where the campaign leaves it out, and for its own', async () => {
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

  test('by variation, where there are several', async () => {
    const groups = await groupsOf({ variants: variants() });
    expect(usersOf(groups)).toBe(6);
    expect(new Set((groups as { variation: number }[]).map(({ variation }) => variation))).toEqual(new Set([1, 2]));
    expect(await groupsOf({ variants: variants({ percents: [100] }) })).toBeNull();
  });

  test('all as those of the winner, once one is named', async () => {
    expect(await groupsOf({ variants: variants(), winner: 2 })).toEqual(
      ['ANDROID', 'IOS', 'WEB'].map((platform, index) => ({
        ...{ platform, group: null, variation: 2, users: [2, 3, 1][index] },
      })),
    );
  });

  test('without variations where these are learned: who gets which is not known yet', async () => {
    const learning = { by: 'CLICKS', floorPercent: 10 };
    expect(await groupsOf({ variants: variants({ learning }) })).toBeNull();
    const withGroup = await groupsOf({ variants: variants({ learning }), settings: { controlGroupPercent: 100 } });
    expect(withGroup).toMatchObject([{ variation: null }, { variation: null }, { variation: null }]);
  });

  test('of a segment’s members alone', async () => {
    await addSegment('file');
    await addMember('file', 3);
    expect(await groupsOf({ segmentId: 'file', settings: { controlGroupPercent: 100 } })).toEqual([
      { platform: 'IOS', group: 'CAMPAIGN_CONTROL_GROUP', variation: null, users: 1 },
    ]);
  });
});

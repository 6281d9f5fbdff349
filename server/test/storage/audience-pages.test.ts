import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAllUsersPage, findSegmentPage, findTargetUsersPage } from '../../src/storage/campaigns/audience.ts';
import type { AudiencePage, PagedDevice } from '../../src/storage/campaigns/audience.ts';
import type { Cursor } from '../../src/storage/runs/chunks.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

let bundle: Awaited<ReturnType<typeof createTestDatabase>>;
let workspaceId: string;
const at = new Date('2026-03-01T12:00:00Z');
const segmentId = '5'.repeat(24);
/** Twenty users in buckets 3, 4, 127 and 200, with two devices each. */
const buckets = [3, 4, 127, 200];
let users: { bucket: number; id: string }[];

beforeAll(async () => {
  bundle = await createTestDatabase();
  const { database } = bundle;
  workspaceId = await insertTestWorkspace(database, at);
  users = await database<{ bucket: number; id: string }[]>`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    select ${workspaceId}, (${buckets}::int[])[1 + number % 4], lpad(number::text, 24, 'c'), 'c' || number, ${at}, ${at}
    from generate_series(1, 20) as number
    returning bucket, id`;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
      created_at, updated_at)
    select workspace_id, bucket, md5(id || number)::char(24), id, 'phone ' || number, 'ANDROID', id || number, 'ACTIVE',
      ${at}, ${at}, ${at}
    from users, generate_series(1, 2) as number where workspace_id = ${workspaceId}`;
  await database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
      created_at, updated_at)
    values (${segmentId}, ${workspaceId}, 'All', 'FILE', 'READY', 'API', 'uid', 'string', 'test', ${at}, ${at})`;
  await database`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select workspace_id, bucket, ${segmentId}, id, 1 from users where workspace_id = ${workspaceId}`;
});
afterAll(() => bundle.drop());

type Reading = { buckets: number[]; after?: Cursor; limit?: number };

const audiences: Record<string, (reading: Reading) => Promise<PagedDevice[]>> = {
  'all users': (reading) => findAllUsersPage(bundle.database, pageOf(reading)),
  'named users': (reading) => {
    const targetUsers = users.map(({ bucket, id }): [number, string] => [bucket, id]);
    return findTargetUsersPage(bundle.database, { ...pageOf(reading), targetUsers });
  },
  'a segment': (reading) => findSegmentPage(bundle.database, { ...pageOf(reading), segmentId, version: 1 }),
};

function pageOf({ buckets, after = { bucket: buckets[0]!, position: '' }, limit = 100 }: Reading): AudiencePage {
  const reached = { platforms: ['ANDROID' as const], iosProvisional: null, bound: 'g'.repeat(24) };
  return { workspaceId, ...reached, buckets, after, limit };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test.each(Object.keys(audiences))('%s: a page has the devices of its buckets and of no other', async (audience) => {
  const read = async (asked: number[]) =>
    new Set((await audiences[audience]!({ buckets: asked })).map(({ bucket }) => bucket));
  expect(await read([3])).toEqual(new Set([3]));
  expect(await read([5])).toEqual(new Set());
  expect(await read([3, 4, 5])).toEqual(new Set([3, 4]));
  expect(await read(range(100, 255))).toEqual(new Set([127, 200]));
});

test.each(Object.keys(audiences))('%s: page after page meets each device once, in one order', async (audience) => {
  for (const groups of [[[3], [4], [127], [200]], [[3, 4], range(120, 200)], [range(0, 255)]]) {
    const met: PagedDevice[] = [];
    for (const asked of groups) {
      let after: Cursor = { bucket: asked[0]!, position: '' };
      for (;;) {
        const page = await audiences[audience]!({ buckets: asked, after, limit: 3 });
        met.push(...page);
        if (page.length < 3) break;
        after = page.at(-1)!;
      }
    }
    const places = met.map(({ bucket, position }) => `${String(bucket).padStart(3, '0')} ${position}`);
    expect(new Set(met.map(({ id }) => id)).size).toBe(40);
    expect(places).toEqual([...places].sort());
    expect(places).toHaveLength(40);
  }
});

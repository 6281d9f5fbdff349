import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAllUsersPage, findTargetUsersPage } from '../../src/storage/campaigns/audience.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

let bundle: Awaited<ReturnType<typeof createTestDatabase>>;
let workspaceId: string;
const at = new Date('2026-03-01T12:00:00Z');
beforeAll(async () => {
  bundle = await createTestDatabase();
  workspaceId = await insertTestWorkspace(bundle.database, at);
  await bundle.database`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    select ${workspaceId}, bucket, 'u' || bucket, 'c' || bucket, ${at}, ${at} from unnest('{3,127,128,200}'::int[]) as bucket`;
  await bundle.database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
      created_at, updated_at)
    select workspace_id, bucket, lpad(bucket::text, 24, '0'), id, 'phone', 'ANDROID', 'token-' || bucket, 'ACTIVE', ${at},
      ${at}, ${at}
    from users where workspace_id = ${workspaceId}`;
});
afterAll(() => bundle.drop());

test.each(['all users', 'named users'])('a chunk reads the devices of its own buckets only: %s', async (audience) => {
  const read = async (bucketFrom: number, bucketTo: number): Promise<number[]> => {
    const page = {
      ...{ workspaceId, bucketFrom, bucketTo, afterBucket: -1, afterPosition: '', bound: 'f'.repeat(24), limit: 10 },
      ...{ platforms: ['ANDROID' as const], iosProvisional: null },
    };
    const named = [3, 127, 128, 200].map((bucket): [number, string] => [bucket, `u${bucket}`]);
    const devices =
      audience === 'all users'
        ? await findAllUsersPage(bundle.database, page)
        : await findTargetUsersPage(bundle.database, { ...page, targetUsers: named });
    return devices.map(({ bucket }) => bucket);
  };
  expect([await read(0, 127), await read(128, 255)]).toEqual([
    [3, 127],
    [128, 200],
  ]);
});

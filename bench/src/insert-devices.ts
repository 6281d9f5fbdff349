import type { Platform } from '../../server/src/domain/content/content.ts';
import { makeId } from '../../server/src/domain/ids.ts';
import { bucketOf } from '../../server/src/domain/users/users.ts';
import { makeSimulatedSubscription } from '../../server/src/providers/webpush/simulated-browser.ts';
import { openDatabase } from '../../server/src/storage/database.ts';
import type { TortureBundle } from '../../server/test/rig/installation.ts';

export type DevicesToInsert = {
  devices: number;
  /** Assigned in turn. */
  platforms: readonly Platform[];
  /** Whether each device has a user with attributes, for personalised messages. */
  users: 'with' | 'without';
  /** Keeps the existing devices; they are replaced if absent. */
  beside?: 'those that are there';
};

const perStatement = 20_000;

/**
 * Inserts the devices of a measured run by a few large statements. Leaves them as autovacuum leaves a store within minutes, so
 * that a campaign does not pay for marking the rows that it reads first.
 */
export async function insertDevices(
  { database, workspaceId, secret, ownerUrl }: Pick<TortureBundle, 'database' | 'workspaceId' | 'secret' | 'ownerUrl'>,
  { devices, platforms, users, beside }: DevicesToInsert,
): Promise<void> {
  // The demo users' devices would be counted too.
  if (beside === undefined) await database`delete from devices`;
  const attributes = JSON.stringify({
    u_fn: 'Ada',
    u_em: 'ada@example.com',
    points: 7,
    tags: ['red', 'green'],
    city: 'Rome',
  });
  const at = new Date();
  for (let from = 0; from < devices; from += perStatement) {
    const rows = Array.from({ length: Math.min(perStatement, devices - from) }, (_, index) => {
      const number = from + index;
      const platform = platforms[number % platforms.length]!;
      return {
        number,
        platform,
        id: makeId(at),
        bucket: bucketOf(`bench-${number}`),
        pushId: pushIdOf({ platform, number, secret }),
      };
    });
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
        created_at, updated_at)
      select ${workspaceId}, row.bucket, row.id, row.id, 'phone', row.platform, row.push_id, 'ACTIVE', ${at}, ${at}, ${at}
      from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
        ${rows.map((row) => row.platform)}::text[], ${rows.map((row) => row.pushId)}::text[])
        as row (bucket, id, platform, push_id)`;
    if (users === 'with')
      await database`
        insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
        select ${workspaceId}, row.bucket, row.id, row.customer_id, ${attributes}::text::jsonb, ${at}, ${at}
        from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
          ${rows.map((row) => `bench-${row.number}`)}::text[]) as row (bucket, id, customer_id)`;
  }
  const owner = openDatabase({ url: ownerUrl, connections: 1, name: 'bench' });
  try {
    await owner`vacuum (analyze) users, devices`;
  } finally {
    await owner.end();
  }
}

function pushIdOf({ platform, number, secret }: { platform: Platform; number: number; secret: Buffer }): string {
  if (platform === 'ANDROID') return `bench-token-${String(number).padStart(10, '0')}-${'a'.repeat(120)}`;
  if (platform === 'IOS') return number.toString(16).padStart(64, '0');
  return makeSimulatedSubscription({ secret, id: `bench-${number}` });
}

import type { OpensByHour } from '../../domain/timing/best-time.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import type { Queryable } from '../database.ts';
import { isGivenBucket } from './given-bucket.ts';

type Asked = {
  workspaceId: string;
  users: readonly UserKey[];
  /** Opens of this time count; the hours are counted from its end. */
  since: Date;
  start: Date;
};

const dayHours = 24;

/**
 * How many messages the devices of users opened in each hour of the day, each message once. After planByValues. Indexes: devices
 * (workspace_id, bucket, user_id, device_id), device_interactions_device.
 */
export async function findOpenHours(
  tx: Queryable,
  { workspaceId, users, since, start }: Asked,
): Promise<Map<string, OpensByHour>> {
  const given = tx`given.bucket`;
  const rows = await tx<{ userId: string; hour: number; opens: number }[]>`
    select given.user_id as "userId",
      mod(mod(floor(extract(epoch from report.first_at - ${start}::timestamptz) / 3600)::int, 24) + 24, 24) as hour,
      count(*)::int as opens
    from unnest(
      ${users.map(() => workspaceId)}::text[], ${users.map(({ bucket }) => bucket)}::smallint[],
      ${users.map(({ userId }) => userId)}::text[]
    ) as given (workspace_id, bucket, user_id)
    join devices on devices.workspace_id = given.workspace_id collate "C"
      and ${isGivenBucket(tx, { column: tx`devices.bucket`, given, rows: users })}
      and devices.user_id = given.user_id collate "C"
    join device_interactions as report on report.workspace_id = devices.workspace_id
      and report.bucket = devices.bucket and report.device_id = devices.id
    where report.kind = 'CLICK' and report.first_at >= ${since} and report.first_at < ${start}
    group by 1, 2`;
  const found = Map.groupBy(rows, ({ userId }) => userId);
  return new Map(
    [...found].map(([userId, own]) => {
      const opens = new Array<number>(dayHours).fill(0);
      for (const row of own) opens[row.hour] = row.opens;
      return [userId, opens];
    }),
  );
}

/** Of somebody who opened nothing. */
export const noOpens: OpensByHour = new Array<number>(dayHours).fill(0);

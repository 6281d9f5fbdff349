import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable } from '../database.ts';
import type { Cursor } from '../runs/chunks.ts';
import { isInBuckets } from '../users/buckets.ts';
import { isReached } from './audience.ts';
import type { AudiencePage } from './audience.ts';

/**
 * A user whose message is kept in the inbox, with the position in the bucket. The letter before the user's id sorts before every id,
 * so the users of a bucket come before its devices: a message is in the inbox before its push is shown.
 */
export type PagedUser = UserKey & { position: string; deviceId: string | null };

const usersFirst = '!';

/** The users that a page is read from: all users, the members of a segment at a version, or those who triggered a run. */
export type InboxAudience =
  { kind: 'all' } | { kind: 'segment'; segmentId: string; version: number } | { kind: 'triggered'; runId: string };

export type InboxPage = AudiencePage & {
  audience: InboxAudience;
  /** `unreached`: only users without a device that the run is sent to. */
  users: 'all' | 'unreached';
};

/** Returns the position of a user in its bucket. */
function positionOf(userId: string): string {
  return `${usersFirst}${userId}`;
}

/** Returns where the users of the page begin. Once the page before ended with a device, the bucket has no users left. */
function afterUser({ bucket, position }: Cursor): { bucket: number; userId: string } {
  if (position === '') return { bucket, userId: '' };
  return { bucket, userId: position.startsWith(usersFirst) ? position.slice(usersFirst.length) : '~' };
}

/**
 * Returns the next users of an audience, in the order (bucket, id). Anonymous users of installations are left out, because nobody can
 * read their inbox. Indexes: users primary key; segment_members primary key or triggers_run; devices (workspace_id, bucket, user_id,
 * device_id).
 */
export async function findInboxUsersPage(tx: Queryable, page: InboxPage): Promise<PagedUser[]> {
  const { workspaceId, audience, buckets, limit, bound } = page;
  const after = afterUser(page.after);
  // With one bucket, the index scan starts at the user.
  const from = buckets.length === 1 && buckets[0] === after.bucket ? after.userId : '';
  const rows = await tx<(UserKey & { deviceId: string | null })[]>`
    select users.bucket, users.id as "userId",
      (
        select max(devices.id) from devices
        where devices.workspace_id = users.workspace_id and devices.bucket = users.bucket and devices.user_id = users.id
      ) as "deviceId"
    from ${
      audience.kind === 'segment'
        ? tx`segment_members as source
          join users on users.workspace_id = source.workspace_id and users.bucket = source.bucket
            and users.id = source.user_id and source.segment_id = ${audience.segmentId}
            and source.added_in <= ${audience.version}
            and (source.removed_in is null or source.removed_in > ${audience.version})
            and source.user_id >= ${from} collate "C"`
        : audience.kind === 'triggered'
          ? tx`triggers as source
            join users on users.workspace_id = source.workspace_id and users.bucket = source.bucket
              and users.id = source.user_id and source.run_id = ${audience.runId}`
          : tx`users`
    }
    where users.workspace_id = ${workspaceId} and ${isInBuckets(tx, { column: tx`users.bucket`, buckets })}
      and users.id >= ${from} collate "C" and users.id <= ${bound}
      and ${
        buckets.includes(after.bucket)
          ? tx`(users.bucket, users.id) > (${after.bucket}::smallint, ${after.userId} collate "C")`
          : tx`true`
      }
      and users.customer_id not like 'anonymous-%'
      and ${
        page.users === 'all'
          ? tx`true`
          : tx`not exists (
            select 1 from devices
            where devices.workspace_id = users.workspace_id and devices.bucket = users.bucket
              and devices.user_id = users.id and ${isReached(tx, page)}
          )`
      }
    order by users.bucket, users.id
    limit ${limit}`;
  return rows.map((row) => ({ ...row, position: positionOf(row.userId) }));
}

import { unknownCase } from '../../domain/unknown-case.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Fragment, Queryable } from '../database.ts';
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
 * read their inbox. Indexes: users primary key, or those of the segment's members and of triggers; devices (workspace_id, bucket,
 * user_id, device_id).
 */
export async function findInboxUsersPage(tx: Queryable, page: InboxPage): Promise<PagedUser[]> {
  const { workspaceId, buckets, limit, bound } = page;
  const after = afterUser(page.after);
  const { table, bucket, id, isMember } = sourceOf(tx, page);
  const isAfter = buckets.includes(after.bucket)
    ? buckets.length === 1
      ? tx`${id} > ${after.userId} collate "C"`
      : tx`(${bucket}, ${id}) > (${after.bucket}::smallint, ${after.userId} collate "C")`
    : tx`true`;
  const own = tx`devices.workspace_id = ${workspaceId} and devices.bucket = ${bucket} and devices.user_id = ${id}`;
  const rows = await tx<(UserKey & { deviceId: string | null })[]>`
    select ${bucket} as bucket, ${id} as "userId", (select max(devices.id) from devices where ${own}) as "deviceId"
    from ${table}
    where ${isMember} and ${isInBuckets(tx, { column: bucket, buckets })} and ${isAfter}
      and ${id} <= ${bound}
      and users.customer_id not like 'anonymous-%'
      and ${page.users === 'all' ? tx`true` : tx`not exists (select 1 from devices where ${own} and ${isReached(tx, page)})`}
    order by ${bucket}, ${id}
    limit ${limit}`;
  return rows.map((row) => ({ ...row, position: positionOf(row.userId) }));
}

type Source = { table: Fragment; bucket: Fragment; id: Fragment; isMember: Fragment };

function sourceOf(tx: Queryable, { workspaceId, audience }: InboxPage): Source {
  const joined = (from: Fragment): Fragment => tx`
    ${from} join users on users.workspace_id = source.workspace_id and users.bucket = source.bucket
      and users.id = source.user_id`;
  const of = { bucket: tx`source.bucket`, id: tx`source.user_id` };
  switch (audience.kind) {
    case 'segment':
      return {
        ...{ ...of, table: joined(tx`segment_members as source`) },
        isMember: tx`
          source.workspace_id = ${workspaceId} and source.segment_id = ${audience.segmentId}
            and source.added_in <= ${audience.version}
            and (source.removed_in is null or source.removed_in > ${audience.version})`,
      };
    case 'triggered':
      return {
        ...{ ...of, table: joined(tx`triggers as source`) },
        isMember: tx`source.workspace_id = ${workspaceId} and source.run_id = ${audience.runId}`,
      };
    case 'all':
      return {
        ...{ table: tx`users`, bucket: tx`users.bucket`, id: tx`users.id` },
        isMember: tx`users.workspace_id = ${workspaceId}`,
      };
    default:
      return unknownCase(audience);
  }
}

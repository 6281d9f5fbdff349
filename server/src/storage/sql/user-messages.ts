import type { GatedUser } from '../../domain/delivery-gate/decide-admissions.ts';
import type { Queryable } from '../pool.ts';
import type { Merge } from './merged-users.ts';
import type { UserKey } from './users.ts';

/** What the gate of a run must know of a user. `revision` 0: nothing is written down yet. */
export type UserAtGate = UserKey & GatedUser & { revision: number };

type Row = UserKey & {
  timeZone: string | null;
  revision: number | null;
  runIds: string[] | null;
  campaignIds: string[] | null;
  sentAt: Date[] | null;
  isCounted: boolean[] | null;
};

/**
 * Reads the zones and the newest messages of the users of a window; each only when it is asked for. Indexes: users and
 * user_messages primary keys, one look-up a user.
 */
export async function findUsersAtGate(
  tx: Queryable,
  asked: { workspaceId: string; users: UserKey[]; zoneAttribute: string | null; withMessages: 'yes' | 'no' },
): Promise<UserAtGate[]> {
  const { workspaceId, users, zoneAttribute } = asked;
  const hasMessages = asked.withMessages === 'yes';
  const rows = await tx<Row[]>`
    select given.bucket, given.user_id as "userId",
      ${zoneAttribute === null ? tx`null` : tx`users.attributes ->> ${zoneAttribute}`} as "timeZone",
      ${
        hasMessages
          ? tx`message.revision, message.run_ids as "runIds", message.campaign_ids as "campaignIds",
            message.sent_at as "sentAt", message.is_counted as "isCounted"`
          : tx`null as revision`
      }
    from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
      as given (bucket, user_id)
    ${
      zoneAttribute === null
        ? tx``
        : tx`left join users on users.workspace_id = ${workspaceId} and users.bucket = given.bucket
          and users.id = given.user_id collate "C"`
    }
    ${
      hasMessages
        ? tx`left join user_messages as message on message.workspace_id = ${workspaceId}
          and message.bucket = given.bucket and message.user_id = given.user_id collate "C"`
        : tx``
    }`;
  return rows.map(({ bucket, userId, timeZone, revision, runIds, ...lists }) => ({
    bucket,
    userId,
    timeZone,
    revision: revision ?? 0,
    messages: (runIds ?? []).map((runId, index) => ({
      runId,
      campaignId: lists.campaignIds![index]!,
      sentAt: lists.sentAt![index]!,
      isCounted: lists.isCounted![index]!,
    })),
  }));
}

type Reserved = {
  workspaceId: string;
  runId: string;
  campaignId: string;
  at: Date;
  isCounted: 'yes' | 'no';
  /** With the revision they were read at, and how many of the oldest messages nobody will ask about any more. */
  users: (UserKey & { revision: number; outdated: number })[];
};

/**
 * Writes down the messages of a run that are about to be sent, for all users of a window at once. A user whose row
 * another node changed since it was read is left as it is, so that of two campaigns that meet at a cap one gives way.
 * Rows are locked in the order of the primary key, those that exist before those that are new. Index: primary key.
 *
 * @returns the users that were written
 */
export async function reserveUserMessages(tx: Queryable, reserved: Reserved): Promise<UserKey[]> {
  const { users, workspaceId, runId, campaignId, at } = reserved;
  const isCounted = reserved.isCounted === 'yes';
  return tx<UserKey[]>`
    with given as (
      select given.bucket, given.user_id collate "C" as user_id, given.revision, given.outdated
      from unnest(
        ${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[],
        ${users.map(({ revision }) => revision)}::integer[], ${users.map(({ outdated }) => outdated)}::integer[]
      ) as given (bucket, user_id, revision, outdated)
      order by 1, 2
    ), held as (
      select message.bucket, message.user_id, given.outdated
      from given
      join user_messages as message on message.workspace_id = ${workspaceId} and message.bucket = given.bucket
        and message.user_id = given.user_id and message.revision = given.revision
      order by message.bucket, message.user_id
      for update of message
    ), changed as (
      update user_messages
      set revision = user_messages.revision + 1, run_ids = user_messages.run_ids[held.outdated + 1:] || ${runId}::text,
        campaign_ids = user_messages.campaign_ids[held.outdated + 1:] || ${campaignId}::text,
        sent_at = user_messages.sent_at[held.outdated + 1:] || ${at}::timestamptz,
        is_counted = user_messages.is_counted[held.outdated + 1:] || ${isCounted}::boolean
      from held
      where user_messages.workspace_id = ${workspaceId} and user_messages.bucket = held.bucket
        and user_messages.user_id = held.user_id
      returning user_messages.bucket, user_messages.user_id
    ), added as (
      insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
      select ${workspaceId}, bucket, user_id, 1, array[${runId}], array[${campaignId}], array[${at}::timestamptz],
        array[${isCounted}::boolean]
      from given where revision = 0
      on conflict (workspace_id, bucket, user_id) do nothing
      returning bucket, user_id
    )
    select bucket, user_id as "userId" from changed
    union all
    select bucket, user_id from added`;
}

type Unsent = {
  workspaceId: string;
  runId: string;
  day: string;
  /** A device of the user may be in a window that is open: only runs whose chunk is held by the caller, or ended. */
  chunk: { number: number; state: 'HELD' | 'ENDED' };
  users: UserKey[];
};

/**
 * Takes a run's message away again from users none of whose devices took it, so that it counts against no cap. A user
 * with a device that took it, or may yet, keeps it. Rows are locked in the order of the primary key. Indexes:
 * user_messages primary key, deliveries_user, deliveries_user_other of the run's day.
 */
export async function withdrawUserMessages(tx: Queryable, unsent: Unsent): Promise<number> {
  const { users, runId } = unsent;
  if (users.length === 0) return 0;
  const without = (list: string) =>
    tx`user_messages.${tx(list)}[:held.place - 1] || user_messages.${tx(list)}[held.place + 1:]`;
  const rows = await tx`
    with held as (
      select message.bucket, message.user_id, array_position(message.run_ids, ${runId}) as place
      from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
        as given (bucket, user_id)
      join user_messages as message on message.workspace_id = ${unsent.workspaceId}
        and message.bucket = given.bucket and message.user_id = given.user_id collate "C"
      where array_position(message.run_ids, ${runId}) is not null
        and (${unsent.chunk.state === 'HELD'} or exists (
          select 1 from chunks
          where chunks.run_id = ${runId} and chunks.number = ${unsent.chunk.number}::int and chunks.state = 'DONE'
        ))
        and not exists (
          select 1 from deliveries
          where deliveries.day = ${unsent.day}::date and deliveries.workspace_id = ${unsent.workspaceId}
            and deliveries.bucket = given.bucket and deliveries.user_id = given.user_id collate "C"
            and deliveries.run_id = ${runId} and deliveries.outcome = 'ACCEPTED'
        )
        and not exists (
          select 1 from deliveries
          where deliveries.day = ${unsent.day}::date and deliveries.workspace_id = ${unsent.workspaceId}
            and deliveries.bucket = given.bucket and deliveries.user_id = given.user_id collate "C"
            and deliveries.run_id = ${runId} and deliveries.outcome <> 'ACCEPTED' and deliveries.outcome = 'WAITING'
        )
      order by message.bucket, message.user_id
      for update of message
    )
    update user_messages
    set revision = user_messages.revision + 1, run_ids = ${without('run_ids')},
      campaign_ids = ${without('campaign_ids')}, sent_at = ${without('sent_at')}, is_counted = ${without('is_counted')}
    from held
    where user_messages.workspace_id = ${unsent.workspaceId} and user_messages.bucket = held.bucket
      and user_messages.user_id = held.user_id`;
  return rows.count;
}

/**
 * Adds the messages of a user to another's, newest kept, and ends the first's row: a person who was two had as many.
 * Index: primary key, two rows.
 */
export async function moveUserMessages(tx: Queryable, { workspaceId, from, to }: Merge): Promise<void> {
  await tx`
    with moved as (
      delete from user_messages
      where workspace_id = ${workspaceId} and bucket = ${from.bucket} and user_id = ${from.userId}
      returning run_ids, campaign_ids, sent_at, is_counted
    ), both_users as (
      select run_ids, campaign_ids, sent_at, is_counted from moved
      union all
      select run_ids, campaign_ids, sent_at, is_counted from user_messages
      where workspace_id = ${workspaceId} and bucket = ${to.bucket} and user_id = ${to.userId}
    ), message as (
      select distinct on (entry.run_id) entry.run_id, entry.campaign_id, entry.at, entry.is_counted
      from both_users
      cross join lateral unnest(both_users.run_ids, both_users.campaign_ids, both_users.sent_at, both_users.is_counted)
        as entry (run_id, campaign_id, at, is_counted)
      order by entry.run_id, entry.at
    ), newest as (
      select run_id, campaign_id, at, is_counted from message order by at desc, run_id desc limit 100
    )
    insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
    select ${workspaceId}, ${to.bucket}::smallint, ${to.userId}, 1, array_agg(run_id order by at, run_id),
      array_agg(campaign_id order by at, run_id), array_agg(at order by at, run_id),
      array_agg(is_counted order by at, run_id)
    from newest
    where exists (select 1 from moved)
    having count(*) > 0
    on conflict (workspace_id, bucket, user_id) do update
      set revision = user_messages.revision + 1, run_ids = excluded.run_ids, campaign_ids = excluded.campaign_ids,
        sent_at = excluded.sent_at, is_counted = excluded.is_counted`;
}

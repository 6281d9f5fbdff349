import type { EligibilityUser } from '../../domain/eligibility/decide-eligibility.ts';
import type { Fragment, Queryable } from '../database.ts';
import type { Merge } from './merged-users.ts';
import type { UserKey } from '../../domain/users/bucket.ts';

/** What the gate of a run must know of a user. `revision` 0: nothing is written down yet. */
export type StoredEligibilityUser = UserKey & EligibilityUser & { revision: number };

type StoredUser = UserKey & {
  timeZone: string | null;
  revision: number | null;
  runIds: string[] | null;
  campaignIds: string[] | null;
  sentAt: Date[] | null;
  isCounted: boolean[] | null;
};

/**
 * Reads the zones and the newest messages of the users of a window; each only when it is asked for. A table that grows by
 * a million rows while a campaign is sent has no statistics yet, so that `limit 1` says what they would: one look-up a
 * user, and no join that reads the table. After planByValues. Indexes: users and user_messages primary keys.
 */
export async function findUsersForEligibility(
  tx: Queryable,
  asked: { workspaceId: string; users: UserKey[]; zoneAttribute: string | null; withMessages: 'yes' | 'no' },
): Promise<StoredEligibilityUser[]> {
  const { workspaceId, users, zoneAttribute } = asked;
  const hasMessages = asked.withMessages === 'yes';
  const rows = await tx<StoredUser[]>`
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
        : tx`left join lateral (
            select attributes from users
            where users.workspace_id = ${workspaceId} and users.bucket = given.bucket
              and users.id = given.user_id collate "C"
            limit 1
          ) as users on true`
    }
    ${
      hasMessages
        ? tx`left join lateral (
            select revision, run_ids, campaign_ids, sent_at, is_counted from user_messages
            where user_messages.workspace_id = ${workspaceId} and user_messages.bucket = given.bucket
              and user_messages.user_id = given.user_id collate "C"
            limit 1
          ) as message on true`
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
  /** Messages that were sent up to then are forgotten: nobody asks about them any more. */
  forgottenUntil: Date;
  /** With the revision they were read at. */
  users: (UserKey & { revision: number })[];
};

/**
 * Writes down the messages of a run that are about to be sent, for all users of a window at once. A user whose row
 * another node changed since it was read is left as it is, so that of two campaigns that meet at a cap one gives way. A
 * row keeps its newest 100. Rows are locked in the order of the primary key, and found by it whatever is known of the
 * table. Index: primary key.
 *
 * @returns the users that were written
 */
export async function reserveUserMessages(tx: Queryable, reserved: Reserved): Promise<UserKey[]> {
  const { users } = reserved;
  return tx<UserKey[]>`
    insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
    select ${reserved.workspaceId}, given.bucket, given.user_id, given.revision + 1, array[${reserved.runId}],
      array[${reserved.campaignId}], array[${reserved.at}::timestamptz], array[${reserved.isCounted === 'yes'}::boolean]
    from unnest(
      ${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[],
      ${users.map(({ revision }) => revision)}::integer[]
    ) as given (bucket, user_id, revision)
    order by given.bucket, given.user_id collate "C"
    on conflict (workspace_id, bucket, user_id) do update
      set revision = excluded.revision, (run_ids, campaign_ids, sent_at, is_counted) = (
        select user_messages.run_ids[kept.first:] || excluded.run_ids,
          user_messages.campaign_ids[kept.first:] || excluded.campaign_ids,
          user_messages.sent_at[kept.first:] || excluded.sent_at,
          user_messages.is_counted[kept.first:] || excluded.is_counted
        from (
          select 1 + greatest(
            count(*) filter (where old.at <= ${reserved.forgottenUntil}), cardinality(user_messages.run_ids) - 99
          )::int as first
          from unnest(user_messages.sent_at) as old (at)
        ) as kept
      )
      where user_messages.revision = excluded.revision - 1
    returning bucket, user_id as "userId"`;
}

type Unsent = {
  workspaceId: string;
  runId: string;
  day: string;
  /** A device of the user may be in a window that is open: only where the chunk is held by the caller, or has ended. */
  chunk: 'HELD' | 'ENDED';
  users: UserKey[];
};

/**
 * Takes a run's message away again from users none of whose devices took it, so that it counts against no cap. A user
 * with a device that took it, or may yet, keeps it. Rows are locked in the order of the primary key. After planByValues.
 * Indexes: user_messages primary key, deliveries_user, deliveries_user_other of the run's day.
 */
export async function withdrawUserMessages(tx: Queryable, unsent: Unsent): Promise<number> {
  const { workspaceId, users, runId } = unsent;
  if (users.length === 0) return 0;
  // A look-up a user, whatever is known of the ledger of the day; each outcome has an index of its own.
  const isTaken = (outcome: Fragment) => tx`(
    select 1 from deliveries
    where deliveries.day = ${unsent.day}::date and deliveries.workspace_id = ${workspaceId}
      and deliveries.bucket = given.bucket and deliveries.user_id = given.user_id and deliveries.run_id = ${runId}
      and ${outcome}
    limit 1
  )`;
  const isAccepted = tx`deliveries.outcome = 'ACCEPTED'`;
  const isWaiting = tx`deliveries.outcome <> 'ACCEPTED' and deliveries.outcome = 'WAITING'`;
  const rows = await tx`
    with given as (
      select bucket, user_id collate "C" as user_id
      from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
        as given (bucket, user_id)
      order by 1, 2
    ), held as (
      select message.bucket, message.user_id, message.revision, message.run_ids, message.campaign_ids, message.sent_at,
        message.is_counted, message.place
      from given
      cross join lateral (
        select bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted,
          array_position(run_ids, ${runId}) as place
        from user_messages
        where user_messages.workspace_id = ${workspaceId} and user_messages.bucket = given.bucket
          and user_messages.user_id = given.user_id and array_position(run_ids, ${runId}) is not null
        limit 1
        for update
      ) as message
      where (${unsent.chunk === 'HELD'} or exists (
          select 1 from chunks
          where chunks.run_id = ${runId} and message.bucket between chunks.bucket_from and chunks.bucket_to
            and chunks.state = 'DONE'
        ))
        and ${isTaken(isAccepted)} is null and ${isTaken(isWaiting)} is null
    )
    insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
    select ${workspaceId}, bucket, user_id, revision + 1, run_ids[:place - 1] || run_ids[place + 1:],
      campaign_ids[:place - 1] || campaign_ids[place + 1:], sent_at[:place - 1] || sent_at[place + 1:],
      is_counted[:place - 1] || is_counted[place + 1:]
    from held
    on conflict (workspace_id, bucket, user_id) do update
      set revision = excluded.revision, run_ids = excluded.run_ids, campaign_ids = excluded.campaign_ids,
        sent_at = excluded.sent_at, is_counted = excluded.is_counted`;
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

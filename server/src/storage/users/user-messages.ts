import type { EligibilityUser, UserMessage } from '../../domain/eligibility.ts';
import type { OpensByHour } from '../../domain/timing/timing.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Fragment, Queryable } from '../database.ts';
import { givenInLedger } from '../ledger/ledger-encoding.ts';
import { isGivenBucket } from './buckets.ts';
import type { Merge } from './merged-users.ts';

/** What the eligibility check of a run needs to know about a user. `revision` 0: nothing is stored yet. */
export type StoredEligibilityUser = UserKey & EligibilityUser & { revision: number };

/** Reads the zones and the newest messages of the users of a window; each only on request. Call planByValues first. */
export async function findUsersForEligibility(
  tx: Queryable,
  asked: {
    workspaceId: string;
    users: UserKey[];
    zoneAttribute: string | null;
    withMessages: 'yes' | 'no';
    /** The period of opens to count; absent: none are read. */
    opensOf?: { since: Date; start: Date } | undefined;
  },
): Promise<StoredEligibilityUser[]> {
  const { workspaceId, users, zoneAttribute } = asked;
  const zones = zoneAttribute === null ? undefined : await findTimeZones(tx, { workspaceId, users, zoneAttribute });
  const messages = asked.withMessages === 'yes' ? await findMessages(tx, { workspaceId, users }) : undefined;
  const opens = asked.opensOf && (await findOpenHours(tx, { workspaceId, users, ...asked.opensOf }));
  return users.map(({ bucket, userId }) => ({
    bucket,
    userId,
    timeZone: zones?.get(userId) ?? null,
    revision: messages?.get(userId)?.revision ?? 0,
    messages: messages?.get(userId)?.messages ?? [],
    opens: opens?.get(userId) ?? noOpens,
  }));
}

type Users = { workspaceId: string; users: readonly UserKey[] };

/**
 * Returns the users as a set to join with, the workspace in each row, so that each user is a look-up of the whole key.
 * The table grows by a million rows while a campaign is sent and has no statistics yet. With the workspace as a
 * literal, the planner would expect a few rows and read all of them.
 */
const givenUsers = (tx: Queryable, { workspaceId, users }: Users): Fragment => tx`
  unnest(
    ${users.map(() => workspaceId)}::text[], ${users.map(({ bucket }) => bucket)}::smallint[],
    ${users.map(({ userId }) => userId)}::text[]
  ) as given (workspace_id, bucket, user_id)`;

/** Returns zones as they are stored. Index: users primary key. */
async function findTimeZones(
  tx: Queryable,
  { zoneAttribute, ...asked }: Users & { zoneAttribute: string },
): Promise<Map<string, string | null>> {
  const inBucket = isGivenBucket(tx, { column: tx`users.bucket`, given: tx`given.bucket`, rows: asked.users });
  const rows = await tx<{ userId: string; timeZone: string | null }[]>`
    select users.id as "userId", users.attributes ->> ${zoneAttribute} as "timeZone"
    from ${givenUsers(tx, asked)}
    join users on users.workspace_id = given.workspace_id collate "C" and ${inBucket}
      and users.id = given.user_id collate "C"`;
  return new Map(rows.map(({ userId, timeZone }) => [userId, timeZone]));
}

type StoredMessages = {
  userId: string;
  revision: number;
  runIds: string[];
  campaignIds: string[];
  sentAt: Date[];
  isCounted: boolean[];
};
type FoundMessages = UserKey & { revision: number; messages: UserMessage[] };

const messageLists = (tx: Queryable) => tx`
  run_ids as "runIds", campaign_ids as "campaignIds", sent_at as "sentAt", is_counted as "isCounted"`;

/** Index: user_messages primary key. */
async function findMessages(tx: Queryable, asked: Users): Promise<Map<string, FoundMessages>> {
  const inBucket = isGivenBucket(tx, { column: tx`user_messages.bucket`, given: tx`given.bucket`, rows: asked.users });
  const rows = await tx<(StoredMessages & UserKey)[]>`
    select user_messages.bucket, user_messages.user_id as "userId", user_messages.revision, ${messageLists(tx)}
    from ${givenUsers(tx, asked)}
    join user_messages on user_messages.workspace_id = given.workspace_id collate "C" and ${inBucket}
      and user_messages.user_id = given.user_id collate "C"`;
  return new Map(
    rows.map((row) => [
      row.userId,
      { bucket: row.bucket, userId: row.userId, revision: row.revision, messages: toMessages(row) },
    ]),
  );
}

function toMessages({ runIds, ...lists }: Omit<StoredMessages, 'userId' | 'revision'>): UserMessage[] {
  return runIds.map((runId, index) => ({
    runId,
    campaignId: lists.campaignIds[index]!,
    sentAt: lists.sentAt[index]!,
    isCounted: lists.isCounted[index]!,
  }));
}

type Reserved = {
  workspaceId: string;
  runId: string;
  campaignId: string;
  at: Date;
  isCounted: 'yes' | 'no';
  /** With the revision that was read. */
  users: (UserKey & { revision: number })[];
};

/**
 * Stores the messages of a run that are about to be sent, for all users of a window at once. A user whose row another
 * node changed since it was read is skipped, so that of two campaigns that reach a cap together one backs off. A row
 * keeps its newest 100 messages, of the 720 hours that the longest cap can be (maxCapHours). These numbers are
 * literals: in an `on conflict` a cluster's shard receives no parameters except those of the rows. Rows are locked in
 * the order of the primary key, and looked up by it whatever the statistics. Index: primary key.
 *
 * @returns the users that were stored
 */
export async function reserveUserMessages(tx: Queryable, reserved: Reserved): Promise<UserKey[]> {
  const { users } = reserved;
  return tx<UserKey[]>`
    insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
    select ${reserved.workspaceId}::text, given.bucket, given.user_id, given.revision + 1, array[${reserved.runId}::text],
      array[${reserved.campaignId}::text], array[${reserved.at}::timestamptz], array[${reserved.isCounted === 'yes'}::boolean]
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
            count(*) filter (where excluded.sent_at[1] - old.at >= interval '720 hours'),
            cardinality(user_messages.run_ids) - 99
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
  /** The run's number in the ledger. */
  runNumber: number;
  day: string;
  /**
   * `HELD`: the caller holds the chunk. `ENDED`: only users whose chunk has ended, because no device may be in an open
   * window.
   */
  chunk: 'HELD' | 'ENDED';
  users: UserKey[];
};

// A row that another node changed meanwhile is read again.
const maxTries = 10;

/**
 * Removes a run's message from users none of whose devices accepted it, so that it counts against no cap. A user with a
 * device that accepted it, or still may, keeps it. A row that another node changed since it was read is read again;
 * after ten such changes in a row the user keeps a message too many. Call planByValues first.
 *
 * @returns how many users have one message less
 */
export async function withdrawUserMessages(tx: Queryable, unsent: Unsent): Promise<number> {
  const { workspaceId, runId } = unsent;
  let withdrawn = 0;
  let users = unsent.chunk === 'HELD' ? unsent.users : await withoutOpenWindow(tx, unsent);
  for (let tries = 1; users.length > 0 && tries <= maxTries; tries += 1) {
    const stored = await findMessages(tx, { workspaceId, users });
    const held = [...stored.values()].filter(({ messages }) => messages.some((message) => message.runId === runId));
    if (held.length === 0) break;
    const taken = await findTakers(tx, { ...unsent, users: held });
    const free = held.filter(({ userId }) => !taken.has(userId));
    if (free.length === 0) break;
    const changed = free.map((user) => ({
      ...user,
      messages: user.messages.filter((message) => message.runId !== runId),
    }));
    const written = await storeMessages(tx, { workspaceId, users: changed });
    withdrawn += written.size;
    users = free.filter(({ userId }) => !written.has(userId));
  }
  return withdrawn;
}

/** Returns the users whose chunk is done. */
async function withoutOpenWindow(tx: Queryable, { runId, users }: Unsent): Promise<UserKey[]> {
  const done = await listDoneRanges(tx, runId);
  return users.filter(({ bucket }) => done.some(({ from, to }) => from <= bucket && bucket <= to));
}

/** Returns at most 256 ranges. Index: chunks primary key. */
async function listDoneRanges(tx: Queryable, runId: string): Promise<{ from: number; to: number }[]> {
  return tx<{ from: number; to: number }[]>`
    select bucket_from as from, bucket_to as to from chunks where run_id = ${runId} and state = 'DONE'`;
}

/**
 * Returns the users with a device that accepted the message of the run, or waits for it. One look-up per user: the run
 * is compared afterwards, because while the ledger has no statistics the planner might read the run's part of the
 * bucket. Index: primary key of the run's day.
 */
async function findTakers(tx: Queryable, asked: Unsent): Promise<Set<string>> {
  const inBucket = isGivenBucket(tx, { column: tx`deliveries.bucket`, given: tx`given.bucket`, rows: asked.users });
  const rows = await tx<{ userId: string }[]>`
    select encode(given.user_id, 'hex') as "userId"
    from ${givenInLedger(tx, asked.users)}
    join deliveries on deliveries.day = ${asked.day}::date and ${inBucket} and deliveries.user_id = given.user_id
      and deliveries.run_number + 0 = ${asked.runNumber}::bigint and deliveries.outcome in ('A', 'W')`;
  return new Set(rows.map(({ userId }) => userId));
}

/**
 * Replaces rows that have not changed since they were read, and skips the others. Rows are locked in the order of the
 * primary key. Index: primary key.
 *
 * @returns the users whose rows were stored
 */
async function storeMessages(
  tx: Queryable,
  { workspaceId, users }: { workspaceId: string; users: FoundMessages[] },
): Promise<Set<string>> {
  // As JSON, because PostgreSQL's arrays cannot contain lists of different lengths.
  const lists = users.map(({ messages }) => JSON.stringify(messages));
  const rows = await tx<{ userId: string }[]>`
    insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
    select ${workspaceId}::text, given.bucket, given.user_id, given.revision + 1, lists.run_ids, lists.campaign_ids,
      lists.sent_at, lists.is_counted
    from unnest(
      ${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[],
      ${users.map(({ revision }) => revision)}::integer[], ${lists}::text[]
    ) as given (bucket, user_id, revision, messages)
    cross join lateral (
      select coalesce(array_agg(message ->> 'runId' order by place), '{}') as run_ids,
        coalesce(array_agg(message ->> 'campaignId' order by place), '{}') as campaign_ids,
        coalesce(array_agg((message ->> 'sentAt')::timestamptz order by place), '{}') as sent_at,
        coalesce(array_agg((message ->> 'isCounted')::boolean order by place), '{}') as is_counted
      from jsonb_array_elements(given.messages::jsonb) with ordinality as element (message, place)
    ) as lists
    order by given.bucket, given.user_id collate "C"
    on conflict (workspace_id, bucket, user_id) do update
      set revision = excluded.revision, run_ids = excluded.run_ids, campaign_ids = excluded.campaign_ids,
        sent_at = excluded.sent_at, is_counted = excluded.is_counted
      where user_messages.revision = excluded.revision - 1
    returning user_id as "userId"`;
  return new Set(rows.map(({ userId }) => userId));
}

// The same number as in the table's check.
const maxMessages = 100;

/**
 * Merges the messages of a user into another's, keeping the newest, and deletes the first user's row: both users are
 * the same recipient, who received them all.
 */
export async function moveUserMessages(tx: Queryable, { workspaceId, from, to }: Merge): Promise<void> {
  const moved = await takeMessages(tx, { workspaceId, ...from });
  if (!moved) return;
  const kept = await lockMessages(tx, { workspaceId, ...to });
  await storeMessages(tx, {
    workspaceId,
    users: [{ ...to, revision: kept.revision, messages: joinMessages(moved, kept.messages) }],
  });
}

type OfUser = UserKey & { workspaceId: string };

/** Index: primary key. */
async function takeMessages(tx: Queryable, user: OfUser): Promise<UserMessage[] | undefined> {
  const [row] = await tx<StoredMessages[]>`
    delete from user_messages
    where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and user_id = ${user.userId}
    returning ${messageLists(tx)}`;
  return row && toMessages(row);
}

/** Inserts a missing row, so that there is one to lock. Index: primary key. */
async function lockMessages(tx: Queryable, user: OfUser): Promise<{ revision: number; messages: UserMessage[] }> {
  const [row] = await tx<StoredMessages[]>`
    insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
    values (${user.workspaceId}, ${user.bucket}, ${user.userId}, 1, '{}', '{}', '{}', '{}')
    on conflict (workspace_id, bucket, user_id) do update set revision = user_messages.revision
    returning revision, ${messageLists(tx)}`;
  return { revision: row!.revision, messages: toMessages(row!) };
}

/** Oldest first; a message that both users have is kept once, with the earlier time. */
function joinMessages(moved: UserMessage[], kept: UserMessage[]): UserMessage[] {
  const byRun = new Map<string, UserMessage>();
  for (const message of [...moved, ...kept]) {
    const same = byRun.get(message.runId);
    if (!same || message.sentAt < same.sentAt) byRun.set(message.runId, message);
  }
  return [...byRun.values()]
    .toSorted((one, other) => one.sentAt.getTime() - other.sentAt.getTime() || (one.runId < other.runId ? -1 : 1))
    .slice(-maxMessages);
}

type Asked = {
  workspaceId: string;
  users: readonly UserKey[];
  /** Counts opens from `since` to `start`; hours are relative to `start`. */
  since: Date;
  start: Date;
};

const dayHours = 24;

/**
 * Counts how many messages the users' devices opened in each hour of the day, each message once. Call planByValues
 * first. Indexes: devices (workspace_id, bucket, user_id, device_id), device_interactions_device.
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

/** `weekday`: 1 Monday to 7 Sunday. */
export type OpenHour = { weekday: number; hour: number; opens: number };

/**
 * Counts the messages that the devices of a workspace opened in each hour of the week, in a time zone. Reads all reports of the span, so
 * the caller limits the time. Index: device_interactions_age.
 */
export async function countOpensOfWeek(
  tx: Queryable,
  { workspaceId, since, timeZone }: { workspaceId: string; since: Date; timeZone: string },
): Promise<OpenHour[]> {
  return tx<OpenHour[]>`
    select extract(isodow from first_at at time zone ${timeZone})::int as weekday,
      extract(hour from first_at at time zone ${timeZone})::int as hour, count(*)::int as opens
    from device_interactions
    where workspace_id = ${workspaceId} and kind = 'CLICK' and first_at >= ${since}
    group by 1, 2 order by 1, 2`;
}

/** For a user who has opened nothing. */
export const noOpens: OpensByHour = new Array<number>(dayHours).fill(0);

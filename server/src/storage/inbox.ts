import type { InboxContent, InboxPosition } from '../domain/inbox.ts';
import { maxUnreadCount } from '../domain/limits/inbox.ts';
import type { UserKey } from '../domain/users/users.ts';
import type { Fragment, Queryable, Transaction } from './database.ts';
import { isGivenBucket, isInBuckets } from './users/buckets.ts';
import type { Merge } from './users/merged-users.ts';

type OfUser = UserKey & { workspaceId: string };

/** A content that many users of a run get. */
export type SharedContent = { id: string; content: InboxContent };

/** The message of a user: either rendered for this user, or the id of a shared content. */
export type MessageToKeep = UserKey &
  ({ contentId: string; content: null } | { contentId: null; content: InboxContent });

export type MessagesToKeep = {
  workspaceId: string;
  runId: string;
  campaignId: string;
  tags: readonly string[] | undefined;
  at: Date;
  expiresAt: Date;
  messages: readonly MessageToKeep[];
};

/**
 * Locks users until the transaction ends, in the order of their keys, and returns those that still exist. `share`: they cannot be
 * erased or merged meanwhile. `alone`: two transactions that decide about one user wait for each other. Index: users primary key.
 */
export async function holdUsers(
  tx: Transaction,
  { workspaceId, users, lock }: { workspaceId: string; users: readonly UserKey[]; lock: 'share' | 'alone' },
): Promise<UserKey[]> {
  const held: UserKey[] = [];
  const byBucket = [...Map.groupBy(users, ({ bucket }) => bucket)].sort(([one], [other]) => one - other);
  for (const [bucket, own] of byBucket) {
    const rows = await tx<UserKey[]>`
      select bucket, id as "userId" from users
      where workspace_id = ${workspaceId} and bucket = ${bucket} and id = any(${own.map(({ userId }) => userId)})
      order by id
      ${lock === 'share' ? tx`for key share` : tx`for no key update`}`;
    held.push(...rows);
  }
  return held;
}

/** Stores contents that many users get. A repeat changes nothing. Index: primary key. */
export async function insertInboxContents(
  tx: Queryable,
  {
    workspaceId,
    runId,
    expiresAt,
    contents,
  }: Pick<MessagesToKeep, 'workspaceId' | 'runId' | 'expiresAt'> & { contents: readonly SharedContent[] },
): Promise<void> {
  if (contents.length === 0) return;
  await tx`
    insert into inbox_contents (workspace_id, run_id, id, content, expires_at)
    select ${workspaceId}::text, ${runId}::text, given.id, given.content, ${expiresAt}::timestamptz
    from unnest(${contents.map(({ id }) => id)}::text[], ${contents.map(({ content }) => JSON.stringify(content))}::jsonb[])
      as given (id, content)
    order by given.id collate "C"
    -- A message that was kept later lives longer.
    on conflict (workspace_id, run_id, id) do update
      set expires_at = greatest(inbox_contents.expires_at, excluded.expires_at)`;
}

/**
 * Stores messages, and counts them. A user who has a message of the run keeps it. The caller holds the users. Index: primary key.
 *
 * @returns the users who got a message
 */
export async function insertInboxMessages(tx: Transaction, kept: MessagesToKeep): Promise<UserKey[]> {
  const { workspaceId, runId, campaignId, messages, at, expiresAt, tags } = kept;
  if (messages.length === 0) return [];
  const contents = messages.map(({ content }) => (content === null ? null : JSON.stringify(content)));
  const rows = await tx<UserKey[]>`
    insert into inbox_messages (workspace_id, bucket, user_id, run_id, campaign_id, content_id, content, tags, kept_at,
      expires_at, changed_at)
    select ${workspaceId}::text, given.bucket, given.user_id, ${runId}::text, ${campaignId}::text, given.content_id,
      given.content, ${tags === undefined ? null : [...tags]}::text[], ${at}::timestamptz, ${expiresAt}::timestamptz,
      ${at}::timestamptz
    from unnest(
      ${messages.map(({ bucket }) => bucket)}::smallint[], ${messages.map(({ userId }) => userId)}::text[],
      ${messages.map(({ contentId }) => contentId)}::text[], ${contents}::jsonb[]
    ) as given (bucket, user_id, content_id, content)
    order by given.bucket, given.user_id collate "C"
    on conflict (workspace_id, bucket, user_id, run_id) do nothing
    returning bucket, user_id as "userId"`;
  const byBucket = Map.groupBy(rows, ({ bucket }) => bucket);
  const counts = [...byBucket].map(([bucket, own]) => ({ bucket, kept: own.length, read: 0, archived: 0 }));
  await addInboxCounts(tx, { workspaceId, counts: counts.map((count) => ({ runId, ...count })) });
  return rows;
}

/**
 * Returns the users among the given ones whom no push of the run reached and none can still reach: every delivery has failed, and
 * every device that the run is meant for has a delivery. The caller holds the users alone. Indexes: the primary key of the run's
 * day, devices (workspace_id, bucket, user_id, device_id).
 */
export async function keepUnreached(
  tx: Transaction,
  { workspaceId, run, users, isReached }: UnreachedQuestion,
): Promise<UserKey[]> {
  const given = tx`
    unnest(${users.map(() => workspaceId)}::text[], ${users.map(({ bucket }) => bucket)}::smallint[],
      ${users.map(({ userId }) => userId)}::text[], ${users.map(({ userId }) => `\\x${userId}`)}::bytea[]
    ) as given (workspace_id, bucket, user_id, ledger_id)`;
  const inLedger = isGivenBucket(tx, { column: tx`deliveries.bucket`, given: tx`given.bucket`, rows: users });
  const inDevices = isGivenBucket(tx, { column: tx`devices.bucket`, given: tx`given.bucket`, rows: users });
  const delivered = await tx<(UserKey & { deviceId: string; isFailed: boolean })[]>`
    select deliveries.bucket, given.user_id as "userId", encode(deliveries.device_id, 'hex') as "deviceId",
      deliveries.outcome in ('G', 'R', 'E', 'F') as "isFailed"
    from ${given}
    join deliveries on deliveries.day = ${run.day}::date and ${inLedger} and deliveries.user_id = given.ledger_id
      and deliveries.run_number + 0 = ${run.number}::bigint`;
  const reached = await tx<(UserKey & { deviceId: string })[]>`
    select devices.bucket, devices.user_id as "userId", devices.id as "deviceId"
    from ${given}
    join devices on devices.workspace_id = given.workspace_id collate "C" and ${inDevices}
      and devices.user_id = given.user_id collate "C"
    where ${isReached(tx)}`;
  const tried = new Set(delivered.map(({ deviceId }) => deviceId));
  const out = new Set(delivered.filter(({ isFailed }) => !isFailed).map(({ userId }) => userId));
  for (const { userId, deviceId } of reached) if (!tried.has(deviceId)) out.add(userId);
  return users.filter(({ userId }) => !out.has(userId));
}

export type UnreachedQuestion = {
  workspaceId: string;
  run: { day: string; number: number };
  users: readonly UserKey[];
  /** True for the devices that the run is meant for and that can be sent to. */
  isReached: (tx: Queryable) => Fragment;
};

export type InboxCount = { runId: string; bucket: number; kept: number; read: number; archived: number };

/** Index: primary key. In the order of the key, so that two transactions cannot deadlock. */
export async function addInboxCounts(
  tx: Queryable,
  { workspaceId, counts }: { workspaceId: string; counts: readonly InboxCount[] },
): Promise<void> {
  if (counts.length === 0) return;
  await tx`
    insert into inbox_counts (workspace_id, run_id, bucket, kept, read, archived)
    select ${workspaceId}::text, given.run_id, given.bucket, given.kept, given.read, given.archived
    from unnest(
      ${counts.map(({ runId }) => runId)}::text[], ${counts.map(({ bucket }) => bucket)}::smallint[],
      ${counts.map(({ kept }) => kept)}::bigint[], ${counts.map(({ read }) => read)}::bigint[],
      ${counts.map(({ archived }) => archived)}::bigint[]
    ) as given (run_id, bucket, kept, read, archived)
    order by given.run_id collate "C", given.bucket
    on conflict (run_id, bucket) do update set kept = inbox_counts.kept + excluded.kept,
      read = inbox_counts.read + excluded.read, archived = inbox_counts.archived + excluded.archived`;
}

/** Returns what became of the inbox messages of some runs, by run. Index: primary key. */
export async function sumInboxCounts(
  tx: Queryable,
  runIds: readonly string[],
): Promise<{ runId: string; kept: number; read: number; archived: number }[]> {
  return tx<{ runId: string; kept: number; read: number; archived: number }[]>`
    select run_id as "runId", sum(kept)::bigint as kept, sum(read)::bigint as read, sum(archived)::bigint as archived
    from inbox_counts where run_id = any(${[...runIds]}) group by run_id`;
}

/** A message of a feed. */
export type InboxMessage = {
  runId: string;
  campaignId: string;
  content: InboxContent;
  tags: string[];
  keptAt: Date;
  expiresAt: Date;
  readAt: Date | null;
  archivedAt: Date | null;
  changedAt: Date;
};

type StoredMessage = Omit<InboxMessage, 'content' | 'tags'> & {
  contentId: string | null;
  content: InboxContent | null;
  tags: string[] | null;
};

const columns = (tx: Queryable): Fragment => tx`
  run_id as "runId", campaign_id as "campaignId", content_id as "contentId", content, tags, kept_at as "keptAt",
  expires_at as "expiresAt", read_at as "readAt", archived_at as "archivedAt", changed_at as "changedAt"`;

export type FeedQuestion = OfUser & {
  at: Date;
  limit: number;
  after: InboxPosition | undefined;
  tag: string | undefined;
  archived: 'only' | 'none';
};

/**
 * Returns the next messages of a user, newest first. Reads all messages of the user, which are as many as campaigns reached the
 * user within the expiry. Index: primary key.
 */
export async function findInboxPage(tx: Queryable, asked: FeedQuestion): Promise<InboxMessage[]> {
  const { workspaceId, bucket, userId, after, tag } = asked;
  const rows = await tx<StoredMessage[]>`
    select ${columns(tx)} from inbox_messages
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and expires_at > ${asked.at}
      and ${asked.archived === 'only' ? tx`archived_at is not null` : tx`archived_at is null`}
      and ${after ? tx`(kept_at, run_id) < (${after.at}, ${after.runId})` : tx`true`}
      and ${tag === undefined ? tx`true` : tx`${tag} = any(tags)`}
    order by kept_at desc, run_id desc
    limit ${asked.limit}`;
  return withContents(tx, { workspaceId, rows });
}

/** Returns the messages of a user that changed last after `since`, oldest change first. Index: primary key. */
export async function findInboxChanges(
  tx: Queryable,
  { workspaceId, bucket, userId, since, at, limit }: OfUser & { since: Date; at: Date; limit: number },
): Promise<InboxMessage[]> {
  const rows = await tx<StoredMessage[]>`
    select ${columns(tx)} from inbox_messages
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and changed_at > ${since}
      and expires_at > ${at}
    order by changed_at desc, run_id desc
    limit ${limit}`;
  return withContents(tx, { workspaceId, rows: rows.toReversed() });
}

/** Streams the inboxes of a workspace. Indexes: inbox_messages and users primary keys. */
export function streamInbox(
  tx: Queryable,
  workspaceId: string,
): AsyncIterable<(StoredMessage & { customerId: string })[]> {
  return tx<(StoredMessage & { customerId: string })[]>`
    select users.customer_id as "customerId", ${columns(tx)}
    from inbox_messages
    join users on users.workspace_id = inbox_messages.workspace_id and users.bucket = inbox_messages.bucket
      and users.id = inbox_messages.user_id
    where inbox_messages.workspace_id = ${workspaceId}
    order by inbox_messages.bucket, inbox_messages.user_id, inbox_messages.run_id`.cursor(1_000);
}

/** Reads the shared contents separately: on a cluster they are not on the machines of the messages. Index: primary key. */
export async function withContents<Row extends StoredMessage>(
  tx: Queryable,
  { workspaceId, rows }: { workspaceId: string; rows: readonly Row[] },
): Promise<(Omit<Row, 'content' | 'contentId' | 'tags'> & Pick<InboxMessage, 'content' | 'tags'>)[]> {
  const shared = rows.filter(({ contentId }) => contentId !== null);
  const found = shared.length === 0 ? [] : await findInboxContents(tx, { workspaceId, shared });
  const contents = new Map(found.map(({ runId, id, content }) => [`${runId} ${id}`, content]));
  return rows.flatMap(({ contentId, content, tags, ...message }) => {
    const shown = content ?? contents.get(`${message.runId} ${contentId}`);
    return shown ? [{ ...message, content: shown, tags: tags ?? [] }] : [];
  });
}

/** Returns shared contents. Index: primary key. */
async function findInboxContents(
  tx: Queryable,
  { workspaceId, shared }: { workspaceId: string; shared: readonly Pick<StoredMessage, 'runId' | 'contentId'>[] },
): Promise<{ runId: string; id: string; content: InboxContent }[]> {
  return tx<{ runId: string; id: string; content: InboxContent }[]>`
    select run_id as "runId", id, content from inbox_contents
    -- Equal contents of other runs of the page have the same id, and are read too.
    where workspace_id = ${workspaceId} and run_id = any(${[...new Set(shared.map(({ runId }) => runId))]}::text[])
      and id = any(${[...new Set(shared.map(({ contentId }) => contentId!))]}::text[])`;
}

/** Counts the unread messages of a user that are not archived, up to `maxUnreadCount`. Index: primary key. */
export async function countUnread(
  tx: Queryable,
  { workspaceId, bucket, userId, at }: OfUser & { at: Date },
): Promise<number> {
  const [row] = await tx<{ unread: number }[]>`
    select count(*) as unread from (
      select 1 from inbox_messages
      where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and expires_at > ${at}
        and read_at is null and archived_at is null
      limit ${maxUnreadCount}
    ) as message`;
  return row!.unread;
}

/** What a user does with messages; undefined: it stays as it is. */
export type InboxMark = { isRead?: boolean | undefined; isArchived?: boolean | undefined };

export type Marking = OfUser & {
  at: Date;
  /** The messages; 'all': those that are not archived and were kept up to `until`. */
  runIds: readonly string[] | { allUntil: Date };
  mark: InboxMark;
};

/**
 * Marks messages of a user and counts what changed. A message that is marked so already stays as it is, with its time. Index:
 * primary key.
 *
 * @returns the ids of the changed messages
 */
export async function markInboxMessages(tx: Transaction, marking: Marking): Promise<string[]> {
  const { workspaceId, bucket, userId, at, runIds, mark } = marking;
  const read = mark.isRead === undefined ? tx`read_at` : mark.isRead ? tx`coalesce(read_at, ${at})` : tx`null`;
  const archived =
    mark.isArchived === undefined ? tx`archived_at` : mark.isArchived ? tx`coalesce(archived_at, ${at})` : tx`null`;
  const isNamed =
    'allUntil' in runIds ? tx`archived_at is null and kept_at <= ${runIds.allUntil}` : tx`run_id = any(${[...runIds]})`;
  const isChanged = [
    ...(mark.isRead === undefined ? [] : [mark.isRead ? tx`read_at is null` : tx`read_at is not null`]),
    ...(mark.isArchived === undefined ? [] : [mark.isArchived ? tx`archived_at is null` : tx`archived_at is not null`]),
  ].reduce((any, one) => tx`${any} or ${one}`, tx`false`);
  const before = await tx<{ runId: string; wasRead: boolean; wasArchived: boolean }[]>`
    select run_id as "runId", read_at is not null as "wasRead", archived_at is not null as "wasArchived"
    from inbox_messages
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and expires_at > ${at}
      and ${isNamed} and (${isChanged})
    order by run_id for update`;
  if (before.length === 0) return [];
  const changed = before.map(({ runId }) => runId);
  await tx`
    update inbox_messages set read_at = ${read}::timestamptz, archived_at = ${archived}::timestamptz, changed_at = ${at}
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and run_id = any(${changed})`;
  const difference = (was: boolean, is: boolean | undefined): number => Number(is ?? was) - Number(was);
  const counts = before.map(({ runId, wasRead, wasArchived }) => ({
    ...{ runId, bucket, kept: 0 },
    read: difference(wasRead, mark.isRead),
    archived: difference(wasArchived, mark.isArchived),
  }));
  await addInboxCounts(tx, { workspaceId, counts });
  return changed;
}

/** The message of a user as explain shows it. */
export type KeptMessage = UserKey & Pick<InboxMessage, 'keptAt' | 'expiresAt' | 'readAt' | 'archivedAt'>;

/** Returns the messages that a run kept for these users. Index: primary key. */
export async function listInboxToExplain(
  tx: Queryable,
  { workspaceId, runId, users }: { workspaceId: string; runId: string; users: readonly UserKey[] },
): Promise<KeptMessage[]> {
  // Ids of users are unique, so no user is met in a bucket of another one. A join might read all messages of a bucket.
  return tx<KeptMessage[]>`
    select bucket, user_id as "userId", kept_at as "keptAt", expires_at as "expiresAt", read_at as "readAt",
      archived_at as "archivedAt"
    from inbox_messages
    where workspace_id = ${workspaceId} and ${isInBuckets(tx, { column: tx`bucket`, buckets: users.map(({ bucket }) => bucket) })}
      and user_id = any(${users.map(({ userId }) => userId)}::text[]) and run_id = ${runId}`;
}

/** Gives the messages of a merged user to the retained one. A message of a run that both have stays as the retained user has it. */
export async function moveInboxMessages(tx: Queryable, { workspaceId, from, to }: Merge): Promise<void> {
  const rows = await tx<(StoredMessage & { changedAt: Date })[]>`
    delete from inbox_messages
    where workspace_id = ${workspaceId} and bucket = ${from.bucket} and user_id = ${from.userId}
    returning ${columns(tx)}`;
  if (rows.length === 0) return;
  await tx`
    insert into inbox_messages (workspace_id, bucket, user_id, run_id, campaign_id, content_id, content, tags, kept_at,
      expires_at, read_at, archived_at, changed_at)
    select ${workspaceId}::text, ${to.bucket}::smallint, ${to.userId}::text, given."runId", given."campaignId",
      given."contentId", given.content, given.tags, given."keptAt", given."expiresAt", given."readAt",
      given."archivedAt", given."changedAt"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given ("runId" text, "campaignId" text, "contentId" text,
      content jsonb, tags text[], "keptAt" timestamptz, "expiresAt" timestamptz, "readAt" timestamptz,
      "archivedAt" timestamptz, "changedAt" timestamptz)
    on conflict (workspace_id, bucket, user_id, run_id) do nothing`;
}

type Batch = { before: Date; limit: number };

/** Deletes messages that expired before `before`, oldest first. Index: inbox_messages_expires. */
export async function deleteExpiredInboxMessages(tx: Queryable, { before, limit }: Batch): Promise<number> {
  const rows = await tx`
    delete from inbox_messages
    where (workspace_id, bucket, user_id, run_id) in (
      select workspace_id, bucket, user_id, run_id from inbox_messages
      where expires_at < ${before} order by expires_at limit ${limit}
    )`;
  return rows.count;
}

/** Deletes contents whose last message expired before `before`. Index: inbox_contents_expires. */
export async function deleteExpiredInboxContents(tx: Queryable, { before, limit }: Batch): Promise<number> {
  const rows = await tx`
    delete from inbox_contents
    where (workspace_id, run_id, id) in (
      select workspace_id, run_id, id from inbox_contents where expires_at < ${before} order by expires_at limit ${limit}
    )`;
  return rows.count;
}

import { bucketOf } from '../domain/users/users.ts';
import type { Registration } from '../domain/users/registrations.ts';
import type { UserKey } from '../domain/users/users.ts';
import type { Queryable } from './database.ts';
import { allBuckets } from './segments/segment-members.ts';

type Named = { workspaceId: string; id: string };

export type Installation = {
  id: string;
  secretHash: Buffer;
  registration: Record<string, unknown>;
  /** Undefined: the installation has no user yet. */
  user: UserKey | undefined;
  /** True: an identity token or a server proved the user. False: the user exists for this installation alone. */
  isIdentified: boolean;
};

type Row = Omit<Installation, 'user'> & { userBucket: number | null; userId: string | null };

/** Finds an installation. Index: primary key, one shard. */
export async function findInstallation(tx: Queryable, named: Named): Promise<Installation | undefined> {
  const [row] = await tx<Row[]>`
    select id, secret_hash as "secretHash", registration, user_bucket as "userBucket", user_id as "userId",
      is_identified as "isIdentified"
    from installations
    where workspace_id = ${named.workspaceId} and bucket = ${bucketOf(named.id)} and id = ${named.id}`;
  return row && toInstallation(row);
}

/** Locks an installation until the transaction ends, before its user is locked. Index: primary key, one shard. */
export async function lockInstallation(tx: Queryable, named: Named): Promise<Installation | undefined> {
  const [row] = await tx<Row[]>`
    select id, secret_hash as "secretHash", registration, user_bucket as "userBucket", user_id as "userId",
      is_identified as "isIdentified"
    from installations
    where workspace_id = ${named.workspaceId} and bucket = ${bucketOf(named.id)} and id = ${named.id}
    for update`;
  return row && toInstallation(row);
}

function toInstallation({ userBucket, userId, ...installation }: Row): Installation {
  return { ...installation, user: userId === null ? undefined : { bucket: userBucket!, userId } };
}

/** An installation as the console shows it. */
export type InstallationRecord = {
  id: string;
  keyId: string;
  registration: Partial<Registration>;
  user: UserKey | undefined;
  isIdentified: boolean;
  createdAt: Date;
  refreshedAt: Date;
  signedInAt: Date | null;
  signedOutAt: Date | null;
};

type RecordRow = Omit<InstallationRecord, 'user'> & { userBucket: number | null; userId: string | null };

/** Lists the newest installations of a workspace. Index: installations_newest. */
export async function listNewestInstallations(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<InstallationRecord[]> {
  const rows = await tx<RecordRow[]>`
    select ${recordColumns(tx)} from installations
    where workspace_id = ${workspaceId} order by created_at desc limit ${limit}`;
  return rows.map(toRecord);
}

/** Lists the installations of a user, newest first. Every bucket is searched. Index: installations_user. */
export async function listInstallationsOfUser(
  tx: Queryable,
  { workspaceId, bucket, userId, limit }: UserKey & { workspaceId: string; limit: number },
): Promise<InstallationRecord[]> {
  const rows = await tx<RecordRow[]>`
    select ${recordColumns(tx)} from installations
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and user_bucket = ${bucket} and user_id = ${userId}
    order by created_at desc limit ${limit}`;
  return rows.map(toRecord);
}

function recordColumns(tx: Queryable) {
  return tx`id, key_id as "keyId", registration, user_bucket as "userBucket", user_id as "userId",
    is_identified as "isIdentified", created_at as "createdAt", refreshed_at as "refreshedAt",
    signed_in_at as "signedInAt", signed_out_at as "signedOutAt"`;
}

function toRecord({ userBucket, userId, ...record }: RecordRow): InstallationRecord {
  return { ...record, user: userId === null ? undefined : { bucket: userBucket!, userId } };
}

/** Adds an installation without a user. Index: primary key. @returns false if the id is in use */
export async function insertInstallation(
  tx: Queryable,
  added: Named & { secretHash: Buffer; keyId: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    insert into installations (workspace_id, bucket, id, secret_hash, key_id, registration, created_at, refreshed_at)
    values (${added.workspaceId}, ${bucketOf(added.id)}, ${added.id}, ${added.secretHash}, ${added.keyId}, '{}',
      ${added.at}, ${added.at})
    on conflict (workspace_id, bucket, id) do nothing returning 1`;
  return rows.length === 1;
}

type Change = Named & {
  keyId: string;
  registration: Record<string, unknown>;
  user: UserKey | undefined;
  isIdentified: boolean;
  /** What the user did, if anything. */
  moved?: 'signed in' | 'signed out' | undefined;
  at: Date;
};

/** Stores a changed installation; the caller holds its lock. Index: primary key. */
export async function updateInstallation(tx: Queryable, changed: Change): Promise<void> {
  await tx`
    update installations
    set key_id = ${changed.keyId}, registration = ${JSON.stringify(changed.registration)}::text::jsonb,
      user_bucket = ${changed.user?.bucket ?? null}, user_id = ${changed.user?.userId ?? null},
      is_identified = ${changed.isIdentified}, refreshed_at = ${changed.at},
      signed_in_at = case when ${changed.moved === 'signed in'} then ${changed.at}::timestamptz else signed_in_at end,
      signed_out_at = case when ${changed.moved === 'signed out'} then ${changed.at}::timestamptz else signed_out_at end
    where workspace_id = ${changed.workspaceId} and bucket = ${bucketOf(changed.id)} and id = ${changed.id}`;
}

/**
 * Gives the installations of a merged user to the retained one, as identified: a merge is the word of a server or of an
 * identity token. An installation is in the bucket of its own id, so every bucket is searched. Index: installations_user.
 */
export async function moveInstallations(
  tx: Queryable,
  { workspaceId, from, to }: { workspaceId: string; from: UserKey; to: UserKey },
): Promise<void> {
  await tx`
    update installations set user_bucket = ${to.bucket}, user_id = ${to.userId}, is_identified = true
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and user_bucket = ${from.bucket}
      and user_id = ${from.userId}`;
}

/**
 * Deletes the installations of a user who is erased, with the ids of their events: their apps register again, without a user.
 * Indexes: installations_user, app_event_ids primary key.
 */
export async function eraseInstallations(
  tx: Queryable,
  { workspaceId, users }: { workspaceId: string; users: readonly UserKey[] },
): Promise<number> {
  let erased = 0;
  for (const user of users) {
    const rows = await tx<{ bucket: number; id: string }[]>`
      delete from installations
      where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and user_bucket = ${user.bucket}
        and user_id = ${user.userId}
      returning bucket, id`;
    for (const { bucket, id } of rows)
      await tx`
        delete from app_event_ids where workspace_id = ${workspaceId} and bucket = ${bucket} and installation_id = ${id}`;
    erased += rows.length;
  }
  return erased;
}

/** Remembers the ids of events of an installation. Index: primary key. @returns the ids that are new */
export async function insertEventIds(
  tx: Queryable,
  given: { workspaceId: string; installationId: string; eventIds: readonly string[]; at: Date },
): Promise<Set<string>> {
  const rows = await tx<{ eventId: string }[]>`
    insert into app_event_ids (workspace_id, bucket, installation_id, event_id, received_at)
    select ${given.workspaceId}::text, ${bucketOf(given.installationId)}::smallint, ${given.installationId}::text, given.event_id,
      ${given.at}::timestamptz
    from unnest(${[...given.eventIds]}::text[]) as given (event_id)
    order by given.event_id
    on conflict (workspace_id, bucket, installation_id, event_id) do nothing
    returning event_id as "eventId"`;
  return new Set(rows.map(({ eventId }) => eventId));
}

type Batch = { before: Date; limit: number };

/** Deletes ids of events that were received before `before`, oldest first. Index: app_event_ids_age. */
export async function deleteOldEventIds(tx: Queryable, { before, limit }: Batch): Promise<number> {
  const rows = await tx`
    delete from app_event_ids
    where (workspace_id, bucket, installation_id, event_id) in (
      select workspace_id, bucket, installation_id, event_id from app_event_ids
      where received_at < ${before} order by received_at limit ${limit}
    )`;
  return rows.count;
}

/** Deletes installations without a user whose app has not called since `before`. Index: installations_idle. */
export async function deleteIdleInstallations(tx: Queryable, { before, limit }: Batch): Promise<number> {
  const rows = await tx`
    delete from installations
    where (workspace_id, bucket, id) in (
      select workspace_id, bucket, id from installations
      where refreshed_at < ${before} and user_id is null order by refreshed_at limit ${limit}
    )`;
  return rows.count;
}

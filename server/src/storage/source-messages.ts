import { groupByBucket } from '../domain/users/users.ts';
import { isDistributed } from './cluster.ts';
import type { Queryable } from './database.ts';

type GivenMessages = { workspaceId: string; hashes: readonly Buffer[]; at: Date };

/**
 * Remembers messages by their hashes. A message that another transaction is storing is waited for. On a cluster, which inserts into one
 * shard per statement, it is one statement per bucket. Index: primary key.
 *
 * @returns the hashes that are new, in hex
 */
export async function insertSourceMessages(tx: Queryable, given: GivenMessages): Promise<Set<string>> {
  if (given.hashes.length === 0) return new Set();
  const located = given.hashes.map((hash) => ({ bucket: hash[0]!, hash }));
  const shards = (await isDistributed(tx, 'users')) ? groupByBucket(located) : [[0, located] as const];
  const fresh = new Set<string>();
  for (const [, messages] of shards)
    for (const hash of await insertLocated(tx, { ...given, messages })) fresh.add(hash);
  return fresh;
}

type Located = { bucket: number; hash: Buffer };

/** Inserts in the order of the key, so that two batches with the same messages cannot deadlock. */
async function insertLocated(
  tx: Queryable,
  { workspaceId, messages, at }: GivenMessages & { messages: readonly Located[] },
): Promise<string[]> {
  const rows = await tx<{ hash: string }[]>`
    insert into source_messages (workspace_id, bucket, message_hash, received_at)
    select ${workspaceId}::text, given.bucket, decode(given.hash, 'hex'), ${at}::timestamptz
    from unnest(
      ${messages.map(({ bucket }) => bucket)}::smallint[], ${messages.map(({ hash }) => hash.toString('hex'))}::text[]
    ) as given (bucket, hash)
    order by given.hash
    on conflict (workspace_id, bucket, message_hash) do nothing
    returning encode(message_hash, 'hex') as hash`;
  return rows.map(({ hash }) => hash);
}

/** Deletes messages that were received before `before`, oldest first. Index: source_messages_age. */
export async function deleteOldSourceMessages(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    delete from source_messages
    where (workspace_id, bucket, message_hash) in (
      select workspace_id, bucket, message_hash from source_messages
      where received_at < ${before} order by received_at limit ${limit}
    )`;
  return rows.count;
}

import { mergeChoices } from '../../domain/topics.ts';
import type { ChoiceSource, TopicChoice } from '../../domain/topics.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable } from '../database.ts';
import { isGivenBucket } from './buckets.ts';
import type { Merge } from './merged-users.ts';

type OfUser = UserKey & { workspaceId: string };

/** A user's choice of one topic. */
export type StoredChoice = TopicChoice & { topicId: string };

/** Lists the explicit choices of a user. Index: primary key. */
export async function listTopicChoices(tx: Queryable, user: OfUser): Promise<StoredChoice[]> {
  return tx<StoredChoice[]>`
    select topic_id as "topicId", is_in as "isIn", source, chosen_at as "chosenAt" from topic_choices
    where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and user_id = ${user.userId}`;
}

/**
 * Returns which of the users of a window chose for or against a topic, by user id. Each user is one look-up of the whole key, with
 * the workspace in each row, as in `findUsersForEligibility`. Call planByValues first. Index: primary key.
 */
export async function findTopicChoices(
  tx: Queryable,
  { workspaceId, topicId, users }: { workspaceId: string; topicId: string; users: readonly UserKey[] },
): Promise<Map<string, { isIn: boolean }>> {
  const inBucket = isGivenBucket(tx, { column: tx`topic_choices.bucket`, given: tx`given.bucket`, rows: users });
  const rows = await tx<{ userId: string; isIn: boolean }[]>`
    select topic_choices.user_id as "userId", topic_choices.is_in as "isIn"
    from unnest(
      ${users.map(() => workspaceId)}::text[], ${users.map(({ bucket }) => bucket)}::smallint[],
      ${users.map(({ userId }) => userId)}::text[]
    ) as given (workspace_id, bucket, user_id)
    join topic_choices on topic_choices.workspace_id = given.workspace_id collate "C" and ${inBucket}
      and topic_choices.user_id = given.user_id collate "C" and topic_choices.topic_id = ${topicId}`;
  return new Map(rows.map(({ userId, isIn }) => [userId, { isIn }]));
}

type Chosen = { topicId: string; isIn: boolean; source: ChoiceSource; chosenAt: Date };

/** Stores choices of a user, replacing earlier ones. The caller holds the user's lock. Index: primary key. */
export async function upsertTopicChoices(
  tx: Queryable,
  { workspaceId, bucket, userId, choices }: OfUser & { choices: readonly Chosen[] },
): Promise<void> {
  if (choices.length === 0) return;
  await tx`
    insert into topic_choices (workspace_id, bucket, user_id, topic_id, is_in, source, chosen_at)
    select ${workspaceId}::text, ${bucket}::smallint, ${userId}::text, given.topic_id, given.is_in, given.source,
      given.chosen_at
    from unnest(
      ${choices.map(({ topicId }) => topicId)}::text[], ${choices.map(({ isIn }) => isIn)}::boolean[],
      ${choices.map(({ source }) => source)}::text[], ${choices.map(({ chosenAt }) => chosenAt)}::timestamptz[]
    ) as given (topic_id, is_in, source, chosen_at)
    order by given.topic_id collate "C"
    on conflict (workspace_id, bucket, user_id, topic_id) do update
      set is_in = excluded.is_in, source = excluded.source, chosen_at = excluded.chosen_at`;
}

/**
 * Stores choices of several users where they are newer than the stored ones, or as old and against the topic, as `mergeChoices` decides.
 * The caller holds the users' locks and gives each user and topic once. Index: primary key.
 *
 * @returns how many were stored
 */
export async function upsertNewerChoices(
  tx: Queryable,
  { workspaceId, choices }: { workspaceId: string; choices: readonly (UserKey & Chosen)[] },
): Promise<number> {
  if (choices.length === 0) return 0;
  const rows = await tx`
    insert into topic_choices (workspace_id, bucket, user_id, topic_id, is_in, source, chosen_at)
    select ${workspaceId}::text, given.bucket, given.user_id, given.topic_id, given.is_in, given.source, given.chosen_at
    from unnest(
      ${choices.map(({ bucket }) => bucket)}::smallint[], ${choices.map(({ userId }) => userId)}::text[],
      ${choices.map(({ topicId }) => topicId)}::text[], ${choices.map(({ isIn }) => isIn)}::boolean[],
      ${choices.map(({ source }) => source)}::text[], ${choices.map(({ chosenAt }) => chosenAt)}::timestamptz[]
    ) as given (bucket, user_id, topic_id, is_in, source, chosen_at)
    order by given.bucket, given.user_id collate "C", given.topic_id collate "C"
    on conflict (workspace_id, bucket, user_id, topic_id) do update
      set is_in = excluded.is_in, source = excluded.source, chosen_at = excluded.chosen_at
      where topic_choices.chosen_at < excluded.chosen_at
        or (topic_choices.chosen_at = excluded.chosen_at and topic_choices.is_in and not excluded.is_in)
    returning 1`;
  return rows.length;
}

/** Gives the choices of a merged user to the retained one; of two choices of a topic, `mergeChoices` decides. Index: primary key. */
export async function moveTopicChoices(tx: Queryable, { workspaceId, from, to }: Merge): Promise<void> {
  const moved = await tx<StoredChoice[]>`
    delete from topic_choices
    where workspace_id = ${workspaceId} and bucket = ${from.bucket} and user_id = ${from.userId}
    returning topic_id as "topicId", is_in as "isIn", source, chosen_at as "chosenAt"`;
  if (moved.length === 0) return;
  const own = new Map((await listTopicChoices(tx, { workspaceId, ...to })).map((choice) => [choice.topicId, choice]));
  const choices = moved.map((choice) => {
    const other = own.get(choice.topicId);
    return { topicId: choice.topicId, ...(other ? mergeChoices(choice, other) : choice) };
  });
  await upsertTopicChoices(tx, { workspaceId, ...to, choices });
}

/** Deletes choices of a removed topic in one bucket. Reads the workspace's part of the bucket. Index: primary key. */
export async function deleteChoicesOfTopic(
  tx: Queryable,
  { workspaceId, bucket, topicId }: { workspaceId: string; bucket: number; topicId: string },
): Promise<number> {
  const rows = await tx`
    delete from topic_choices where workspace_id = ${workspaceId} and bucket = ${bucket} and topic_id = ${topicId}`;
  return rows.count;
}

import type { CampaignTopic, Topic } from '../domain/topics.ts';
import type { Fragment, Queryable } from './database.ts';

export type StoredTopic = Topic & { id: string; createdAt: Date };

type Named = { workspaceId: string; key: string };

const columns = (tx: Queryable): Fragment => tx`
  id, key, name, description, is_in_by_default as "isInByDefault", position, created_at as "createdAt"`;

/** Lists a workspace's topics in the order in which users see them. Index: topics_key. */
export async function listTopics(tx: Queryable, workspaceId: string): Promise<StoredTopic[]> {
  return tx<StoredTopic[]>`
    select ${columns(tx)} from topics where workspace_id = ${workspaceId} and removed_at is null
    order by position, key`;
}

/** Index: topics_key. */
export async function findTopic(tx: Queryable, { workspaceId, key }: Named): Promise<StoredTopic | undefined> {
  const [row] = await tx<StoredTopic[]>`
    select ${columns(tx)} from topics where workspace_id = ${workspaceId} and key = ${key} and removed_at is null`;
  return row;
}

/**
 * Finds the topic of a campaign. It is not removed until the transaction ends; several transactions can hold it at once. Index:
 * topics_key.
 */
export async function holdTopic(tx: Queryable, { workspaceId, key }: Named): Promise<CampaignTopic | undefined> {
  const [row] = await tx<CampaignTopic[]>`
    select id, key, is_in_by_default as "isInByDefault" from topics
    where workspace_id = ${workspaceId} and key = ${key} and removed_at is null
    for key share`;
  return row;
}

/** Locks a topic until the transaction ends. Index: topics_key. */
export async function lockTopic(tx: Queryable, { workspaceId, key }: Named): Promise<StoredTopic | undefined> {
  const [row] = await tx<StoredTopic[]>`
    select ${columns(tx)} from topics where workspace_id = ${workspaceId} and key = ${key} and removed_at is null
    for update`;
  return row;
}

/** Makes callers that add topics to a workspace run one after the other, until the transaction ends. */
export async function lockTopics(tx: Queryable, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`topics:${workspaceId}`}, 0))`;
}

/** Adds a topic. Index: topics_key. @returns false if its key is in use */
export async function insertTopic(
  tx: Queryable,
  topic: Topic & { id: string; workspaceId: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    insert into topics (id, workspace_id, key, name, description, is_in_by_default, position, created_at, updated_at)
    values (${topic.id}, ${topic.workspaceId}, ${topic.key}, ${topic.name}, ${topic.description},
      ${topic.isInByDefault}, ${topic.position}, ${topic.at}, ${topic.at})
    on conflict (workspace_id, key) where removed_at is null do nothing returning 1`;
  return rows.length === 1;
}

/** Changes what users read. Index: primary key. */
export async function updateTopic(
  tx: Queryable,
  { id, name, description, position, at }: Pick<StoredTopic, 'id' | 'name' | 'description' | 'position'> & { at: Date },
): Promise<void> {
  await tx`
    update topics set name = ${name}, description = ${description}, position = ${position}, updated_at = ${at}
    where id = ${id}`;
}

/** Removes a topic; its choices are deleted by a job. Index: primary key. */
export async function markTopicRemoved(tx: Queryable, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`update topics set removed_at = ${at} where id = ${id}`;
}

/**
 * Lists names of campaigns that name a topic and send or will send, also those whose replaced version still sends. Reads the
 * workspace's unfinished campaigns and runs. Indexes: campaigns_newest, runs_campaign.
 */
export async function listCampaignsOfTopic(
  tx: Queryable,
  { workspaceId, id, limit }: { workspaceId: string; id: string; limit: number },
): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    select distinct campaigns.name from campaigns
    where campaigns.workspace_id = ${workspaceId} and campaigns.settings -> 'topic' ->> 'id' = ${id}
      and (
        campaigns.status in ('SCHEDULED', 'SENDING', 'ACTIVE', 'PAUSED')
        or exists (
          select 1 from runs where runs.campaign_id = campaigns.id and runs.status in ('QUEUED', 'SENDING', 'PAUSED')
        )
      )
    order by campaigns.name
    limit ${limit}`;
  return rows.map(({ name }) => name);
}

/** Lists removed topics, the oldest first. Index: topics_removed. */
export async function listRemovedTopics(
  tx: Queryable,
  limit: number,
): Promise<{ id: string; workspaceId: string; removedAt: Date }[]> {
  return tx<{ id: string; workspaceId: string; removedAt: Date }[]>`
    select id, workspace_id as "workspaceId", removed_at as "removedAt" from topics
    where removed_at is not null order by removed_at limit ${limit}`;
}

/** Deletes a removed topic whose choices are deleted. Index: primary key. */
export async function deleteRemovedTopic(tx: Queryable, id: string): Promise<void> {
  await tx`delete from topics where id = ${id} and removed_at is not null`;
}

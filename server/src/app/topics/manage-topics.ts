import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxTopics } from '../../domain/limits/topics.ts';
import { findTopicFaults, noSuchTopic } from '../../domain/topics.ts';
import type { Topic } from '../../domain/topics.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import {
  findTopic,
  insertTopic,
  listCampaignsOfTopic,
  listTopics,
  lockTopic,
  lockTopics,
  markTopicRemoved,
  updateTopic,
} from '../../storage/topics.ts';
import type { StoredTopic } from '../../storage/topics.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { requireWorkspace } from '../workspaces.ts';

export type { StoredTopic };

export type TopicDependencies = { database: Database; clock: Clock };

type By = { actor: Actor; workspaceId: string };

/** Lists a workspace's topics in the order in which users see them. @throws ServiceError NOT_FOUND */
export async function listWorkspaceTopics(database: Queryable, workspaceId: string): Promise<StoredTopic[]> {
  await requireWorkspace(database, workspaceId);
  return listTopics(database, workspaceId);
}

/** @throws ServiceError NOT_FOUND */
export async function findWorkspaceTopic(
  database: Queryable,
  named: { workspaceId: string; key: string },
): Promise<StoredTopic> {
  const topic = await findTopic(database, named);
  if (!topic) throw unknownTopic(named.key);
  return topic;
}

/** Adds a topic. @throws ServiceError NOT_FOUND, PARAMETER_INVALID, also for a key that is in use and for a topic too many */
export async function addTopic(
  { database, clock }: TopicDependencies,
  { actor, workspaceId, ...topic }: By & Topic,
): Promise<StoredTopic> {
  requireValid(topic);
  await requireWorkspace(database, workspaceId);
  const at = clock.now();
  return inTransaction(database, async (tx) => {
    await lockTopics(tx, workspaceId);
    if ((await listTopics(tx, workspaceId)).length >= maxTopics)
      throw new ServiceError('PARAMETER_INVALID', {
        field: 'key',
        reason: `would be one topic too many: a workspace has at most ${maxTopics}`,
      });
    const added = { ...topic, id: makeId(at), createdAt: at };
    if (!(await insertTopic(tx, { ...added, workspaceId, at })))
      throw new ServiceError('PARAMETER_INVALID', { field: 'key', reason: 'is the key of another topic' });
    const { name, isInByDefault, position } = topic;
    await audit(tx, {
      ...{ actor, workspaceId, action: 'topic.add' as const, object: objectOf(added) },
      ...{ detail: { name, isInByDefault, position }, at: clock.realNow() },
    });
    return added;
  });
}

type Change = By & { key: string } & { [Name in 'name' | 'description' | 'position']?: Topic[Name] | undefined };

/** Changes what users read about a topic, and its position. @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
export async function changeTopic(
  { database, clock }: TopicDependencies,
  { actor, workspaceId, key, ...change }: Change,
): Promise<StoredTopic> {
  return inTransaction(database, async (tx) => {
    const topic = await lockTopic(tx, { workspaceId, key });
    if (!topic) throw unknownTopic(key);
    const changed = {
      ...topic,
      name: change.name ?? topic.name,
      description: change.description ?? topic.description,
      position: change.position ?? topic.position,
    };
    requireValid(changed);
    await updateTopic(tx, { ...changed, at: clock.now() });
    const { name, description, position } = changed;
    await audit(tx, {
      ...{ actor, workspaceId, action: 'topic.change' as const, object: objectOf(topic) },
      ...{ detail: { name, description, position }, at: clock.realNow() },
    });
    return changed;
  });
}

// Enough to find them; an error is not a list.
const maxNamedCampaigns = 5;

/**
 * Removes a topic that no campaign needs any more. The choices of users are deleted with it, so a later topic of the same key
 * begins without any.
 *
 * @throws ServiceError NOT_FOUND, TOPIC_IN_USE
 */
export async function removeTopic(
  { database, clock }: TopicDependencies,
  { actor, workspaceId, key }: By & { key: string },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const topic = await lockTopic(tx, { workspaceId, key });
    if (!topic) throw unknownTopic(key);
    const campaigns = await listCampaignsOfTopic(tx, { workspaceId, id: topic.id, limit: maxNamedCampaigns });
    if (campaigns.length > 0)
      throw new ServiceError('TOPIC_IN_USE', { field: 'topic', reason: `is named by ${campaigns.join(', ')}` });
    await markTopicRemoved(tx, { id: topic.id, at: clock.now() });
    const line = { actor, workspaceId, action: 'topic.remove' as const, object: objectOf(topic) };
    await audit(tx, { ...line, at: clock.realNow() });
  });
}

function requireValid(topic: Topic): void {
  const faults = findTopicFaults(topic);
  if (faults.length > 0) throw new ServiceError('PARAMETER_INVALID', { faults });
}

function unknownTopic(key: string): ServiceError {
  return new ServiceError('NOT_FOUND', { field: 'topic', reason: noSuchTopic(key) });
}

function objectOf({ id, key }: Pick<StoredTopic, 'id' | 'key'>) {
  return { id, name: key };
}

import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isInTopic, noSuchTopic } from '../../domain/topics.ts';
import type { ChoiceSource, TopicChoice } from '../../domain/topics.ts';
import type { UserIdentity, UserKey } from '../../domain/users/users.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Queryable, Transaction } from '../../storage/database.ts';
import { listTopics } from '../../storage/topics.ts';
import type { StoredTopic } from '../../storage/topics.ts';
import { listTopicChoices, upsertTopicChoices } from '../../storage/users/topic-choices.ts';
import { findUserById, findUsersByCustomerIds } from '../../storage/users/users.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { lockIdentified } from '../users/users.ts';

export type UserTopicDependencies = { database: Database; clock: Clock };

/** A topic as one user has it. */
export type UserTopic = StoredTopic & {
  isIn: boolean;
  /** Null: the user made no choice and follows the default. */
  choice: TopicChoice | null;
};

/** What a user chose: true to be in the topic with that key. */
export type TopicChoices = ReadonlyMap<string, boolean>;

type Named = { workspaceId: string; identity: UserIdentity };

/** Returns all topics of the workspace, each as the user has it. @throws ServiceError NOT_FOUND for an unknown user */
export async function readUserTopics(database: Queryable, { workspaceId, identity }: Named): Promise<UserTopic[]> {
  const user = await findIdentified(database, { workspaceId, identity });
  if (!user) throw unknownUser(identity);
  return topicsOfUser(database, { workspaceId, bucket: user.bucket, userId: user.userId });
}

async function findIdentified(
  database: Queryable,
  { workspaceId, identity: { kind, value } }: Named,
): Promise<UserKey | undefined> {
  if (kind === 'id') return findUserById(database, { workspaceId, id: value });
  return (await findUsersByCustomerIds(database, { workspaceId, customerIds: [value], limit: 1 }))[0];
}

/** Returns all topics of the workspace, each as the user has it. */
export async function topicsOfUser(database: Queryable, user: UserKey & { workspaceId: string }): Promise<UserTopic[]> {
  const topics = await listTopics(database, user.workspaceId);
  if (topics.length === 0) return [];
  const choices = new Map((await listTopicChoices(database, user)).map((choice) => [choice.topicId, choice]));
  return topics.map((topic) => {
    const found = choices.get(topic.id);
    const choice = found ? { isIn: found.isIn, source: found.source, chosenAt: found.chosenAt } : null;
    return { ...topic, isIn: isInTopic(topic, found), choice };
  });
}

type SetTopics = Named & { actor: Actor; choices: TopicChoices; source: ChoiceSource };

/**
 * Stores what a user chose. Topics that are not named stay as they are. Nothing is stored if one of them is unknown. The audit log
 * says which topics somebody set for the user in the console or on the command line; the API log has the calls of servers.
 *
 * @throws ServiceError NOT_FOUND for an unknown user, PARAMETER_INVALID for an unknown topic
 */
export async function setUserTopics(
  { database, clock }: UserTopicDependencies,
  { workspaceId, identity, actor, ...chosen }: SetTopics,
): Promise<UserTopic[]> {
  return inTransaction(database, async (tx) => {
    // The lock keeps a merge or an erasure from missing a choice.
    const user = await lockIdentified(tx, { workspaceId, identity });
    if (!user) throw unknownUser(identity);
    const { bucket, userId } = user;
    const at = clock.now();
    const topics = await storeChoices(tx, { workspaceId, bucket, userId, ...chosen, at });
    const keysOf = (isIn: boolean) => [...chosen.choices].filter(([, chose]) => chose === isIn).map(([key]) => key);
    const detail = { joined: keysOf(true), left: keysOf(false) };
    const line = { actor, workspaceId, object: { id: userId }, detail, at: clock.realNow(), shownAt: at };
    if (chosen.choices.size > 0 && chosen.source !== 'API') await audit(tx, { ...line, action: 'person.topics' });
    return topics;
  });
}

type Stored = UserKey & { workspaceId: string; choices: TopicChoices; source: ChoiceSource; at: Date };

/** Stores choices of a user whose lock the caller holds. @throws ServiceError PARAMETER_INVALID for an unknown topic */
export async function storeChoices(tx: Transaction, { choices, source, at, ...user }: Stored): Promise<UserTopic[]> {
  const byKey = new Map((await listTopics(tx, user.workspaceId)).map((topic) => [topic.key, topic]));
  const stored = [...choices].map(([key, isIn]) => {
    const topic = byKey.get(key);
    if (!topic) throw new ServiceError('PARAMETER_INVALID', { field: 'topics', reason: noSuchTopic(key) });
    return { topicId: topic.id, isIn, source, chosenAt: at };
  });
  await upsertTopicChoices(tx, { ...user, choices: stored });
  return topicsOfUser(tx, user);
}

function unknownUser({ kind }: UserIdentity): ServiceError {
  if (kind === 'id') return new ServiceError('NOT_FOUND');
  return new ServiceError('NOT_FOUND', { field: 'customer_id', reason: 'is not the id of a user' });
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { addTopic, changeTopic, listWorkspaceTopics, removeTopic } from '../../app/topics/manage-topics.ts';
import type { StoredTopic, TopicDependencies } from '../../app/topics/manage-topics.ts';
import { readUserTopics, setUserTopics } from '../../app/topics/user-topics.ts';
import type { UserTopic as TopicOfUser } from '../../app/topics/user-topics.ts';
import { maxTopicKeyCharacters, maxTopicPosition, maxTopics } from '../../domain/limits/topics.ts';
import { choiceSources } from '../../domain/topics.ts';
import type { UserIdentity } from '../../domain/users/users.ts';
import { consoleApi as api } from './access.ts';
import { changeOf, closed, Id, idOf, Workspace, workspaceOf } from './requests.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const Topic = Type.Object({
  key: Type.String({ description: 'The name in requests and campaigns.' }),
  name: Type.String(),
  description: Type.String(),
  isInByDefault: Type.Boolean({ description: 'True if users without a choice are in the topic.' }),
  position: Type.Number({ description: 'The order in lists, then by key.' }),
  createdAt: Type.String(),
});

export const TopicList = Type.Object({ topics: described(Type.Array(Topic), 'In the order in which users see them.') });

export const UserTopic = Type.Object({
  ...Type.Pick(Topic, ['key', 'name', 'description', 'isInByDefault']).properties,
  isIn: Type.Boolean({ description: 'True if the user is in the topic.' }),
  chosenAt: described(orNull(Type.String()), 'Null: the user made no choice and follows the default.'),
  source: described(orNull(oneOf(choiceSources)), 'Where the choice was made.'),
});

export const UserTopics = Type.Object({ topics: Type.Array(UserTopic) });

// The app checks the length and the form, with a sentence for each fault.
const texts = { name: Type.String({ maxLength: 1000 }), description: Type.String({ maxLength: 5000 }) };
const position = Type.Integer({ minimum: 0, maximum: maxTopicPosition });
const key = Type.String({ maxLength: 1000 });
const NewTopic = Type.Object({ key, ...texts, isInByDefault: Type.Boolean(), position }, closed);
const TopicChange = Type.Partial(Type.Object({ ...texts, position }), closed);
const Key = Type.Object({ key: Type.String({ maxLength: maxTopicKeyCharacters }) });
const Choices = Type.Object(
  { topics: Type.Record(Type.String(), Type.Boolean(), { minProperties: 1, maxProperties: maxTopics }) },
  closed,
);

/** Routes for topics and for what one user chose. */
export function consoleTopicRoutes(server: FastifyInstance, deps: TopicDependencies): void {
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'campaigns.write' as const };
  const one = { ...schema, params: Key };
  server.get(
    `${api}/topics`,
    { schema: { ...schema, response: { 200: TopicList } }, config: { permission: 'overview.read' } },
    async (request) => ({ topics: (await listWorkspaceTopics(deps.database, workspaceOf(request))).map(presentTopic) }),
  );
  const adding = { schema: { ...schema, body: NewTopic, response: { 201: Topic } }, config };
  server.post(`${api}/topics`, adding, async (request, reply) => {
    const { name, ...topic } = request.body as Static<typeof NewTopic>;
    const added = await addTopic(deps, { ...changeOf(request), ...topic, name: name.trim() });
    return reply.code(201).send(presentTopic(added));
  });
  const changing = { schema: { ...one, body: TopicChange, response: { 200: Topic } }, config };
  server.patch(`${api}/topics/:key`, changing, async (request) => {
    const { name, ...change } = request.body as Static<typeof TopicChange>;
    const topic = { ...changeOf(request), ...change, key: topicOf(request), name: name?.trim() };
    return presentTopic(await changeTopic(deps, topic));
  });
  server.delete(`${api}/topics/:key`, { schema: one, config }, async (request, reply) => {
    await removeTopic(deps, { ...changeOf(request), key: topicOf(request) });
    return reply.code(204).send();
  });
  addUserRoutes(server, deps);
}

function addUserRoutes(server: FastifyInstance, deps: TopicDependencies): void {
  const schema = { hide: true, querystring: Workspace, params: Id, response: { 200: UserTopics } };
  server.get(`${api}/people/:id/topics`, { schema, config: { permission: 'people.read' } }, async (request) => {
    const user = { workspaceId: workspaceOf(request), identity: userOf(request) };
    return { topics: (await readUserTopics(deps.database, user)).map(presentUserTopic) };
  });
  const config = { permission: 'people.write' as const };
  server.patch(`${api}/people/:id/topics`, { schema: { ...schema, body: Choices }, config }, async (request) => {
    const choices = new Map(Object.entries((request.body as Static<typeof Choices>).topics));
    const change = { ...changeOf(request), identity: userOf(request), choices, source: 'CONSOLE' as const };
    return { topics: (await setUserTopics(deps, change)).map(presentUserTopic) };
  });
}

function topicOf(request: FastifyRequest): string {
  return (request.params as Static<typeof Key>).key;
}

function userOf(request: FastifyRequest): UserIdentity {
  return { kind: 'id', value: idOf(request) };
}

function presentTopic({ key, name, description, isInByDefault, position, createdAt }: StoredTopic) {
  return { key, name, description, isInByDefault, position, createdAt: createdAt.toISOString() };
}

function presentUserTopic({ key, name, description, isInByDefault, isIn, choice }: TopicOfUser) {
  const chosen = { chosenAt: choice?.chosenAt.toISOString() ?? null, source: choice?.source ?? null };
  return { key, name, description, isInByDefault, isIn, ...chosen };
}

import { Type } from 'typebox';
import {
  addTopic,
  changeTopic,
  findWorkspaceTopic,
  listWorkspaceTopics,
  removeTopic,
} from '../app/topics/manage-topics.ts';
import type { StoredTopic, TopicDependencies } from '../app/topics/manage-topics.ts';
import { makePreferenceLink } from '../app/topics/preference-page.ts';
import type { PreferenceLinkDependencies } from '../app/topics/preference-page.ts';
import { readUserTopics, setUserTopics } from '../app/topics/user-topics.ts';
import type { UserTopic } from '../app/topics/user-topics.ts';
import {
  maxPreferenceLinkDays,
  maxTopicDescriptionCharacters,
  maxTopicKeyCharacters,
  maxTopicNameCharacters,
  maxTopicPosition,
  preferenceLinkDays,
} from '../domain/limits/topics.ts';
import { choiceSources } from '../domain/topics.ts';
import type { ChoiceSource } from '../domain/topics.ts';
import type { UserIdentity } from '../domain/users/users.ts';
import { enumeration, flag, record, required, requiredText, text, whole } from '../fields/combinators.ts';
import { reading, schemaOf } from '../fields/field.ts';
import { serviceOrigin } from './console/access.ts';
import { codeShape, named } from './openapi/shapes.ts';
import { makeOwnDialect, makeOwnReader, refuseOwnFaults } from './route/own-dialect.ts';
import type { OwnDependencies } from './route/own-dialect.ts';
import { addRoutes, route } from './route/route.ts';
import type { Body, Route, RouteDialect } from './route/route.ts';
import type { KeyCaller } from './route/auth.ts';
import type { RouteFamily } from './server/build-server.ts';

const defaults = ['opted_in', 'opted_out'] as const;

const changeable = {
  name: text({ max: maxTopicNameCharacters, description: 'Users read it' }),
  description: text({ max: maxTopicDescriptionCharacters, description: 'Users read it. Absent: none' }),
  position: whole(0, maxTopicPosition, 'Order in lists, then by key. Absent: 0'),
};
const newMembers = {
  key: requiredText({
    max: maxTopicKeyCharacters,
    description: 'The name in requests and campaigns; cannot be changed',
  }),
  default: required(enumeration(defaults, 'Whether users without a choice are in the topic; cannot be changed')),
  ...changeable,
  name: requiredText({ max: maxTopicNameCharacters, description: 'Users read it' }),
};
const newBody = schemaOf(newMembers, { title: 'TopicRequest' });
const changeBody = schemaOf(changeable, {
  title: 'TopicChange',
  description: 'Members that are absent stay as they are',
});

const topicShape = {
  topic: Type.String({ description: 'The key' }),
  name: Type.String({ description: 'Users read it' }),
  description: Type.String({ description: 'Users read it' }),
  default: codeShape(defaults, 'Whether users without a choice are in the topic'),
  position: Type.Integer({ description: 'Order in lists, then by key' }),
};
const topicAnswer = named('Topic', Type.Object(topicShape));
const topicsAnswer = named(
  'Topics',
  Type.Object({ topics: Type.Array(topicAnswer, { description: 'In the order in which users see them' }) }),
);

const choiceMembers = {
  topics: required(record(flag('True: the user is in the topic'), 'By the keys of topics; others stay as they are')),
};
export const choiceBody = schemaOf(choiceMembers, { title: 'UserTopicsRequest' });

const userTopicShape = {
  topic: topicShape.topic,
  name: topicShape.name,
  description: topicShape.description,
  opted_in: Type.Boolean({ description: 'True if the user is in the topic' }),
  default: topicShape.default,
};
const userTopic = named(
  'UserTopic',
  Type.Object({
    ...userTopicShape,
    chosen_at: Type.Union([
      Type.String({ format: 'date-time', description: 'Null: the user made no choice and follows the default' }),
      Type.Null(),
    ]),
    source: Type.Union([codeShape(choiceSources.map(presentSource), 'Where the choice was made'), Type.Null()]),
  }),
);
export const userTopicsAnswer = named(
  'UserTopics',
  Type.Object({ topics: Type.Array(userTopic, { description: 'All topics of the workspace, in their order' }) }),
);

const topicParameters = Type.Object({ topic: Type.String({ description: 'The key of the topic' }) });
const userParameters = Type.Object({ customer_id: Type.String({ description: 'The customer id of the user' }) });

const linkMembers = {
  days: whole(1, maxPreferenceLinkDays, `How long the link is valid. Absent: ${preferenceLinkDays}`),
};
const linkBody = schemaOf(linkMembers, { title: 'PreferenceLinkRequest' });
const linkAnswer = named(
  'PreferenceLink',
  Type.Object({
    url: Type.String({ description: 'Opens the page for this user only. Whoever has it can change the choices' }),
    expires_at: Type.String({ format: 'date-time', description: 'The page rejects the link from then on' }),
  }),
);

export type TopicRouteDependencies = TopicDependencies &
  PreferenceLinkDependencies &
  OwnDependencies & { publicUrl: string | undefined };

/** Routes for the topics of a workspace and for what its users chose. They require the data key. */
export function topicRoutes(deps: TopicRouteDependencies): RouteFamily {
  const dialect = makeOwnDialect(deps, {
    tag: 'Topics',
    credentials: ['dataKey', 'bearer'],
    scope: 'data',
    errors: ['NOT_FOUND', 'SCOPE_MISSING', 'TOPIC_IN_USE'],
  });
  return async (server) => addRoutes(server, [...definitionRoutes(deps, dialect), ...choiceRoutes(deps, dialect)]);
}

function definitionRoutes(deps: TopicRouteDependencies, dialect: RouteDialect<KeyCaller>): Route[] {
  const url = '/v1/topics';
  const one = { url: `${url}/:topic`, params: topicParameters };
  return [
    route(dialect, {
      method: 'GET',
      url,
      operationId: 'listTopics',
      summary: 'List the topics of the workspace',
      answers: { 200: topicsAnswer },
      handle: async ({ workspaceId }) => ({
        topics: (await listWorkspaceTopics(deps.database, workspaceId)).map(presentTopic),
      }),
    }),
    route(dialect, {
      method: 'POST',
      url,
      operationId: 'createTopic',
      summary: 'Add a topic that users can join or leave',
      body: newBody,
      answers: { 201: topicAnswer },
      read: ({ body }) => parseNew(body),
      handle: async ({ input, workspaceId, actor }) =>
        presentTopic(await addTopic(deps, { ...input, workspaceId, actor })),
    }),
    route(dialect, {
      method: 'GET',
      ...one,
      operationId: 'readTopic',
      summary: 'Read a topic',
      answers: { 200: topicAnswer },
      refuses: [404],
      handle: async ({ params, workspaceId }) =>
        presentTopic(await findWorkspaceTopic(deps.database, { workspaceId, key: params.topic })),
    }),
    route(dialect, {
      method: 'PATCH',
      ...one,
      operationId: 'changeTopic',
      summary: 'Change the name, the description or the position of a topic',
      body: changeBody,
      answers: { 200: topicAnswer },
      refuses: [404],
      read: ({ body }) => parseChange(body),
      handle: async ({ input, params, workspaceId, actor }) =>
        presentTopic(await changeTopic(deps, { ...input, workspaceId, actor, key: params.topic })),
    }),
    route(dialect, {
      method: 'DELETE',
      ...one,
      operationId: 'removeTopic',
      summary: 'Remove a topic, with what users chose',
      description: 'A topic that a campaign names which still sends cannot be removed.',
      answers: { 204: Type.Null() },
      refuses: [404, 409, 413, 415],
      handle: ({ params, workspaceId, actor }) => removeTopic(deps, { workspaceId, actor, key: params.topic }),
    }),
  ];
}

function choiceRoutes(deps: TopicRouteDependencies, dialect: RouteDialect<KeyCaller>): Route[] {
  const ofUser = { url: '/v1/users/:customer_id/topics', params: userParameters };
  return [
    route(dialect, {
      method: 'GET',
      ...ofUser,
      operationId: 'readUserTopics',
      summary: 'Read which topics a user is in',
      answers: { 200: userTopicsAnswer },
      refuses: [404],
      handle: async ({ params, workspaceId }) =>
        presentUserTopics(await readUserTopics(deps.database, { workspaceId, identity: namedBy(params) })),
    }),
    route(dialect, {
      method: 'PATCH',
      ...ofUser,
      operationId: 'setUserTopics',
      summary: 'Set which topics a user is in',
      description: 'For choices that the user made elsewhere, for example in your own settings page.',
      body: choiceBody,
      answers: { 200: userTopicsAnswer },
      refuses: [404],
      read: ({ body }) => parseChoices(body),
      handle: async ({ input, params, workspaceId, actor }) =>
        presentUserTopics(
          await setUserTopics(deps, {
            ...{ actor, workspaceId, identity: namedBy(params) },
            ...{ choices: input, source: 'API' as const },
          }),
        ),
    }),
    route(dialect, {
      method: 'POST',
      url: '/v1/users/:customer_id/preference_link',
      params: userParameters,
      operationId: 'makePreferenceLink',
      summary: 'Make a link to the page on which a user chooses topics',
      body: linkBody,
      config: { isAnswerSecret: true },
      answers: { 201: linkAnswer },
      refuses: [404],
      read({ body }) {
        const reader = makeOwnReader(body);
        const days = linkMembers.days.read(reader, 'days');
        refuseOwnFaults(reader);
        return { ...(days === undefined ? {} : { days }) };
      },
      async handle({ input, params, workspaceId, request }) {
        const link = await makePreferenceLink(deps, { ...input, workspaceId, customerId: params.customer_id });
        const origin = serviceOrigin(request, deps.publicUrl);
        return { url: `${origin}/preferences/${link.token}`, expires_at: link.expiresAt.toISOString() };
      },
    }),
  ];
}

function namedBy({ customer_id: value }: { customer_id: string }): UserIdentity {
  return { kind: 'customer-id', value };
}

/** @throws ServiceError PARAMETER_INVALID */
function parseNew(body: Body) {
  const reader = makeOwnReader(body);
  const read = reading(reader, newMembers);
  const topic = {
    key: read('key'),
    name: read('name').trim(),
    description: read('description') ?? '',
    isInByDefault: read('default') === 'opted_in',
    position: read('position') ?? 0,
  };
  refuseOwnFaults(reader);
  return topic;
}

/** @throws ServiceError PARAMETER_INVALID */
function parseChange(body: Body) {
  const reader = makeOwnReader(body);
  const read = reading(reader, changeable);
  const change = {
    name: read('name')?.trim(),
    // Unlike in other members, an empty text is a value: it removes the description.
    description: body.description === '' ? '' : read('description'),
    position: read('position'),
  };
  refuseOwnFaults(reader);
  return change;
}

/** Parses choices by the keys of topics. @throws ServiceError PARAMETER_INVALID */
export function parseChoices(body: Body): Map<string, boolean> {
  const reader = makeOwnReader(body);
  const topics = choiceMembers.topics.read(reader, 'topics');
  const sent = reader.findPart('topics');
  // Null would otherwise count as not sent, and the choice be lost without a word.
  for (const name of sent?.names() ?? [])
    if (sent!.members[name] === null || sent!.members[name] === '') sent!.invalid(name, 'must be true or false');
  refuseOwnFaults(reader);
  return new Map(Object.entries(topics ?? {}));
}

function presentTopic({ key, name, description, isInByDefault, position }: StoredTopic) {
  return { topic: key, name, description, default: presentDefault(isInByDefault), position };
}

/** Presents the topics of a user, without Carillon's ids. */
export function presentUserTopics(topics: readonly UserTopic[]) {
  return {
    topics: topics.map(({ key, name, description, isIn, isInByDefault, choice }) => ({
      ...{ topic: key, name, description, opted_in: isIn, default: presentDefault(isInByDefault) },
      chosen_at: choice?.chosenAt.toISOString() ?? null,
      source: choice ? presentSource(choice.source) : null,
    })),
  };
}

function presentDefault(isInByDefault: boolean): (typeof defaults)[number] {
  return isInByDefault ? 'opted_in' : 'opted_out';
}

function presentSource(source: ChoiceSource): Lowercase<ChoiceSource> {
  return source.toLowerCase() as Lowercase<ChoiceSource>;
}

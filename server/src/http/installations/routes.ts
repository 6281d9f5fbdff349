import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AcceptAppEvents } from '../../app/installations/app-events.ts';
import type { InboxStreams } from '../../app/installations/inbox-streams.ts';
import type { InstallationInbox } from '../../app/installations/installation-inbox.ts';
import type { InstallationTopics } from '../../app/installations/installation-topics.ts';
import type { Installations, InstallationState } from '../../app/installations/installations.ts';
import type { AcceptReceipts } from '../../app/installations/receipts.ts';
import { verifyIdentity } from '../../app/installations/verify-identity.ts';
import type { IdentityDependencies } from '../../app/installations/verify-identity.ts';
import { maxAppBodyBytes } from '../../domain/limits/installations.ts';
import { addRoutes, route } from '../route/route.ts';
import type { Route, RouteDialect } from '../route/route.ts';
import { choiceBody, parseChoices, presentUserTopics, userTopicsAnswer } from '../topics.ts';
import { callerAddress } from '../server/call-origin.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { makeInstallationDialect, nameInstallation, preflightRoute } from './dialect.ts';
import type { InstallationCaller, InstallationDialectDependencies } from './dialect.ts';
import { inboxEventRoute } from './inbox-events.ts';
import { inboxPaths, inboxRoutes } from './inbox.ts';
import {
  eventsAnswer,
  eventsBody,
  parseAppEvents,
  parseReceipts,
  receiptsAnswer,
  receiptsBody,
} from './parse-events.ts';
import {
  changesBody,
  identityBody,
  installationAnswer,
  parseChanges,
  parseIdentity,
  parseRegistration,
  registrationBody,
} from './parse-installation.ts';

export type InstallationRouteDependencies = InstallationDialectDependencies & {
  identity: IdentityDependencies;
  installations: Installations;
  topics: InstallationTopics;
  inbox: InstallationInbox;
  streams: InboxStreams;
  acceptEvents: AcceptAppEvents;
  acceptReceipts: AcceptReceipts;
};

const installations = '/v1/app/installations';
const ofOne = `${installations}/:id`;
const params = Type.Object({ id: Type.String({ description: 'The id of the installation' }) });

/** Routes that apps call themselves, with a key that everyone can read. They reach only the caller's own installation. */
export function installationRoutes(deps: InstallationRouteDependencies): RouteFamily {
  const dialect = makeInstallationDialect(deps);
  const preflights = [
    installations,
    ofOne,
    `${ofOne}/identify`,
    `${ofOne}/logout`,
    `${ofOne}/topics`,
    ...inboxPaths(ofOne),
    '/v1/app/events',
    '/v1/app/receipts',
  ];
  return async (server) =>
    addRoutes(server, [
      ...preflights.map((url) => preflightRoute(dialect, url)),
      ...registrationRoutes(deps, dialect),
      ...topicRoutes(deps, dialect),
      ...inboxRoutes(deps, { dialect, ofOne, params }),
      inboxEventRoute(deps, { server, dialect, url: `${ofOne}/inbox/events` }),
      ...reportRoutes(deps, dialect),
    ]);
}

const answers = { 200: installationAnswer };
const common = { maxBodyBytes: maxAppBodyBytes, config: { keptBody: withoutSecrets } };

type InstallationDialect = RouteDialect<InstallationCaller>;

function registrationRoutes(deps: InstallationRouteDependencies, dialect: InstallationDialect): Route[] {
  return [
    route(dialect, {
      method: 'POST',
      url: installations,
      operationId: 'registerInstallation',
      summary: 'Register or refresh an installation of an app',
      description:
        'A repeat changes nothing. The first registration of an id sets its secret. A push token that another device holds is refused, and a silent push with a code is sent to it: the app that receives it registers again with push_token_challenge.',
      body: registrationBody,
      ...common,
      answers,
      refuses: [409],
      read: ({ body }) => parseRegistration(body),
      async handle({ input: { id, ...registered }, app, secret, request }) {
        const command = { ...nameInstallation({ app, secret }, id), ...registered, address: callerAddress(request) };
        return present(await deps.installations.register(command));
      },
    }),
    route(dialect, {
      method: 'PATCH',
      url: ofOne,
      operationId: 'updateInstallation',
      summary: 'Change what an installation says about itself',
      params,
      body: changesBody,
      ...common,
      answers,
      read: ({ body }) => parseChanges(body),
      handle: async ({ input: changes, params: { id }, ...caller }) =>
        present(await deps.installations.update({ ...nameInstallation(caller, id), changes })),
    }),
    route(dialect, {
      method: 'POST',
      url: `${ofOne}/identify`,
      operationId: 'identifyInstallation',
      summary: 'Sign a user in on an installation',
      description: 'The identity token proves the user. Only a sandbox accepts a user id without one.',
      params,
      body: identityBody,
      ...common,
      answers,
      read: ({ body }) => parseIdentity(body),
      async handle({ input, params: { id }, ...caller }) {
        const named = nameInstallation(caller, id);
        const customerId = await verifyIdentity(deps.identity, named.app.workspaceId, input);
        return present(await deps.installations.identify({ ...named, customerId }));
      },
    }),
    route(dialect, {
      method: 'POST',
      url: `${ofOne}/logout`,
      operationId: 'logoutInstallation',
      summary: 'Sign the user out on an installation',
      description: 'Pushes for the user no longer reach it from the response on. It stays registered, without a user.',
      params,
      isBodyIgnored: true,
      answers,
      refuses: [413, 415],
      handle: async ({ params: { id }, ...caller }) =>
        present(await deps.installations.logout(nameInstallation(caller, id))),
    }),
  ];
}

function topicRoutes(deps: InstallationRouteDependencies, dialect: InstallationDialect): Route[] {
  const ofTopics = { url: `${ofOne}/topics`, params, answers: { 200: userTopicsAnswer } };
  return [
    route(dialect, {
      method: 'GET',
      ...ofTopics,
      operationId: 'readInstallationTopics',
      summary: 'Read which topics the signed-in user is in',
      refuses: [409],
      handle: async ({ params: { id }, ...caller }) =>
        presentUserTopics(await deps.topics.read(nameInstallation(caller, id))),
    }),
    route(dialect, {
      method: 'PATCH',
      ...ofTopics,
      operationId: 'setInstallationTopics',
      summary: 'Set which topics the signed-in user is in',
      body: choiceBody,
      ...common,
      refuses: [409],
      read: ({ body }) => parseChoices(body),
      handle: async ({ input: choices, params: { id }, ...caller }) =>
        presentUserTopics(await deps.topics.set({ ...nameInstallation(caller, id), choices })),
    }),
  ];
}

function reportRoutes(deps: InstallationRouteDependencies, dialect: InstallationDialect): Route[] {
  return [
    route(dialect, {
      method: 'POST',
      url: '/v1/app/events',
      operationId: 'reportAppEvents',
      summary: 'Report events and changes of attributes of the current user',
      description: 'Each id counts once, so a request whose response was lost is sent again unchanged.',
      body: eventsBody,
      ...common,
      answers: { 200: eventsAnswer },
      read: ({ body }) => parseAppEvents(body),
      handle: ({ input: { id, ...events }, app, secret }) =>
        deps.acceptEvents({ ...nameInstallation({ app, secret }, id), ...events }),
    }),
    route(dialect, {
      method: 'POST',
      url: '/v1/app/receipts',
      operationId: 'reportAppReceipts',
      summary: 'Report which messages were shown, clicked or dismissed',
      body: receiptsBody,
      ...common,
      answers: { 200: receiptsAnswer },
      read: ({ body }) => parseReceipts(body),
      handle: ({ input: { id, receipts }, app, secret, request }) =>
        deps.acceptReceipts({
          ...nameInstallation({ app, secret }, id),
          receipts,
          address: callerAddress(request),
        }),
    }),
  ];
}

function present({ id, isIdentified, isOptedIn, hasPushToken, webPushPublicKey }: InstallationState) {
  return {
    installation_id: id,
    signed_in: isIdentified,
    opted_in: isOptedIn,
    can_receive: hasPushToken,
    ...(webPushPublicKey === undefined ? {} : { web_push_public_key: webPushPublicKey }),
  };
}

/** The API log keeps bodies without what proves a user, an installation or a message. */
function withoutSecrets({ body }: FastifyRequest): string {
  return JSON.stringify(body, (name, value: unknown) => (secretMembers.has(name) ? '[redacted]' : value)) ?? '';
}

const secretMembers = new Set(['identity_token', 'secret', 'token', 'push_token_challenge']);

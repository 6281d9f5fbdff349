import { Type } from 'typebox';
import { findWorkspaceApp, listWorkspaceApps, putApp, removeApp } from '../app/apps.ts';
import type { AppDependencies, ListedApp } from '../app/apps.ts';
import { apnsEnvironments, declarativeModes } from '../domain/apps.ts';
import type { ApnsEnvironment, AppSettings, App, AppDefaults } from '../domain/apps.ts';
import { payloadModes, platforms } from '../domain/content/content.ts';
import type { PayloadMode, Platform } from '../domain/content/content.ts';
import { ServiceError } from '../domain/errors.ts';
import type { RequestReader } from '../fields/request-reader.ts';
import { named } from './openapi/shapes.ts';
import type { KeyCaller } from './route/auth.ts';
import { makeOwnDialect, makeOwnReader, refuseOwnFaults } from './route/own-dialect.ts';
import type { OwnDependencies } from './route/own-dialect.ts';
import { addRoutes, route } from './route/route.ts';
import type { Call } from './route/route.ts';
import type { RouteFamily } from './server/build-server.ts';

const word = <Word extends string>(words: readonly string[], description: string) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words], description });
const text = (description: string) => Type.Optional(Type.String({ description }));
const platform = word<Platform>(platforms, 'ANDROID, IOS or WEB');

const settings = {
  restrictPackage: Type.Optional(
    Type.Boolean({ description: 'Of Android: FCM is told the package and refuses tokens of another' }),
  ),
  mode: Type.Optional(word<PayloadMode>(payloadModes, 'Of Android: who shows its messages')),
  declarative: Type.Optional(
    word<NonNullable<AppSettings['declarative']>>(declarativeModes, 'Of sites: the declarative form of a web push'),
  ),
  criticalAlerts: Type.Optional(
    Type.Boolean({ description: 'Of iOS: Apple granted the app critical alerts, and messages may have such sounds' }),
  ),
  pushFrom: text('Of Android: value of push_from'),
  dataPrefix: text('Of phones: stands before the names of our keys'),
  defaults: Type.Optional(
    Type.Object(
      {
        channel_id: text('Android channel'),
        sound: text('File of the app, on phones'),
        icon: text('Name of a drawable'),
        color: text('#rrggbb'),
      },
      { description: 'What a content has that says nothing else' },
    ),
  ),
};

const environment = Type.Optional(
  word<ApnsEnvironment>(apnsEnvironments, "Of iOS: which of Apple's services; absent: production"),
);

const appBody = named(
  'AppRequest',
  Type.Object({
    platform,
    name: text('For people; absent: the id'),
    identifier: Type.String({ description: 'Android package, bundle id, or origin of the site; stands' }),
    environment,
    ...settings,
  }),
);

const appAnswer = named(
  'App',
  Type.Object({
    app_id: Type.String(),
    platform,
    name: Type.String(),
    identifier: Type.Union([Type.String({ description: 'Null: of a default app without a credential' }), Type.Null()]),
    environment,
    ...settings,
    credential_of: Type.Union([
      Type.String({ description: 'The app whose credential its messages take; null: there is none' }),
      Type.Null(),
    ]),
  }),
);

const appsAnswer = named('Apps', Type.Object({ apps: Type.Array(appAnswer) }));

const appParameters = Type.Object({ app: Type.String({ description: 'The id of the app' }) });

const appQuery = Type.Object({
  platform: Type.Optional(word<Platform>(platforms, 'Of which platform; needed where several have an app of that id')),
});

export type AppRouteDependencies = AppDependencies & OwnDependencies;

/** Routes for the apps of a workspace, for clients that register its devices. They require the data key. */
export function appRoutes(deps: AppRouteDependencies): RouteFamily {
  const { database } = deps;
  const dialect = makeOwnDialect(deps, {
    tag: 'Apps',
    credentials: ['dataKey', 'bearer'],
    scope: 'data',
    errors: ['NOT_FOUND', 'SCOPE_MISSING'],
  });
  const url = '/v1/apps';
  const one = { url: `${url}/:app`, params: appParameters };
  return async (server) =>
    addRoutes(server, [
      route(dialect, {
        method: 'GET',
        url,
        operationId: 'listApps',
        summary: 'List the apps of the workspace',
        answers: { 200: appsAnswer },
        handle: async ({ workspaceId }) => ({ apps: (await listWorkspaceApps(database, workspaceId)).map(presentApp) }),
      }),
      route(dialect, {
        method: 'GET',
        ...one,
        operationId: 'readApp',
        summary: 'Read an app',
        querystring: appQuery,
        answers: { 200: appAnswer },
        refuses: [404],
        read: readAppName,
        handle: async ({ input }) => presentApp(await findWorkspaceApp(database, input)),
      }),
      route(dialect, {
        method: 'PUT',
        ...one,
        operationId: 'putApp',
        summary: 'Add an app, or replace what may change of it',
        description: 'What is left out is as the workspace says. Identifier and environment stand.',
        body: appBody,
        answers: { 200: appAnswer, 201: appAnswer },
        refuses: [404],
        // An invalid query is reported before a missing body.
        admit: async (call) => void readAppName(call),
        read: ({ body, params }) => parseApp(makeOwnReader(body), params.app),
        async handle({ input, workspaceId, actor, reply }) {
          const { isNew } = await putApp(deps, { ...input, actor, workspaceId });
          reply.code(isNew ? 201 : 200);
          const { appId, platform } = input;
          return presentApp(await findWorkspaceApp(database, { workspaceId, appId, platform }));
        },
      }),
      route(dialect, {
        method: 'DELETE',
        ...one,
        operationId: 'removeApp',
        summary: 'Remove an app that has neither credential nor devices',
        querystring: appQuery,
        answers: { 204: Type.Null() },
        refuses: [404, 413, 415],
        read: readAppName,
        async handle({ input, actor }) {
          const { platform } = await findWorkspaceApp(database, input);
          await removeApp(deps, { ...input, actor, platform });
        },
      }),
    ]);
}

type AppCall = Pick<Call<KeyCaller, { app: string }>, 'params' | 'query' | 'workspaceId'>;

/** Returns the app in the path, with the platform in the query. @throws ServiceError PARAMETER_INVALID */
function readAppName({ params, query: { platform }, workspaceId }: AppCall) {
  if (platform !== undefined && !platforms.includes(platform as Platform))
    throw new ServiceError('PARAMETER_INVALID', { field: 'platform', reason: `must be ${platforms.join(', ')}` });
  return { workspaceId, appId: params.app, platform: platform as Platform | undefined };
}

/** Parses an app; the use case validates it. @throws ServiceError PARAMETER_INVALID */
function parseApp(reader: RequestReader, appId: string): App & { settings: AppSettings } {
  const platform = reader.requires('platform') ? reader.choice('platform', platforms) : undefined;
  const identifier = reader.requiredText('identifier');
  const app = {
    appId,
    platform: platform!,
    name: reader.text('name') ?? appId,
    identifier,
    environment: reader.choice('environment', apnsEnvironments) ?? (platform === 'IOS' ? 'production' : null),
    restrictsPackage: reader.flag('restrictPackage') ?? false,
    settings: readSettings(reader),
  };
  refuseOwnFaults(reader);
  return app;
}

function readSettings(reader: RequestReader): AppSettings {
  const part = reader.part('defaults');
  const defaults = sentOf<AppDefaults>({
    channelId: part.text('channel_id'),
    sound: part.text('sound'),
    icon: part.text('icon'),
    color: part.text('color'),
  });
  return sentOf<AppSettings>({
    mode: reader.choice('mode', payloadModes),
    declarative: reader.choice('declarative', declarativeModes),
    criticalAlerts: reader.flag('criticalAlerts') ? true : undefined,
    pushFrom: reader.text('pushFrom'),
    dataPrefix: reader.text('dataPrefix'),
    defaults: Object.keys(defaults).length === 0 ? undefined : defaults,
  });
}

type Read<T> = { [Name in keyof T]: T[Name] | undefined };

function sentOf<T extends object>(members: Read<Required<T>>): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** Presents an app with the field names of its request; settings that the app does not have are omitted. */
function presentApp({ appId, restrictsPackage, settings = {}, credentialOf, ...app }: ListedApp) {
  const { defaults, ...own } = settings;
  const { channelId, ...look } = defaults ?? {};
  return {
    app_id: appId,
    platform: app.platform,
    name: app.name,
    identifier: app.identifier,
    ...(app.environment === null ? {} : { environment: app.environment }),
    ...(app.platform === 'ANDROID' ? { restrictPackage: restrictsPackage } : {}),
    ...own,
    ...(defaults === undefined
      ? {}
      : { defaults: { ...(channelId === undefined ? {} : { channel_id: channelId }), ...look } }),
    credential_of: credentialOf,
  };
}

import { Type } from 'typebox';
import { findWorkspaceApp, listWorkspaceApps, putApp, removeApp } from '../app/apps.ts';
import type { AppDependencies, ListedApp } from '../app/apps.ts';
import { apnsEnvironments, declarativeModes } from '../domain/apps.ts';
import type { App, AppDefaults, AppSettings } from '../domain/apps.ts';
import { payloadModes, platforms } from '../domain/content/content.ts';
import type { Platform } from '../domain/content/content.ts';
import { enumeration, flag, partAs, passing, required, requiredText, text } from '../fields/combinators.ts';
import { reading, schemaOf, withoutAbsent } from '../fields/field.ts';
import type { ReadMember } from '../fields/field.ts';
import type { RequestReader } from '../fields/request-reader.ts';
import { named } from './openapi/shapes.ts';
import type { KeyCaller } from './route/auth.ts';
import { makeOwnDialect, makeOwnReader, readOwnParameters, refuseOwnFaults } from './route/own-dialect.ts';
import type { OwnDependencies } from './route/own-dialect.ts';
import { addRoutes, route } from './route/route.ts';
import type { Call } from './route/route.ts';
import type { RouteFamily } from './server/build-server.ts';

const defaults = partAs(
  {
    channel_id: text({ description: 'Android channel' }),
    sound: text({ description: 'File of the app, on phones' }),
    icon: text({ description: 'Name of a drawable' }),
    color: text({ description: '#rrggbb' }),
  },
  {
    description: 'Defaults for contents that set no value',
    read(_defaults, read) {
      const sent = withoutAbsent<AppDefaults>({
        channelId: read('channel_id'),
        sound: read('sound'),
        icon: read('icon'),
        color: read('color'),
      });
      return Object.keys(sent).length === 0 ? undefined : sent;
    },
  },
);

/** The settings of an app, in requests and responses. */
const settings = {
  restrictPackage: flag('Android only: FCM receives the package and rejects tokens of other packages'),
  mode: enumeration(payloadModes, 'Android only: whether the app or the system shows messages'),
  declarative: enumeration(declarativeModes, 'Sites only: the declarative form of a web push'),
  criticalAlerts: flag('iOS only: Apple granted the app critical alerts, so messages may use critical sounds'),
  pushFrom: text({ description: 'Android only: value of push_from' }),
  dataPrefix: text({ description: "Phones only: prefix of Carillon's keys" }),
  defaults,
};

const members = {
  platform: required(enumeration(platforms, 'ANDROID, IOS or WEB')),
  name: text({ description: 'Display name; absent: the id' }),
  identifier: requiredText({ description: 'Android package, bundle id, or origin of the site; cannot be changed' }),
  environment: enumeration(apnsEnvironments, "iOS only: Apple's service; absent: production"),
  ...settings,
};

const appBody = schemaOf(members, { title: 'AppRequest' });

const appAnswer = named(
  'App',
  Type.Object({
    app_id: Type.String(),
    platform: members.platform.schema,
    name: Type.String(),
    identifier: Type.Union([
      Type.String({ description: 'Null for the default app without a credential' }),
      Type.Null(),
    ]),
    environment: Type.Optional(members.environment.schema),
    ...schemaOf(settings).properties,
    credential_of: Type.Union([
      Type.String({ description: 'The app whose credential the messages use; null if there is none' }),
      Type.Null(),
    ]),
  }),
);

const appsAnswer = named('Apps', Type.Object({ apps: Type.Array(appAnswer) }));

const appParameters = Type.Object({ app: Type.String({ description: 'The id of the app' }) });

const queryMembers = {
  platform: passing(
    enumeration(platforms, 'The platform of the app; required if several platforms have an app with this id'),
    {
      is: isPlatform,
      reason: `must be ${platforms.join(', ')}`,
    },
  ),
};
const appQuery = schemaOf(queryMembers);

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
        summary: 'Add an app, or replace its members that may change',
        description:
          'Absent members use the values of the workspace. The identifier and the environment cannot be changed.',
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
function readAppName({ params, query, workspaceId }: AppCall) {
  const { platform } = readOwnParameters(query, queryMembers);
  return { workspaceId, appId: params.app, platform };
}

function isPlatform(value: unknown): value is Platform {
  return platforms.some((platform) => platform === value);
}

/** Parses an app; the use case validates it. @throws ServiceError PARAMETER_INVALID */
function parseApp(reader: RequestReader, appId: string): App & { settings: AppSettings } {
  const read = reading(reader, members);
  const platform = read('platform');
  const identifier = read('identifier');
  const app = {
    appId,
    platform: platform!,
    name: read('name') ?? appId,
    identifier,
    environment: read('environment') ?? (platform === 'IOS' ? 'production' : null),
    restrictsPackage: read('restrictPackage') ?? false,
    settings: readSettings(read),
  };
  refuseOwnFaults(reader);
  return app;
}

function readSettings(read: ReadMember<typeof members>): AppSettings {
  // Read first: the faults of its members precede those of the others.
  const sent = { defaults: read('defaults') };
  return withoutAbsent<AppSettings>({
    mode: read('mode'),
    declarative: read('declarative'),
    criticalAlerts: read('criticalAlerts') ? true : undefined,
    pushFrom: read('pushFrom'),
    dataPrefix: read('dataPrefix'),
    ...sent,
  });
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

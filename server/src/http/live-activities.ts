import { Type } from 'typebox';
import { acceptLiveEvent, addTokens, readLiveActivity } from '../app/live-activities.ts';
import type { LiveActivityDependencies, LiveActivityName } from '../app/live-activities.ts';
import { defaultAppId, isAppId } from '../domain/apps.ts';
import { ServiceError } from '../domain/errors.ts';
import { liveEventKinds } from '../domain/events/live-activities.ts';
import type { LiveEventKind, LiveEvent } from '../domain/events/live-activities.ts';
import { maxLiveTokensPerRequest } from '../domain/limits/push.ts';
import { isObject } from '../fields/request-reader.ts';
import type { RequestReader } from '../fields/request-reader.ts';
import { named } from './openapi/shapes.ts';
import { makeOwnDialect, makeOwnReader, refuseOwnFaults } from './route/own-dialect.ts';
import type { OwnDependencies } from './route/own-dialect.ts';
import { addRoutes, route } from './route/route.ts';
import type { RouteFamily } from './server/build-server.ts';

const appId = Type.Optional(Type.String({ description: 'An app of the workspace on iOS; absent: the default app' }));
const activityId = Type.String({ maxLength: 64, description: 'Your name of the activity' });
const event = Type.Unsafe<LiveEventKind>({ type: 'string', enum: [...liveEventKinds] });
const object = (description: string) => Type.Object({}, { additionalProperties: true, description });
const seconds = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));

const liveEventBody = named(
  'LiveActivityEventRequest',
  Type.Object({
    app_id: appId,
    activityId,
    event,
    contentState: object('As the app decodes it'),
    attributesType: Type.Optional(Type.String({ description: 'Of a start: the name of the type of the attributes' })),
    attributes: Type.Optional(object('Of a start: as the app decodes them')),
    alert: Type.Optional(
      Type.Object({ title: Type.String(), body: Type.String() }, { description: 'Required of a start' }),
    ),
    staleDate: seconds('Epoch seconds: out of date from then on'),
    dismissalDate: seconds('Epoch seconds: taken away then'),
    priority: Type.Optional(Type.Unsafe<5 | 10>({ type: 'integer', enum: [5, 10], description: 'Absent: 10' })),
  }),
);

const liveEventAnswer = named(
  'LiveActivityEvent',
  Type.Object({
    app_id: Type.String(),
    activityId,
    event,
    timestamp: Type.Integer({ description: 'Epoch seconds; grows with every event of the activity' }),
    devices: Type.Integer({ description: 'Tokens that it is sent to' }),
  }),
);

const tokens = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { maxItems: maxLiveTokensPerRequest, description }));

const liveTokensBody = named(
  'LiveActivityTokensRequest',
  Type.Object({
    app_id: appId,
    tokens: tokens('Update tokens of phones that show the activity, hexadecimal'),
    startTokens: tokens('Push-to-start tokens of phones that are to start it, hexadecimal'),
  }),
);

const tokenCounts = Type.Object({ start: Type.Integer(), update: Type.Integer() });

const liveTokensAnswer = named(
  'LiveActivityTokens',
  Type.Object({ app_id: Type.String(), activityId, tokens: tokenCounts }),
);

const liveActivityAnswer = named(
  'LiveActivity',
  Type.Object({
    app_id: Type.String(),
    activityId,
    tokens: tokenCounts,
    events: Type.Array(
      Type.Object({
        event,
        timestamp: Type.Integer(),
        outcome: Type.String({ description: 'WAITING, ACCEPTED, GONE, REJECTED, FAILED, EXPIRED or SUPERSEDED' }),
        code: Type.Union([Type.String({ description: "Apple's word, or why it was not sent" }), Type.Null()]),
        devices: Type.Integer(),
      }),
      { description: 'The newest first' },
    ),
  }),
);

const liveParameters = Type.Object({ id: Type.String({ description: 'Your name of the activity' }) });
const liveQuery = Type.Object({ app: Type.Optional(Type.String({ description: 'Absent: the default app' })) });

export type LiveActivityRouteDependencies = LiveActivityDependencies & OwnDependencies;

/** Routes for Live Activities of iPhones, one by one: they are not part of a campaign. They require the push key. */
export function liveActivityRoutes(deps: LiveActivityRouteDependencies): RouteFamily {
  const url = '/v1/live-activities';
  const dialect = makeOwnDialect(deps, {
    tag: 'Live Activities',
    credentials: ['pushKey', 'bearer'],
    scope: 'push',
    errors: ['NOT_FOUND', 'SCOPE_MISSING', 'IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_CONFLICT'],
  });
  return async (server) =>
    addRoutes(server, [
      route(dialect, {
        method: 'POST',
        url,
        operationId: 'sendLiveActivityEvent',
        summary: 'Start, update or end a Live Activity',
        description: 'A start goes to the start tokens of the activity, an update and an end to its update tokens.',
        body: liveEventBody,
        isRepeatable: true,
        answers: { 202: liveEventAnswer },
        read: ({ body }) => parseLiveEvent(makeOwnReader(body)),
        async handle({ input: { event, ...named }, workspaceId, once }) {
          const name = { workspaceId, ...named };
          const accepted = await acceptLiveEvent(deps, { name, event, once });
          return { ...presentName(name), event: event.kind, ...accepted };
        },
      }),
      route(dialect, {
        method: 'PUT',
        url: `${url}/:id/tokens`,
        operationId: 'addLiveActivityTokens',
        summary: 'Add tokens to a Live Activity',
        description: 'Tokens that are known stay, so each phone may be told of by itself.',
        params: liveParameters,
        body: liveTokensBody,
        answers: { 200: liveTokensAnswer },
        read({ body, params, workspaceId }) {
          const { appId, ...given } = parseLiveTokens(makeOwnReader(body));
          return { name: { workspaceId, appId, activityId: readPathId(params) }, ...given };
        },
        handle: async ({ input }) => ({ ...presentName(input.name), tokens: await addTokens(deps, input) }),
      }),
      route(dialect, {
        method: 'GET',
        url: `${url}/:id`,
        operationId: 'readLiveActivity',
        summary: 'Read what became of the events of a Live Activity',
        params: liveParameters,
        querystring: liveQuery,
        answers: { 200: liveActivityAnswer },
        refuses: [404],
        read: ({ query, params, workspaceId }) => ({
          ...{ workspaceId, appId: readQueryApp(query), activityId: readPathId(params) },
        }),
        async handle({ input: name }) {
          const { tokens, events } = await readLiveActivity(deps, name);
          const shown = events.map(({ state: outcome, ...figures }) => ({ ...figures, outcome }));
          return { ...presentName(name), tokens, events: shown };
        },
      }),
    ]);
}

/** @throws ServiceError PARAMETER_INVALID */
function readPathId({ id }: { id: string }): string {
  if (isActivityId(id)) return id;
  throw new ServiceError('PARAMETER_INVALID', { field: 'id', reason: 'takes 1 to 64 letters, digits, dots, - and _' });
}

/** @throws ServiceError PARAMETER_INVALID */
function readQueryApp({ app = defaultAppId }: Record<string, unknown>): string {
  if (typeof app === 'string' && isAppId(app)) return app;
  throw new ServiceError('PARAMETER_INVALID', { field: 'app', reason: 'must be the id of an app' });
}

function presentName({ appId, activityId }: LiveActivityName) {
  return { app_id: appId, activityId };
}

// The end of the century: a larger number must be milliseconds.
const maxEpochSeconds = 4_102_444_800;
const maxNameCharacters = 64;

type Named = { appId: string; activityId: string };

/** @throws ServiceError PARAMETER_INVALID */
function parseLiveEvent(reader: RequestReader): Named & { event: LiveEvent } {
  const named = { appId: readAppId(reader), activityId: readActivityId(reader) };
  const kind = reader.requires('event') ? reader.choice('event', liveEventKinds) : undefined;
  const isStart = kind === 'start';
  const alert = isStart || !reader.isAbsent('alert') ? readAlert(reader) : undefined;
  const epochSeconds = (name: string) => reader.integer(name, { minimum: 1, maximum: maxEpochSeconds });
  const [staleDate, dismissalDate] = [epochSeconds('staleDate'), epochSeconds('dismissalDate')];
  const event = {
    kind: kind!,
    contentState: readObject(reader, 'contentState'),
    ...(isStart
      ? { attributesType: reader.requiredText('attributesType'), attributes: readObject(reader, 'attributes') }
      : {}),
    ...(alert === undefined ? {} : { alert }),
    ...(staleDate === undefined ? {} : { staleDate }),
    ...(dismissalDate === undefined ? {} : { dismissalDate }),
    priority: reader.choice('priority', [5, 10]) ?? 10,
  } as LiveEvent;
  if (kind !== undefined && !isStart)
    for (const name of ['attributesType', 'attributes'])
      if (!reader.isAbsent(name)) reader.invalid(name, 'is of a start');
  refuseOwnFaults(reader);
  return { ...named, event };
}

export type LiveTokens = { appId: string; tokens: string[]; startTokens: string[] };

/** @throws ServiceError PARAMETER_INVALID */
function parseLiveTokens(reader: RequestReader): LiveTokens {
  const appId = readAppId(reader);
  const [tokens, startTokens] = [readTokens(reader, 'tokens'), readTokens(reader, 'startTokens')];
  if (tokens.length + startTokens.length === 0 && reader.faults.length === 0) reader.missing('tokens');
  refuseOwnFaults(reader);
  return { appId, tokens, startTokens };
}

/** True if the text can be an activity's name in an address. */
const isActivityId = (text: string): boolean => /^[A-Za-z0-9._-]{1,64}$/.test(text);

function readActivityId(reader: RequestReader): string {
  const id = reader.requiredText('activityId', maxNameCharacters);
  if (id !== '' && !isActivityId(id)) reader.invalid('activityId', 'takes 1 to 64 letters, digits, dots, - and _');
  return id;
}

function readAppId(reader: RequestReader): string {
  const appId = reader.text('app_id') ?? defaultAppId;
  if (!isAppId(appId)) reader.invalid('app_id', 'must be the id of an app');
  return appId;
}

function readAlert(reader: RequestReader): { title: string; body: string } {
  if (!reader.requires('alert')) return { title: '', body: '' };
  const alert = reader.part('alert');
  return { title: alert.requiredText('title'), body: alert.requiredText('body') };
}

/** Returns the object unparsed: the app's own types decode it. */
function readObject(reader: RequestReader, name: string): Record<string, unknown> {
  if (!reader.requires(name)) return {};
  const value = reader.get(name);
  if (isObject(value)) return value;
  reader.invalid(name, 'must be an object');
  return {};
}

/** Returns the tokens in lower case without duplicates, so that equal tokens compare equal. */
function readTokens(reader: RequestReader, name: string): string[] {
  const given = reader.texts(name, { maxItems: maxLiveTokensPerRequest, maxCharacters: 200 }) ?? [];
  const wrong = given.findIndex((token) => !/^[0-9a-fA-F]{16,200}$/.test(token));
  if (wrong >= 0) reader.invalid(name, 'must hold tokens of Apple (hexadecimal)');
  return [...new Set(given.map((token) => token.toLowerCase()))];
}

import { Type } from 'typebox';
import { acceptLiveEvent, addTokens, readLiveActivity } from '../app/live-activities.ts';
import type { LiveActivityDependencies, LiveActivityName } from '../app/live-activities.ts';
import { defaultAppId, isAppId } from '../domain/apps.ts';
import { liveEventKinds } from '../domain/events/live-activities.ts';
import type { LiveEvent } from '../domain/events/live-activities.ts';
import { maxLiveTokensPerRequest } from '../domain/limits/push.ts';
import {
  checked,
  enumeration,
  list,
  mapped,
  optional,
  partOrEmpty,
  passing,
  readWith,
  required,
  requiredText,
  sentObject,
  text,
  wholeFrom,
} from '../fields/combinators.ts';
import { reading, schemaOf, withoutAbsent } from '../fields/field.ts';
import type { RequestReader } from '../fields/request-reader.ts';
import { named } from './openapi/shapes.ts';
import { makeOwnDialect, makeOwnReader, readOwnParameters, refuseOwnFaults } from './route/own-dialect.ts';
import type { OwnDependencies } from './route/own-dialect.ts';
import { addRoutes, route } from './route/route.ts';
import type { RouteFamily } from './server/build-server.ts';

const maxNameCharacters = 64;
// The end of the century: a larger number must be milliseconds.
const maxEpochSeconds = 4_102_444_800;

const nameWords = 'takes 1 to 64 letters, digits, dots, - and _';

const appId = checked(text({ description: 'An iOS app of the workspace; absent: the default app' }), {
  is: isAppId,
  reason: 'must be the id of an app',
});
const activityId = required(
  checked(text({ maxLength: maxNameCharacters, description: 'Your name for the activity' }), {
    is: isActivityId,
    reason: nameWords,
  }),
);
const event = required(enumeration(liveEventKinds));
const epochSeconds = (description: string) => wholeFrom(1, { max: maxEpochSeconds, description });

/** An object that the types of the app decode, so it stays as it was sent. */
const ofApp = (description: string) =>
  required(sentObject(Type.Object({}, { additionalProperties: true, description })));

const alert = partOrEmpty(
  { title: requiredText(), body: requiredText() },
  { description: 'Required for a start', read: (_alert, read) => ({ title: read('title'), body: read('body') }) },
);

const ofStart = {
  attributesType: optional(requiredText({ description: "For a start: the name of the attributes' type" })),
  attributes: optional(ofApp('For a start: the attributes in the form that the app decodes')),
};

const eventMembers = {
  app_id: appId,
  activityId,
  event,
  contentState: ofApp('As the app decodes it'),
  ...ofStart,
  alert,
  staleDate: epochSeconds('Epoch seconds: the content is stale from then on'),
  dismissalDate: epochSeconds('Epoch seconds: the activity is removed then'),
  priority: enumeration([5, 10], 'Absent: 10'),
};

const liveEventBody = schemaOf(eventMembers, { title: 'LiveActivityEventRequest' });

const liveEventAnswer = named(
  'LiveActivityEvent',
  Type.Object({
    app_id: Type.String(),
    activityId: activityId.schema,
    event: event.schema,
    timestamp: Type.Integer({ description: 'Epoch seconds; grows with every event of the activity' }),
    devices: Type.Integer({ description: 'Tokens that the event is sent to' }),
  }),
);

const maxTokenCharacters = 200;

/** Tokens in lower case without duplicates, so that equal tokens compare equal. */
const tokens = (description: string) => {
  const documented = list(text(), { maxItems: maxLiveTokensPerRequest, description });
  const limits = { maxItems: maxLiveTokensPerRequest, maxCharacters: maxTokenCharacters };
  const sent = readWith(documented, (part, name) => part.texts(name, limits));
  return mapped(checked(sent, { is: areTokens, reason: 'must hold tokens of Apple (hexadecimal)' }), (found) => [
    ...new Set(found.map((token) => token.toLowerCase())),
  ]);
};

const tokenMembers = {
  app_id: appId,
  tokens: tokens('Update tokens of phones that show the activity, hexadecimal'),
  startTokens: tokens('Push-to-start tokens of the phones that start the activity, hexadecimal'),
};

const liveTokensBody = schemaOf(tokenMembers, { title: 'LiveActivityTokensRequest' });

const tokenCounts = Type.Object({ start: Type.Integer(), update: Type.Integer() });

const liveTokensAnswer = named(
  'LiveActivityTokens',
  Type.Object({ app_id: Type.String(), activityId: activityId.schema, tokens: tokenCounts }),
);

const liveActivityAnswer = named(
  'LiveActivity',
  Type.Object({
    app_id: Type.String(),
    activityId: activityId.schema,
    tokens: tokenCounts,
    events: Type.Array(
      Type.Object({
        event: event.schema,
        timestamp: Type.Integer(),
        outcome: Type.String({ description: 'WAITING, ACCEPTED, GONE, REJECTED, FAILED, EXPIRED or SUPERSEDED' }),
        code: Type.Union([
          Type.String({ description: "Apple's reason, or the reason why the message was not sent" }),
          Type.Null(),
        ]),
        devices: Type.Integer(),
      }),
      { description: 'Newest first' },
    ),
  }),
);

const pathMembers = {
  id: required(passing(text({ description: 'Your name for the activity' }), { is: isActivityId, reason: nameWords })),
};
const queryMembers = {
  app: passing(text({ description: 'Absent: the default app' }), { is: isAppName, reason: 'must be the id of an app' }),
};
const liveParameters = schemaOf(pathMembers);
const liveQuery = schemaOf(queryMembers);

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
        description: 'Known tokens stay, so the token of each phone may be added separately.',
        params: liveParameters,
        body: liveTokensBody,
        answers: { 200: liveTokensAnswer },
        read({ body, params, workspaceId }) {
          const { appId, ...given } = parseLiveTokens(makeOwnReader(body));
          return { name: { workspaceId, appId, activityId: readActivityId(params) }, ...given };
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
        read({ query, params, workspaceId }) {
          const { app: appId = defaultAppId } = readOwnParameters(query, queryMembers);
          return { workspaceId, appId, activityId: readActivityId(params) };
        },
        async handle({ input: name }) {
          const { tokens, events } = await readLiveActivity(deps, name);
          const shown = events.map(({ state: outcome, ...figures }) => ({ ...figures, outcome }));
          return { ...presentName(name), tokens, events: shown };
        },
      }),
    ]);
}

/** @throws ServiceError PARAMETER_INVALID */
function readActivityId(params: Record<string, unknown>): string {
  return readOwnParameters(params, pathMembers).id!;
}

function presentName({ appId, activityId }: LiveActivityName) {
  return { app_id: appId, activityId };
}

type Named = { appId: string; activityId: string };

/** @throws ServiceError PARAMETER_INVALID */
function parseLiveEvent(reader: RequestReader): Named & { event: LiveEvent } {
  const read = reading(reader, eventMembers);
  const named = { appId: read('app_id') ?? defaultAppId, activityId: read('activityId') ?? '' };
  const kind = read('event');
  const isStart = kind === 'start';
  if (isStart) reader.requires('alert');
  const shown = reader.isAbsent('alert') ? undefined : read('alert');
  const dates = { staleDate: read('staleDate'), dismissalDate: read('dismissalDate') };
  const contentState = read('contentState');
  const attributesType = isStart ? read('attributesType') : undefined;
  const attributes = isStart ? read('attributes') : undefined;
  const priority = read('priority') ?? 10;
  const event = withoutAbsent({
    kind,
    contentState,
    attributesType,
    attributes,
    alert: shown,
    ...dates,
    priority,
  }) as LiveEvent;
  if (kind !== undefined && !isStart)
    for (const name of Object.keys(ofStart)) if (!reader.isAbsent(name)) reader.invalid(name, 'is of a start');
  refuseOwnFaults(reader);
  return { ...named, event };
}

export type LiveTokens = { appId: string; tokens: string[]; startTokens: string[] };

/** @throws ServiceError PARAMETER_INVALID */
function parseLiveTokens(reader: RequestReader): LiveTokens {
  const read = reading(reader, tokenMembers);
  const appId = read('app_id') ?? defaultAppId;
  const [tokens, startTokens] = [read('tokens') ?? [], read('startTokens') ?? []];
  if (tokens.length + startTokens.length === 0 && reader.faults.length === 0) reader.missing('tokens');
  refuseOwnFaults(reader);
  return { appId, tokens, startTokens };
}

/** True if the value can be an activity's name in an address. */
function isActivityId(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(value);
}

function isAppName(value: unknown): value is string {
  return typeof value === 'string' && isAppId(value);
}

function areTokens(sent: readonly string[]): boolean {
  return sent.every((token) => /^[0-9a-fA-F]{16,200}$/.test(token));
}

import { Type } from 'typebox';
import { maxLiveTokensPerRequest } from '../../domain/live-activities/limits.ts';
import { liveEventKinds } from '../../domain/live-activities/live-event.ts';
import type { LiveEventKind } from '../../domain/live-activities/live-event.ts';
import { named } from '../openapi/named.ts';

const appId = Type.Optional(Type.String({ description: 'An app of the workspace on iOS; absent: the default app' }));
const activityId = Type.String({ maxLength: 64, description: 'Your name of the activity' });
const event = Type.Unsafe<LiveEventKind>({ type: 'string', enum: [...liveEventKinds] });
const object = (description: string) => Type.Object({}, { additionalProperties: true, description });
const seconds = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));

export const liveEventBody = named(
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

export const liveEventAnswer = named(
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

export const liveTokensBody = named(
  'LiveActivityTokensRequest',
  Type.Object({
    app_id: appId,
    tokens: tokens('Update tokens of phones that show the activity, hexadecimal'),
    startTokens: tokens('Push-to-start tokens of phones that are to start it, hexadecimal'),
  }),
);

const tokenCounts = Type.Object({ start: Type.Integer(), update: Type.Integer() });

export const liveTokensAnswer = named(
  'LiveActivityTokens',
  Type.Object({ app_id: Type.String(), activityId, tokens: tokenCounts }),
);

export const liveActivityAnswer = named(
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

export const liveParameters = Type.Object({ id: Type.String({ description: 'Your name of the activity' }) });
export const liveQuery = Type.Object({ app: Type.Optional(Type.String({ description: 'Absent: the default app' })) });

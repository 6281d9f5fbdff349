import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import { maxStreamedAttributes } from '../../domain/event-streams/limits.ts';
import { streamedDeviceAttributes, streamedKinds } from '../../domain/event-streams/streamed-event.ts';
import { codeShape } from '../openapi/code-shape.ts';
import { named } from '../openapi/named.ts';

/* Bodies and answers of event streams. They document the fields; the parser holds the rules. */
const kind = named('EventStreamKind', codeShape(streamedKinds, 'What happened to a message'));
const settings = {
  url: Type.String({ description: 'Where batches are posted; a public address, http or https' }),
  events: Type.Array(kind, { description: 'Default: all of them' }),
  user_attributes: Type.Array(Type.String(), {
    maxItems: maxStreamedAttributes,
    description: 'Attributes of the user that each event says; default: none',
  }),
  device_attributes: Type.Array(Type.String(), {
    description: `What each event says of the device: ${streamedDeviceAttributes.join(', ')}; default: nothing`,
  }),
};
const { url, ...optional } = settings;
const mayBeLeft = Object.fromEntries(Object.entries(optional).map(([name, shape]) => [name, Type.Optional(shape)]));

export const createStreamBody = named('EventStreamCreate', Type.Object({ url, ...mayBeLeft }));
export const changeStreamBody = named(
  'EventStreamChange',
  Type.Object({ url: Type.Optional(url), ...mayBeLeft }, { description: 'What is not named stays' }),
);
export const resendBody = named(
  'EventBatchResend',
  Type.Object({ batch_id: Type.Optional(Type.String({ description: 'One batch; default: all that were given up' })) }),
);

const time = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);
const stream = named(
  'EventStream',
  Type.Object({
    id: Type.String(),
    ...settings,
    created_at: Type.String({ description: 'ISO 8601' }),
    updated_at: Type.String(),
    delivered_events: Type.Integer({ description: 'In batches that the receiver took' }),
    last_delivered_at: time('ISO 8601; null: none yet'),
    pending_batches: Type.Integer({ description: 'To be posted, or posted again' }),
    dead_batches: Type.Integer({ description: 'Given up; they can be sent again' }),
    unanswered_since: time('ISO 8601; null: the receiver answered the last attempt, whatever it said'),
    paused_until: time('ISO 8601; nothing is posted before then, because three attempts in a row had no answer'),
  }),
);
const answer = (data: TProperties) =>
  Type.Object({ response_id: Type.String(), type: Type.Literal('event_stream'), data: Type.Object(data) });

export const streamAnswer = named('EventStreamAnswer', answer({ event_stream: stream }));
export const streamCreatedAnswer = named(
  'EventStreamCreated',
  answer({
    event_stream: stream,
    secret: Type.String({ description: 'Signs what is posted (Standard Webhooks); answered this once' }),
  }),
);
export const streamsAnswer = named('EventStreams', answer({ event_streams: Type.Array(stream) }));
export const removedAnswer = named('EventStreamRemoved', answer({ removed: Type.Boolean() }));
export const deadBatchesQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default 100' })),
  before: Type.Optional(Type.String({ description: 'The id of the last batch of the page before' })),
});
export const deadBatchesAnswer = named(
  'DeadEventBatches',
  answer({
    dead_batches: Type.Array(
      Type.Object({
        id: Type.String({ description: 'webhook-id of its attempts' }),
        events: Type.Integer(),
        first_event_time: Type.String({ description: 'ISO 8601' }),
        attempts: Type.Integer({ description: 'Since it was made or sent again' }),
        last_status: Type.Union([Type.Integer({ description: 'What the receiver replied' }), Type.Null()]),
        last_error: time('timeout, unreachable, refused; null: there was a reply'),
        given_up_at: Type.String({ description: 'ISO 8601' }),
      }),
    ),
  }),
);
export const resentAnswer = named('EventBatchesResent', answer({ batches: Type.Integer({ description: 'Due now' }) }));

import { Type } from 'typebox';
import { named } from './shapes.ts';

/** The body of interface 2.7, which the domain writes (`file-operations.ts`). */
const always = {
  db_name: Type.String({ description: 'Database name of the workspace' }),
  segment_name: Type.String(),
  request_id: Type.String({ description: 'Unique identifier of this processing request' }),
};

const processed = named(
  'FileSegmentProcessed',
  Type.Object({
    ...always,
    status: Type.Literal(201),
    values_found: Type.Integer({ description: 'Rows of the file' }),
    values_processed: Type.Integer({ description: 'Values that are neither corrupted nor empty' }),
    user_count: Type.Integer({ description: 'Users found and added to the segment' }),
  }),
);

const failed = named(
  'FileSegmentFailed',
  Type.Object({
    ...always,
    status: Type.Unsafe<400 | 500>({ type: 'integer', enum: [400, 500] }),
    error_message: Type.String({ description: 'Cause of the failure' }),
  }),
);

export const fileSegmentCallback = named('FileSegmentCallback', Type.Union([processed, failed]));

const header = (name: string, description: string) => ({
  name,
  in: 'header' as const,
  required: true,
  description,
  schema: { type: 'string' as const },
});

const signature = [
  header('webhook-id', 'The same for every attempt'),
  header('webhook-timestamp', 'Seconds since 1970 at which this attempt was made'),
  header('webhook-signature', 'v1, a comma and the Base64 of HMAC-SHA-256 over id.timestamp.body'),
];

const textOrNull = Type.Union([Type.String(), Type.Null()]);
const anything = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description });
/** Returns the shape that `writeEventBatch` of the domain writes. */
const makeEventBatch = (abbreviation: string) =>
  named(
    'EventBatch',
    Type.Object({
      app_name: Type.String({ description: 'Name of the workspace' }),
      source: Type.Literal('CARILLON'),
      [`${abbreviation.toLowerCase()}_request_id`]: Type.String({
        description:
          'The same value as webhook-id. The name of this member contains the abbreviation of the installation',
      }),
      events: Type.Array(
        Type.Object({
          event_name: Type.String({ description: 'As event_code' }),
          event_code: Type.String({ description: 'NOTIFICATION_RECEIVED_SVC, n_i_s and others; docs/event-stream.md' }),
          event_uuid: Type.String({ description: 'The same in each attempt' }),
          event_time: Type.Integer({ description: 'Seconds since 1970' }),
          event_type: Type.Unsafe<string>({ type: 'string', enum: ['CAMPAIGN_EVENT', 'USER_ACTION_EVENT'] }),
          event_source: Type.Literal('CARILLON'),
          push_id: textOrNull,
          uid: Type.Union([Type.String({ description: 'customer_id' }), Type.Null()]),
          event_attributes: anything(
            'The campaign: campaign_id, campaign_name, campaign_type, campaign_channel; and variation and locale of a message of several contents',
          ),
          user_attributes: anything('The attributes that the stream names'),
          device_attributes: anything('The attributes that the stream names'),
        }),
        { maxItems: 100 },
      ),
    }),
  );

/** Returns the calls that this service makes itself; a request named the receiver. */
export const makeWebhooks = (abbreviation: string) => ({
  fileSegment: {
    post: {
      operationId: 'fileSegmentCallback',
      summary: 'Result of processing the file of a segment',
      description:
        'Posted to callback_url of the request until the receiver replies with 200. A repeat has the same webhook-id and body. Signed as Standard Webhooks say, with the secret of the workspace.',
      tags: ['Callbacks'],
      security: [],
      parameters: signature,
      requestBody: { required: true, content: { 'application/json': { schema: fileSegmentCallback } } },
      responses: {
        200: { description: 'Received' },
        '4XX': { description: 'Not received; the callback is posted again' },
        '5XX': { description: 'Not received; the callback is posted again' },
      },
    },
  },
  eventBatch: {
    post: {
      operationId: 'eventBatch',
      summary: 'Outcomes of messages, up to 100 events',
      description:
        'Posted to the address of an event stream until the receiver replies 2xx, at most four times. A repeat has the same webhook-id and the same event_uuid of each event. Signed as Standard Webhooks say, with the secret of the stream.',
      tags: ['Callbacks'],
      security: [],
      parameters: signature,
      requestBody: { required: true, content: { 'application/json': { schema: makeEventBatch(abbreviation) } } },
      responses: {
        '2XX': { description: 'Taken' },
        '4XX': { description: 'Not accepted; the batch is posted again' },
        '5XX': { description: 'Not accepted; the batch is posted again' },
      },
    },
  },
});

import { Type } from 'typebox';
import { named } from './named.ts';

/** The body of interface 2.7, which the domain writes (`operation-outcome.ts`). */
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
    values_processed: Type.Integer({ description: 'Those that are neither corrupted nor empty' }),
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

/** What this service calls by itself: the receiver is whoever was named in a request. */
export const webhooks = {
  fileSegment: {
    post: {
      operationId: 'fileSegmentCallback',
      summary: 'The file of a segment was processed, or could not be',
      description:
        'Posted to callback_url of the request until the receiver replies with 200. A repeat has the same webhook-id and body. Signed as Standard Webhooks say, with the secret of the workspace.',
      tags: ['Callbacks'],
      security: [],
      parameters: [
        header('webhook-id', 'The same for every attempt'),
        header('webhook-timestamp', 'Seconds since 1970 at which this attempt was made'),
        header('webhook-signature', 'v1, a comma and the Base64 of HMAC-SHA-256 over id.timestamp.body'),
      ],
      requestBody: { required: true, content: { 'application/json': { schema: fileSegmentCallback } } },
      responses: {
        200: { description: 'Received' },
        '4XX': { description: 'Not received; it is posted again' },
        '5XX': { description: 'Not received; it is posted again' },
      },
    },
  },
};

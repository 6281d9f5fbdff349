import { credentials, scope, sendField, slower } from './advice.ts';

/** Errors of segments (fact 2): v2 file segments, v3 filter segments. */
export const segmentRegistry = {
  SEGMENT_FIELD_MISSING: {
    status: 400,
    text: 'Mandatory field missing in the request: <field>',
    advice: sendField,
  },
  SEGMENT_FIELD_INVALID: {
    status: 400,
    text: 'Invalid value for the field: <field>: <reason>',
    advice: 'Correct the named field. The reason follows its name.',
  },
  SEGMENT_HEADER_MISSING: {
    status: 400,
    text: 'Mandatory header missing in the request: <field>',
    advice: 'Send the named header: X-SVC-APPKEY contains the workspace id, X-SVC-DBNAME its database name.',
  },
  SEGMENT_CREDENTIALS_INVALID: {
    status: 401,
    text: 'Invalid Workspace ID or API key used in the Authorization header',
    advice: credentials,
  },
  SEGMENT_KEY_NOT_ALLOWED: {
    status: 403,
    text: 'The API key does not cover segments.',
    advice: scope,
  },
  SEGMENT_CLIENT_NOT_FOUND: {
    status: 400,
    text: 'Carillon Client not found. Please check values for headers - <field>',
    advice: 'Compare X-SVC-APPKEY and X-SVC-DBNAME with the overview. Both must name the same workspace.',
  },
  SEGMENT_NOT_FOUND: {
    status: 404,
    text: 'Segment not found with the given name: <field>',
    advice: 'Names are compared exactly, including case and spaces. The Segments screen lists all segments.',
  },
  SEGMENT_ID_NOT_FOUND: {
    status: 404,
    text: 'Custom segment not found with the given id: <field>',
    advice: 'The Segments screen lists all segments. Deleted segments cannot be restored.',
  },
  SEGMENT_ID_INVALID: {
    status: 400,
    text: 'Invalid bson object-id passed in the request',
    advice: 'An id has 24 characters, each 0-9 or a-f.',
  },
  SEGMENT_NAME_TAKEN: {
    status: 409,
    text: 'Name already exists : <field>',
    advice: 'Choose another name, or add users to the segment that has it.',
  },
  SEGMENT_FILTERS_TAKEN: {
    status: 409,
    text: 'A custom segment with the same filters already exists',
    advice: 'Use the existing segment.',
  },
  SEGMENT_NOT_OF_FILES: {
    status: 400,
    text: 'Segment is not filled from files: <field>',
    advice:
      'Only a segment that was created from a file accepts files. Create one, or change the filters of this segment.',
  },
  SEGMENT_ARCHIVED: {
    status: 400,
    text: 'Segment is archived: <field>',
    advice: 'Unarchive the segment first.',
  },
  SEGMENT_OPERATIONS_LIMITED: {
    status: 429,
    text: 'File segment operations limit breached. Please retry after some time.',
    advice: 'Wait for the time in Retry-After. One file can contain many values.',
  },
  SEGMENT_ACTIVE_LIMITED: {
    status: 429,
    text: 'Total active segments limit breached. Request rejected!',
    advice: 'Archive segments that are no longer used. The Segments screen counts the active ones.',
  },
  SEGMENT_RATE_LIMITED: {
    status: 429,
    text: 'API rate limit breached. Current limit: <reason>',
    advice: slower,
  },
  SEGMENT_BODY_INVALID: {
    status: 400,
    text: 'Invalid request format. Please check the documentation to ensure that the request has been formed correctly.',
    advice: 'Send one JSON object with the fields of the API reference.',
  },
  SEGMENT_FILTERS_INVALID: {
    status: 400,
    text: "Invalid request. Please ensure that the filters are correct and the custom-segment name doesn't contain HTML characters/only whitespaces.",
    advice: 'Compare the filters with the API reference. The operator, the attribute and the value must match.',
  },
  SEGMENT_UPDATE_FORBIDDEN: {
    status: 403,
    text: 'Only filter segments that are not archived can be updated.',
    advice: 'Unarchive the segment first. A file segment changes through its files.',
  },
  SEGMENT_CYCLIC: {
    status: 412,
    text: 'Circular reference detected in the custom segment definition.',
    advice: 'Remove the segment from its own definition. It includes itself, directly or through another segment.',
  },
  SEGMENT_QUERY_TOO_DEEP: {
    status: 413,
    text: 'Query has too many nesting levels',
    advice: 'Nest fewer groups, or move a group into a separate segment.',
  },
  SEGMENT_QUERY_TOO_MANY_SEGMENTS: {
    status: 413,
    text: 'Too many segments in a query',
    advice: 'Name fewer segments, or merge some of them into one.',
  },
  SEGMENT_QUERY_TOO_LONG: {
    status: 413,
    text: 'Query length limit exceeded',
    advice: 'Shorten the filters. Put many values of one attribute into a file segment.',
  },
} as const;

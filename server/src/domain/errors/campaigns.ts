import { credentials, scope, slower } from './advice.ts';

/** Errors of campaigns, business events, event streams, interactions and statistics. */
export const campaignRegistry = {
  // Campaigns (fact 4); V1 has its own texts for some of them
  CAMPAIGN_REQUEST_INVALID: {
    status: 400,
    text: 'One or more fields failed validation.',
    advice: 'Correct each named field. The response lists every fault.',
  },
  CAMPAIGN_CREDENTIALS_MISSING: {
    status: 401,
    text: 'Invalid or missing credentials.',
    advice:
      'Send the workspace id and the key as Basic credentials, or a Bearer token. The Keys screen has a working example.',
  },
  CAMPAIGN_CREDENTIALS_INVALID: {
    status: 401,
    text: 'Invalid or missing credentials.',
    advice: credentials,
  },
  CAMPAIGN_WORKSPACE_MISMATCH: {
    status: 401,
    text: 'The header <field> names a different workspace than the credentials.',
    advice: 'Name the workspace of the credentials in the header, or leave the header out.',
  },
  CAMPAIGN_KEY_NOT_ALLOWED: {
    status: 403,
    text: 'Caller does not have permission to perform this operation.',
    advice: scope,
  },
  CAMPAIGN_NOT_FOUND: {
    status: 404,
    text: 'Campaign not found.',
    advice: 'Compare the id with the Campaigns screen. The campaign must belong to this workspace.',
  },
  CAMPAIGN_WITHOUT_EXECUTIONS: {
    status: 422,
    text: 'Only periodic and event-triggered campaigns have executions.',
    advice: 'Read the campaign itself. A one-time campaign is sent once.',
  },
  CAMPAIGN_RATE_LIMITED: {
    status: 429,
    text: 'Rate limit exceeded for app key.',
    advice: slower,
  },
  CAMPAIGN_CREATION_LIMITED: {
    status: 429,
    text: 'Too many campaigns were created. Please retry later.',
    advice: 'Wait for the time in Retry-After. Sends to single users can join one campaign of the push API.',
  },
  CAMPAIGN_REQUEST_REPEATED: {
    status: 409,
    text: 'request_id was used in the last hour.',
    advice: 'The first request was executed. Use a new request_id for another request.',
  },
  CAMPAIGN_NOT_DRAFT: {
    status: 409,
    text: 'Campaign is not in DRAFT state and cannot be patched.',
    advice: 'Only drafts can be patched. Use the routes for live campaigns, or clone the campaign.',
  },
  CAMPAIGN_ACTION_INVALID: {
    status: 409,
    text: 'Action <field> is not valid for a <reason>.',
    advice: 'Read the status of the campaign first. docs/states.md lists the actions that each status allows.',
  },
  CAMPAIGN_NOT_EDITABLE: {
    status: 409,
    text: 'The campaign cannot be changed: <reason>.',
    advice: 'Clone the campaign and change the copy.',
  },
  // Business events (fact 6.3)
  BUSINESS_EVENT_NOT_FOUND: {
    status: 404,
    text: 'Business event does not exists',
    advice: 'Create the event first. Names are compared exactly.',
  },
  BUSINESS_EVENT_NAME_TAKEN: {
    status: 400,
    text: 'A business event of this name exists already',
    advice: 'Use the existing event, or choose another name.',
  },
  BUSINESS_EVENT_LIMITED: {
    status: 400,
    text: 'A workspace has at most 50 business events',
    advice: 'Use an existing event. The limit is 50.',
  },
  // Event streams
  EVENT_STREAM_NOT_FOUND: {
    status: 404,
    text: 'Event stream or batch not found.',
    advice: 'List the streams of the workspace, or the dead batches of the stream.',
  },
  EVENT_STREAM_LIMITED: {
    status: 409,
    text: 'A workspace has at most 5 event streams.',
    advice: 'Change or remove an existing stream.',
  },
  BUSINESS_EVENT_WITHOUT_CAMPAIGNS: {
    status: 422,
    text: 'No active campaign found for business event name',
    advice: 'Publish a campaign that this event triggers, or resume one that is paused.',
  },
  BUSINESS_EVENT_ATTRIBUTE_WRONG: {
    status: 400,
    text: 'Wrong business event attribute passed in api request',
    advice: 'Send the attributes that the event was created with, each with its type.',
  },
  BUSINESS_EVENT_RATE_LIMITED: {
    status: 429,
    text: 'Too many campaigns were triggered. Please retry later.',
    advice: slower,
  },
  // Interactions: reports from devices
  INTERACTION_TOKEN_UNKNOWN: {
    status: 404,
    text: 'The token does not belong to a message.',
    advice: 'Send the token exactly as it arrived with the message, neither changed nor shortened.',
  },
  INTERACTION_RATE_LIMITED: {
    status: 429,
    text: 'Too many reports. Please retry later.',
    advice: slower,
  },
  // Statistics (fact 7)
  STATS_CREDENTIALS_INVALID: {
    status: 401,
    text: 'Invalid identity information found.',
    advice: credentials,
  },
  STATS_KEY_NOT_ALLOWED: {
    status: 403,
    text: 'The API key does not cover campaigns.',
    advice: scope,
  },
  STATS_FIELD_INVALID: {
    status: 400,
    text: '<field>: <reason>',
    advice: 'Correct the named field. The reason follows its name.',
  },
  STATS_RATE_LIMITED: {
    status: 429,
    text: 'The rate limit of this endpoint is exceeded.',
    advice: slower,
  },
  REPORT_FILES_LIMITED: {
    status: 409,
    text: 'A workspace has at most 50 report files that are not gone.',
    advice: 'Read the existing files. Each is removed seven days after it was requested.',
  },
  REPORT_FILE_UNREADABLE: {
    status: 400,
    text: '<field>: <reason>',
    advice:
      'List the report files. A waiting file is written within seconds. A file that was removed must be requested again.',
  },
  REPORT_SIGNATURE_INVALID: {
    status: 401,
    text: 'The signature is not valid for this file.',
    advice:
      'Sign with the key that requested the file: SHA-256 of the workspace id, the file name and the key, separated by pipes, in hexadecimal. A key that was revoked or rotated since cannot read the file.',
  },
} as const;

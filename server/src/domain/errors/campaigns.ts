import { credentials, scope, slower } from './advice.ts';

/** Errors of campaigns, business events, event streams, interactions and statistics. */
export const campaignRegistry = {
  // Campaigns (fact 4); V1 has its own texts for some of them
  CAMPAIGN_REQUEST_INVALID: {
    status: 400,
    text: 'One or more fields failed validation.',
    advice: 'Correct each field that is named; all that is wrong is told at once.',
  },
  CAMPAIGN_CREDENTIALS_MISSING: {
    status: 401,
    text: 'Invalid or missing credentials.',
    advice: 'Send Basic credentials of workspace id and key, or a Bearer token; the screen Keys has a call that works.',
  },
  CAMPAIGN_CREDENTIALS_INVALID: {
    status: 401,
    text: 'Invalid or missing credentials.',
    advice: credentials,
  },
  CAMPAIGN_WORKSPACE_MISMATCH: {
    status: 401,
    text: 'The header <field> names another workspace than the credentials.',
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
    advice: 'Compare the id with the screen Campaigns; it must be of this workspace.',
  },
  CAMPAIGN_WITHOUT_EXECUTIONS: {
    status: 422,
    text: 'Only periodic and event-triggered campaigns have executions.',
    advice: 'Ask for the campaign itself; one-time campaigns are sent once.',
  },
  CAMPAIGN_RATE_LIMITED: {
    status: 429,
    text: 'Rate limit exceeded for app key.',
    advice: slower,
  },
  CAMPAIGN_CREATION_LIMITED: {
    status: 429,
    text: 'Too many campaigns were created. Please retry later.',
    advice: 'Wait as long as Retry-After says; sends to users can join one campaign of the push API.',
  },
  CAMPAIGN_REQUEST_REPEATED: {
    status: 409,
    text: 'request_id was used in the last hour.',
    advice: 'The first call was done. Use a new request_id for another one.',
  },
  CAMPAIGN_NOT_DRAFT: {
    status: 409,
    text: 'Campaign is not in DRAFT state and cannot be patched.',
    advice: 'Only drafts are patched. Change a live campaign through the routes for live ones, or clone it.',
  },
  CAMPAIGN_ACTION_INVALID: {
    status: 409,
    text: 'Action <field> is not valid for a <reason>.',
    advice: 'Read the status of the campaign first; docs/states.md says which action fits which.',
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
    advice: 'Make the event first; names are compared exactly.',
  },
  BUSINESS_EVENT_NAME_TAKEN: {
    status: 400,
    text: 'A business event of this name exists already',
    advice: 'Use the event that has this name, or choose another.',
  },
  BUSINESS_EVENT_LIMITED: {
    status: 400,
    text: 'A workspace has at most 50 business events',
    advice: 'Use an event that exists; there are at most 50.',
  },
  // Event streams
  EVENT_STREAM_NOT_FOUND: {
    status: 404,
    text: 'There is no such event stream or batch.',
    advice: 'List the streams of the workspace; of a batch, those that were given up.',
  },
  EVENT_STREAM_LIMITED: {
    status: 409,
    text: 'A workspace has at most 5 event streams.',
    advice: 'Change a stream, or remove one.',
  },
  BUSINESS_EVENT_WITHOUT_CAMPAIGNS: {
    status: 422,
    text: 'No active campaign found for business event name',
    advice: 'Publish a campaign that this event triggers, or resume a paused one.',
  },
  BUSINESS_EVENT_ATTRIBUTE_WRONG: {
    status: 400,
    text: 'Wrong business event attribute passed in api request',
    advice: 'Send the attributes the event was made with, each in its type.',
  },
  BUSINESS_EVENT_RATE_LIMITED: {
    status: 429,
    text: 'Too many campaigns were triggered. Please retry later.',
    advice: slower,
  },
  // Interactions: reports from devices
  INTERACTION_TOKEN_UNKNOWN: {
    status: 404,
    text: 'The token is not one of a message.',
    advice: 'Send the token as it came with the message; it must not be changed or cut.',
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
    advice: 'Correct the field that is named; the reason stands behind it.',
  },
  STATS_RATE_LIMITED: {
    status: 429,
    text: 'The rate limit of this endpoint is exceeded.',
    advice: slower,
  },
  REPORT_FILES_LIMITED: {
    status: 409,
    text: 'A workspace has at most 50 report files that are not gone.',
    advice: 'Read the files that are there; each is gone seven days after it was asked for.',
  },
  REPORT_FILE_UNREADABLE: {
    status: 400,
    text: '<field>: <reason>',
    advice: 'List the report files; one that waits is made within seconds, one that is gone has to be asked for again.',
  },
  REPORT_SIGNATURE_INVALID: {
    status: 401,
    text: 'The signature does not open this file.',
    advice:
      'Sign with the key that asked for the file: SHA-256 of the workspace id, the file name and the key, with a pipe between them, in hexadecimal. A key that was archived or made anew opens nothing.',
  },
} as const;

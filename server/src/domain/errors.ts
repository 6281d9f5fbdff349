/**
 * The closed registry of errors that this service can return. The key is the name that all code below `http` uses; the
 * sentence is the public text. Only the `present.ts` of each route family selects wire codes and HTTP statuses.
 *
 * A test keeps this table and docs/errors.md equal, in both directions.
 */
export const errorRegistry = {
  // Token endpoints (interface 7)
  TOKEN_GRANT_TYPE_INVALID: 'grant_type is missing or is not the one this endpoint accepts.',
  TOKEN_CLIENT_ID_MISSING: 'client_id is missing.',
  TOKEN_CLIENT_SECRET_MISSING: 'client_secret is missing.',
  TOKEN_CREDENTIALS_INVALID: 'client_id or client_secret is not valid.',
  TOKEN_KEY_NOT_OAUTH: 'The API key exists but its authentication type is not OAuth 2.0.',
  TOKEN_REFRESH_MISSING: 'refresh_token is missing.',
  TOKEN_REFRESH_INVALID: 'refresh_token is not valid.',
  TOKEN_CLIENT_MISMATCH: 'client_id differs from the Workspace ID the refresh token was issued to.',
  TOKEN_FIELD_REPEATED: 'A field may appear only once.',
  TOKEN_CREDENTIALS_IN_QUERY: 'Credentials must not be sent in the query.',
  TOKEN_TO_REVOKE_MISSING: 'token is missing.',
  TOKEN_RATE_LIMITED: 'The rate limit of this endpoint is exceeded.',
  // Gateway: Bearer and Basic on API routes (decision D16)
  AUTHENTICATION_INVALID: 'Auth validation failed.',
  AUTHENTICATION_EXPIRED: 'The access token has expired.',
  SCOPE_MISSING: 'The key does not cover this operation.',
  // Push (interface 7, decision D31); `field` and `reason` fill the public text
  PUSH_REQUEST_TYPE_INVALID: 'Invalid Request Type',
  PUSH_APP_ID_INVALID: 'Invalid appId',
  PUSH_APP_ID_MISSING: 'appId not present',
  PUSH_NAME_MISSING: 'Campaign Name not found',
  PUSH_NAME_TOO_SHORT: 'Campaign Name too short (must be >= 5 chars)',
  PUSH_RATE_LIMITED: 'Request limit exceeded',
  PUSH_SIGNATURE_MISSING: 'Signature not present',
  PUSH_SIGNATURE_INVALID: 'Signature is not verified',
  PUSH_NAME_DUPLICATE: 'Duplicate campaign name',
  PUSH_VALUE_NOT_ALLOWED: 'Key not of Type List or Value not allowed: <field>',
  PUSH_PARAMETER_INVALID: 'Error parsing parameters: <field>: <reason>',
  // Data-in (fact 5)
  DATA_ATTRIBUTE_MISSING: 'A required attribute is not in the payload.',
  DATA_ACTIONS_EMPTY: 'actions can not be empty Array',
  DATA_VALUE_INVALID: 'A value in the payload is not valid.',
  DATA_WORKSPACE_MISMATCH: 'App key mismatch in params and authentication',
  DATA_CREDENTIALS_MISSING: 'Authentication Header Required',
  DATA_CREDENTIALS_INVALID: 'App Secret key mismatch. Please login to the dashboard to verify key',
  DATA_RATE_LIMITED: 'The rate limit of this endpoint is exceeded.',
  DATA_USER_NOT_FOUND: '<field> must exist.',
  DATA_LIMIT_BREACHED: 'max limit allowed is <reason>',
  DATA_WORKSPACE_MISSING: 'app_id is required in path/query params.',
  DATA_WORKSPACE_INVALID: 'Given app_id is invalid.',
  DATA_HEADER_MISSING: 'The <field> Header is required',
  DATA_IDENTITY_MISSING: 'No identity information found',
  DATA_IDENTITY_INVALID: 'Invalid identity information found',
  DATA_APP_KEY_MISSING: 'APP_KEY missing in the authentication header',
  DATA_APP_SECRET_MISSING: 'APP_SECRET missing in the authentication header',
  DATA_APP_ID_INVALID: 'Invalid APP_ID used in Authentication Header',
  // Segments (fact 2); v2 file segments, v3 filter segments
  SEGMENT_FIELD_MISSING: 'Mandatory field missing in the request: <field>',
  SEGMENT_FIELD_INVALID: 'Invalid value for the field: <field>: <reason>',
  SEGMENT_HEADER_MISSING: 'Mandatory header missing in the request: <field>',
  SEGMENT_CREDENTIALS_INVALID: 'Invalid Workspace ID or API key used in the Authorization header',
  SEGMENT_KEY_NOT_ALLOWED: 'The API key does not cover segments.',
  SEGMENT_CLIENT_NOT_FOUND: 'Carillon Client not found. Please check values for headers - <field>',
  SEGMENT_NOT_FOUND: 'Segment not found with the given name: <field>',
  SEGMENT_ID_NOT_FOUND: 'Custom segment not found with the given id: <field>',
  SEGMENT_ID_INVALID: 'Invalid bson object-id passed in the request',
  SEGMENT_NAME_TAKEN: 'Name already exists : <field>',
  SEGMENT_FILTERS_TAKEN: 'A custom segment with the same filters already exists',
  SEGMENT_NOT_OF_FILES: 'Segment is not filled from files: <field>',
  SEGMENT_ARCHIVED: 'Segment is archived: <field>',
  SEGMENT_OPERATIONS_LIMITED: 'File segment operations limit breached. Please retry after some time.',
  SEGMENT_ACTIVE_LIMITED: 'Total active segments limit breached. Request rejected!',
  SEGMENT_RATE_LIMITED: 'API rate limit breached. Current limit: <reason>',
  SEGMENT_BODY_INVALID:
    'Invalid request format. Please check the documentation to ensure that the request has been formed correctly.',
  SEGMENT_FILTERS_INVALID:
    "Invalid request. Please ensure that the filters are correct and the custom-segment name doesn't contain HTML characters/only whitespaces.",
  SEGMENT_UPDATE_FORBIDDEN: 'Only filter segments that are not archived can be updated.',
  SEGMENT_CYCLIC: 'Circular reference detected in the custom segment definition.',
  SEGMENT_QUERY_TOO_DEEP: 'Query has too many nesting levels',
  SEGMENT_QUERY_TOO_MANY_SEGMENTS: 'Too many segments in a query',
  SEGMENT_QUERY_TOO_LONG: 'Query length limit exceeded',
  // Campaigns (fact 4); V1 has its own texts for some of them
  CAMPAIGN_REQUEST_INVALID: 'One or more fields failed validation.',
  CAMPAIGN_CREDENTIALS_MISSING: 'Invalid or missing credentials.',
  CAMPAIGN_CREDENTIALS_INVALID: 'Invalid or missing credentials.',
  CAMPAIGN_WORKSPACE_MISMATCH: 'The header <field> names another workspace than the credentials.',
  CAMPAIGN_KEY_NOT_ALLOWED: 'Caller does not have permission to perform this operation.',
  CAMPAIGN_NOT_FOUND: 'Campaign not found.',
  CAMPAIGN_WITHOUT_EXECUTIONS: 'Only periodic and event-triggered campaigns have executions.',
  CAMPAIGN_RATE_LIMITED: 'Rate limit exceeded for app key.',
  CAMPAIGN_CREATION_LIMITED: 'Too many campaigns were created. Please retry later.',
  CAMPAIGN_REQUEST_REPEATED: 'request_id was used in the last hour.',
  CAMPAIGN_NOT_DRAFT: 'Campaign is not in DRAFT state and cannot be patched.',
  CAMPAIGN_ACTION_INVALID: 'Action <field> is not valid for a <reason>.',
  CAMPAIGN_NOT_EDITABLE: 'The campaign cannot be changed: <reason>.',
  // Business events (fact 6.3)
  BUSINESS_EVENT_NOT_FOUND: 'Business event does not exists',
  BUSINESS_EVENT_NAME_TAKEN: 'A business event of this name exists already',
  BUSINESS_EVENT_LIMITED: 'A workspace has at most 50 business events',
  // Event streams
  EVENT_STREAM_NOT_FOUND: 'There is no such event stream or batch.',
  EVENT_STREAM_LIMITED: 'A workspace has at most 5 event streams.',
  BUSINESS_EVENT_WITHOUT_CAMPAIGNS: 'No active campaign found for business event name',
  BUSINESS_EVENT_ATTRIBUTE_WRONG: 'Wrong business event attribute passed in api request',
  BUSINESS_EVENT_RATE_LIMITED: 'Too many campaigns were triggered. Please retry later.',
  // Interactions: reports from devices
  INTERACTION_TOKEN_UNKNOWN: 'The token is not one of a message.',
  INTERACTION_RATE_LIMITED: 'Too many reports. Please retry later.',
  // Statistics (fact 7)
  STATS_CREDENTIALS_INVALID: 'Invalid identity information found.',
  STATS_KEY_NOT_ALLOWED: 'The API key does not cover campaigns.',
  STATS_FIELD_INVALID: '<field>: <reason>',
  STATS_RATE_LIMITED: 'The rate limit of this endpoint is exceeded.',
  REPORT_FILES_LIMITED: 'A workspace has at most 50 report files that are not gone.',
  REPORT_FILE_UNREADABLE: '<field>: <reason>',
  REPORT_SIGNATURE_INVALID: 'The signature does not open this file.',
  // The console's accounts
  ACCOUNT_SIGN_IN_FAILED: 'The e-mail address or the password is not right.',
  ACCOUNT_ATTEMPTS_LIMITED: 'Too many attempts to sign in. Please retry later.',
  ACCOUNT_LINK_INVALID: 'This link does not work.',
  ACCOUNT_EMAIL_TAKEN: 'This e-mail address has an account already.',
  ACCOUNT_LAST_OWNER: 'This is the last owner; make somebody else an owner first.',
  ACCOUNT_COMPANY_REFUSED: 'The company account does not open this console.',
  ACCOUNT_PASSWORDS_OFF: 'Passwords are for owners here; sign in with the company account.',
  ACCOUNT_NOT_PERMITTED: 'Your role does not allow this.',
  // A workspace's provider credentials
  PROVIDER_KEY_INVALID: 'This is not a key that can be used.',
  PROVIDER_REFUSED: 'The provider refuses this credential.',
  PROVIDER_NOT_ASKED: 'The provider could not be asked about this credential.',
  CREDENTIAL_IN_USE: 'This credential is in use.',
  // Every family
  REQUEST_MALFORMED: 'The request is not well-formed: <reason>',
  HOST_NOT_SERVED: 'This host is not served here.',
  ADDRESS_TOO_LONG: 'A part of the path is too long.',
  HEADERS_TOO_LARGE: 'The address and the headers are too large.',
  REQUEST_TIMED_OUT: 'The request did not arrive in time.',
  EXPECTATION_UNKNOWN: 'The expectation of the request is not known.',
  BODY_MALFORMED: 'The request body could not be decoded.',
  BODY_EMPTY: 'A request body is required.',
  BODY_TOO_LARGE: 'The request body is too large.',
  MEDIA_TYPE_UNSUPPORTED: 'The media type of the request is not supported.',
  MEDIA_TYPE_MISSING: 'The Content-Type Header is required',
  METHOD_NOT_ALLOWED: 'This method is not allowed here.',
  ROUTE_NOT_FOUND: 'Page not found. Please recheck the URL',
  IDEMPOTENCY_KEY_INVALID: 'Idempotency-Key must be 1 to 255 printable characters.',
  IDEMPOTENCY_CONFLICT: 'Idempotency-Key reused with a different request body.',
  NOT_FOUND: 'There is nothing with that id.',
  PARAMETER_INVALID: 'A parameter is not valid.',
  SANDBOX_NOT_LOCAL: 'The routes of the sandbox answer callers on the same machine only.',
  CLOCK_ADVANCING: 'The clock is being moved; GET /sandbox/clock says how far it is.',
  OVERLOADED: 'The service is busy. Please retry.',
  STORAGE_UNAVAILABLE: 'The service cannot reach its storage. Please retry.',
  STORAGE_REFUSES_WRITES: 'The service cannot store anything at present. Please retry.',
  INTERNAL: 'There seems to be an error. We are working to fix this.',
} as const;

export type ErrorName = keyof typeof errorRegistry;

/** A field that is missing, or the reason why its value is rejected ("must be a text"). */
export type RequestFault = { field: string; reason: 'missing' | (string & {}) };

export type ErrorContext = {
  /** Private: goes to the log, never to the caller. */
  detail?: string;
  /** Public: the field concerned. */
  field?: string;
  /** Public: what is wrong with the field. */
  reason?: string;
  /** Public: everything that is wrong with a request, for families that list it. */
  faults?: RequestFault[];
  /** Public: whole seconds until the same request would pass (429 and 503). */
  retryAfterSeconds?: number;
  /** Public: members of the response in addition to its text. */
  members?: Record<string, string | number>;
  cause?: unknown;
};

/** An expected rejection of a request. Unexpected faults are thrown as ordinary errors and become `INTERNAL` at the edge. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorName;
  readonly context: ErrorContext;

  constructor(code: ErrorName, context: ErrorContext = {}) {
    super(publicText(code, context), context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.context = context;
  }
}

function publicText(code: ErrorName, context: ErrorContext): string {
  return errorRegistry[code]
    .replace('<field>', () => context.field ?? '')
    .replace('<reason>', () => context.reason ?? '');
}

const sendField = 'Send the field that is named; its rules stand in the API reference at /docs.';
const credentials =
  'Compare workspace id and secret with the screen Keys: the key must be of this workspace, of the kind this route takes, and neither revoked nor rotated out. A secret is shown once; make or rotate a key if it is lost.';
const scope =
  'Use a key whose kind covers this route; the screen Keys says what each kind opens. An OAuth key opens it with a token, not as a password.';
const slower =
  'Wait as long as Retry-After says, then repeat the same call; spread calls over time or send them in bulk.';
const bothHeaders =
  'Send Basic credentials of workspace id and key, or a Bearer token; the screen Keys has a call that works.';
const ours =
  'Nothing was done that was not answered. Repeat the call with the same Idempotency-Key; tell the operators if it lasts.';

/** What a caller can do about an error, for every name of the registry. The API log shows it next to the error. */
export const errorAdvice: Record<ErrorName, string> = {
  TOKEN_GRANT_TYPE_INVALID:
    'Send grant_type=client_credentials for a new token, grant_type=refresh_token to refresh one.',
  TOKEN_CLIENT_ID_MISSING: 'Send client_id, the workspace id, in the form body or as the user name of Basic.',
  TOKEN_CLIENT_SECRET_MISSING:
    'Send client_secret, the secret of an OAuth key, in the form body or as the password of Basic.',
  TOKEN_CREDENTIALS_INVALID: credentials,
  TOKEN_KEY_NOT_OAUTH:
    'The key is of another kind. Make an OAuth key on the screen Keys, or call with this key directly.',
  TOKEN_REFRESH_MISSING: 'Send refresh_token, which came with the access token.',
  TOKEN_REFRESH_INVALID:
    'The refresh token is used up, revoked or its key is archived. Generate a new token with the secret.',
  TOKEN_CLIENT_MISMATCH: 'Send the client_id of the workspace whose token is refreshed.',
  TOKEN_FIELD_REPEATED: 'Send each field of the form once.',
  TOKEN_CREDENTIALS_IN_QUERY:
    'Move the credentials into the form body; addresses end up in logs. Rotate the key if others saw it.',
  TOKEN_TO_REVOKE_MISSING: 'Send the field token with the token to revoke.',
  TOKEN_RATE_LIMITED:
    'Keep a token until it expires instead of fetching one a call; 5 a minute and 30 in ten minutes pass. Wait as long as Retry-After says.',
  AUTHENTICATION_INVALID:
    'The token is not one of ours, was revoked, or its key was archived. Generate a new one with an OAuth key.',
  AUTHENTICATION_EXPIRED:
    'Generate or refresh the token and repeat the call. How long tokens live is set with the key.',
  SCOPE_MISSING: scope,
  PUSH_REQUEST_TYPE_INVALID: 'Send requestType as push, or leave it out.',
  PUSH_APP_ID_INVALID: 'The workspace id in appId or X-SVC-APPKEY is unknown here; copy it from the overview.',
  PUSH_APP_ID_MISSING: 'Send the workspace id: appId in the body of v2, the header X-SVC-APPKEY in v2.1.',
  PUSH_NAME_MISSING: 'Send campaignName, which is part of what is signed.',
  PUSH_NAME_TOO_SHORT: 'Give the campaign a name of five characters or more.',
  PUSH_RATE_LIMITED: slower,
  PUSH_SIGNATURE_MISSING:
    'Sign the call: SHA-256 in lower-case hex of <workspace id>|<campaignName>|<push key>, as signature in v2 or X-SVC-PushAPI-Signature in v2.1.',
  PUSH_SIGNATURE_INVALID:
    'Sign exactly <workspace id>|<campaignName>|<push key>, with the name as it stands in the body (spaces count), the secret of a push key of this workspace, and SHA-256 in lower-case hex.',
  PUSH_NAME_DUPLICATE:
    'A campaign of this name exists. Choose another name; only sends to one user join a campaign that exists.',
  PUSH_VALUE_NOT_ALLOWED: 'Use one of the values that the API reference lists for the field, in its JSON type.',
  PUSH_PARAMETER_INVALID: 'Correct the field that is named; the reason stands behind it.',
  DATA_ATTRIBUTE_MISSING: sendField,
  DATA_ACTIONS_EMPTY: 'Send at least one action.',
  DATA_VALUE_INVALID:
    'Correct the value that is named. Reserved attribute names and customer ids such as "null" are never taken.',
  DATA_WORKSPACE_MISMATCH: 'Name the same workspace in the path or query and in the credentials.',
  DATA_CREDENTIALS_MISSING: 'Send Basic credentials: the workspace id and the secret of a data key.',
  DATA_CREDENTIALS_INVALID: credentials,
  DATA_RATE_LIMITED: slower,
  DATA_USER_NOT_FOUND: 'Send the customer first; a device or event of somebody unknown has no owner.',
  DATA_LIMIT_BREACHED: 'Split the request into smaller ones.',
  DATA_WORKSPACE_MISSING: 'Send the workspace id in the path or as app_id in the query.',
  DATA_WORKSPACE_INVALID: 'The workspace id is unknown here; copy it from the overview.',
  DATA_HEADER_MISSING: 'Send the header that is named.',
  DATA_IDENTITY_MISSING: 'Send Basic credentials: the workspace id and the secret of a data key.',
  DATA_IDENTITY_INVALID: credentials,
  DATA_APP_KEY_MISSING: 'Put the workspace id before the colon of the Basic credentials.',
  DATA_APP_SECRET_MISSING: 'Put the secret of a data key behind the colon of the Basic credentials.',
  DATA_APP_ID_INVALID: 'The user name of the Basic credentials must be the workspace id.',
  SEGMENT_FIELD_MISSING: sendField,
  SEGMENT_FIELD_INVALID: 'Correct the field that is named; the reason stands behind it.',
  SEGMENT_HEADER_MISSING:
    'Send the header that is named: X-SVC-APPKEY has the workspace id, X-SVC-DBNAME its database name.',
  SEGMENT_CREDENTIALS_INVALID: credentials,
  SEGMENT_KEY_NOT_ALLOWED: scope,
  SEGMENT_CLIENT_NOT_FOUND: 'Compare X-SVC-APPKEY and X-SVC-DBNAME with the overview; both name the same workspace.',
  SEGMENT_NOT_FOUND: 'Names are compared exactly, case and spaces too. The screen Segments lists those there are.',
  SEGMENT_ID_NOT_FOUND: 'The screen Segments lists those there are; deleted ones do not come back.',
  SEGMENT_ID_INVALID: 'Ids have 24 characters of 0-9 and a-f.',
  SEGMENT_NAME_TAKEN: 'Choose another name, or add to the segment that has it.',
  SEGMENT_FILTERS_TAKEN: 'Use the segment that has these filters already.',
  SEGMENT_NOT_OF_FILES:
    'Only segments made from a file are filled from files; make one, or change the filters of this one.',
  SEGMENT_ARCHIVED: 'Unarchive the segment first.',
  SEGMENT_OPERATIONS_LIMITED: 'Wait as long as Retry-After says; several values can go in one file.',
  SEGMENT_ACTIVE_LIMITED: 'Archive segments that are no longer used; the screen Segments counts the active ones.',
  SEGMENT_RATE_LIMITED: slower,
  SEGMENT_BODY_INVALID: 'Send one JSON object with the fields of the API reference.',
  SEGMENT_FILTERS_INVALID:
    'Compare the filters with the API reference: operator, attribute and value must fit each other.',
  SEGMENT_UPDATE_FORBIDDEN: 'Only segments of filters that are not archived are changed.',
  SEGMENT_CYCLIC: 'Take the segment out of its own definition; it names itself through another one.',
  SEGMENT_QUERY_TOO_DEEP: 'Nest fewer groups, or move a group into a segment of its own.',
  SEGMENT_QUERY_TOO_MANY_SEGMENTS: 'Name fewer segments, or join some into one.',
  SEGMENT_QUERY_TOO_LONG: 'Shorten the filters; many values of one attribute belong into a file segment.',
  CAMPAIGN_REQUEST_INVALID: 'Correct each field that is named; all that is wrong is told at once.',
  CAMPAIGN_CREDENTIALS_MISSING: bothHeaders,
  CAMPAIGN_CREDENTIALS_INVALID: credentials,
  CAMPAIGN_WORKSPACE_MISMATCH: 'Name the workspace of the credentials in the header, or leave the header out.',
  CAMPAIGN_KEY_NOT_ALLOWED: scope,
  CAMPAIGN_NOT_FOUND: 'Compare the id with the screen Campaigns; it must be of this workspace.',
  CAMPAIGN_WITHOUT_EXECUTIONS: 'Ask for the campaign itself; one-time campaigns are sent once.',
  CAMPAIGN_RATE_LIMITED: slower,
  CAMPAIGN_CREATION_LIMITED: 'Wait as long as Retry-After says; sends to users can join one campaign of the push API.',
  CAMPAIGN_REQUEST_REPEATED: 'The first call was done. Use a new request_id for another one.',
  CAMPAIGN_NOT_DRAFT: 'Only drafts are patched. Change a live campaign through the routes for live ones, or clone it.',
  CAMPAIGN_ACTION_INVALID: 'Read the status of the campaign first; docs/states.md says which action fits which.',
  CAMPAIGN_NOT_EDITABLE: 'Clone the campaign and change the copy.',
  BUSINESS_EVENT_NOT_FOUND: 'Make the event first; names are compared exactly.',
  BUSINESS_EVENT_NAME_TAKEN: 'Use the event that has this name, or choose another.',
  BUSINESS_EVENT_LIMITED: 'Use an event that exists; there are at most 50.',
  EVENT_STREAM_NOT_FOUND: 'List the streams of the workspace; of a batch, those that were given up.',
  EVENT_STREAM_LIMITED: 'Change a stream, or remove one.',
  BUSINESS_EVENT_WITHOUT_CAMPAIGNS: 'Publish a campaign that this event triggers, or resume a paused one.',
  BUSINESS_EVENT_ATTRIBUTE_WRONG: 'Send the attributes the event was made with, each in its type.',
  BUSINESS_EVENT_RATE_LIMITED: slower,
  INTERACTION_TOKEN_UNKNOWN: 'Send the token as it came with the message; it must not be changed or cut.',
  INTERACTION_RATE_LIMITED: slower,
  STATS_CREDENTIALS_INVALID: credentials,
  STATS_KEY_NOT_ALLOWED: scope,
  STATS_FIELD_INVALID: 'Correct the field that is named; the reason stands behind it.',
  REPORT_FILES_LIMITED: 'Read the files that are there; each is gone seven days after it was asked for.',
  REPORT_FILE_UNREADABLE:
    'List the report files; one that waits is made within seconds, one that is gone has to be asked for again.',
  REPORT_SIGNATURE_INVALID:
    'Sign with the key that asked for the file: SHA-256 of the workspace id, the file name and the key, with a pipe between them, in hexadecimal. A key that was archived or made anew opens nothing.',
  STATS_RATE_LIMITED: slower,
  ACCOUNT_SIGN_IN_FAILED:
    'Check address and password; an owner makes a link for a new password under Accounts and roles.',
  ACCOUNT_ATTEMPTS_LIMITED: 'Wait as long as Retry-After says.',
  ACCOUNT_LINK_INVALID:
    'Ask an owner for a new link, or run `carillon console-link`; the detail says whether this one expired, was used, was withdrawn or is unknown.',
  ACCOUNT_EMAIL_TAKEN: 'Sign in with the account that has this address.',
  ACCOUNT_LAST_OWNER: 'Make somebody else an owner first.',
  ACCOUNT_COMPANY_REFUSED:
    'An owner invites the address of the company account, or sets a first role for its domain (CARILLON_OIDC_FIRST_ROLE). An issuer that never says whether an address is verified, as Microsoft Entra, needs CARILLON_OIDC_EMAIL_TRUST.',
  ACCOUNT_PASSWORDS_OFF: 'Sign in with the company account.',
  PROVIDER_KEY_INVALID: 'Paste the whole file as the provider gave it.',
  PROVIDER_REFUSED: 'Do what the provider’s words ask for, then connect it again.',
  PROVIDER_NOT_ASKED: 'Look whether this machine reaches the provider, or store the credential all the same.',
  CREDENTIAL_IN_USE:
    'Replace the credential instead, or let the sends pause. Another VAPID key needs the one in use named.',
  ACCOUNT_NOT_PERMITTED: 'Ask an owner for a role that allows this; docs/console.md has the table.',
  REQUEST_MALFORMED: 'Write the address in percent-encoded UTF-8 without NUL, and one Host header.',
  HOST_NOT_SERVED:
    'Call the host under which this service is reached; CARILLON_SERVICE_DOMAIN, CARILLON_PUBLIC_URL and CARILLON_ALLOWED_HOSTS name those.',
  ADDRESS_TOO_LONG: 'No id has more than 256 characters; compare the address with docs/routes.md.',
  HEADERS_TOO_LARGE: 'Address and headers may have 16 KB together; move what is long into the body.',
  REQUEST_TIMED_OUT: 'A request must have arrived whole within 30 seconds. Repeat it.',
  EXPECTATION_UNKNOWN: 'Leave the Expect header out, or send 100-continue.',
  BODY_MALFORMED: 'Send well-formed JSON in UTF-8; the detail says where reading ended.',
  BODY_EMPTY: 'Send a body; some clients drop it when they follow a redirect.',
  BODY_TOO_LARGE: 'Send less at once, or split the request.',
  MEDIA_TYPE_UNSUPPORTED:
    'Send Content-Type: application/json; token endpoints take application/x-www-form-urlencoded.',
  MEDIA_TYPE_MISSING: 'Send Content-Type: application/json.',
  METHOD_NOT_ALLOWED: 'The answer’s header Allow lists the methods of this address.',
  ROUTE_NOT_FOUND: 'Compare the address with docs/routes.md; a slash too many is another address.',
  IDEMPOTENCY_KEY_INVALID: 'Send 1 to 255 printable ASCII characters.',
  IDEMPOTENCY_CONFLICT: 'The key was used for another body within 24 hours. Use a new key for a new request.',
  NOT_FOUND: 'Compare the id; it must be of this workspace.',
  PARAMETER_INVALID: 'Correct the parameter that is named.',
  SANDBOX_NOT_LOCAL:
    'Call it on the machine of the server, or start the server with CARILLON_SANDBOX_ACCESS=network (docs/sandbox.md); a container with a published port needs that too.',
  CLOCK_ADVANCING:
    'Wait until GET /sandbox/clock shows no advance any more, or end it where it is with {"reset": true}.',
  OVERLOADED: 'Wait as long as Retry-After says, then repeat the call.',
  STORAGE_UNAVAILABLE:
    'Wait as long as Retry-After says, then repeat the call. Where it creates something, send an Idempotency-Key from the first try on.',
  STORAGE_REFUSES_WRITES:
    'Nothing is stored. Wait as long as Retry-After says, then repeat the call; whoever runs the service has to make space.',
  INTERNAL: ours,
};

/**
 * The closed registry of errors this service can answer with. The key is the name used everywhere below `http`; the
 * sentence is the public one. Wire codes and HTTP statuses are chosen only in the `present.ts` of each route family.
 *
 * A test holds this table and docs/errors.md together, in both directions.
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
  // The outgoing stream of events
  EVENT_STREAM_NOT_FOUND: 'There is no such event stream or batch.',
  EVENT_STREAM_LIMITED: 'A workspace has at most 5 event streams.',
  BUSINESS_EVENT_WITHOUT_CAMPAIGNS: 'No active campaign found for business event name',
  BUSINESS_EVENT_ATTRIBUTE_WRONG: 'Wrong business event attribute passed in api request',
  BUSINESS_EVENT_RATE_LIMITED: 'Too many campaigns were triggered. Please retry later.',
  // Interactions: reports of devices
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
  // A workspace's credentials of the providers
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

/** A field that is missing, or why its value cannot be taken ("must be a text"). */
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

/** An expected refusal of a request. Surprises are thrown as ordinary errors and become `INTERNAL` at the edge. */
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

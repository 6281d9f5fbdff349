import { credentials, sendField, slower } from './advice.ts';

/** Errors of the data family (fact 5). */
export const dataRegistry = {
  DATA_ATTRIBUTE_MISSING: {
    status: 400,
    text: 'A required attribute is not in the payload.',
    advice: sendField,
  },
  DATA_ACTIONS_EMPTY: {
    status: 400,
    text: 'actions can not be empty Array',
    advice: 'Send at least one action.',
  },
  DATA_VALUE_INVALID: {
    status: 400,
    text: 'A value in the payload is not valid.',
    advice:
      'Correct the value that is named. Reserved attribute names, and customer ids such as "null", are always rejected.',
  },
  DATA_WORKSPACE_MISMATCH: {
    status: 409,
    text: 'App key mismatch in params and authentication',
    advice: 'Name the same workspace in the path or query and in the credentials.',
  },
  DATA_CREDENTIALS_MISSING: {
    status: 401,
    text: 'Authentication Header Required',
    advice: 'Send Basic credentials: the workspace id and the secret of a data key.',
  },
  DATA_CREDENTIALS_INVALID: {
    status: 401,
    text: 'App Secret key mismatch. Please login to the dashboard to verify key',
    advice: credentials,
  },
  DATA_RATE_LIMITED: {
    status: 429,
    text: 'The rate limit of this endpoint is exceeded.',
    advice: slower,
  },
  DATA_USER_NOT_FOUND: {
    status: 404,
    text: '<field> must exist.',
    advice: 'Send the user first. A device or an event needs an existing user.',
  },
  DATA_LIMIT_BREACHED: {
    status: 400,
    text: 'max limit allowed is <reason>',
    advice: 'Split the request into smaller ones.',
  },
  DATA_WORKSPACE_MISSING: {
    status: 400,
    text: 'app_id is required in path/query params.',
    advice: 'Send the workspace id in the path or as app_id in the query.',
  },
  DATA_WORKSPACE_INVALID: {
    status: 400,
    text: 'Given app_id is invalid.',
    advice: 'The workspace id is unknown. Copy it from the overview.',
  },
  DATA_HEADER_MISSING: {
    status: 400,
    text: 'The <field> Header is required',
    advice: 'Send the named header.',
  },
  DATA_IDENTITY_MISSING: {
    status: 401,
    text: 'No identity information found',
    advice: 'Send Basic credentials: the workspace id and the secret of a data key.',
  },
  DATA_IDENTITY_INVALID: {
    status: 401,
    text: 'Invalid identity information found',
    advice: credentials,
  },
  DATA_APP_KEY_MISSING: {
    status: 401,
    text: 'APP_KEY missing in the authentication header',
    advice: 'Put the workspace id before the colon of the Basic credentials.',
  },
  DATA_APP_SECRET_MISSING: {
    status: 401,
    text: 'APP_SECRET missing in the authentication header',
    advice: 'Put the secret of a data key after the colon of the Basic credentials.',
  },
  DATA_APP_ID_INVALID: {
    status: 401,
    text: 'Invalid APP_ID used in Authentication Header',
    advice: 'The user name of the Basic credentials must be the workspace id.',
  },
} as const;

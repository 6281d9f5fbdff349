import { credentials, scope } from './advice.ts';

/** Errors of tokens and keys. */
export const accessRegistry = {
  // Token endpoints (interface 7)
  TOKEN_GRANT_TYPE_INVALID: {
    status: 400,
    text: 'grant_type is missing or is not the one this endpoint accepts.',
    advice: 'Send grant_type=client_credentials for a new token, grant_type=refresh_token to refresh one.',
  },
  TOKEN_CLIENT_ID_MISSING: {
    status: 400,
    text: 'client_id is missing.',
    advice: 'Send client_id, the workspace id, in the form body or as the user name of Basic.',
  },
  TOKEN_CLIENT_SECRET_MISSING: {
    status: 400,
    text: 'client_secret is missing.',
    advice: 'Send client_secret, the secret of an OAuth key, in the form body or as the password of Basic.',
  },
  TOKEN_CREDENTIALS_INVALID: {
    status: 401,
    text: 'client_id or client_secret is not valid.',
    advice: credentials,
  },
  TOKEN_KEY_NOT_OAUTH: {
    status: 401,
    text: 'The API key exists but its authentication type is not OAuth 2.0.',
    advice: 'The key is of another kind. Make an OAuth key on the screen Keys, or call with this key directly.',
  },
  TOKEN_REFRESH_MISSING: {
    status: 400,
    text: 'refresh_token is missing.',
    advice: 'Send refresh_token, which came with the access token.',
  },
  TOKEN_REFRESH_INVALID: {
    status: 401,
    text: 'refresh_token is not valid.',
    advice: 'The refresh token is used up, revoked or its key is archived. Generate a new token with the secret.',
  },
  TOKEN_CLIENT_MISMATCH: {
    status: 401,
    text: 'client_id differs from the Workspace ID the refresh token was issued to.',
    advice: 'Send the client_id of the workspace whose token is refreshed.',
  },
  TOKEN_FIELD_REPEATED: {
    status: 400,
    text: 'A field may appear only once.',
    advice: 'Send each field of the form once.',
  },
  TOKEN_CREDENTIALS_IN_QUERY: {
    status: 400,
    text: 'Credentials must not be sent in the query.',
    advice: 'Move the credentials into the form body; addresses end up in logs. Rotate the key if others saw it.',
  },
  TOKEN_TO_REVOKE_MISSING: {
    status: 400,
    text: 'token is missing.',
    advice: 'Send the field token with the token to revoke.',
  },
  TOKEN_RATE_LIMITED: {
    status: 429,
    text: 'The rate limit of this endpoint is exceeded.',
    advice:
      'Keep a token until it expires instead of fetching one a call; 5 a minute and 30 in ten minutes pass. Wait as long as Retry-After says.',
  },
  // Gateway: Bearer and Basic on API routes (decision D16)
  AUTHENTICATION_INVALID: {
    status: 401,
    text: 'Auth validation failed.',
    advice: 'The token is not one of ours, was revoked, or its key was archived. Generate a new one with an OAuth key.',
  },
  AUTHENTICATION_EXPIRED: {
    status: 401,
    text: 'The access token has expired.',
    advice: 'Generate or refresh the token and repeat the call. How long tokens live is set with the key.',
  },
  SCOPE_MISSING: {
    status: 403,
    text: 'The key does not cover this operation.',
    advice: scope,
  },
} as const;

/** Errors of the console's accounts and of a workspace's provider credentials. */
export const accountRegistry = {
  // The console's accounts
  ACCOUNT_SIGN_IN_FAILED: {
    status: 401,
    text: 'The e-mail address or the password is not right.',
    advice: 'Check address and password; an owner makes a link for a new password under Accounts and roles.',
  },
  ACCOUNT_ATTEMPTS_LIMITED: {
    status: 429,
    text: 'Too many attempts to sign in. Please retry later.',
    advice: 'Wait as long as Retry-After says.',
  },
  ACCOUNT_LINK_INVALID: {
    status: 401,
    text: 'This link does not work.',
    advice:
      'Ask an owner for a new link, or run `carillon console-link`; the detail says whether this one expired, was used, was withdrawn or is unknown.',
  },
  ACCOUNT_EMAIL_TAKEN: {
    status: 409,
    text: 'This e-mail address has an account already.',
    advice: 'Sign in with the account that has this address.',
  },
  ACCOUNT_LAST_OWNER: {
    status: 409,
    text: 'This is the last owner; make somebody else an owner first.',
    advice: 'Make somebody else an owner first.',
  },
  ACCOUNT_COMPANY_REFUSED: {
    status: 403,
    text: 'The company account does not open this console.',
    advice:
      'An owner invites the address of the company account, or sets a first role for its domain (CARILLON_OIDC_FIRST_ROLE). An issuer that never says whether an address is verified, as Microsoft Entra, needs CARILLON_OIDC_EMAIL_TRUST.',
  },
  ACCOUNT_PASSWORDS_OFF: {
    status: 403,
    text: 'Passwords are for owners here; sign in with the company account.',
    advice: 'Sign in with the company account.',
  },
  ACCOUNT_NOT_PERMITTED: {
    status: 403,
    text: 'Your role does not allow this.',
    advice: 'Ask an owner for a role that allows this; docs/console.md has the table.',
  },
  // A workspace's provider credentials
  PROVIDER_KEY_INVALID: {
    status: 400,
    text: 'This is not a key that can be used.',
    advice: 'Paste the whole file as the provider gave it.',
  },
  PROVIDER_REFUSED: {
    status: 422,
    text: 'The provider refuses this credential.',
    advice: 'Do what the provider’s words ask for, then connect it again.',
  },
  PROVIDER_NOT_ASKED: {
    status: 502,
    text: 'The provider could not be asked about this credential.',
    advice: 'Look whether this machine reaches the provider, or store the credential all the same.',
  },
  CREDENTIAL_IN_USE: {
    status: 409,
    text: 'This credential is in use.',
    advice: 'Replace the credential instead, or let the sends pause. Another VAPID key needs the one in use named.',
  },
} as const;

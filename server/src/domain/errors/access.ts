import { credentials, scope } from './advice.ts';

/** Errors of tokens and keys. */
export const accessRegistry = {
  // Token endpoints (interface 7)
  TOKEN_GRANT_TYPE_INVALID: {
    status: 400,
    text: 'grant_type is missing or is not the one this endpoint accepts.',
    advice: 'Send grant_type=client_credentials for a new token, or grant_type=refresh_token to refresh one.',
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
    advice:
      'The key is of another kind. Create an OAuth key on the Keys screen, or send this key directly, without a token.',
  },
  TOKEN_REFRESH_MISSING: {
    status: 400,
    text: 'refresh_token is missing.',
    advice: 'Send the refresh_token that was returned with the access token.',
  },
  TOKEN_REFRESH_INVALID: {
    status: 401,
    text: 'refresh_token is not valid.',
    advice:
      'The refresh token has expired or was revoked, or its key was revoked. Generate a new token with the secret.',
  },
  TOKEN_CLIENT_MISMATCH: {
    status: 401,
    text: 'client_id differs from the Workspace ID the refresh token was issued to.',
    advice: 'Send the client_id of the workspace that the token belongs to.',
  },
  TOKEN_FIELD_REPEATED: {
    status: 400,
    text: 'A field may appear only once.',
    advice: 'Send each field of the form once.',
  },
  TOKEN_CREDENTIALS_IN_QUERY: {
    status: 400,
    text: 'Credentials must not be sent in the query.',
    advice:
      'Send the credentials in the form body, because servers and proxies log URLs. Rotate the key if others may have seen it.',
  },
  TOKEN_TO_REVOKE_MISSING: {
    status: 400,
    text: 'token is missing.',
    advice: 'Send the token to revoke in the field token.',
  },
  TOKEN_RATE_LIMITED: {
    status: 429,
    text: 'The rate limit of this endpoint is exceeded.',
    advice:
      'Reuse a token until it expires instead of fetching one per call. The limits are 5 a minute and 30 in ten minutes. Wait for the time in Retry-After.',
  },
  // Gateway: Bearer and Basic on API routes (decision D16)
  AUTHENTICATION_INVALID: {
    status: 401,
    text: 'Auth validation failed.',
    advice: 'The token is unknown or revoked, or its key was revoked. Generate a new one with an OAuth key.',
  },
  AUTHENTICATION_EXPIRED: {
    status: 401,
    text: 'The access token has expired.',
    advice: 'Generate or refresh the token and repeat the call. The key sets the lifetime of its tokens.',
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
    advice:
      'Check the address and the password. An owner can create a link for a new password under Accounts and roles.',
  },
  ACCOUNT_SECOND_FACTOR_NEEDED: {
    status: 401,
    text: 'This sign-in is not complete: the second factor is missing.',
    advice: 'Open the console and present a second factor, or add one.',
  },
  ACCOUNT_SECOND_FACTOR_FAILED: {
    status: 401,
    text: 'This code or passkey is not right, or it was used already.',
    advice:
      'Wait for the next code of the app, and check the clock of the phone. Without the app and the recovery codes, an owner can reset the second factor.',
  },
  ACCOUNT_SIGN_IN_STALE: {
    status: 403,
    text: 'Sign in again to change your second factors or to create a token.',
    advice: 'Sign out and in. Both are possible in the first 15 minutes of a session.',
  },
  ACCOUNT_ATTEMPTS_LIMITED: {
    status: 429,
    text: 'Too many attempts to sign in. Please retry later.',
    advice: 'Wait for the time in Retry-After.',
  },
  ACCOUNT_LINK_INVALID: {
    status: 401,
    text: 'This link does not work.',
    advice:
      'Ask an owner for a new link, or run `carillon console-link`. The detail reports whether this link is expired, used, withdrawn or unknown.',
  },
  ACCOUNT_EMAIL_TAKEN: {
    status: 409,
    text: 'An account with this email address already exists.',
    advice: 'Sign in with that account.',
  },
  ACCOUNT_LAST_OWNER: {
    status: 409,
    text: 'This is the last owner. Make another account an owner first.',
    advice: 'Make another account an owner first.',
  },
  ACCOUNT_COMPANY_REFUSED: {
    status: 403,
    text: 'This company account has no access to this console.',
    advice:
      'Ask an owner to invite the address of the company account, or set a first role for its domain (CARILLON_OIDC_FIRST_ROLE). An issuer that does not report whether an address is verified, such as Microsoft Entra, needs CARILLON_OIDC_EMAIL_TRUST.',
  },
  ACCOUNT_PASSWORDS_OFF: {
    status: 403,
    text: 'Only owners can sign in with a password here. Sign in with your company account.',
    advice: 'Sign in with the company account.',
  },
  ACCOUNT_NOT_PERMITTED: {
    status: 403,
    text: 'Your role does not allow this.',
    advice: 'Ask an owner for a role that allows this. docs/console.md lists what each role may do.',
  },
  // What agents propose
  PROPOSAL_CLOSED: {
    status: 409,
    text: 'The proposal cannot be decided: <reason>.',
    advice: 'An agent must propose it again. A person can also open the draft, review it and publish it.',
  },
  PROPOSALS_LIMITED: {
    status: 409,
    text: 'Too many proposals of agents wait for a decision in this workspace.',
    advice: 'Approve or refuse some of them in the console.',
  },
  // A workspace's provider credentials
  PROVIDER_KEY_INVALID: {
    status: 400,
    text: 'This key cannot be used.',
    advice: 'Paste the whole file, exactly as the provider issued it.',
  },
  PROVIDER_REFUSED: {
    status: 422,
    text: 'The provider rejected this credential.',
    advice: 'Correct what the provider’s message reports, then connect the credential again.',
  },
  PROVIDER_NOT_ASKED: {
    status: 502,
    text: 'The provider could not be reached to check this credential.',
    advice: 'Check that this machine can reach the provider, or store the credential without the check.',
  },
  CREDENTIAL_IN_USE: {
    status: 409,
    text: 'This credential is in use.',
    advice:
      'Replace the credential instead, or confirm that sending pauses. To use another VAPID key, name the key in use.',
  },
} as const;

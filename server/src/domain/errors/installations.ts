/** Errors of the routes that apps call with their public key. */
export const installationRegistry = {
  APP_KEY_UNKNOWN: {
    status: 401,
    text: 'The app key is not valid.',
    advice:
      'Send a key of kind app as Authorization: Bearer. The key is unknown, of another kind, or was revoked. Ship a new key in the app.',
  },
  APP_ORIGIN_REFUSED: {
    status: 403,
    text: 'This site may not use the app key.',
    advice: 'Add the origin of the site to web_origins (PUT /v1/app-access).',
  },
  INSTALLATION_UNKNOWN: {
    status: 401,
    text: 'The installation is not known, or its secret is wrong.',
    advice: 'Register the installation again with POST /v1/app/installations, under a new id if that is refused too.',
  },
  INSTALLATION_SIGNED_OUT: {
    status: 409,
    text: 'No user is signed in on the installation.',
    advice:
      'Sign the user in with POST /v1/app/installations/{id}/identify first. Topics are of users, not of devices.',
  },
  IDENTITY_TOKEN_INVALID: {
    status: 401,
    text: 'The identity token <reason>.',
    advice:
      'Let your server issue a new identity token for the signed-in user. docs/app-api.md lists the claims. Only a sandbox accepts a user id without a token.',
  },
  PUSH_TOKEN_HELD: {
    status: 409,
    text: 'Another device holds this push token.',
    advice:
      'Carillon sends a silent push with a code to the token, three times an hour at most. The app that receives it registers again with the code as `push_token_challenge`, within ten minutes. A reinstalled app can send the id and the secret of its earlier installation as `previous` instead; a browser can unsubscribe and subscribe again.',
  },
  APP_RATE_LIMITED: {
    status: 429,
    text: 'The rate limit is exceeded.',
    advice: 'Keep the request and send it again after the time in Retry-After.',
  },
} as const;

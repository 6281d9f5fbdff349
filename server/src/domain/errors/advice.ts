/* Advice that several errors share. */

export const sendField = 'Send the named field. The API reference at /docs has its rules.';
export const credentials =
  'Compare the workspace id and the secret with the Keys screen. The key must belong to this workspace, be of the kind that this route accepts, and be neither revoked nor replaced by rotation. A secret is shown only once; create or rotate a key if it is lost.';
export const scope =
  'Use a key of a kind that covers this route. The Keys screen lists what each kind can access. An OAuth key needs a token; it does not work as a password.';
export const slower =
  'Wait for the time in Retry-After, then repeat the call. Spread calls over time or send them in bulk.';

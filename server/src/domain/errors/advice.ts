/* Advice that several errors share. */

export const sendField = 'Send the field that is named; its rules stand in the API reference at /docs.';
export const credentials =
  'Compare workspace id and secret with the screen Keys: the key must be of this workspace, of the kind this route takes, and neither revoked nor rotated out. A secret is shown once; make or rotate a key if it is lost.';
export const scope =
  'Use a key whose kind covers this route; the screen Keys says what each kind opens. An OAuth key opens it with a token, not as a password.';
export const slower =
  'Wait as long as Retry-After says, then repeat the same call; spread calls over time or send them in bulk.';

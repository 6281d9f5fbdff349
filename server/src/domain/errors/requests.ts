/** Errors of every family. */
export const requestRegistry = {
  REQUEST_MALFORMED: {
    status: 400,
    text: 'The request is not well-formed: <reason>',
    advice: 'Send the URL in percent-encoded UTF-8 without NUL, and exactly one Host header.',
  },
  HOST_NOT_SERVED: {
    status: 421,
    text: 'This host is not served here.',
    advice:
      'Call this service by a host name that it serves. CARILLON_SERVICE_DOMAIN, CARILLON_PUBLIC_URL and CARILLON_ALLOWED_HOSTS set them.',
  },
  ADDRESS_TOO_LONG: {
    status: 414,
    text: 'A part of the path is too long.',
    advice: 'An id has at most 256 characters. Compare the URL with docs/routes.md.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    text: 'The address and the headers are too large.',
    advice: 'The URL and the headers may have 16 KB together. Send long values in the body.',
  },
  REQUEST_TIMED_OUT: {
    status: 408,
    text: 'The request did not arrive in time.',
    advice: 'A request must arrive completely within 30 seconds. Repeat it.',
  },
  EXPECTATION_UNKNOWN: {
    status: 417,
    text: 'The value of the Expect header is not supported.',
    advice: 'Omit the Expect header, or send 100-continue.',
  },
  BODY_MALFORMED: {
    status: 400,
    text: 'The request body could not be decoded.',
    advice: 'Send well-formed JSON in UTF-8. The detail reports where parsing stopped.',
  },
  BODY_EMPTY: {
    status: 400,
    text: 'A request body is required.',
    advice: 'Send a body. Some clients drop it when they follow a redirect.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    text: 'The request body is too large.',
    advice: 'Send less data, or split the request.',
  },
  MEDIA_TYPE_UNSUPPORTED: {
    status: 415,
    text: 'The media type of the request is not supported.',
    advice: 'Send Content-Type: application/json. Token endpoints accept application/x-www-form-urlencoded.',
  },
  MEDIA_TYPE_MISSING: {
    status: 415,
    text: 'The Content-Type Header is required',
    advice: 'Send Content-Type: application/json.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    text: 'This method is not allowed here.',
    advice: 'The Allow header of the response lists the methods of this URL.',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    text: 'Page not found. Please recheck the URL',
    advice: 'Compare the URL with docs/routes.md. An extra slash makes it a different URL.',
  },
  IDEMPOTENCY_KEY_INVALID: {
    status: 400,
    text: 'Idempotency-Key must be 1 to 255 printable characters.',
    advice: 'Send 1 to 255 printable ASCII characters.',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    text: 'Idempotency-Key reused with a different request body.',
    advice: 'The key was used with another body within the last 24 hours. Use a new key for each new request.',
  },
  NOT_FOUND: {
    status: 404,
    text: 'There is nothing with that id.',
    advice: 'Check the id. It must belong to this workspace.',
  },
  PARAMETER_INVALID: {
    status: 400,
    text: 'A parameter is not valid.',
    advice: 'Correct the named parameter.',
  },
  SANDBOX_NOT_LOCAL: {
    status: 403,
    text: 'The sandbox routes accept only callers on the same machine.',
    advice:
      'Call it on the machine of the server, or start the server with CARILLON_SANDBOX_ACCESS=network (docs/sandbox.md). A container with a published port needs this setting.',
  },
  CLOCK_ADVANCING: {
    status: 409,
    text: 'The clock is being moved. GET /sandbox/clock reports its progress.',
    advice: 'Wait until GET /sandbox/clock shows no advance, or stop the advance with {"reset": true}.',
  },
  OVERLOADED: {
    status: 503,
    text: 'The service is busy. Please retry.',
    advice: 'Wait for the time in Retry-After, then repeat the call.',
  },
  STORAGE_UNAVAILABLE: {
    status: 503,
    text: 'The service cannot reach its storage. Please retry.',
    advice:
      'Wait for the time in Retry-After, then repeat the call. For a call that creates something, send an Idempotency-Key with every attempt, including the first.',
  },
  STORAGE_REFUSES_WRITES: {
    status: 503,
    text: 'The service cannot store anything at present. Please retry.',
    advice:
      'Nothing was stored. Wait for the time in Retry-After, then repeat the call. The operator must free disk space.',
  },
  INTERNAL: {
    status: 500,
    text: 'There seems to be an error. We are working to fix this.',
    advice: 'Repeat the call with the same Idempotency-Key. Report the error to the operators if it persists.',
  },
} as const;

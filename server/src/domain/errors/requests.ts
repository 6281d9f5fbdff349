/** Errors of every family. */
export const requestRegistry = {
  REQUEST_MALFORMED: {
    status: 400,
    text: 'The request is not well-formed: <reason>',
    advice: 'Write the address in percent-encoded UTF-8 without NUL, and one Host header.',
  },
  HOST_NOT_SERVED: {
    status: 421,
    text: 'This host is not served here.',
    advice:
      'Call the host under which this service is reached; CARILLON_SERVICE_DOMAIN, CARILLON_PUBLIC_URL and CARILLON_ALLOWED_HOSTS name those.',
  },
  ADDRESS_TOO_LONG: {
    status: 414,
    text: 'A part of the path is too long.',
    advice: 'No id has more than 256 characters; compare the address with docs/routes.md.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    text: 'The address and the headers are too large.',
    advice: 'Address and headers may have 16 KB together; move what is long into the body.',
  },
  REQUEST_TIMED_OUT: {
    status: 408,
    text: 'The request did not arrive in time.',
    advice: 'A request must have arrived whole within 30 seconds. Repeat it.',
  },
  EXPECTATION_UNKNOWN: {
    status: 417,
    text: 'The expectation of the request is not known.',
    advice: 'Leave the Expect header out, or send 100-continue.',
  },
  BODY_MALFORMED: {
    status: 400,
    text: 'The request body could not be decoded.',
    advice: 'Send well-formed JSON in UTF-8; the detail says where reading ended.',
  },
  BODY_EMPTY: {
    status: 400,
    text: 'A request body is required.',
    advice: 'Send a body; some clients drop it when they follow a redirect.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    text: 'The request body is too large.',
    advice: 'Send less at once, or split the request.',
  },
  MEDIA_TYPE_UNSUPPORTED: {
    status: 415,
    text: 'The media type of the request is not supported.',
    advice: 'Send Content-Type: application/json; token endpoints take application/x-www-form-urlencoded.',
  },
  MEDIA_TYPE_MISSING: {
    status: 415,
    text: 'The Content-Type Header is required',
    advice: 'Send Content-Type: application/json.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    text: 'This method is not allowed here.',
    advice: 'The answer’s header Allow lists the methods of this address.',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    text: 'Page not found. Please recheck the URL',
    advice: 'Compare the address with docs/routes.md; a slash too many is another address.',
  },
  IDEMPOTENCY_KEY_INVALID: {
    status: 400,
    text: 'Idempotency-Key must be 1 to 255 printable characters.',
    advice: 'Send 1 to 255 printable ASCII characters.',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    text: 'Idempotency-Key reused with a different request body.',
    advice: 'The key was used for another body within 24 hours. Use a new key for a new request.',
  },
  NOT_FOUND: {
    status: 404,
    text: 'There is nothing with that id.',
    advice: 'Compare the id; it must be of this workspace.',
  },
  PARAMETER_INVALID: {
    status: 400,
    text: 'A parameter is not valid.',
    advice: 'Correct the parameter that is named.',
  },
  SANDBOX_NOT_LOCAL: {
    status: 403,
    text: 'The routes of the sandbox answer callers on the same machine only.',
    advice:
      'Call it on the machine of the server, or start the server with CARILLON_SANDBOX_ACCESS=network (docs/sandbox.md); a container with a published port needs that too.',
  },
  CLOCK_ADVANCING: {
    status: 409,
    text: 'The clock is being moved; GET /sandbox/clock says how far it is.',
    advice: 'Wait until GET /sandbox/clock shows no advance any more, or end it where it is with {"reset": true}.',
  },
  OVERLOADED: {
    status: 503,
    text: 'The service is busy. Please retry.',
    advice: 'Wait as long as Retry-After says, then repeat the call.',
  },
  STORAGE_UNAVAILABLE: {
    status: 503,
    text: 'The service cannot reach its storage. Please retry.',
    advice:
      'Wait as long as Retry-After says, then repeat the call. Where it creates something, send an Idempotency-Key from the first try on.',
  },
  STORAGE_REFUSES_WRITES: {
    status: 503,
    text: 'The service cannot store anything at present. Please retry.',
    advice:
      'Nothing is stored. Wait as long as Retry-After says, then repeat the call; whoever runs the service has to make space.',
  },
  INTERNAL: {
    status: 500,
    text: 'There seems to be an error. We are working to fix this.',
    advice:
      'Nothing was done that was not answered. Repeat the call with the same Idempotency-Key; tell the operators if it lasts.',
  },
} as const;

import type { IncomingHttpHeaders } from 'node:http';

/** Names that say how a call was made; whatever else is sent may be anything, and is left out. */
const toldOfRequests = [
  'content-type',
  'accept',
  'user-agent',
  'idempotency-key',
  'webhook-id',
  'webhook-timestamp',
  'x-request-id',
  'traceparent',
];
const toldOfResponses = ['content-type', 'retry-after', 'location', 'www-authenticate', 'deprecation', 'sunset'];
/** Behind any abbreviation: `x-svc-appkey`, `svc-appkey`. */
const abbreviated = /^(x-)?[a-z0-9]+-(appkey|dbname|query-type|warning|next-sends)$/;
const counted = /^x-ratelimit-/;
/** Prove the caller: that they were sent is told, and of `Authorization` in which way. */
const proving = /^(x-)?[a-z0-9]+-pushapi-signature(-v2)?$/;
const maxCharacters = 200;

/**
 * The headers of a call that the API log keeps, as JSON: those of a list, cut, and for those that prove who calls that they
 * were there. Pure.
 */
export function tellHeaders({
  request,
  response,
}: {
  request: IncomingHttpHeaders;
  response: Readonly<Record<string, unknown>>;
}): string {
  const told: { request: Record<string, string>; response: Record<string, string> } = { request: {}, response: {} };
  for (const name in request) {
    if (name === 'authorization') told.request[name] = `${schemeOf(request[name]!)}[redacted]`;
    else if (proving.test(name)) told.request[name] = '[redacted]';
    else if (toldOfRequests.includes(name) || abbreviated.test(name)) told.request[name] = cut(request[name]);
  }
  for (const name in response)
    if (toldOfResponses.includes(name) || abbreviated.test(name) || counted.test(name))
      told.response[name] = cut(response[name]);
  return JSON.stringify(told);
}

/** `Basic ` and `Bearer ` alone: any other word may be a credential that was sent without one. */
function schemeOf(authorization: string): string {
  const [, scheme] = /^(basic|bearer) /i.exec(authorization) ?? [];
  return scheme === undefined ? '' : `${scheme} `;
}

function cut(value: unknown): string {
  return String(value).slice(0, maxCharacters);
}

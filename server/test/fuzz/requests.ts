import type { Operation } from './answers.ts';
import { makeBody } from './bodies.ts';
import { clickAction } from './caller.ts';
import type { Caller } from './caller.ts';
import { makeChoices } from './choices.ts';
import type { Choices } from './choices.ts';
import { hostileTexts } from './hostile-values.ts';
import { makeWire } from './wire.ts';
import type { Wire } from './wire.ts';

export type FuzzRequest = {
  operation: Operation;
  method: string;
  path: string;
  headers: Headers;
  body: string | Buffer | undefined;
  /** Bytes that are sent instead of what a client library makes of the rest. */
  wire: Wire | undefined;
};

/** The request of a number: the routes in turn, each with something wrong somewhere, or with nothing wrong. */
export function makeRequest(
  { operations, caller }: { operations: readonly Operation[]; caller: Caller },
  { seed, number }: { seed: number; number: number },
): FuzzRequest {
  const operation = operations[number % operations.length]!;
  const choices = makeChoices({ seed, number });
  const path = `${pathOf(operation, caller, choices)}${queryOf(operation, caller, choices)}`;
  const { body, ...about } = makeBody(operation, caller, choices);
  const headers = makeHeaders(operation, caller, { ...about, choices, hasBody: body !== undefined });
  const method = choices.isSpoiled('method') ? choices.pick(otherMethods) : operation.method;
  const told = { method, path, headers, body };
  return { operation, ...told, wire: choices.isSpoiled('wire') ? makeWire(told, choices) : undefined };
}

/** Those of HTTP, some that only others' servers know, and words that are no method at all. */
const otherMethods = [
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'POST', 'HEAD', 'OPTIONS', 'TRACE'],
  ...['PROPFIND', 'MKCOL', 'SEARCH', 'QUERY', 'PURGE', 'LINK', 'M-SEARCH', 'NOTHING', 'get', 'G', '!#$'],
];

/** Percent-encoded UTF-8; half a character is sent as the bytes it would have, which are none of UTF-8. */
function encode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : `${encodeURIComponent(text.toWellFormed())}%ed%a0%80`;
}

const brokenEscapes = ['%', '%zz', '%ff', '%c0%80', '%u0041', '%ed%a0%80', '%2', '%00', '%2e%2e%2f', '%25', '%0d%0a'];

function pathOf({ path }: Operation, caller: Caller, choices: Choices): string {
  return path.replace(/\{([^}]+)\}/g, (_whole, name: string) => {
    if (choices.isSpoiled('path')) {
      if (choices.chance(0.15)) return choices.pick(brokenEscapes);
      return choices.chance(0.2) ? choices.pick(caller.ids) : encode(choices.pick(hostileTexts)).slice(0, 8_000);
    }
    if (/app_id|workspace_id/.test(name)) return caller.workspaceId;
    if (name === 'token') return `${caller.reportToken}.${caller.clickProof}`;
    if (path.startsWith('/v3/custom-segments')) return caller.filterSegmentId;
    // A draft may be changed and published; what is live may be paused, and has executions.
    return path === '/v5/campaigns/{id}' ? caller.draftId : caller.liveCampaignId;
  });
}

/** Words of query parameters that are taken. Waits are short: a long one would hold the run up, not the server. */
const queryWords: Record<string, (caller: Caller) => readonly string[]> = {
  app_id: ({ workspaceId }) => [workspaceId],
  workspaceId: ({ workspaceId }) => [workspaceId],
  to: () => [clickAction.value],
  customer_id: ({ customerIds }) => customerIds,
  name: ({ fileSegment }) => [fileSegment],
  after: () => ['0'.repeat(24)],
  wait: () => ['0', '1', '0.5'],
  limit: () => ['1', '10'],
  run_id: ({ ids }) => ids,
};

function queryOf({ parameters }: Operation, caller: Caller, choices: Choices): string {
  const pairs: string[] = [];
  const isSpoiled = choices.isSpoiled('query');
  for (const { name, in: place, required } of parameters) {
    if (place !== 'query') continue;
    const words = queryWords[name]?.(caller) ?? [];
    const isWrong = isSpoiled && choices.chance(0.7);
    // A cursor has no word: it is what a page before gave.
    if (!isWrong && (words.length === 0 || !(required || choices.chance(0.5)))) continue;
    const value = (): string => (isWrong ? wrongValue(name, caller, choices) : encode(choices.pick(words)));
    pairs.push(`${name}=${value()}`);
    if (isSpoiled && choices.chance(0.2))
      pairs.push(choices.pick([`${name}=${value()}`, `${name}[]=${value()}`, `${name}.a=1`, name]));
  }
  if (isSpoiled && choices.chance(0.2))
    pairs.push(`${encode(choices.pick(hostileTexts))}=${encode(choices.pick(hostileTexts))}`);
  if (isSpoiled && choices.chance(0.2))
    pairs.push(choices.pick([...brokenEscapes, '&&&', '=', '?', '__proto__=1', 'a[b][c]=1', ';a=1', manyPairs]));
  const query = pairs.join('&').slice(0, 8_000);
  return query === '' ? '' : `?${query}`;
}

const manyPairs = Array.from({ length: 1_500 }, (_, index) => `a=${index}`).join('&');
const numbers = ['0', '-1', '1001', '9999', '1.5', '1e3', '00001', '9223372036854775808', '1e400'];

function wrongValue(name: string, { ids, workspaceId }: Caller, choices: Choices): string {
  if (name === 'wait') return choices.pick(['-1', 'a', '', '1.0000001', '0x1', '%201']);
  if (choices.chance(0.3)) return choices.pick([...ids, workspaceId, ...numbers]);
  return encode(choices.pick(hostileTexts));
}

/** A list is sent as one header line for each value. */
type Headers = Record<string, string | string[]>;

export type AboutBody = {
  choices: Choices;
  hasBody: boolean;
  type: string | undefined;
  coding: string | undefined;
  /** What belongs to the body but stands in headers: the signature of a push. */
  companions: Record<string, string>;
};

function makeHeaders(operation: Operation, caller: Caller, about: AboutBody): Headers {
  const { choices, hasBody, type, coding, companions } = about;
  const headers: Headers = {
    ...credentialsFor(operation, caller, choices),
    'svc-appkey': caller.workspaceId,
    'x-svc-appkey': caller.workspaceId,
    'svc-dbname': caller.dbName,
    ...companions,
  };
  if (type !== undefined && (hasBody || choices.chance(0.1))) headers['content-type'] = type;
  if (coding !== undefined) headers['content-encoding'] = coding;
  if (choices.isSpoiled('headers')) spoil(headers, choices);
  return headers;
}

const otherHeaders = [
  ...['accept', 'accept-encoding', 'accept-version', 'origin', 'cookie', 'user-agent', 'x-forwarded-for', 'forwarded'],
  ...['range', 'if-none-match', 'if-modified-since', 'x-http-method-override', 'x-request-id', 'referer', 'te'],
  ...['sec-fetch-site', 'access-control-request-method', 'x-svc-query-type', 'host', '__proto__', 'constructor'],
];

function spoil(headers: Headers, choices: Choices): void {
  const times = choices.pick([1, 1, 2, 3]);
  for (let time = 0; time < times; time += 1) {
    const known = Object.keys(headers).filter((name) => name !== 'authorization');
    const name = choices.pick([...known, ...known, ...otherHeaders, 'idempotency-key', 'idempotency-key']);
    const kind = choices.pick(['replace', 'replace', 'replace', 'repeat', 'drop']);
    const value = choices.chance(0.1) ? choices.pick(['a', 'b']) : headerText(choices);
    if (kind === 'drop') delete headers[name];
    // A host that is no host ends at the first look.
    else if (name === 'host')
      headers.host = choices.pick(['localhost', 'oauth2-99.example.com', 'a b', '[::1]:80', value]);
    else
      Object.defineProperty(headers, name, {
        value: kind === 'repeat' ? [value, headerText(choices)] : value,
        ...plain,
      });
  }
}

/** As an assignment makes a member, but of any name: `__proto__` would set the prototype. */
export const plain = { configurable: true, enumerable: true, writable: true };

/** What a header may hold at all (RFC 9110 §5.5), one byte a character. */
function headerText(choices: Choices): string {
  return choices
    .pick(hostileTexts)
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '')
    .slice(0, 4_000);
}

function credentialsFor({ schemes }: Operation, caller: Caller, choices: Choices): Headers {
  const { workspaceId, keys, accessToken, refreshToken } = caller;
  const basic = (name: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
  });
  if (!choices.isSpoiled('credentials')) {
    if (schemes.length === 0) return {};
    if (schemes.includes('bearer') && choices.chance(0.4)) return { authorization: `Bearer ${accessToken}` };
    return basic(workspaceId, schemes.includes('campaignsKey') ? keys.campaigns : keys.data);
  }
  const text = headerText(choices);
  return choices.pick<Headers>([
    {},
    basic(workspaceId, keys.oauth),
    basic(workspaceId, keys.push),
    basic(workspaceId, schemes.includes('campaignsKey') ? keys.data : keys.campaigns),
    basic(choices.pick(hostileTexts), keys.data),
    basic(workspaceId, choices.pick(hostileTexts)),
    { authorization: `Bearer ${refreshToken}` },
    { authorization: `bearer ${accessToken.slice(0, -1)}` },
    { authorization: `Bearer ${text}` },
    { authorization: `Basic ${text}` },
    { authorization: text },
    { authorization: [`Bearer ${accessToken}`, `Bearer ${accessToken}`] },
  ]);
}

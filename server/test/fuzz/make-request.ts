import { makeChoices } from './choices.ts';
import type { Choices } from './choices.ts';
import { hostileTexts } from './hostile-values.ts';
import { makeBody } from './make-body.ts';
import { makeHeaders } from './make-headers.ts';
import type { Headers } from './make-headers.ts';
import { makeWire } from './make-wire.ts';
import type { Wire } from './make-wire.ts';
import type { Caller } from './prepare-caller.ts';
import type { Operation } from './read-operations.ts';
import { clickAction } from './valid-bodies.ts';

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

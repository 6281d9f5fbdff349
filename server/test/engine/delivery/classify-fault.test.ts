import { expect, test } from 'vitest';
import {
  classifyFailure,
  readJsonAnswer,
  readWord,
  waitOf,
  retryAfterSeconds,
} from '../../../src/providers/answer-rules.ts';
import { findHeaderFault, overrideHeaders } from '../../../src/providers/payload/override-headers.ts';
import type { Answer } from '../../../src/providers/provider.ts';

const now = new Date('2026-11-21T12:00:00.500Z');

test.each<[string | undefined, number | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['0', 0],
  ['7', 7],
  [' 7 ', 7],
  ['999999999', 86_400],
  ['86399', 86_399],
  ['86401', 86_400],
  // No form of either, though dates could be made of them.
  ['1.5', undefined],
  ['-5', undefined],
  ['2 Jan', undefined],
  ['9'.repeat(40), 86_400],
  ['7 seconds', undefined],
  // A part of a second is waited too.
  ['Sat, 21 Nov 2026 12:00:31 GMT', 31],
  ['Saturday, 21-Nov-26 12:00:31 GMT', 31],
  ['Saturday', undefined],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ['Sat, 28 Nov 2026 12:00:00 GMT', 86_400],
])('Retry-After: %j asks for %j seconds (RFC 9110 §10.2.3)', (header, seconds) => {
  expect(retryAfterSeconds(header, now)).toBe(seconds);
});

test('what is told of a wait is a member only where the header names one', () => {
  const waitIn = (headers: Record<string, string>) => waitOf({ kind: 'answer', status: 503, headers, body: '' }, now);
  expect(waitIn({ 'retry-after': '0' })).toStrictEqual({ retryAfterSeconds: 0 });
  expect(waitIn({})).toStrictEqual({});
  expect(waitIn({ 'retry-after': 'soon' })).toStrictEqual({});
});

test.each<[unknown, string | undefined]>([
  ['UNREGISTERED', 'UNREGISTERED'],
  ['', undefined],
  [7, undefined],
  [null, undefined],
  [undefined, undefined],
  [{}, undefined],
  ['a\u0000b\nc\u007fd', 'a b c d'],
  ['x'.repeat(301), 'x'.repeat(300)],
  ['x'.repeat(300), 'x'.repeat(300)],
  // A pair that is cut in two leaves no half of it.
  [`${'x'.repeat(299)}😀`, `${'x'.repeat(299)}\ufffd`],
])('a word of a provider as the ledger keeps it: %j', (value, word) => {
  expect(readWord(value)).toBe(word);
});

test('a body is JSON or nothing', () => {
  expect(readJsonAnswer('{"a":1}')).toEqual({ a: 1 });
  expect(readJsonAnswer('null')).toBeNull();
  for (const broken of ['', '<html>', '{"a"']) expect(readJsonAnswer(broken)).toBeUndefined();
});

type Failure = Extract<Answer, { kind: 'failure' }>;
test.each<[Failure['reason'], Failure['certainty'], object]>([
  ['address-blocked', 'unsent', { kind: 'gone', code: 'ADDRESS_BLOCKED' }],
  ['host-not-allowed', 'unsent', { kind: 'rejected', code: 'HOST_NOT_ALLOWED', detail: 'why' }],
  ['proxy-unreachable', 'unsent', { kind: 'unreached', code: 'PROXY_UNREACHABLE' }],
  ['proxy-refused', 'unsent', { kind: 'unreached', code: 'PROXY_REFUSED' }],
  ['proxy-auth', 'unsent', { kind: 'unreached', code: 'PROXY_AUTH' }],
  ['unreachable', 'unsent', { kind: 'unreached', code: 'NOT_CONNECTED' }],
  ['unresolved', 'unsent', { kind: 'unreached', code: 'HOST_NOT_FOUND' }],
  ['refused', 'unsent', { kind: 'wait', code: 'NOT_SENT', scope: 'device' }],
  ['timeout', 'unsent', { kind: 'wait', code: 'NOT_SENT', scope: 'device' }],
  ['timeout', 'unknown', { kind: 'unknown', code: 'TIMEOUT' }],
  ['reset', 'unknown', { kind: 'unknown', code: 'RESET' }],
])('no answer for the reason %s, %s', (reason, certainty, outcome) => {
  expect(classifyFailure({ kind: 'failure', reason, certainty, detail: 'why' })).toStrictEqual(outcome);
});

test('headers are set, taken away, or left, and of Apple’s topic the end alone is the caller’s', () => {
  const headers = { 'apns-topic': 'test.shop', 'apns-priority': '10', 'apns-id': 'x' };
  expect(overrideHeaders({}, headers)).toEqual(headers);
  expect(overrideHeaders({ 'apns-priority': '5', 'apns-id': null, more: '1' }, headers)).toEqual({
    'apns-topic': 'test.shop',
    'apns-priority': '5',
    more: '1',
  });
  expect(overrideHeaders({ 'apns-topic': '.voip' }, headers)).toMatchObject({ 'apns-topic': 'test.shop.voip' });
});

test('a header that is taken away is no fault, and the first that cannot be sent is told by its name', () => {
  expect(findHeaderFault('apns', {})).toBeUndefined();
  expect(findHeaderFault('apns', { 'apns-priority': null, 'apns-expiration': '0' })).toBeUndefined();
  expect(findHeaderFault('apns', { 'apns-priority': '5', 'apns-expiration': 'x', 'apns-collapse-id': '' })).toBe(
    'apns-expiration must be a number of seconds',
  );
  expect(findHeaderFault('webpush', { urgency: '5' })).toMatch(/^urgency /);
});

import { describe, expect, test } from 'vitest';
import { reasonOf, shownHeaders } from '../../src/domain/sandbox/refusals.ts';
import { makeSimulateApns } from '../../src/providers/apns/simulator.ts';
import { makeSimulateFcm } from '../../src/providers/fcm/simulator.ts';
import { makeSimulateWebPush } from '../../src/providers/webpush/simulator.ts';

const now = new Date('2026-11-23T04:00:00Z');
const asked = { method: 'POST', headers: {}, body: Buffer.alloc(0), now, shownAt: now };

describe('each simulated provider says by what it refuses, and why in its own words', () => {
  test.each([
    ['fcm', '/v1/projects/shop/messages', 404, 'route', 'NOT_FOUND: Requested entity was not found.'],
    [
      ...['fcm', '/v1/projects/shop/messages:send', 401, 'credentials'],
      'UNAUTHENTICATED: Request had invalid authentication credentials.',
    ],
    ['fcm', '/token', 400, 'credentials', 'unsupported_grant_type'],
    ['apns', '/4/device/1', 404, 'route', 'BadPath'],
    ['apns', '/3/device/1', 403, 'credentials', 'MissingProviderToken'],
    ['webpush', '/elsewhere', 404, 'route', 'no such subscription'],
    ['webpush', '/push/1', 401, 'credentials', 'VAPID is required'],
  ] as [string, string, number, string, string][])('%s %s: %i by %s', async (...row) => {
    const [provider, path, status, rule, reason] = row;
    const simulate = {
      fcm: makeSimulateFcm(() => []),
      apns: makeSimulateApns(() => []),
      webpush: makeSimulateWebPush(() => [], { secret: Buffer.alloc(32) }),
    }[provider]!;
    const answer = await simulate({ ...asked, path });
    if (answer === 'silence') throw new Error('it is silent');
    expect([answer.status, answer.rule, reasonOf(answer)]).toEqual([status, rule, reason]);
  });
});

test('the field that Google names is part of the reason', () => {
  const details = [{ '@type': 'x' }, { fieldViolations: [{ field: 'message.token', description: 'bad' }] }];
  const error = { code: 400, status: 'INVALID_ARGUMENT', message: 'bad', details };
  expect(reasonOf({ status: 400, body: { error } })).toBe('INVALID_ARGUMENT: message.token: bad');
});

test('of what authorizes only the scheme is shown, and no pseudo-header', () => {
  const headers = { ':path': '/', authorization: 'vapid t=secret, k=key', ttl: '60', 'set-cookie': ['a', 'b'] };
  expect(shownHeaders(headers)).toEqual({ authorization: 'vapid …', ttl: '60', 'set-cookie': 'a, b' });
});

import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/domain/errors.ts';
import { makeFaultSwitch, parseFaults } from '../../src/domain/sandbox/faults.ts';
import type { Fault } from '../../src/domain/sandbox/faults.ts';

/** Which of ten requests are struck, from 1. */
function strikesOf(fault: Fault): number[] {
  const strike = makeFaultSwitch([fault]);
  return Array.from({ length: 10 }, (_, index) => (strike({}) ? [index + 1] : [])).flat();
}

describe('a fault', () => {
  test.each<[Fault, number[]]>([
    [{ nth: 3 }, [3]],
    [{ every: 4 }, [4, 8]],
    [{ count: 2 }, [1, 2]],
    [{ every: 3, count: 2 }, [3, 6]],
    [{ probability: 0 }, []],
    [{ probability: 1, count: 3 }, [1, 2, 3]],
  ])('strikes requests with %j', (fault, expected) => {
    expect(strikesOf({ status: 503, ...fault })).toEqual(expected);
  });

  test('strikes the same share with the same seed, and another with another seed', () => {
    const shares = [undefined, 1, 2].map((seed) => strikesOf({ probability: 0.5, ...(seed && { seed }) }));
    expect(strikesOf({ probability: 0.5, seed: 1 })).toEqual(shares[1]);
    expect(new Set(shares.map((share) => share.join())).size).toBe(3);
  });

  test('strikes and counts only devices whose address starts with its prefix', () => {
    const strike = makeFaultSwitch([{ device: 'tab', nth: 2, status: 503 }]);
    const struck = ['tablet', 'phone', undefined, 'tab', 'tab'].map((device) => strike({ device }) !== undefined);
    expect(struck).toEqual([false, false, false, true, false]);
  });

  test.each([
    ['POST /v1/oauth/token', 'POST /v1/oauth/token', true],
    ['POST /v1/oauth/token', 'GET /v1/oauth/token', false],
    ['/v1/oauth/token', 'GET /v1/oauth/token', true],
    ['/v1/oauth/token', 'GET /v1/oauth/tokens', false],
    ['/v5/campaigns/*', 'POST /v5/campaigns/search', true],
    ['GET /v5/campaigns/*', 'POST /v5/campaigns/search', false],
  ])('strikes on the route %s the call %s: %s', (route, request, isStruck) => {
    const [method, path] = request.split(' ') as [string, string];
    expect(makeFaultSwitch([{ route, status: 500 }])({ method, path }) !== undefined).toBe(isStruck);
  });

  test('is the first that strikes if there are several', () => {
    const strike = makeFaultSwitch([{ nth: 2, status: 429 }, { status: 503 }]);
    expect([1, 2, 3].map(() => strike({})?.status)).toEqual([503, 429, 503]);
  });
});

describe('the parser of faults', () => {
  test('accepts one or a list of each kind', () => {
    const api = [{ route: '/v1/*', status: 500 }, { delayMilliseconds: 5 }];
    expect(parseFaults({ fcm: { status: 503 }, api })).toEqual({
      fcm: [{ status: 503 }],
      apns: [],
      webpush: [],
      hms: [],
      api,
    });
  });

  test.each([
    [[], 'body'],
    [{ gcm: {} }, 'gcm'],
    [{ fcm: 5 }, 'fcm'],
    [{ fcm: [{}, { staus: 5 }] }, 'fcm[1].staus'],
    [{ fcm: { route: '/v1' } }, 'fcm.route'],
    [{ api: { device: 'x' } }, 'api.device'],
    [{ api: { maxStreams: 5 } }, 'api.maxStreams'],
    [{ api: { route: 'v1/oauth' } }, 'api.route'],
    [{ apns: { device: '' } }, 'apns.device'],
    [{ fcm: { status: 503.5 } }, 'fcm.status'],
    [{ fcm: { nth: 0 } }, 'fcm.nth'],
    [{ fcm: { probability: Number.NaN } }, 'fcm.probability'],
    [{ api: { headers: { 'retry after': '5' } } }, 'api.headers'],
    [{ api: { headers: { 'retry-after': '5\n' } } }, 'api.headers'],
    [{ api: Array.from({ length: 21 }, () => ({})) }, 'api'],
  ])('rejects %j, and names the field', (input, field) => {
    let refusal: unknown;
    try {
      parseFaults(input);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(ServiceError);
    expect((refusal as ServiceError).context.field).toBe(field);
  });
});

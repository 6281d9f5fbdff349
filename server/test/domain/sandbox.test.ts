import { describe, expect, test } from 'vitest';
import { forAllProviders, providerNames } from '../../src/domain/delivery/providers.ts';
import type { ProviderName } from '../../src/domain/delivery/providers.ts';
import { ServiceError } from '../../src/domain/errors.ts';
import { makeFaultSwitch, parseFaults, strikesDevice } from '../../src/domain/sandbox/faults.ts';
import type { Fault } from '../../src/domain/sandbox/faults.ts';
import { magicOutcome, magicTokens } from '../../src/domain/sandbox/magic-tokens.ts';
import { reasonOf, shownHeaders } from '../../src/domain/sandbox/refusals.ts';

describe('faults', () => {
  const faultOf = (fault: unknown, kind = 'fcm') =>
    refusal({ [kind]: fault })?.replace(`PARAMETER_INVALID ${kind}`, '');

  describe('fault switches', () => {
    test.each<[unknown, string]>([
      [[], 'body: must be an object'],
      [null, 'body: must be an object'],
      ['fcm', 'body: must be an object'],
      [{ gcm: {} }, `gcm: is not one of ${providerNames.join(', ')}, api`],
      [{ fcm: null }, 'fcm: must be an object'],
      [{ fcm: [{}, []] }, 'fcm[1]: must be an object'],
      [{ fcm: Array.from({ length: 21 }, () => ({})) }, 'fcm: must have at most 20 faults'],
    ])('reject %j with %s', (input, reason) => {
      expect(refusal(input)).toBe(`PARAMETER_INVALID ${reason}`);
    });

    test('may be up to 20 of a kind', () => {
      const twenty = Array.from({ length: 20 }, () => ({ status: 503 }));
      expect(parseFaults({ hms: twenty }).hms).toEqual(twenty);
      expect(parseFaults({})).toEqual({ ...forAllProviders([]), api: [] });
    });

    test.each([
      ['status', 200, 599],
      ['delayMilliseconds', 0, 60_000],
      ['goawayEvery', 1, 1_000_000],
      ['maxStreams', 1, 10_000],
      ['nth', 1, 1_000_000_000],
      ['every', 1, 1_000_000],
      ['probability', 0, 1],
      ['seed', 0, 4_294_967_295],
      ['count', 1, 1_000_000_000],
      ['share', 0, 1],
      ['countPerDevice', 1, 1_000_000_000],
    ])('accept %s from %s to %s', (name, minimum, maximum) => {
      expect([minimum, maximum].map((value) => faultOf({ [name]: value }))).toEqual([undefined, undefined]);
      for (const value of [minimum - 1, maximum + 1, String(minimum), null, Number.NaN])
        expect(faultOf({ [name]: value })).toBe(`.${name}: must be a number from ${minimum} to ${maximum}`);
      const isFraction = ['delayMilliseconds', 'probability', 'share'].includes(name);
      const fraction = (minimum + maximum) / 2 + (Number.isInteger((minimum + maximum) / 2) ? 0.5 : 0);
      expect(faultOf({ [name]: isFraction ? maximum / 3 : fraction })).toBe(
        isFraction ? undefined : `.${name}: must be a whole number`,
      );
    });

    test.each<[object, string | undefined]>([
      [{ reset: true }, undefined],
      [{ reset: false }, undefined],
      [{ reset: 'true' }, 'reset: must be true or false'],
      [{ body: '' }, undefined],
      [{ body: {} }, 'body: must be a text'],
      [{ device: 'tab' }, undefined],
      [{ device: '' }, 'device: must be the beginning of a device address'],
      [{ device: 7 }, 'device: must be the beginning of a device address'],
      [{ headers: {} }, undefined],
      [{ headers: { 'Retry-After': '5 é\t' } }, undefined],
      [{ headers: { a: '1', b: 2 } }, 'headers: must map names to texts'],
      [{ headers: [] }, 'headers: must map names to texts'],
      [{ headers: null }, 'headers: must map names to texts'],
      [{ headers: { a: '1', 'b c': '2' } }, 'headers: cannot hold "b c"'],
      [{ headers: { '': '2' } }, 'headers: cannot hold ""'],
      [{ headers: { a: '5\r\nb: 1' } }, 'headers: cannot hold "a"'],
      [{ headers: { a: 'ł' } }, 'headers: cannot hold "a"'],
      [{ answer: 'limited' }, undefined],
      [{ answer: 'throttled' }, 'answer: is not one of limited, limited-bare, project-limited, sporadic, malformed'],
      [{ answer: 'toString' }, 'answer: is not one of limited, limited-bare, project-limited, sporadic, malformed'],
      [{ answer: 'limited', status: 503 }, 'answer: cannot be combined with status'],
      [{ staus: 503 }, 'staus: is not a fault switch'],
      [{ route: '/v1' }, 'route: is not a fault switch of fcm'],
    ])('of a provider reject %j: %s', (fault, reason) => {
      expect(faultOf(fault)).toBe(reason && `.${reason}`);
    });

    const path = 'must be a path, as /v5/campaigns/*, or a method and a path, as POST /v1/oauth/token';
    test.each<[object, string | undefined]>([
      [{ route: '/' }, undefined],
      [{ route: 'OPTIONS /v1/~!' }, undefined],
      [{ route: 'post /v1' }, `route: ${path}`],
      [{ route: 'OPTIONSX /v1' }, `route: ${path}`],
      [{ route: 'PO /v1' }, `route: ${path}`],
      [{ route: '/v1 x' }, `route: ${path}`],
      [{ route: 7 }, `route: ${path}`],
      [{ device: 'x' }, 'device: is not a fault switch of api'],
      [{ goawayEvery: 5 }, 'goawayEvery: is not a fault switch of api'],
      [{ maxStreams: 5 }, 'maxStreams: is not a fault switch of api'],
      [{ answer: 'limited' }, 'answer: is not a fault switch of api'],
      [{ share: 1 }, 'share: is not a fault switch of api'],
      [{ countPerDevice: 1 }, 'countPerDevice: is not a fault switch of api'],
    ])('of the API reject %j: %s', (fault, reason) => {
      expect(faultOf(fault, 'api')).toBe(reason && `.${reason}`);
    });
  });

  describe('a fault', () => {
    // Vectors of the published generator (mulberry32), made by another program.
    test('strikes a share in a sequence that is stable between releases', () => {
      const strike = makeFaultSwitch([{ probability: 0.5 }]);
      const strikes = Array.from({ length: 40 }, () => (strike({}) ? 'x' : '.')).join('');
      expect(strikes).toBe('xx..xxxxx..x.xxxx.x.......xx....xx.xx...');
      const seeded = makeFaultSwitch([{ probability: 0.25, seed: 7 }]);
      expect(Array.from({ length: 40 }, () => (seeded({}) ? 'x' : '.')).join('')).toBe(
        'xx.....x...x..x.....x.xxx...x........xx.',
      );
    });

    test('strikes paths with the prefix of a route with a star, and no requests without a path', () => {
      const strike = makeFaultSwitch([{ route: '/v5/campaigns/*' }]);
      const paths = ['/v5/campaigns/', '/v5/campaigns/1/executions', '/v5/campaigns', '/v1/campaigns/1', undefined];
      expect(paths.map((one) => strike(one === undefined ? {} : { path: one }) !== undefined)).toEqual([
        ...[true, true, false, false, false],
      ]);
    });

    test('strikes the same share of devices for the same seed, and no requests without a device', () => {
      const devices = Array.from({ length: 2_000 }, (_, index) => `token-${index}`);
      const struckBy = (fault: object): string[] => {
        const strike = makeFaultSwitch([fault]);
        return devices.filter((device) => strike({ device }) !== undefined);
      };
      const struck = struckBy({ share: 0.1, seed: 7 });
      expect(struck.length).toBeGreaterThan(150);
      expect(struck.length).toBeLessThan(250);
      expect(struckBy({ share: 0.1, seed: 7 })).toEqual(struck);
      expect(devices.filter((device) => strikesDevice({ share: 0.1, seed: 7 }, device))).toEqual(struck);
      expect(struckBy({ share: 0.1, seed: 8 })).not.toEqual(struck);
      expect(struckBy({ share: 1, device: 'token-19' })).toHaveLength(111);
      expect(struckBy({ share: 0 })).toEqual([]);
      for (const fault of [{ share: 1 }, { answer: 'limited' as const }, { countPerDevice: 1 }])
        expect(makeFaultSwitch([fault])({})).toBeUndefined();
    });

    test('strikes each device the given number of times, which then works', () => {
      const strike = makeFaultSwitch([{ answer: 'sporadic', countPerDevice: 2 }]);
      const strikes = ['a', 'b', 'a', 'a', 'b', 'b'].map((device) => strike({ device }) !== undefined);
      expect(strikes).toEqual([true, true, true, false, true, false]);
    });

    test('leaves requests to the next fault when it is used up', () => {
      const strike = makeFaultSwitch([
        { count: 1, status: 429 },
        { count: 1, status: 503 },
      ]);
      expect([1, 2, 3].map(() => strike({})?.status)).toEqual([429, 503, undefined]);
    });
  });

  test('makes an address fail by its prefix, at every provider', () => {
    for (const { outcome, fcm, apns, webpush, hms } of magicTokens) {
      for (const [provider, start] of Object.entries({ fcm, webpush, hms }))
        expect(magicOutcome(provider as ProviderName, `${start ?? `magic-${outcome}`}-1`)).toBe(start && outcome);
      if (apns !== undefined) expect(magicOutcome('apns', apns.padEnd(64, '0'))).toBe(outcome);
      expect(magicOutcome('fcm', `1-magic-${outcome}`)).toBeUndefined();
      expect(magicOutcome('apns', `magic-${outcome}`)).toBeUndefined();
    }
  });

  describe('a rejected request of a simulated provider', () => {
    test('is shown with its headers, and only the scheme of its credentials', () => {
      const headers = { ':path': '/3/device/1', authorization: 'bearer secret', a: ['1', '2'], b: 'x', c: undefined };
      expect(shownHeaders(headers)).toEqual({ authorization: 'bearer …', a: '1, 2', b: 'x' });
    });

    test.each<[number, unknown, string]>([
      [400, { reason: 'BadDeviceToken' }, 'BadDeviceToken'],
      [200, { code: '80300007', msg: 'illegal token' }, '80300007: illegal token'],
      [400, { code: 5, msg: 'x', reason: 'other' }, 'other'],
      [400, { code: '5', reason: 'other' }, 'other'],
      [400, { error: 'invalid_grant' }, 'invalid_grant'],
      [400, { error: 'invalid_grant', error_description: 'clock' }, 'invalid_grant: clock'],
      [400, { error: 1101, error_description: 'client' }, '1101: client'],
      [404, { error: { status: 'NOT_FOUND', message: 'gone' } }, 'NOT_FOUND: gone'],
      [
        400,
        { error: { status: 'INVALID', details: [{}, { fieldViolations: [{ field: 'a' }, { field: 'b' }] }] } },
        'INVALID: a: b',
      ],
      [400, { error: { message: 'no' } }, 'no'],
      [400, { error: null }, 'status 400'],
      [400, 'in plain words', 'in plain words'],
      [404, '', 'no such subscription'],
      [410, undefined, 'the subscription is gone'],
      [413, {}, 'the message is too large'],
      [429, undefined, 'too many requests'],
      [500, null, 'status 500'],
    ])('with status %s and %j has the reason: %s', (status, body, reason) => {
      expect(reasonOf({ status, body })).toBe(reason);
    });
  });
});

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

  test('are listed while they may still apply, with the number of times that are left', () => {
    const strike = makeFaultSwitch([{ count: 2, status: 429 }, { nth: 3, status: 500 }, { delayMilliseconds: 5 }]);
    expect(strike.left()).toEqual([{ count: 2, status: 429 }, { nth: 3, status: 500 }, { delayMilliseconds: 5 }]);
    strike({});
    expect(strike.left()[0]).toEqual({ count: 1, status: 429 });
    for (let request = 0; request < 4; request += 1) strike({});
    expect(strike.left()).toEqual([{ delayMilliseconds: 5 }]);
  });
});

describe('the parser of faults', () => {
  test('accepts one or a list of each kind', () => {
    const api = [{ route: '/v1/*', status: 500 }, { delayMilliseconds: 5 }];
    expect(parseFaults({ fcm: { status: 503 }, api })).toEqual({
      ...forAllProviders([]),
      fcm: [{ status: 503 }],
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

function refusal(input: unknown): string | undefined {
  try {
    parseFaults(input);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${error.code} ${error.context.field}: ${error.context.reason}`;
  }
}

/** Which of ten requests are struck, from 1. */
function strikesOf(fault: Fault): number[] {
  const strike = makeFaultSwitch([fault]);
  return Array.from({ length: 10 }, (_, index) => (strike({}) ? [index + 1] : [])).flat();
}

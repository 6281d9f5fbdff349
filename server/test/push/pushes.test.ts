import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { makeGroupCommit } from '../../src/app/group-commit.ts';
import { makeKeyCurl } from '../../src/app/keys/key-curl.ts';
import { makeFindWorkspaceContext } from '../../src/app/push/verify-signatures.ts';
import { spellAbbreviation } from '../../src/domain/abbreviation.ts';
import { goalOperators } from '../../src/domain/campaigns/conversions.ts';
import { signPushV2 } from '../../src/domain/crypto/signatures.ts';
import { errorRegistry } from '../../src/domain/errors.ts';
import { pushRequestsPerMinute, unverifiedPushesPerMinute } from '../../src/domain/limits/push.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { clientNotFound } from '../../src/http/segments/answers.ts';
import { parseCreate } from '../../src/http/segments/file-segments.ts';
import { countBeforehand } from '../../src/storage/limits/push-rate-limit.ts';
import { goodBody, makePushBundle, start, userBody } from './push-bundle.ts';
import type { PushBody, PushBundle } from './push-bundle.ts';

describe('goals of a push (v2.1)', () => {
  let bundle: PushBundle;
  let names = 0;
  beforeAll(async () => {
    bundle = await makePushBundle();
  });
  afterAll(() => bundle.end());

  const send = (conversionGoals: unknown) =>
    bundle.send(goodBody({ campaignName: `Campaign with goals ${(names += 1)}`, conversionGoals }));
  const withAttrs = (attrs: unknown) => [{ name: 'g', eventName: 'e', attrs }];
  // No text of a request may hold it, wherever it stands.
  const undecodable = 'The request body could not be decoded.';
  const parsing = (rest: string): string => `Error parsing parameters: conversionGoals${rest}`;
  const notAllowed = (rest: string): string => `Key not of Type List or Value not allowed: conversionGoals${rest}`;

  async function expectRefusal(goals: unknown, message: string): Promise<void> {
    const before = await bundle.countRows();
    const answer = await send(goals);
    expect({ status: answer.statusCode, ...answer.json() }).toEqual({
      status: 'Fail',
      requestId: '',
      responseId: expect.any(String),
      Error_Message: message,
    });
    expect(await bundle.countRows(), 'nothing is stored').toEqual(before);
  }

  test('store every operator with an accepted value as it was sent', async () => {
    const values = {
      text: 'x',
      'part of a text': 'x',
      number: '-1.5',
      texts: ['x', ''],
      'two numbers': '5,-1.5',
      none: undefined,
    };
    const attributes = (['string', 'numeric'] as const).flatMap((type) =>
      Object.entries(goalOperators[type]).map(([filter, form]) => ({ name: 'a', type, filter, value: values[form] })),
    );
    for (const { filter, type, value } of attributes) {
      const answer = await send(withAttrs({ name: 'a', type, filter, value }));
      expect(answer.json(), filter).toMatchObject({ status: 'Success' });
      const [row] = await bundle.database`select conversion_goals from campaigns where id = ${answer.json().cid}`;
      expect(row!.conversion_goals).toEqual([
        {
          name: 'g',
          eventName: 'e',
          attribute: { name: 'a', type, operator: filter, ...(value === undefined ? {} : { value }) },
        },
      ]);
    }
  });

  test('may be five, but not six', async () => {
    const goals = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ name: `g${index}`, eventName: 'e' }));
    expect((await send(goals(5))).json()).toMatchObject({ status: 'Success' });
    await expectRefusal(goals(6), parsing(': must have at most 5 items'));
  });

  const long = 'x'.repeat(1_025);
  const wrongValues: Record<string, [reason: string, values: unknown[]]> = {
    text: ['must be a text', [undefined, null, true, ['x'], {}]],
    'part of a text': ['must be a text', [undefined, null, true, ['x'], {}]],
    number: ['must be a number', [undefined, null, true, '', ' ', 'x', '0x1f', '1,5', '1e999', 'Infinity', [5], {}]],
    texts: ['must be a list of texts', [undefined, null, 'x', 5, [], [5], ['x', null], [['x']], {}]],
    'two numbers': [
      'must be two numbers separated by a comma',
      [undefined, null, 5, '', '1', '1,', ',1', ',', '1,2,3', '1;2', 'a,b', '1,0x2', '1,1e999', '1,5,', [1, 5], {}],
    ],
    none: ['must be omitted for this filter', ['', 'x', 0, false, null, []]],
  };
  const operators = (['string', 'numeric'] as const).flatMap((type) =>
    Object.entries(goalOperators[type]).map(([filter, form]) => ({ type, filter, form })),
  );

  test.each(operators)('reject every value of $type $filter that is not a $form', async ({ type, filter, form }) => {
    const [reason, values] = wrongValues[form]!;
    for (const value of values) {
      bundle.clock.advance(1_000);
      await expectRefusal(withAttrs({ name: 'a', type, filter, value }), parsing(`[0].attrs.value: ${reason}`));
    }
  });

  test.each([
    ['no object', ['x'], parsing('[0]: must be an object')],
    ['no name', [{ eventName: 'e' }], parsing('[0].name: is required')],
    ['no event', [{ name: 'g', eventName: '' }], parsing('[0].eventName: is required')],
    ['an event of no text', [{ name: 'g', eventName: 5 }], parsing('[0].eventName: must be a text')],
    [
      'a long event',
      [{ name: 'g', eventName: 'e'.repeat(257) }],
      parsing('[0].eventName: must have at most 256 characters'),
    ],
    ['a NUL in the name', [{ name: 'g\0', eventName: 'e' }], undecodable],
    ['a NUL in the event', [{ name: 'g', eventName: '\0' }], undecodable],
    ['attrs of no object', withAttrs('x'), parsing('[0].attrs: must be an object')],
    ['no attribute', withAttrs({ type: 'string', filter: 'exists' }), parsing('[0].attrs.name: is required')],
    ['no filter', withAttrs({ name: 'a', type: 'string', value: 'x' }), parsing('[0].attrs.filter: is required')],
    ['no type', withAttrs({ name: 'a', filter: 'is', value: 'x' }), parsing('[0].attrs.type: is required')],
    ['another type', withAttrs({ name: 'a', type: 'date', filter: 'is', value: 'x' }), notAllowed('[0].attrs.type')],
    [
      'another case',
      withAttrs({ name: 'a', type: 'string', filter: 'Is', value: 'x' }),
      notAllowed('[0].attrs.filter'),
    ],
    [
      'an operator of the other type',
      withAttrs({ name: 'a', type: 'numeric', filter: 'contains', value: '5' }),
      notAllowed('[0].attrs.filter'),
    ],
    [
      'an empty part',
      withAttrs({ name: 'a', type: 'string', filter: 'contains', value: '' }),
      parsing('[0].attrs.value: must not be empty'),
    ],
    [
      'a long text',
      withAttrs({ name: 'a', type: 'string', filter: 'is', value: long }),
      parsing('[0].attrs.value: must have at most 1024 characters'),
    ],
    [
      'a long text in a list',
      withAttrs({ name: 'a', type: 'string', filter: 'in the following', value: ['x', long] }),
      parsing('[0].attrs.value: must have at most 1024 characters'),
    ],
    ['a NUL in a value', withAttrs({ name: 'a', type: 'string', filter: 'is', value: 'a\0b' }), undecodable],
    [
      'half a letter',
      withAttrs({ name: 'a', type: 'string', filter: 'ends with', value: '\ud83c' }),
      parsing('[0].attrs.value: must be well-formed Unicode'),
    ],
    [
      'a list of 1,001',
      withAttrs({
        name: 'a',
        type: 'string',
        filter: 'in the following',
        value: Array.from({ length: 1_001 }, String),
      }),
      parsing('[0].attrs.value: must have at most 1000 items'),
    ],
    [
      'a fault of the second goal',
      [{ name: 'g', eventName: 'e' }, { name: 'h' }],
      parsing('[1].eventName: is required'),
    ],
  ])('reject %s', async (_name, goals, message) => {
    bundle.clock.advance(1_000);
    await expectRefusal(goals, message);
  });
});

describe('an installation whose abbreviation is Acme', () => {
  let bundle: PushBundle;
  const acme = makeVendorHeaders('Acme');
  beforeAll(async () => {
    bundle = await makePushBundle({ headerPrefix: 'Acme' });
    await bundle.addUser('ada', {}, 'gaid-1');
  });
  afterAll(() => bundle?.end());

  const name = (attribute: string, more: object = {}) => ({
    targetUserAttributes: { attribute, comparisonParameter: 'is', attributeValue: 'gaid-1', ...more },
  });

  async function countTargets(campaignId: string): Promise<number> {
    const [run] = await bundle.database`
      select jsonb_array_length(target_users) as targets from runs where campaign_id = ${campaignId}`;
    return run!.targets as number;
  }

  test.each(['ACME_GAID', 'SVC_GAID'])('finds users by %s', async (attribute) => {
    const body = userBody('gaid-1', { campaignName: `Found by ${attribute}`, ...name(attribute) });
    const answer = (await bundle.send(body)).json();
    expect(answer).toMatchObject({ status: 'Success' });
    expect(await countTargets(answer.cid)).toBe(1);
  });

  test('does not recognize names with another abbreviation, and leaves the caller’s names unchanged', async () => {
    const other = await bundle.send(userBody('gaid-1', { campaignName: 'Found by other', ...name('OTHER_GAID') }));
    expect(other.json().Error_Message).toBe(
      'Error parsing parameters: targetUserAttributes.attribute: is unknown; a custom attribute needs isCustom',
    );
    await bundle.addUser('bob', { ACME_GAID: 'own-1' });
    const named = name('ACME_GAID', { isCustom: true, attributeValue: 'own-1' });
    const own = await bundle.send(userBody('own-1', { campaignName: 'Found by own', ...named }));
    expect(await countTargets(own.json().cid)).toBe(1);
  });

  test('names its headers as callers write them', async () => {
    const headers = { 'x-acme-query-type': 'all users', 'x-svc-query-type': 'all users' };
    const answer = await bundle.send(userBody('ada', { campaignName: 'Differs in a header' }), { headers });
    expect(answer.json().Error_Message).toBe(
      'Error parsing parameters: X-ACME-Query-Type: differs from targetAudience',
    );
    expect(clientNotFound(acme, '').message).toBe(
      'Carillon Client not found. Please check values for headers - ACME-APPKEY or ACME-DBNAME',
    );
    expect(spellAbbreviation(errorRegistry.PUSH_APP_ID_MISSING.advice, 'Acme')).toContain(
      'the header X-ACME-APPKEY in v2.1',
    );
    const key = { workspaceId: 'W', dbName: 'w', url: 'https://push.example', secret: 's', headerPrefix: 'Acme' };
    expect(makeKeyCurl({ ...key, kind: 'push' })).toContain("-H 'X-ACME-APPKEY: W'");
    expect(makeKeyCurl({ ...key, kind: 'data' })).toContain("-H 'ACME-DBNAME: w'");
  });

  test('accepts its own name for a column of a user file', () => {
    const file = { name: 'N', attribute_name: 'ACME_GAID', attribute_type: 'string', file_url: 'https://x.example/f' };
    expect(parseCreate({ ...file, expiry_time: 30 }, acme.prefixes).attributeName).toBe('SVC_GAID');
  });

  test('leaves a similar name unchanged', () => {
    expect(spellAbbreviation('X-SVC-APPKEY, svc_gaid, SVC_GAID', 'Acme')).toBe('X-ACME-APPKEY, acme_gaid, ACME_GAID');
    expect(spellAbbreviation('a svc file, MYSVC-1', 'Acme')).toBe('a svc file, MYSVC-1');
  });
});

describe('members that only apply with another type (decision 0056)', () => {
  let bundle: PushBundle;
  let names = 0;

  beforeAll(async () => {
    bundle = await makePushBundle({ pushBodies: 'lenient' });
    await bundle.addUser('ada');
  });
  afterAll(() => bundle.end());

  const everyMember = {
    date: '03/09/2026',
    time: '09:00 AM',
    endDate: '03/31/2026',
    timezone: 'UTC',
    repeatAfter: '1',
  };

  test.each([
    ['soon', ['date', 'time', 'endDate', 'timezone', 'repeatAfter']],
    ['later', ['endDate', 'repeatAfter']],
    ['periodic', ['date']],
  ])('are named in a warning in campaignDelivery with type %s', async (type, idle) => {
    const warning = await warningOf(goodBody({ campaignDelivery: { type, ...everyMember } }));
    expect(warning).toBe(idle.map((name) => `campaignDelivery.${name} has no effect here`).join(', '));
  });

  test('are not read in campaignDelivery', async () => {
    const warning = await warningOf(goodBody({ campaignDelivery: { type: 'soon', date: 17, timezone: 'Mars' } }));
    expect(warning).toBe('campaignDelivery.date has no effect here, campaignDelivery.timezone has no effect here');
  });

  test('are named in a warning for another audience', async () => {
    const { targetUserAttributes } = userBody('ada');
    const other = { customSegmentName: 'VIP', targetUserAttributes };
    expect(await warningOf(goodBody(other))).toBe(
      'customSegmentName has no effect here, targetUserAttributes has no effect here',
    );
    expect(await warningOf(userBody('ada', other))).toBe('customSegmentName has no effect here');
  });

  test('are not named if they are empty, because serializers write null for every field', async () => {
    const nothing = { date: null, time: '', endDate: null, timezone: null, repeatAfter: '' };
    const body = goodBody({
      campaignDelivery: { type: 'soon', ...nothing },
      customSegmentName: null,
      targetUserAttributes: {},
    });
    expect(await warningOf(body)).toBeUndefined();
  });

  async function warningOf(body: Record<string, unknown>): Promise<unknown> {
    const answer = await bundle.send({ ...body, campaignName: `Idle members ${(names += 1)}` });
    expect(answer.json().status).toBe('Success');
    return answer.headers['x-svc-warning'];
  }
});

describe('the limit of pushes', () => {
  const wrong = { 'x-svc-pushapi-signature': 'f'.repeat(64) };

  let bundle: PushBundle;
  afterEach(() => bundle.end());

  describe('the limit of a workspace (decision D31, 0055)', () => {
    // A tenth of the real limit: 2,060 requests find the same races as 20,600, in a tenth of the time.
    test('accepts exactly as many signed pushes a minute as its limit despite more wrongly signed ones from the same address', async () => {
      const requestsPerMinute = pushRequestsPerMinute / 10;
      bundle = await makePushBundle({ requestsPerMinute });
      await bundle.addUser('ada');
      const other = await bundle.makeServer();
      const nodes = [bundle.server, other];
      const joined = userBody('ada', { campaignName: 'One campaign for all' });
      const outcomes = { signed: new Map<string, number>(), unsigned: new Map<string, number>() };
      const send = async (kind: keyof typeof outcomes, number: number): Promise<void> => {
        const headers = kind === 'signed' ? {} : wrong;
        const response = await bundle.send(joined, { headers, on: nodes[number % 2]! });
        const answer = `${response.statusCode} ${response.json().Error_Message ?? response.json().status}`;
        outcomes[kind].set(answer, (outcomes[kind].get(answer) ?? 0) + 1);
      };
      // The wrong ones first, where they would use up the minute, and between the signed ones.
      for (let number = 0; number < requestsPerMinute; number += 50)
        await Promise.all(Array.from({ length: 50 }, (_, place) => send('unsigned', number + place)));
      for (let number = 0; number < requestsPerMinute; number += 50) {
        const batch = Array.from({ length: 50 }, (_, place) => send('signed', number + place));
        const between = Array.from({ length: 3 }, (_, place) => send('unsigned', place));
        await Promise.all([...batch, ...between]);
      }
      expect(Object.fromEntries(outcomes.signed)).toEqual({ '200 Success': requestsPerMinute });
      const over = await bundle.send(joined, { on: other });
      expect([over.statusCode, over.json().Error_Message, over.headers['retry-after']]).toEqual([
        429,
        'Request limit exceeded',
        '60',
      ]);
      expect(over.headers['x-ratelimit-remaining']).toBe('0');
      expect([...outcomes.unsigned.values()].reduce((sum, count) => sum + count)).toBe(1.06 * requestsPerMinute);
      expect(outcomes.unsigned.has('200 Success')).toBe(false);
      await other.close();
    });

    test('accepts the signed push that completes 10,000 in a minute, and rejects the next', async () => {
      bundle = await makePushBundle();
      await bundle.addUser('ada');
      const counted = { operation: 'push', workspaceId: bundle.appId, limit: 10_000, windowSeconds: 60, at: start };
      await countBeforehand(bundle.database, [{ ...counted, wanted: 9_999 }]);
      const responses = [await bundle.send(userBody('ada')), await bundle.send(userBody('ada'))];
      expect(
        responses.map(({ statusCode, headers }) => [
          statusCode,
          headers['x-ratelimit-limit'],
          headers['x-ratelimit-remaining'],
          headers['retry-after'],
        ]),
      ).toEqual([
        [200, '10000', '0', undefined],
        [429, '10000', '0', '60'],
      ]);
    });

    test('returns the signature error for an unverified request whatever the count, without counting or revealing it', async () => {
      bundle = await makePushBundle({ requestsPerMinute: 2 });
      const unverified = async () => {
        const responses = await Promise.all([
          bundle.send(goodBody({ campaignName: 'Not signed' }), { headers: wrong }),
          bundle.send(goodBody({ campaignName: 'Not signed' }), { headers: { 'x-svc-pushapi-signature': '' } }),
          bundle.send(goodBody({ campaignName: 'Not signed' }), {
            headers: { 'x-svc-pushapi-signature-v2': 'v1,AAAA' },
          }),
        ]);
        return responses.map((response) => [
          response.statusCode,
          response.json().Error_Message,
          response.headers['x-ratelimit-remaining'],
        ]);
      };
      const refusals = [
        [200, 'Signature is not verified', undefined],
        [200, 'Signature not present', undefined],
        [200, 'Signature is not verified', undefined],
      ];
      expect(await unverified()).toEqual(refusals);
      for (const remaining of ['1', '0']) {
        const sent = await bundle.send(goodBody({ campaignName: `Signed ${remaining}` }));
        expect([sent.json().status, sent.headers['x-ratelimit-remaining']]).toEqual(['Success', remaining]);
      }
      expect((await bundle.send(goodBody({ campaignName: 'Signed over' }))).statusCode).toBe(429);
      expect(await unverified()).toEqual(refusals);
    });

    test('rejects an address after 600 unverified requests a minute, but not its signed requests or another address', async () => {
      bundle = await makePushBundle();
      const from = '2001:db8::1';
      const send = (more: { headers?: Record<string, string>; from: string }) =>
        bundle.send(userBody('nobody', { campaignName: 'One campaign for all' }), more);
      const answers = new Set<string>();
      for (let number = 0; number < unverifiedPushesPerMinute; number += 100) {
        const batch = await Promise.all(Array.from({ length: 100 }, () => send({ headers: wrong, from })));
        for (const response of batch) answers.add(`${response.statusCode} ${response.json().Error_Message}`);
      }
      expect([...answers]).toEqual(['200 Signature is not verified']);
      // Of the same /64.
      const refused = await send({ headers: wrong, from: '2001:db8::2' });
      expect([refused.statusCode, refused.json()]).toEqual([
        429,
        {
          status: 'Fail',
          requestId: '',
          responseId: expect.any(String) as string,
          Error_Message: 'Request limit exceeded',
        },
      ]);
      expect(refused.headers).toMatchObject({
        'retry-after': '1',
        'x-ratelimit-limit': '600',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': '1',
      });
      expect((await send({ headers: wrong, from: '198.51.100.1' })).json().Error_Message).toBe(
        'Signature is not verified',
      );
      const signed = await send({ from });
      expect([signed.json().status, signed.headers['x-ratelimit-remaining']]).toEqual(['Success', '9999']);
      bundle.clock.advance(1_000);
      expect((await send({ headers: wrong, from })).statusCode).toBe(200);
    });

    test('does not count a replayed request', async () => {
      bundle = await makePushBundle({ requestsPerMinute: 3 });
      const recorded = signV2({ body: goodBody({ campaignName: 'Recorded' }), id: 'recorded' });
      expect((await recorded()).json().status).toBe('Success');
      const again = await Promise.all([recorded(), recorded(), recorded(), recorded()]);
      expect(again.map((response) => response.json().Error_Message)).toEqual(
        again.map(() => 'Signature is not verified'),
      );
      expect((await bundle.send(goodBody({ campaignName: 'The next one' }))).headers['x-ratelimit-remaining']).toBe(
        '1',
      );
    });

    test('accepts a request with the id of one that exceeded the limit, once', async () => {
      bundle = await makePushBundle({ requestsPerMinute: 1 });
      await bundle.send(goodBody({ campaignName: 'Uses it up' }));
      const repeated = signV2({ body: goodBody({ campaignName: 'Repeated' }), id: 'repeated' });
      expect((await repeated()).statusCode).toBe(429);
      bundle.clock.advance(60_000);
      expect((await repeated()).json().status).toBe('Success');
      expect((await repeated()).json().Error_Message).toBe('Signature is not verified');
    });
  });

  describe('unknown workspaces', () => {
    test('are looked up in batches, so that made-up ids cost one query at a time', async () => {
      bundle = await makePushBundle();
      let statements = 0;
      const database = new Proxy(bundle.database, {
        apply(target, self, given: [TemplateStringsArray, ...unknown[]]) {
          if (/^\s*select/.test(given[0].join(''))) statements += 1;
          return Reflect.apply(target, self, given) as unknown;
        },
      });
      const find = makeFindWorkspaceContext({ ...bundle, database });
      const found = await Promise.all(Array.from({ length: 200 }, (_, number) => find(`MADE_UP_${number}`)));
      expect([new Set(found), statements]).toEqual([new Set([undefined]), 1]);
      // One that exists asks for its apps and keys besides.
      expect((await find(bundle.appId))?.workspace.id).toBe(bundle.appId);
      expect(statements).toBe(4);
    });
  });

  /** Signs a body with both signatures; the function sends the same bytes each time. */
  function signV2({ body, id }: { body: PushBody; id: string }) {
    const timestamp = String(Math.floor(bundle.clock.now().getTime() / 1000));
    const signature = signPushV2({ id, timestamp, rawBody: JSON.stringify(body) }, bundle.key);
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'x-svc-pushapi-signature-v2': signature };
    return () => bundle.send(body, { headers });
  }
});

describe('group commits', () => {
  /** One turn of the event loop, after which the items of it are on their way. */
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test('processes items of one turn together, later ones in the next batch, and returns each its own result', async () => {
    const { batches, store, open } = makeBarrier(1);
    const results = [store(1), store(2)];
    await turn();
    expect(batches).toEqual([[1, 2]]);
    results.push(store(3), store(4), store(5));
    await turn();
    expect(batches).toEqual([[1, 2]]);
    await open();
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    await open();
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5].map((item) => `stored ${item}`));
  });

  test('starts a second batch when as many items wait as the first has, and never a third', async () => {
    const { batches, store, open } = makeBarrier(2);
    const results = [store(1), store(2)];
    await turn();
    results.push(store(3));
    await turn();
    expect(batches).toEqual([[1, 2]]);
    results.push(store(4));
    await turn();
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
    results.push(store(5), store(6), store(7));
    await turn();
    expect(batches).toHaveLength(2);
    await open();
    expect(batches.slice(2)).toEqual([[5, 6, 7]]);
    for (let step = 0; step < 2; step += 1) await open();
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5, 6, 7].map((item) => `stored ${item}`));
  });

  test('makes a few items wait for others soon after a batch, up to the pause, but not if there are enough', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    try {
      const { batches, store, open } = makeBarrier(1, { milliseconds: 8, items: 3 });
      const results = [store(1)];
      await open();
      results.push(store(2));
      await turn();
      vi.advanceTimersByTime(7);
      results.push(store(3));
      await turn();
      expect(batches).toEqual([[1]]);
      vi.advanceTimersByTime(1);
      await open();
      expect(batches).toEqual([[1], [2, 3]]);
      results.push(store(4), store(5), store(6));
      await open();
      expect(batches).toEqual([[1], [2, 3], [4, 5, 6]]);
      await Promise.all(results);
    } finally {
      vi.useRealTimers();
    }
  });

  test('fails only the item that cannot be stored', async () => {
    const { store, open } = makeBarrier(1);
    const first = store(1);
    await turn();
    const rest = Promise.allSettled([store(2), store(-3), store(4)]);
    for (let step = 0; step < 5; step += 1) await open();
    await first;
    expect((await rest).map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('rejects an item beyond the maximum number waiting immediately, with the time to retry', async () => {
    const { store, open } = makeBarrier(1);
    const kept = [store(1)];
    await turn();
    kept.push(store(2), store(3), store(4), store(5));
    await expect(store(6)).rejects.toMatchObject({ code: 'OVERLOADED', context: { retryAfterSeconds: 1 } });
    for (let step = 0; step < 3; step += 1) await open();
    expect(await Promise.all(kept)).toHaveLength(5);
  });

  describe('a batch that lost its connection or was the victim of a deadlock', () => {
    /** Fails as told, try by try, and then stores. */
    function makeLossy(codes: string[]) {
      const tries: number[][] = [];
      const store = makeGroupCommit<number, string>(
        async (items) => {
          tries.push(items);
          await new Promise((resolve) => setImmediate(resolve));
          const code = codes.shift();
          if (code !== undefined) throw Object.assign(new Error('lost'), { code });
          return items.map((item) => `stored ${item}`);
        },
        { batchItems: 3, waitingItems: 4, batchesAtOnce: 1 },
      );
      return { tries, store };
    }

    test('is retried as a whole a few times if it was not stored', async () => {
      const { tries, store } = makeLossy(['CONNECTION_CLOSED', '40P01', '57P01']);
      expect(await Promise.all([store(1), store(2), store(3)])).toEqual(['stored 1', 'stored 2', 'stored 3']);
      expect(tries).toEqual(Array.from({ length: 4 }, () => [1, 2, 3]));
      const away = makeLossy(Array.from({ length: 100 }, () => 'ECONNREFUSED'));
      const all = await Promise.allSettled([away.store(1), away.store(2), away.store(3)]);
      expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      expect(away.tries).toHaveLength(5);
    });

    test('is never retried if it may be stored', async () => {
      const { tries, store } = makeLossy(['COMMIT_OUTCOME_UNKNOWN']);
      const all = await Promise.allSettled([store(1), store(2), store(3)]);
      expect(all).toEqual(
        all.map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'COMMIT_OUTCOME_UNKNOWN' }) })),
      );
      expect(tries).toEqual([[1, 2, 3]]);
    });
  });

  function makeBarrier(batchesAtOnce: 1 | 2, pause?: { milliseconds: number; items: number }) {
    const batches: number[][] = [];
    const gates: (() => void)[] = [];
    const store = makeGroupCommit<number, string>(
      async (items) => {
        batches.push(items);
        await new Promise<void>((resolve) => gates.push(resolve));
        if (items.some((item) => item < 0)) throw new Error(`cannot store ${items.join()}`);
        return items.map((item) => `stored ${item}`);
      },
      { batchItems: 3, waitingItems: 4, batchesAtOnce, ...(pause && { pause }) },
    );
    const open = async () => {
      while (gates.length === 0) await turn();
      gates.shift()!();
      await turn();
    };
    return { batches, store, open };
  }
});

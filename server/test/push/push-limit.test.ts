import { afterEach, describe, expect, test } from 'vitest';
import { makeFindWorkspaceContext } from '../../src/app/push/verify-signatures.ts';
import { pushRequestsPerMinute, unverifiedPushesPerMinute } from '../../src/domain/limits/push.ts';
import { signPushV2 } from '../../src/domain/crypto/signatures.ts';
import { goodBody, makePushBundle, userBody } from './push-bundle.ts';
import type { PushBody, PushBundle } from './push-bundle.ts';

const wrong = { 'x-svc-pushapi-signature': 'f'.repeat(64) };

let bundle: PushBundle;
afterEach(() => bundle.end());

describe('the limit of a workspace (decision D31, 0055)', () => {
  test('accepts exactly 10,000 signed pushes a minute despite 10,500 wrongly signed ones from the same address', async () => {
    bundle = await makePushBundle();
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
    for (let number = 0; number < 10_000; number += 500)
      await Promise.all(Array.from({ length: 500 }, (_, place) => send('unsigned', number + place)));
    for (let number = 0; number < pushRequestsPerMinute; number += 500) {
      const batch = Array.from({ length: 500 }, (_, place) => send('signed', number + place));
      const between = Array.from({ length: 25 }, (_, place) => send('unsigned', place));
      await Promise.all([...batch, ...between]);
    }
    expect(Object.fromEntries(outcomes.signed)).toEqual({ '200 Success': pushRequestsPerMinute });
    const over = await bundle.send(joined, { on: other });
    expect([over.statusCode, over.json().Error_Message, over.headers['retry-after']]).toEqual([
      429,
      'Request limit exceeded',
      '60',
    ]);
    expect(over.headers).toMatchObject({ 'x-ratelimit-limit': '10000', 'x-ratelimit-remaining': '0' });
    expect([...outcomes.unsigned.values()].reduce((sum, count) => sum + count)).toBe(10_500);
    expect(outcomes.unsigned.has('200 Success')).toBe(false);
    await other.close();
  }, 240_000);

  test('returns the signature error for an unverified request whatever the count, without counting or revealing it', async () => {
    bundle = await makePushBundle({ requestsPerMinute: 2 });
    const unverified = async () => {
      const responses = await Promise.all([
        bundle.send(goodBody({ campaignName: 'Not signed' }), { headers: wrong }),
        bundle.send(goodBody({ campaignName: 'Not signed' }), { headers: { 'x-svc-pushapi-signature': '' } }),
        bundle.send(goodBody({ campaignName: 'Not signed' }), { headers: { 'x-svc-pushapi-signature-v2': 'v1,AAAA' } }),
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
    expect((await bundle.send(goodBody({ campaignName: 'The next one' }))).headers['x-ratelimit-remaining']).toBe('1');
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

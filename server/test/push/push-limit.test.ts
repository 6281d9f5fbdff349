import { afterEach, describe, expect, test } from 'vitest';
import { pushRequestsPerMinute } from '../../src/domain/push/limits.ts';
import { goodBody, makePushBundle, userBody } from './push-bundle.ts';
import type { PushBundle } from './push-bundle.ts';

const wrong = { 'x-svc-pushapi-signature': 'f'.repeat(64) };

let bundle: PushBundle;
afterEach(() => bundle.end());

describe('the limit of a workspace and requests that its key did not sign (decision D31, 0055)', () => {
  test('lets exactly 10,000 signed pushes pass in a minute in which 10,500 wrongly signed ones came from the same address', async () => {
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

  test('an unverified request gets its signature error whatever the count, and neither uses it up nor learns it', async () => {
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
});

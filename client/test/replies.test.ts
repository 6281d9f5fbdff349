import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../../server/test/carillon-bundle.ts';
import type { CarillonBundle } from '../../server/test/carillon-bundle.ts';
import { makeCarillonClient } from '../src/index.ts';
import type { Attempt, CarillonClientOptions, CarillonError, PushRequest, Replied } from '../src/index.ts';

const toAll = {
  targetPlatform: ['ANDROID' as const],
  targetAudience: 'All Users' as const,
  payload: { ANDROID: { title: 'T', message: 'M' } },
  campaignDelivery: { type: 'soon' as const },
};

describe('what comes with a body', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterAll(() => bundle.stop());
  const makeClient = (more: Partial<CarillonClientOptions> = {}) =>
    makeCarillonClient({
      ...{ baseUrl: bundle.url, workspaceId: bundle.workspaceId },
      ...{ dataKey: bundle.keys.data, pushKey: bundle.keys.push, campaignsKey: bundle.keys.campaigns },
      ...more,
    });

  test('returns the parts of a push that have no effect', async () => {
    const push = { ...toAll, campaignName: 'With unknown parts', colour: 'red', 'a, b': 1 } as PushRequest;
    const { warnings, cid } = await makeClient().sendPush(push);
    expect(cid).toMatch(/^[0-9a-f]{24}$/);
    expect(warnings).toEqual(['unknown field "colour"', 'unknown field "a, b"']);
    expect((await makeClient().sendPush({ ...toAll, campaignName: 'Without any' })).warnings).toEqual([]);
  });

  test('returns status, headers and request id with the body of any operation, and passes them to the hooks', async () => {
    const seen: (Attempt & Partial<Replied>)[] = [];
    const hooks = { onRequest: (one: Attempt) => seen.push(one), onReply: (one: Attempt & Replied) => seen.push(one) };
    const reply = await makeClient({ hooks }).callWithReply('listSegments', {});
    expect(reply).toMatchObject({ status: 200, warnings: [], body: { data: [] } });
    expect(reply.headers.get('content-type')).toMatch(/json/);
    expect(seen).toMatchObject([
      { operation: 'listSegments', method: 'GET', attempt: 1, requestId: reply.requestId },
      { operation: 'listSegments', status: 200, requestId: reply.requestId },
    ]);
    expect(seen[0]!.url).toBe(`${bundle.url}/v3/custom-segments`);
  });

  test('has the request id in an error, under which the log of the service has the call', async () => {
    const refused = await makeClient()
      .campaigns.get('0'.repeat(24))
      .catch((error: CarillonError) => error);
    const { requestId, headers, status } = refused as CarillonError;
    expect(status).toBe(404);
    expect(headers!.get('x-request-id')).toBe(requestId);
    const failed = await makeClient({ pushKey: 'wrong' })
      .sendPush({ ...toAll, campaignName: 'Never sent' })
      .catch((error: CarillonError) => error);
    expect((failed as CarillonError).requestId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('retries', () => {
  /** A client of a service that replies with these statuses in turn. */
  function makeBusy(statuses: readonly number[], more: Partial<CarillonClientOptions> = {}) {
    const keys: (string | null)[] = [];
    const waits: number[] = [];
    const client = makeCarillonClient({
      ...{ baseUrl: 'http://service', workspaceId: 'WS', pushKey: 'key', dataKey: 'key' },
      random: () => 0,
      hooks: { onRetry: ({ waitMilliseconds }) => waits.push(waitMilliseconds) },
      fetch: async (_url, init) => {
        const status = statuses[keys.length]!;
        keys.push(new Headers(init!.headers).get('idempotency-key'));
        const body = status === 200 ? { status: 'Success', requestId: 'r', responseId: 's', cid: 'c' } : {};
        return new Response(JSON.stringify(body), { status });
      },
      ...more,
    });
    return { client, keys, waits };
  }

  test.each([500, 502, 504])('repeats a push after %d under the same key, with waits that double', async (status) => {
    const { client, keys, waits } = makeBusy([status, status, 200]);
    expect((await client.sendPush({ ...toAll, campaignName: 'Again' })).cid).toBe('c');
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).not.toBeNull();
    expect(waits).toEqual([125, 250]);
  });

  test('spreads the waits, so that clients that failed together do not return together', async () => {
    const { client, waits } = makeBusy([502, 200], { random: () => 1 });
    await client.sendPush({ ...toAll, campaignName: 'Later' });
    expect(waits).toEqual([250]);
  });

  test('repeats neither a conflict nor a request that would be processed twice', async () => {
    const conflict = makeBusy([409]);
    await expect(conflict.client.sendPush({ ...toAll, campaignName: 'Conflict' })).rejects.toMatchObject({
      status: 409,
    });
    const twice = makeBusy([502]);
    await expect(twice.client.segments.archive({ name: 'any' })).rejects.toMatchObject({ status: 502 });
    expect([conflict.keys.length, twice.keys.length]).toEqual([1, 1]);
  });
});

test('the types reject what the service would reject', () => {
  const common = { campaignName: 'Typed', targetPlatform: ['ANDROID' as const], payload: {} };
  const soon = { type: 'soon' as const };
  const selector = { attribute: 'uid', comparisonParameter: 'is' as const, attributeValue: 'ada' };
  const accepted: PushRequest[] = [
    { ...common, targetAudience: 'User', targetUserAttributes: selector, campaignDelivery: soon },
    {
      ...common,
      targetAudience: 'All Users',
      campaignDelivery: { type: 'later', date: '01/02/2027', time: '09:00 AM' },
    },
    { ...common, targetAudience: 'Custom Segment', customSegmentName: 'Readers', campaignDelivery: soon },
  ];
  const rejected: PushRequest[] = [
    // @ts-expect-error: users need an attribute
    { ...common, targetAudience: 'User', campaignDelivery: soon },
    // @ts-expect-error: a segment needs a name
    { ...common, targetAudience: 'Custom Segment', campaignDelivery: soon },
    // @ts-expect-error: later needs a date
    { ...common, targetAudience: 'All Users', campaignDelivery: { type: 'later', time: '09:00 AM' } },
  ];
  expect([accepted.length, rejected.length]).toEqual([3, 3]);
});

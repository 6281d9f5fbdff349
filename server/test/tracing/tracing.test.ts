import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTraceparent } from '../../src/domain/operations/tracing.ts';
import { isTracingAsked } from '../../src/start/config.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { startTraceReceiver } from './start-trace-receiver.ts';
import type { ReceivedSpan } from './start-trace-receiver.ts';

let receiver: Awaited<ReturnType<typeof startTraceReceiver>>;
let node: CarillonBundle;
beforeAll(async () => {
  receiver = await startTraceReceiver();
  Object.assign(process.env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_SERVICE_NAME: 'push-of-shop',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  node = await startCarillonBundle();
});
afterAll(async () => {
  await node?.stop();
  receiver?.close();
});

const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = (flags: string) => `00-${caller.traceId}-${caller.spanId}-${flags}`;
let names = 0;

async function push(more: Record<string, unknown>, headers: Record<string, string>) {
  const asked = { campaignName: `Traced ${(names += 1)}`, targetAudience: 'All Users', targetPlatform: ['IOS'] };
  const answer = await node.push(
    { ...asked, payload: { IOS: { title: 'T', message: 'M' } }, campaignDelivery: { type: 'soon' }, ...more },
    headers,
  );
  const { status, cid } = answer.json() as { status: string; cid: string };
  expect(status).toBe('Success');
  return { cid, headers: answer.headers };
}
const toGrace = {
  targetAudience: 'User',
  targetUserAttributes: {
    attribute: 'USER_ATTRIBUTE_USER_EMAIL',
    comparisonParameter: 'is',
    attributeValue: 'grace@example.com',
  },
};
const spansOf = (cid: string, name: RegExp): Promise<ReceivedSpan[]> =>
  until(async () => {
    const found = receiver.spans.filter(({ attributes }) => attributes['carillon.campaign.id'] === cid);
    return found.some((span) => name.test(span.name)) && found;
  });

describe('with a collector', () => {
  test('a push to a user is one trace, from the request of the caller over the queue to the answer of the provider', async () => {
    await node.call('GET', '/readyz', { headers: { traceparent: traceparent('01') } });
    const { cid, headers } = await push(toGrace, { traceparent: traceparent('01'), 'x-request-id': 'order-4711' });
    expect(headers.get('x-request-id')).toBe('order-4711');
    const [window] = (await spansOf(cid, /^send window$/)).filter(({ name }) => name === 'send window');
    const inTrace = receiver.spans.filter(({ traceId }) => traceId === caller.traceId);
    const request = inTrace.find(({ name }) => name === 'POST /v2.1/transaction/sendpush')!;
    const call = inTrace.find(({ name }) => name === 'send apns')!;
    expect(headers.get('traceparent')).toBe(`00-${caller.traceId}-${request.spanId}-01`);
    expect([request.parentSpanId, window!.parentSpanId, call.parentSpanId]).toEqual([
      caller.spanId,
      request.spanId,
      window!.spanId,
    ]);
    expect([request.kind, window!.kind, call.kind]).toEqual([2, 5, 3]);
    expect(request.attributes).toMatchObject({
      ...{ 'http.response.status_code': 200, 'carillon.request.id': 'order-4711', 'carillon.campaign.id': cid },
      'carillon.workspace.id': node.workspaceId,
    });
    expect(call.attributes).toEqual({ 'carillon.provider': 'apns', 'carillon.outcome': 'accepted' });
    expect(inTrace).toHaveLength(3);
    expect(receiver.paths[0]).toBe('POST /v1/traces');
    expect(receiver.resources[0]).toMatchObject({ 'service.name': 'push-of-shop', 'deployment.environment': 'test' });
  });

  test('windows of a campaign are traces of their own that link to the request, with a step a provider', async () => {
    const { cid, headers } = await push({}, { traceparent: traceparent('01') });
    const [window] = (await spansOf(cid, /^send window$/)).filter(
      ({ attributes }) => attributes['carillon.lane'] === 'audience',
    );
    expect(window!.traceId).not.toBe(caller.traceId);
    const request = parseTraceparent(headers.get('traceparent')!)!;
    expect(window!.links).toMatchObject([{ traceId: request.traceId, spanId: request.spanId }]);
    const steps = await until(async () => {
      const found = receiver.spans.filter(
        ({ parentSpanId, name }) => parentSpanId === window!.spanId && name === 'send apns',
      );
      return found.length > 0 && found;
    });
    expect(steps.length).toBeGreaterThan(0);
  });

  test('a caller that does not sample decides for all of it: nothing is told or noted, and the headers are echoed', async () => {
    const { cid, headers } = await push(toGrace, { traceparent: traceparent('00') });
    expect(headers.get('traceparent')).toMatch(new RegExp(`^00-${caller.traceId}-[0-9a-f]{16}-00$`));
    await until(async () => (await node.inbox()).some((message) => message.campaignId === cid));
    const [run] = await node.database`select traceparent from runs where campaign_id = ${cid}`;
    expect(run!.traceparent).toBeNull();
    const later = await push(toGrace, { traceparent: traceparent('01') });
    await spansOf(later.cid, /^send window$/);
    expect(receiver.spans.filter(({ attributes }) => attributes['carillon.campaign.id'] === cid)).toEqual([]);
  });
});

test('traces are asked for by where they go, and switched off as everywhere', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  expect(isTracingAsked({})).toBe(false);
  expect(isTracingAsked(endpoint)).toBe(true);
  expect(isTracingAsked({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' })).toBe(true);
  expect(isTracingAsked({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBe(false);
  expect(isTracingAsked({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBe(false);
});

test.each([
  ['as the W3C shows it', traceparent('01'), { ...caller, isSampled: true }],
  ['not sampled, with another flag', traceparent('02'), { ...caller, isSampled: false }],
  ['of a later version, with more behind it', `cc${traceparent('01').slice(2)}-what`, { ...caller, isSampled: true }],
  ['of version 00 with more behind it', `${traceparent('01')}-what`, undefined],
  ['of version ff', `ff${traceparent('01').slice(2)}`, undefined],
  ['in upper case', traceparent('01').toUpperCase(), undefined],
  ['without a trace', `00-${'0'.repeat(32)}-${caller.spanId}-01`, undefined],
  ['without a span', `00-${caller.traceId}-${'0'.repeat(16)}-01`, undefined],
  ['no traceparent at all', 'hello', undefined],
])('traceparent: %s', (_name, text, expected) => {
  expect(parseTraceparent(text)).toEqual(expected);
});

import { describe, expect, test } from 'vitest';
import type { Span, SpanStart, Tracing } from '../../../src/domain/operations/tracing.ts';
import type { Delivery } from '../../../src/providers/deliver.ts';
import type { DeliveryBatch } from '../../../src/providers/batch.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import type { Window, WindowResult } from '../../../src/engine/fan-out/send-window.ts';
import { makeTraceSends } from '../../../src/engine/monitoring/traces.ts';

const traceId = 'a'.repeat(32);
const request = { traceId, spanId: 'b'.repeat(16), isSampled: true };
const sampled = `00-${traceId}-${'b'.repeat(16)}-01`;
const unsampled = `00-${traceId}-${'b'.repeat(16)}-00`;

type Made = { name: string; start: SpanStart; attributes: object[]; ended: object[] };

/** Traces that are kept here; `isSampled` of those that begin. */
function openTracing({ isSampled = true } = {}) {
  const spans: Made[] = [];
  const tracing: Tracing = {
    startSpan(name, start): Span {
      const made: Made = { name, start, attributes: [], ended: [] };
      spans.push(made);
      return {
        context: { traceId: 'c'.repeat(32), spanId: String(spans.length).padStart(16, '0'), isSampled },
        set: (attributes) => void made.attributes.push(attributes),
        end: (ended = {}) => void made.ended.push(ended),
      };
    },
  };
  return { spans, ...makeTraceSends(tracing) };
}

const windowOf = (lane: number, traceparent: string | null): Window =>
  ({
    run: { id: 'r', workspaceId: 'w', campaignId: 'c', lane, traceparent },
    chunk: { number: 4 },
  }) as unknown as Window;

/** Sends a window in which a batch is opened, and every device of it is answered. */
async function sendTraced(
  given: ReturnType<typeof openTracing>,
  { window, devices = 1, outcomes }: { window: Window; devices?: number; outcomes: (Outcome | Error)[] },
) {
  const told: unknown[] = [];
  const sent: number[] = [];
  const delivery = given.traceDelivery({
    openBatch(batch: DeliveryBatch) {
      return (place: number) => {
        sent.push(place);
        const outcome = outcomes[place]!;
        if (outcome instanceof Error) batch.onFault(place, outcome);
        else batch.onOutcome(place, outcome);
      };
    },
  } as unknown as Delivery);
  const result = { kind: 'sent' } as WindowResult;
  const traced = given.traceWindows(async () => {
    const send = delivery.openBatch({
      devices: Array.from({ length: devices }, () => ({ platform: 'IOS' })),
      onOutcome: (place: number, outcome: Outcome) => void told.push([place, outcome.kind]),
      onFault: (place: number, error: Error) => void told.push([place, error.message]),
    } as unknown as DeliveryBatch);
    for (const place of outcomes.keys()) send(place);
    return result;
  });
  expect(await traced(window)).toBe(result);
  return { told, sent };
}

const attributes = {
  'carillon.workspace.id': 'w',
  'carillon.campaign.id': 'c',
  'carillon.run.id': 'r',
  'carillon.chunk': 4,
};
const accepted: Outcome = { kind: 'accepted' };

describe('a window to named users', () => {
  test('is a step of the trace of its request, and says how it ended', async () => {
    const given = openTracing();
    const result = await sendTraced(given, { window: windowOf(0, sampled), outcomes: [] });
    expect(result).toEqual({ told: [], sent: [] });
    expect(given.spans).toEqual([
      {
        name: 'send window',
        start: { kind: 'consumer', parent: request, attributes: { ...attributes, 'carillon.lane': 'named' } },
        attributes: [{ 'carillon.window.result': 'sent' }],
        ended: [{ fault: undefined }],
      },
    ]);
  });

  test.each([
    ['was not sampled', unsampled],
    ['has no trace', null],
    ['has a trace that cannot be read', 'x'],
  ])('makes no step when its request %s', async (_what, traceparent) => {
    const given = openTracing();
    const { told } = await sendTraced(given, { window: windowOf(0, traceparent), outcomes: [accepted] });
    expect([given.spans, told]).toEqual([[], [[0, 'accepted']]]);
  });

  test('has a step for each call of a provider, with its outcome', async () => {
    const given = openTracing();
    const outcomes: (Outcome | Error)[] = [
      accepted,
      { kind: 'gone', code: 'Unregistered' },
      { kind: 'rejected', code: 'BadTopic', detail: 'x' },
      new Error('broken'),
    ];
    const { told, sent } = await sendTraced(given, { window: windowOf(0, sampled), devices: 10, outcomes });
    expect(sent).toEqual([0, 1, 2, 3]);
    expect(told).toEqual([
      [0, 'accepted'],
      [1, 'gone'],
      [2, 'rejected'],
      [3, 'broken'],
    ]);
    const parent = { traceId: 'c'.repeat(32), spanId: '1'.padStart(16, '0'), isSampled: true };
    const call = { name: 'send apns', start: { kind: 'client', parent, attributes: { 'carillon.provider': 'apns' } } };
    expect(given.spans.slice(1)).toEqual([
      {
        ...call,
        attributes: [{ 'carillon.outcome': 'accepted', 'carillon.code': undefined }],
        ended: [{ fault: undefined }],
      },
      {
        ...call,
        attributes: [{ 'carillon.outcome': 'gone', 'carillon.code': 'Unregistered' }],
        ended: [{ fault: undefined }],
      },
      {
        ...call,
        attributes: [{ 'carillon.outcome': 'rejected', 'carillon.code': 'BadTopic' }],
        ended: [{ fault: 'BadTopic' }],
      },
      { ...call, attributes: [{ 'carillon.outcome': 'fault' }], ended: [{ fault: 'fault' }] },
    ]);
  });

  test('that fails says of what kind, and throws on', async () => {
    const given = openTracing();
    const traced = given.traceWindows(async () => {
      throw new TypeError('broken');
    });
    await expect(traced(windowOf(0, sampled))).rejects.toThrow('broken');
    expect(given.spans).toMatchObject([{ attributes: [], ended: [{ fault: 'TypeError' }] }]);
  });
});

describe('a window of an audience', () => {
  test('begins a trace of its own that links to its request, with one step for a provider and its counts', async () => {
    const given = openTracing();
    const outcomes = [accepted, accepted, { kind: 'gone', code: 'x' } as Outcome, new Error('broken')];
    const { told, sent } = await sendTraced(given, { window: windowOf(1, sampled), devices: 11, outcomes });
    expect([told.length, sent.length]).toEqual([4, 4]);
    const [window, call, ...others] = given.spans;
    expect([others, window!.start]).toEqual([
      [],
      { kind: 'consumer', link: request, attributes: { ...attributes, 'carillon.lane': 'audience' } },
    ]);
    expect(call).toMatchObject({
      name: 'send apns',
      start: { kind: 'client', attributes: { 'carillon.provider': 'apns', 'carillon.devices': 11 } },
      attributes: [{ 'carillon.outcome.accepted': 2, 'carillon.outcome.gone': 1, 'carillon.outcome.fault': 1 }],
      ended: [{}],
    });
  });

  test('makes no step for a provider when nothing was sent', async () => {
    const given = openTracing();
    await sendTraced(given, { window: windowOf(1, null), devices: 11, outcomes: [] });
    expect(given.spans).toHaveLength(1);
    expect(given.spans[0]!.start).toMatchObject({ link: undefined });
  });

  test('that is not sampled is sent without any further step', async () => {
    const given = openTracing({ isSampled: false });
    const { told } = await sendTraced(given, { window: windowOf(1, null), outcomes: [accepted] });
    expect([given.spans.length, given.spans[0]!.ended, told]).toEqual([1, [], [[0, 'accepted']]]);
  });
});

test('a batch outside of any window is sent as it is', () => {
  const given = openTracing();
  const batch = { devices: [] } as unknown as DeliveryBatch;
  const opened: DeliveryBatch[] = [];
  const delivery = given.traceDelivery({
    openBatch(each: DeliveryBatch) {
      opened.push(each);
      return () => {};
    },
  } as unknown as Delivery);
  delivery.openBatch(batch);
  expect([opened[0], given.spans]).toEqual([batch, []]);
});

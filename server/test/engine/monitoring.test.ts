import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMetrics } from '../../src/app/system/system.ts';
import { makeManualClock } from '../../src/clock.ts';
import { providerNames } from '../../src/domain/delivery/providers.ts';
import type { Span, SpanStart, Tracing } from '../../src/domain/operations/tracing.ts';
import type { Window, WindowResult } from '../../src/engine/fan-out/send-window.ts';
import { makeRemembered, readNodeSamples } from '../../src/engine/monitoring/metric-samples.ts';
import type { NodeSources } from '../../src/engine/monitoring/metric-samples.ts';
import { makeNodeMeter, makeReportMinutes, measureDelivery } from '../../src/engine/monitoring/node-meter.ts';
import { makeTraceSends } from '../../src/engine/monitoring/traces.ts';
import type { DeliveryBatch } from '../../src/providers/batch.ts';
import type { Delivery } from '../../src/providers/deliver.ts';
import type { Outcome } from '../../src/providers/provider.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

describe('the node meter', () => {
  const start = new Date('2026-03-01T12:00:10Z');
  const minute = new Date('2026-03-01T12:00:00Z');
  const later = (minutes: number): Date => new Date(minute.getTime() + minutes * 60_000);
  const call = (more: object = {}) => ({
    ...{ method: 'POST', route: '/v5/sendpush', status: 200, errorName: undefined, durationMilliseconds: 20 },
    ...more,
  });
  const answered = (kind: Outcome['kind'], milliseconds = 10) => ({ outcome: { kind } as Outcome, milliseconds });

  describe('calls', () => {
    test('count as a push with its duration if a push was accepted, and otherwise do not', () => {
      const { meter } = openMeter();
      meter.noteCall(call());
      meter.noteCall(call({ route: '/v5/sendpushes' }));
      const { counts, accepts } = meter.readTotals();
      expect(counts).toEqual({ calls: 2, pushes: 1 });
      expect(accepts.read()).toMatchObject({ count: 1, sum: 0.02 });
    });

    test.each([
      [{ status: 500 }, 'calls.failed'],
      [{ status: 503, errorName: 'X' }, 'calls.failed'],
      [{ status: 499 }, 'calls.refused'],
      [{ status: 400 }, 'calls.refused'],
      // Some refusals of the API come with 200.
      [{ status: 200, errorName: 'ER013' }, 'calls.refused'],
    ])('count %j as %s, and not as a push', (more, name) => {
      const { meter } = openMeter();
      meter.noteCall(call(more));
      expect(meter.readTotals().counts).toEqual({ calls: 1, [name]: 1 });
      expect(meter.readTotals().accepts.read().count).toBe(0);
    });

    test('do not count 399 as rejected', () => {
      const { meter } = openMeter();
      meter.noteCall(call({ status: 399 }));
      expect(meter.readTotals().counts).toEqual({ calls: 1, pushes: 1 });
    });

    test('are separate by method and route, each with its statuses and durations', () => {
      const { meter } = openMeter();
      for (const more of [{}, {}, { status: 404 }, { method: 'GET' }, { route: '/other', durationMilliseconds: 2_000 }])
        meter.noteCall(call(more));
      const calls = [...meter.readTotals().calls].map(({ method, route, statuses, durations }) => {
        const { count, sum } = durations.read();
        return [method, route, [...statuses], count, Number(sum.toFixed(3))];
      });
      expect(calls).toEqual([
        [
          'POST',
          '/v5/sendpush',
          [
            [200, 2],
            [404, 1],
          ],
          3,
          0.06,
        ],
        ['GET', '/v5/sendpush', [[200, 1]], 1, 0.02],
        ['POST', '/other', [[200, 1]], 1, 2],
      ]);
    });
  });

  describe('sends', () => {
    test.each([
      ['accepted', 'accepted'],
      ['gone', 'gone'],
      ['rejected', 'rejected'],
      ['stopped', 'stopped'],
      ['wait', 'waits'],
      ['unreached', 'waits'],
      ['unknown', 'waits'],
    ] as const)('count %s as %s', (kind, name) => {
      const { meter } = openMeter();
      meter.noteSend('hms', answered(kind));
      expect(meter.readTotals().counts).toEqual({
        ...{ [`sends.hms.${name}`]: 1, 'latency.hms.answers': 1, 'latency.hms.milliseconds': 10 },
      });
    });

    test('have their durations added up, and the longest of a minute kept, rounded', () => {
      const { meter } = openMeter();
      for (const milliseconds of [10, 30.6, 20]) meter.noteSend('fcm', answered('accepted', milliseconds));
      const [taken] = meter.take();
      expect(taken!.figures.counts).toEqual({
        ...{ 'sends.fcm.accepted': 3, 'latency.fcm.answers': 3, 'latency.fcm.milliseconds': 60.6 },
      });
      expect(taken!.figures.gauges).toEqual({ 'latency.fcm.most': 31 });
      const { providers } = meter.readTotals();
      expect([...providers].map(([name, durations]) => [name, durations.read().count])).toEqual(
        providerNames.map((name) => [name, name === 'fcm' ? 3 : 0]),
      );
      expect(providers.get('fcm')!.read().sum).toBeCloseTo(0.0606);
    });
  });

  test('has totals of callbacks, fills, commits and jobs, including those that have not occurred', () => {
    const { meter } = openMeter();
    meter.noteCallback('received');
    for (const _ of [1, 2]) meter.noteCallback('unreached');
    for (const _ of [1, 2]) meter.noteFill('failed');
    meter.noteFailedJob();
    meter.noteCommit(7);
    const { callbacks, fills, counts, commits } = meter.readTotals();
    expect([...callbacks]).toEqual([
      ['received', 1],
      ['refused', 0],
      ['unreached', 2],
    ]);
    expect([...fills]).toEqual([
      ['applied', 0],
      ['failed', 2],
    ]);
    expect(counts).toEqual({ 'jobs.failed': 1 });
    expect(commits.read()).toMatchObject({ count: 1, sum: 7 });
  });

  describe('minutes', () => {
    test('are those of real time; a past one is reported once, the current one repeatedly', () => {
      const { meter, clock } = openMeter();
      clock.setOffset(3_600_000);
      meter.noteFailedJob();
      clock.advance(49_999);
      meter.noteFailedJob();
      expect(meter.take()).toEqual([{ minute, figures: { counts: { 'jobs.failed': 2 }, gauges: {} } }]);
      clock.advance(1);
      meter.noteFailedJob();
      const next = { minute: later(1), figures: { counts: { 'jobs.failed': 1 }, gauges: {} } };
      expect(meter.take()).toEqual([{ minute, figures: { counts: { 'jobs.failed': 2 }, gauges: {} } }, next]);
      expect(meter.take()).toEqual([next]);
      clock.advance(59_999);
      expect(meter.take()).toEqual([next]);
      clock.advance(1);
      expect(meter.take()).toEqual([next]);
      expect(meter.take()).toEqual([]);
      expect(meter.readTotals().counts).toEqual({ 'jobs.failed': 3 });
    });

    test('are kept for the last hour until they are read', () => {
      const { meter, clock } = openMeter();
      for (let number = 0; number < 62; number += 1) {
        meter.noteFailedJob();
        clock.advance(60_000);
      }
      const taken = meter.take();
      expect([taken.length, taken[0]!.minute, taken.at(-1)!.minute]).toEqual([60, later(2), later(61)]);
      expect(meter.readTotals().counts).toEqual({ 'jobs.failed': 62 });
    });
  });

  test('remembers a value for all callers until it expires, and reads it again after a failure', async () => {
    const clock = makeManualClock(start);
    let reads = 0;
    let fault: Error | undefined;
    const remembered = makeRemembered(
      async () => {
        reads += 1;
        if (fault) throw fault;
        return reads;
      },
      { clock, milliseconds: 1_000 },
    );
    expect(await Promise.all([remembered(), remembered()])).toEqual([1, 1]);
    clock.advance(999);
    expect(await remembered()).toBe(1);
    clock.advance(1);
    expect(await remembered()).toBe(2);
    clock.advance(1_000);
    fault = new Error('away');
    await expect(remembered()).rejects.toThrow('away');
    fault = undefined;
    expect(await remembered()).toBe(4);
  });

  test('counts a delivery by its provider, and passes its outcome on', async () => {
    const noted: unknown[] = [];
    const noteSend = (provider: string, { outcome, milliseconds }: { outcome: Outcome; milliseconds: number }) =>
      void noted.push([provider, outcome.kind, milliseconds >= 0 && milliseconds < 10_000]);
    const told: unknown[] = [];
    let batch: DeliveryBatch | undefined;
    const sent: number[] = [];
    const delivery = measureDelivery(
      {
        deliver: async () => ({ kind: 'accepted' }),
        openBatch(given: DeliveryBatch) {
          batch = given;
          return (place: number) => void sent.push(place);
        },
        close: 'kept',
      } as unknown as Delivery,
      { noteSend },
    );
    expect(await delivery.deliver({ device: { platform: 'ANDROID', provider: 'hms' } } as never)).toEqual({
      kind: 'accepted',
    });
    const send = delivery.openBatch({
      devices: [{ platform: 'WEB' }, { platform: 'WEB' }],
      onOutcome: (place: number, outcome: Outcome) => void told.push([place, outcome.kind]),
    } as unknown as DeliveryBatch);
    send(1);
    batch!.onOutcome(1, { kind: 'gone', code: 'x' });
    expect([sent, told, delivery.close]).toEqual([[1], [[1, 'gone']], 'kept']);
    expect(noted).toEqual([
      ['hms', 'accepted', true],
      ['webpush', 'gone', true],
    ]);
  });

  describe('the metrics of a node', () => {
    const use = { held: 3, idle: 2, awaited: 1, max: 10 };
    const pool = { reach: { pool: { countUse: () => use } } } as never;
    const sources = (more: Partial<NodeSources> = {}): NodeSources => ({
      meter: openMeter().meter,
      book: { countFailures: () => [{ name: 'release-runs', total: 5, inARow: 2 }] },
      pools: { across: pool, workspace: pool },
      build: { version: '1.2.3', role: 'api' },
      findTroubles: async () => [],
      backupIntervalSeconds: undefined,
      ...more,
    });

    test('describe the node, its readiness and its troubles', async () => {
      const well = await readNodeSamples(sources());
      expect(well.carillon_build_info).toEqual([{ labels: { version: '1.2.3', role: 'api' }, value: 1 }]);
      expect(well.carillon_ready).toEqual([{ labels: {}, value: 1 }]);
      const ill = await readNodeSamples(
        sources({ findTroubles: async () => ['jobs: release-runs (53100)', 'writes'] }),
      );
      expect(ill.carillon_ready).toEqual([{ labels: {}, value: 0 }]);
      const troubled = ill.carillon_trouble!.filter(({ value }) => value === 1).map(({ labels }) => labels.trouble);
      expect([troubled, ill.carillon_trouble!.length]).toEqual([['writes', 'jobs'], 7]);
      expect(well.carillon_trouble!.some(({ value }) => value !== 0)).toBe(false);
    });

    test('count calls, sends that have not occurred, jobs and connections', async () => {
      const { meter } = openMeter();
      meter.noteCall(call());
      meter.noteSend('fcm', answered('gone', 40));
      meter.noteCallback('refused');
      meter.noteFill('applied');
      meter.noteCommit(3);
      const samples = await readNodeSamples(sources({ meter, backupIntervalSeconds: 3_600 }));
      const labels = { method: 'POST', route: '/v5/sendpush' };
      expect(samples.carillon_http_requests_total).toEqual([{ labels: { ...labels, status: '200' }, value: 1 }]);
      expect(samples.carillon_http_request_duration_seconds).toMatchObject([
        { labels, value: { count: 1, sum: 0.02 } },
      ]);
      expect(samples.carillon_push_accept_duration_seconds).toMatchObject([{ labels: {}, value: { count: 1 } }]);
      expect(samples.carillon_push_commit_batch_size).toMatchObject([{ labels: {}, value: { sum: 3 } }]);
      const sends = samples.carillon_provider_sends_total!;
      expect([sends.length, sends.filter(({ value }) => value !== 0)]).toEqual([
        5 * providerNames.length,
        [{ labels: { provider: 'fcm', outcome: 'gone' }, value: 1 }],
      ]);
      expect(samples.carillon_provider_request_duration_seconds![0]).toMatchObject({
        labels: { provider: 'fcm' },
        value: { count: 1, sum: 0.04 },
      });
      expect(samples.carillon_callbacks_total).toContainEqual({ labels: { result: 'refused' }, value: 1 });
      expect(samples.carillon_segment_fills_total).toContainEqual({ labels: { result: 'applied' }, value: 1 });
      expect(samples.carillon_job_failures_total).toEqual([{ labels: { job_name: 'release-runs' }, value: 5 }]);
      expect(samples.carillon_job_consecutive_failures).toEqual([{ labels: { job_name: 'release-runs' }, value: 2 }]);
      expect(samples.carillon_database_connections).toEqual(
        ['across', 'workspace'].flatMap((name) =>
          (['held', 'idle', 'awaited'] as const).map((state) => ({ labels: { pool: name, state }, value: use[state] })),
        ),
      );
      expect(samples.carillon_database_connections_max).toEqual(
        ['across', 'workspace'].map((name) => ({ labels: { pool: name }, value: 10 })),
      );
      expect(samples.carillon_backup_interval_seconds).toEqual([{ labels: {}, value: 3_600 }]);
      expect((await readNodeSamples(sources())).carillon_backup_interval_seconds).toEqual([]);
    });
  });

  function openMeter() {
    const clock = makeManualClock(start);
    return { clock, meter: makeNodeMeter({ clock }) };
  }
});

describe('the metrics of Live Activities', () => {
  test('count an event among the sends of Apple, by outcome and duration', async () => {
    const meter = makeNodeMeter({ clock: makeManualClock(new Date('2026-03-01T12:00:00Z')) });
    const outcomes = [{ kind: 'accepted' }, { kind: 'gone', code: 'Unregistered' }] as const;
    let sent = 0;
    const delivery = { deliverLiveActivity: async () => outcomes[sent++] } as unknown as Delivery;
    const measured = measureDelivery(delivery, meter);
    for (const outcome of outcomes) expect(await measured.deliverLiveActivity({} as never)).toBe(outcome);
    const { counts, providers } = meter.readTotals();
    expect(counts).toMatchObject({ 'sends.apns.accepted': 1, 'sends.apns.gone': 1, 'latency.apns.answers': 2 });
    expect(providers.get('apns')!.read().count).toBe(2);
  });
});

describe('the minutes of a node', () => {
  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
  });
  afterAll(() => bundle.drop());

  const accepted = { outcome: { kind: 'accepted' }, milliseconds: 12 } as const;
  const push = {
    method: 'POST',
    durationMilliseconds: 4,
    route: '/v2.1/transaction/sendpush',
    status: 200,
    errorName: undefined,
  };

  test('are written as one row each, whatever the load, and added up over nodes in steps', async () => {
    const clock = makeManualClock(new Date('2026-03-01T10:00:10Z'));
    const [one, two] = [startNode('one', clock), startNode('two', clock)];
    for (let sent = 0; sent < 1000; sent += 1) one.meter.noteSend('fcm', accepted);
    two.meter.noteSend('fcm', { outcome: { kind: 'unknown', code: 'TIMEOUT' }, milliseconds: 900 });
    one.meter.noteCall(push);
    one.meter.noteCall({ ...push, errorName: 'PUSH_SIGNATURE_INVALID' });
    await one.report();
    await two.report();
    clock.advance(20_000);
    one.meter.noteCall(push);
    await one.report();
    // The next minute.
    clock.advance(40_000);
    one.meter.noteCall({ ...push, status: 503 });
    await one.report();
    const rows = await bundle.database`select node_id from node_minutes order by minute, node_id`;
    expect(rows.map(({ node_id }) => node_id)).toEqual(['one', 'two', 'one']);

    const { steps, series, stepSeconds } = await readMetrics({ database: bundle.database, clock }, 'hour');
    expect([stepSeconds, steps.length, steps.at(-1)]).toEqual([60, 60, new Date('2026-03-01T10:01:00Z')]);
    const last = Object.fromEntries(series.map(({ name, values }) => [name, values.slice(-3)]));
    expect(last).toMatchObject({
      pushes: [null, 2, null],
      calls: [null, 3, 1],
      'calls.refused': [null, 1, null],
      'calls.failed': [null, null, 1],
      'sends.fcm.accepted': [null, 1000, null],
      'sends.fcm.waits': [null, 1, null],
      'latency.fcm.answers': [null, 1001, null],
      'latency.fcm.milliseconds': [null, 12_900, null],
      'latency.fcm.most': [null, 900, null],
      'queue.waiting': [null, 0, 0],
    });
    const day = await readMetrics({ database: bundle.database, clock }, 'day');
    expect(day.series.find(({ name }) => name === 'calls')!.values.at(-1)).toBe(4);
  });

  test('are removed after eight days', async () => {
    const clock = makeManualClock(new Date('2026-04-01T10:00:00Z'));
    await startNode('one', clock).report();
    const rows = await bundle.database<{ minute: Date }[]>`select minute from node_minutes`;
    expect(rows.map(({ minute }) => minute)).toEqual([new Date('2026-04-01T10:00:00Z')]);
  });

  function startNode(nodeId: string, clock: ReturnType<typeof makeManualClock>) {
    const meter = makeNodeMeter({ clock });
    const job = makeReportMinutes({ database: bundle.database, clock, meter, nodeId, seesQueues: true });
    return { meter, report: () => job.runOnce(clock.now()) };
  }
});

type Made = { name: string; start: SpanStart; attributes: object[]; ended: object[] };

describe('traces of sends', () => {
  const traceId = 'a'.repeat(32);
  const request = { traceId, spanId: 'b'.repeat(16), isSampled: true };
  const sampled = `00-${traceId}-${'b'.repeat(16)}-01`;
  const unsampled = `00-${traceId}-${'b'.repeat(16)}-00`;

  const windowOf = (lane: number, traceparent: string | null): Window =>
    ({
      run: { id: 'r', workspaceId: 'w', campaignId: 'c', lane, traceparent },
      chunk: { number: 4 },
    }) as unknown as Window;

  const attributes = {
    'carillon.workspace.id': 'w',
    'carillon.campaign.id': 'c',
    'carillon.run.id': 'r',
    'carillon.chunk': 4,
  };
  const accepted: Outcome = { kind: 'accepted' };

  describe('a window to named users', () => {
    test('is a span in the trace of its request, and has its result', async () => {
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
    ])('creates no span if its request %s', async (_what, traceparent) => {
      const given = openTracing();
      const { told } = await sendTraced(given, { window: windowOf(0, traceparent), outcomes: [accepted] });
      expect([given.spans, told]).toEqual([[], [[0, 'accepted']]]);
    });

    test('has a span for each provider call, with its outcome', async () => {
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
      const call = {
        name: 'send apns',
        start: { kind: 'client', parent, attributes: { 'carillon.provider': 'apns' } },
      };
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

    test('records the kind of a failure, and rethrows it', async () => {
      const given = openTracing();
      const traced = given.traceWindows(async () => {
        throw new TypeError('broken');
      });
      await expect(traced(windowOf(0, sampled))).rejects.toThrow('broken');
      expect(given.spans).toMatchObject([{ attributes: [], ended: [{ fault: 'TypeError' }] }]);
    });
  });

  describe('a window of an audience', () => {
    test('begins a separate trace with a link to its request, one span per provider and its counts', async () => {
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

    test('creates no span for a provider if nothing was sent', async () => {
      const given = openTracing();
      await sendTraced(given, { window: windowOf(1, null), devices: 11, outcomes: [] });
      expect(given.spans).toHaveLength(1);
      expect(given.spans[0]!.start).toMatchObject({ link: undefined });
    });

    test('is sent without further spans if it is not sampled', async () => {
      const given = openTracing({ isSampled: false });
      const { told } = await sendTraced(given, { window: windowOf(1, null), outcomes: [accepted] });
      expect([given.spans.length, given.spans[0]!.ended, told]).toEqual([1, [], [[0, 'accepted']]]);
    });
  });

  test('passes a batch outside any window on unchanged', () => {
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
});

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

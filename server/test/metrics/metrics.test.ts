import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { libraryMetrics, metricTable } from '../../src/domain/operations/metrics.ts';
import type { MetricEntry } from '../../src/domain/operations/metrics.ts';
import { makeReadDatabaseSamples } from '../../src/engine/monitoring/metric-samples.ts';
import { makeNodeMeter } from '../../src/engine/monitoring/node-meter.ts';
import { queueNames } from '../../src/storage/installation/queues.ts';
import { inTransaction, openDatabase } from '../../src/storage/database.ts';
import { acrossRoleOf } from '../../src/storage/installation/database-roles.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { applicationRole } from '../global-setup.ts';
import { readMetricsText } from './read-metrics-text.ts';
import type { ReadMetric } from './read-metrics-text.ts';

const token = 'of-sixteen-or-more';
let node: CarillonBundle;
let ownUrl: string;
beforeAll(async () => {
  node = await startCarillonBundle({ CARILLON_METRICS_PORT: '0', CARILLON_METRICS_TOKEN: token });
  ownUrl = node.block.metrics!;
});
afterAll(() => node.stop());

const withToken = { headers: { authorization: `Bearer ${token}` } };

async function push(
  campaignName: string,
  audience: { targetAudience: string } & Record<string, unknown>,
): Promise<string> {
  const answer = await node.push({
    ...{ campaignName, targetPlatform: ['IOS'], payload: { IOS: { message: 'Hello', title: 'Hello' } } },
    ...{ campaignDelivery: { type: 'soon' }, ...audience },
  });
  expect(answer.json()).toMatchObject({ status: 'Success' });
  return (answer.json() as { cid: string }).cid;
}

async function scrape(): Promise<ReadMetric[]> {
  const answer = await fetch(ownUrl, withToken);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return readMetricsText(await answer.text());
}

function valueOf(metrics: ReadMetric[], name: string, labels: Record<string, string> = {}): number | undefined {
  const series = metrics.flatMap((metric) => metric.series).filter((one) => one.name === name);
  return series.find((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))?.value;
}

describe('a node that was asked for metrics', () => {
  test('answers with those of the table and of the library, of their kinds and labels, and no others', async () => {
    await push('metrics-of-all', { targetAudience: 'All users' });
    const metrics = await scrape();
    // Elsewhere the library tells less.
    const expected = [...Object.keys(metricTable), ...Object.keys(libraryMetrics)];
    if (process.platform === 'linux') expect(metrics.map(({ name }) => name).sort()).toEqual(expected.sort());
    for (const [name, entry] of Object.entries<MetricEntry>(metricTable)) {
      const { kind, series } = metrics.find((metric) => metric.name === name)!;
      expect(kind, name).toBe(entry.kind);
      for (const { labels } of series) {
        const { le, ...own } = labels;
        expect(le !== undefined, name).toBe(kind === 'histogram' && 'le' in labels);
        expect(Object.keys(own), name).toEqual(Object.keys(entry.labels));
        for (const [label, bound] of Object.entries(entry.labels))
          if (typeof bound !== 'string') expect(bound, `${name} ${label}`).toContain(own[label]);
      }
      // By the conventions of Prometheus: counters are totals, and units are those of the base.
      expect(name.endsWith('_total'), name).toBe(kind === 'counter');
      expect(name, name).not.toMatch(/milli|micro|kilo|mega/);
    }
  });

  test('counts a push on its way: accepted, committed, sent, answered by its provider', async () => {
    const before = await scrape();
    const cid = await push('metrics-of-one', {
      targetAudience: 'User',
      targetUserAttributes: {
        attribute: 'USER_ATTRIBUTE_USER_EMAIL',
        comparisonParameter: 'is',
        attributeValue: 'grace@example.com',
      },
    });
    await until(async () => (await node.inbox()).some((message) => message.campaignId === cid));
    const after = await scrape();
    const grown = (name: string, labels?: Record<string, string>): number =>
      (valueOf(after, name, labels) ?? 0) - (valueOf(before, name, labels) ?? 0);
    const route = '/v2.1/transaction/sendpush';
    expect(grown('carillon_http_requests_total', { route, status: '200' })).toBe(1);
    expect(grown('carillon_http_request_duration_seconds_count', { route })).toBe(1);
    expect(grown('carillon_push_accept_duration_seconds_count')).toBe(1);
    expect(grown('carillon_push_accept_duration_seconds_bucket', { le: '+Inf' })).toBe(1);
    expect(grown('carillon_push_commit_batch_size_sum')).toBe(1);
    // The campaign before is perhaps still being sent.
    expect(grown('carillon_provider_sends_total', { provider: 'apns', outcome: 'accepted' })).toBeGreaterThanOrEqual(1);
    expect(grown('carillon_provider_request_duration_seconds_count', { provider: 'apns' })).toBeGreaterThanOrEqual(1);
    expect(grown('carillon_provider_sends_total', { provider: 'fcm' })).toBe(0);
  });

  test('tells them to nobody without the token, on either port, and nothing else on the port of its own', async () => {
    const ask = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers });
    const shared = `${node.url}/metrics`;
    for (const url of [ownUrl, shared]) {
      for (const headers of [{}, { authorization: 'Bearer of-sixteen-or-mors' }, { authorization: token }]) {
        const answer = await ask(url, headers as Record<string, string>);
        expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
          401,
          expect.stringMatching(/^Bearer/),
        ]);
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
        expect(await answer.text()).not.toContain('carillon_');
      }
    }
    expect((await ask(shared, withToken.headers)).status).toBe(200);
    expect((await fetch(ownUrl, { ...withToken, method: 'POST' })).status).toBe(405);
    expect((await ask(ownUrl.replace('/metrics', '/readyz'), withToken.headers)).status).toBe(404);
  });
});

describe('figures of the database', () => {
  test('are read once for all who ask within ten seconds', async () => {
    const clock = makeManualClock(new Date());
    const read = makeReadDatabaseSamples({ database: node.database, clock });
    const seen = async (): Promise<number> =>
      (await read()).carillon_nodes!.reduce((sum, { value }) => sum + (value as number), 0);
    const [first] = await Promise.all([seen(), seen(), seen()]);
    await node.database`
      insert into nodes (id, host, process_id, role, version, started_at, seen_at, memory_bytes, connections)
      values ('other', 'h', 1, 'worker', '1', ${clock.now()}, ${clock.now()}, 1, 1)`;
    clock.advance(9_999);
    expect(await seen()).toBe(first);
    clock.advance(1);
    expect(await seen()).toBe(first! + 1);
    await node.database`delete from nodes where id = 'other'`;
  });

  test('are left out where they cannot be read in time, and the next scrape asks again', async () => {
    const clock = makeManualClock(new Date());
    const read = makeReadDatabaseSamples({ database: node.database, clock, readMilliseconds: 1_500 });
    const success = async () => {
      const samples = await read();
      return samples.carillon_database_read_success!.map(({ labels, value }) => [
        labels['read'],
        value,
        samples.carillon_nodes !== undefined,
      ]);
    };
    await inTransaction(node.database, async (tx) => {
      await tx`lock table nodes in access exclusive mode`;
      expect(await success()).toEqual([
        ['queues', 1, false],
        ['installation', 0, false],
        ['sizes', 1, false],
      ]);
    });
    expect(await success()).toEqual([
      ['queues', 1, true],
      ['installation', 1, true],
      ['sizes', 1, true],
    ]);
  });

  test('count the work with a plan that each connection keeps', async () => {
    const clock = makeManualClock(new Date());
    const acrossRole = acrossRoleOf(applicationRole);
    const application = openDatabase({ url: node.applicationUrl, connections: 1, name: 'one connection', acrossRole });
    const database = application.acrossWorkspaces();
    const read = makeReadDatabaseSamples({ database, clock, readMilliseconds: 60_000 });
    for (let time = 0; time < 12; time += 1) {
      expect((await read()).carillon_queue_waiting).toHaveLength(queueNames.length);
      clock.advance(10_000);
    }
    const [plans] = await database<{ kept: number }[]>`
      select coalesce(sum(generic_plans), 0)::int as kept from pg_prepared_statements
      where statement like '%segment-files%' and statement not like '%pg_prepared_statements%'`;
    expect(plans!.kept).toBeGreaterThan(0);
    await application.end();
  });

  test('have a series for each kind of work and each lane also while nothing waits', async () => {
    const samples = await makeReadDatabaseSamples({ database: node.database, clock: makeManualClock(new Date()) })();
    expect(samples.carillon_queue_age_seconds!.map(({ labels }) => labels['queue'])).toEqual([...queueNames]);
    expect(samples.carillon_send_age_seconds!.map(({ labels }) => labels['lane'])).toEqual(['named', 'audience']);
  });
});

test('counts since the start survive the minutes they were counted in, and the hand-over to the charts', () => {
  const clock = makeManualClock(new Date('2026-03-01T10:00:10Z'));
  const meter = makeNodeMeter({ clock });
  const send = () => meter.noteSend('fcm', { outcome: { kind: 'accepted' }, milliseconds: 30 });
  const total = () => meter.readTotals().counts['sends.fcm.accepted'];
  send();
  meter.take();
  expect(total()).toBe(1);
  for (const minute of [2, 3, 4]) {
    clock.advance(60_000);
    expect(total()).toBe(minute - 1);
    send();
    expect(total()).toBe(minute);
    meter.take();
  }
  const { sum, count, buckets } = meter.readTotals().providers.get('fcm')!.read();
  expect([sum.toFixed(2), count]).toEqual(['0.12', 4]);
  expect(buckets.filter(({ count: upTo }) => upTo === 4).map(({ upTo }) => upTo)[0]).toBe(0.05);
});

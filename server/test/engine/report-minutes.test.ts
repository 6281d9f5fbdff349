import { afterAll, beforeAll, expect, test } from 'vitest';
import { readMetrics } from '../../src/app/system/system.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makeNodeMeter, makeReportMinutes } from '../../src/engine/monitoring/node-meter.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

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

function startNode(nodeId: string, clock: ReturnType<typeof makeManualClock>) {
  const meter = makeNodeMeter({ clock });
  const job = makeReportMinutes({ database: bundle.database, clock, meter, nodeId, seesQueues: true });
  return { meter, report: () => job.runOnce(clock.now()) };
}

test('a node writes one row a minute however much it does, and what several count is added up in steps', async () => {
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

test('rows of before the last eight days are forgotten', async () => {
  const clock = makeManualClock(new Date('2026-04-01T10:00:00Z'));
  await startNode('one', clock).report();
  const rows = await bundle.database<{ minute: Date }[]>`select minute from node_minutes`;
  expect(rows.map(({ minute }) => minute)).toEqual([new Date('2026-04-01T10:00:00Z')]);
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../../carillon-bundle.ts';
import { refuseInserts } from '../../refuse-inserts.ts';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

let bundle: FanOutBundle;
beforeEach(async () => {
  bundle = await makeFanOutBundle();
});
afterEach(() => bundle.drop());

test('outcomes that the database refuses are kept and stored later; meanwhile nothing else is sent, and nothing twice', async () => {
  await bundle.addDevices(100);
  const { campaignId, runId } = await bundle.accept();
  await bundle.release();
  await bundle.database.unsafe(`create table deliveries_20260301 partition of deliveries
    for values from ('2026-03-01') to ('2026-03-02')`);
  const accept = await refuseInserts(bundle.database, 'deliveries_20260301');
  const workers = bundle.startWorkers({ windowDevices: 10 });
  while (bundle.outcomes.waiting() === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(bundle.outcomes.fault()).toBe('53100');
  const other = await bundle.accept();
  await bundle.release();
  workers.wake();
  // Each slot has the time for many windows.
  for (let questions = 0; questions < 200; questions += 1) {
    await bundle.database`select 1`;
    workers.wake();
  }
  expect(await bundle.retry()).toBe(0);
  expect(bundle.sent.length).toBeLessThanOrEqual(10);
  await accept();
  for (const id of [runId, other.runId]) await bundle.settled(id, [workers]);
  await workers.stop();
  await bundle.end();
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 100 });
  expect(await bundle.counters(other.runId)).toEqual({ ACCEPTED: 100 });
  expect(bundle.sent).toHaveLength(200);
  expect(bundle.outcomes.fault()).toBeUndefined();
  expect((await bundle.states(campaignId)).run).toBe('SENT');
});

test('a database that refuses while a chunk is only read costs the chunk no crash', async () => {
  await bundle.addDevices(10);
  const { runId } = await bundle.accept();
  await bundle.release();
  let faults = 0;
  bundle.breakPages(() => {
    faults += 1;
    if (faults > 20) return false;
    throw Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
  });
  await bundle.work({ windowDevices: 10 });
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 10 });
});

test('a node whose outcomes cannot be stored is not ready and says why, on /readyz and to the console; then it goes on', async () => {
  const node = await startCarillonBundle();
  try {
    const day = new Date().toISOString().slice(0, 10);
    await node.database.unsafe(`create table if not exists deliveries_${day.replaceAll('-', '')}
      partition of deliveries for values from ('${day}') to (date '${day}' + 1)`);
    const accept = await refuseInserts(node.database, `deliveries_${day.replaceAll('-', '')}`);
    const title = { title: 'T', message: 'M' };
    const pushed = await node.push({
      campaignName: 'Disk is full',
      targetAudience: 'All Users',
      targetPlatform: ['ANDROID'],
      payload: { ANDROID: title },
      campaignDelivery: { type: 'soon' },
    });
    const { cid } = pushed.json();
    const refused = await until(async () => {
      const ready = await node.call('GET', '/readyz');
      return ready.status === 503 && ready.text.includes('outcomes') && ready;
    });
    expect(refused.json()).toEqual({ status: 'not ready', troubles: ['outcomes: 1 (53100)'] });
    await accept();
    await until(async () => (await node.call('GET', '/readyz')).status === 200);
    await until(async () => {
      const [run] = await node.database`select status from runs where campaign_id = ${cid}`;
      return run!.status === 'SENT';
    });
    const rows = await node.database`
      select deliveries.attempts, outcome, count(*) as devices from readable_deliveries as deliveries
      join runs on runs.id = deliveries.run_id where runs.campaign_id = ${cid} group by 1, 2`;
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ attempts: 1, outcome: 'ACCEPTED' });
    const { ANDROID } = (await node.call('GET', '/sandbox/counters')).json();
    expect(ANDROID.accepted).toBe(rows[0]!.devices);
  } finally {
    await node.stop();
  }
});

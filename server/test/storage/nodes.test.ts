import { expect, test } from 'vitest';
import { endLeasesOfPredecessors } from '../../src/storage/installation/nodes.ts';
import { claimCallbacks, listDueCallbackReceivers } from '../../src/storage/outbox/receivers.ts';
import { makeFanOutBundle } from '../engine/fan-out/fan-out-bundle.ts';
import { makeSegmentBundle } from '../segments/segment-bundle.ts';

test('chunks and second attempts of a process that died are free at once, and the death of a chunk’s worker is counted', async () => {
  const bundle = await makeFanOutBundle();
  try {
    const { database, clock } = bundle;
    await bundle.addDevices(10);
    await bundle.accept();
    await bundle.release();
    await bundle.claim('dead');
    expect(await bundle.claim('next')).toBeUndefined();
    expect(await endLeasesOfPredecessors(database, clock.realNow())).toMatchObject({ chunks: 1, retries: 0 });
    expect(await bundle.claim('next')).toMatchObject({ crashes: 1 });
    expect((await endLeasesOfPredecessors(database, clock.realNow())).chunks).toBe(1);

    bundle.answer(() => ({ kind: 'wait', code: '503', scope: 'device' }));
    await bundle.work();
    clock.advance(600_000);
    bundle.answer(() => new Promise(() => {}));
    void bundle.retry();
    while (bundle.sent.length < 20) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(await bundle.retry()).toBe(0);
    expect((await endLeasesOfPredecessors(database, clock.realNow())).retries).toBe(10);
    bundle.answer(() => ({ kind: 'accepted' }));
    expect(await bundle.retry()).toBe(10);
  } finally {
    await bundle.drop();
  }
});

test('so are files and callbacks', async () => {
  const bundle = await makeSegmentBundle();
  try {
    const { database, clock } = bundle;
    const leasedAt = clock.realNow();
    const leaseUntil = new Date(leasedAt.getTime() + 60_000);
    await bundle.create({ file_url: bundle.serve('a\n'), callback_url: `${bundle.origin}/cb` });
    await database`
      update segment_operations set state = 'FILLING', owner = 'dead', lease_until = ${leaseUntil}, attempts = 1`;
    expect(await bundle.fill()).toBe(0);
    expect((await endLeasesOfPredecessors(database, leasedAt)).files).toBe(1);
    expect(await bundle.fill()).toBe(1);
    const at = clock.now();
    const due = await listDueCallbackReceivers(database, { at, leasedAt, after: undefined, limit: 1 });
    const turns = due.map(({ workspaceId, key }) => ({ workspaceId, key, count: 1 }));
    const claim = { turns, at, leasedAt, leaseUntil, probeUntil: leaseUntil };
    expect(await claimCallbacks(database, claim)).toHaveLength(1);
    expect(await claimCallbacks(database, claim)).toHaveLength(0);
    expect((await endLeasesOfPredecessors(database, leasedAt)).callbacks).toBe(1);
    expect(await claimCallbacks(database, claim)).toHaveLength(1);
  } finally {
    await bundle.end();
  }
});

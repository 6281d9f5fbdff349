import { expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import type { Delivery } from '../../src/providers/deliver.ts';
import { measureDelivery, makeNodeMeter } from '../../src/engine/monitoring/node-meter.ts';

test('an event of a Live Activity is counted among the sends of Apple, by its outcome and its time', async () => {
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

import { providerOf } from '../../domain/delivery/provider-name.ts';
import type { Delivery } from '../delivery/deliver.ts';
import type { NodeMeter } from './node-meter.ts';

/** The same delivery, whose answers are counted with the time that each took. */
export function measureDelivery(delivery: Delivery, { noteSend }: Pick<NodeMeter, 'noteSend'>): Delivery {
  return {
    ...delivery,
    async deliver(request) {
      const startedAt = performance.now();
      const outcome = await delivery.deliver(request);
      noteSend(providerOf(request.device), { outcome, milliseconds: performance.now() - startedAt });
      return outcome;
    },
    async deliverLiveActivity(request) {
      const startedAt = performance.now();
      const outcome = await delivery.deliverLiveActivity(request);
      noteSend('apns', { outcome, milliseconds: performance.now() - startedAt });
      return outcome;
    },
    openBatch(batch) {
      const provider = providerOf(batch.devices[0]!);
      const startedAt = new Float64Array(batch.devices.length);
      const send = delivery.openBatch({
        ...batch,
        onOutcome(index, outcome) {
          noteSend(provider, { outcome, milliseconds: performance.now() - startedAt[index]! });
          batch.onOutcome(index, outcome);
        },
      });
      return (index) => {
        startedAt[index] = performance.now();
        send(index);
      };
    },
  };
}

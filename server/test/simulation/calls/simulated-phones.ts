import type { Clock } from '../../../src/clock.ts';
import type { DeliveryRequest, Outcome } from '../../../src/providers/provider.ts';
import type { History } from '../../rig/history.ts';
import { hashOf, makeRandom } from '../../rig/random.ts';
import type { SimulatedProviders, Wave } from '../simulated-providers.ts';

type Parts = { seed: number; clock: Clock; history: History };

/**
 * The phones of the calls. Each message is noted when it arrives, whatever becomes of its answer. A worker that is killed never
 * hears an answer, so its work stays claimed until its lease has ended.
 */
export function makeSimulatedPhones({ seed, clock, history }: Parts) {
  const asked = new Map<string, number>();
  let messages = 0;

  async function deliver(request: DeliveryRequest, wave: Wave): Promise<Outcome> {
    const { message, device } = request;
    const { worker } = wave;
    if (worker.state === 'dead') return new Promise(() => {});
    const key = `${message.campaignId} ${device.pushId}`;
    const times = (asked.get(key) ?? 0) + 1;
    asked.set(key, times);
    const { outcome, answer } = pickAnswer(hashOf(`${seed} ${device.pushId} ${asked.size} ${times}`));
    messages += 1;
    history.note({
      ...{
        kind: 'message',
        wave: wave.number,
        worker: worker.name,
        at: clock.now().getTime(),
        campaign: message.campaignId,
      },
      ...{ run: message.runId, device: device.deviceId, address: device.pushId, platform: device.platform },
      ...{ collapse: message.identity.collapseId, message: message.identity.id, answer },
    });
    if (worker.requestsToDeath !== undefined) {
      if (worker.requestsToDeath === 0) {
        worker.state = 'dead';
        history.note({ kind: 'fault', what: 'kill', worker: worker.name });
        return new Promise(() => {});
      }
      worker.requestsToDeath -= 1;
    }
    return outcome;
  }

  const providers: Pick<SimulatedProviders, 'deliver' | 'requests' | 'putOffs'> = {
    deliver,
    requests: [],
    putOffs: [],
  };
  return { ...providers, count: () => messages };
}

function pickAnswer(draw: number): { outcome: Outcome; answer: string } {
  const share = makeRandom(draw).next();
  if (share < 0.85) return { outcome: { kind: 'accepted' }, answer: 'ACCEPTED' };
  if (share < 0.92) {
    const outcome = { kind: 'wait', code: 'UNAVAILABLE', scope: 'device', retryAfterSeconds: 20 } as const;
    return { outcome, answer: 'OTHER' };
  }
  if (share < 0.94) return { outcome: { kind: 'unknown', code: 'RESET' }, answer: 'OTHER' };
  if (share < 0.97) {
    const outcome = { kind: 'rejected', code: 'MESSAGE_TOO_BIG', detail: 'The message is too big.' } as const;
    return { outcome, answer: 'REJECTED' };
  }
  return { outcome: { kind: 'gone', code: 'UNREGISTERED' }, answer: 'GONE' };
}

import type { ProviderName } from '../../src/domain/delivery/providers.ts';
import { strikesDevice } from '../../src/domain/sandbox/faults.ts';
import type { Fault } from '../../src/domain/sandbox/faults.ts';

/** The addresses of iPhones that are reached through Firebase begin so. */
export const fcmPhonePrefix = 'fcm-iphone-';

/** The faults that simulated providers give to a share of devices while something is killed. None concerns an account. */
export const fieldFaults: Partial<Record<ProviderName, Fault[]>> = {
  fcm: [
    { answer: 'limited', share: 0.01, seed: 11, countPerDevice: 1 },
    { answer: 'limited-bare', share: 0.004, seed: 12, countPerDevice: 1 },
    { answer: 'malformed', share: 0.004, seed: 13 },
    { answer: 'sporadic', device: fcmPhonePrefix, share: 0.2, seed: 14, countPerDevice: 2 },
  ],
  apns: [{ answer: 'wrong-environment', share: 0.004, seed: 15 }],
  webpush: [
    { answer: 'throttled', share: 0.01, seed: 16, countPerDevice: 1 },
    { answer: 'outdated-key', share: 0.004, seed: 17 },
  ],
};

/** A device works, has a fault that passes, or has an address that never works. */
export type FieldTruth = 'healthy' | 'passing' | 'useless';

/** The simulators' own assignment, whatever the product makes of their answers. */
export function fieldTruthOf(provider: ProviderName, address: string): FieldTruth {
  const struck = (fieldFaults[provider] ?? []).filter((fault) => strikesDevice(fault, address));
  if (struck.some(({ countPerDevice }) => countPerDevice === undefined)) return 'useless';
  return struck.length > 0 ? 'passing' : 'healthy';
}

import type { ToldRefusal } from '../../domain/delivery/refusal.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import type { Delivery } from '../../storage/ledger/deliveries.ts';

/** What became of one device, and what the run must learn from it. */
export type DeviceResult = {
  delivery: Delivery;
  gone?: { code: string; goneSince: Date };
  /** The answer usually means a dead address. It counts only while the credential works for others (`isHealthy`). */
  suspected?: { code: string; isHealthy: boolean };
  /** A credential is refused, and the device waits for it: until the message is over, unless it is tried again before. */
  refused?: { refusal: ToldRefusal; by: 'the provider' | 'what is known'; reaches: 'others' | 'nobody' };
};

/** The outcome of a device whose messages ended their workers: no request is made for it any more. */
export function setAside({ bucket, id: deviceId, userId, platform }: AudienceDevice): DeviceResult {
  const code = 'SET_ASIDE';
  return {
    delivery: { bucket, deviceId, userId, platform, outcome: 'FAILED', code, ...nothingSent, attempts: 1 },
  };
}

/** The outcome of a recipient on whom this service itself failed; nobody else's is changed by that. */
export function failRecipient(
  { bucket, id: deviceId, userId, platform }: AudienceDevice,
  attempts: number,
): DeviceResult {
  const code = 'RECIPIENT_FAULT';
  return { delivery: { bucket, deviceId, userId, platform, outcome: 'FAILED', code, ...nothingSent, attempts } };
}

const nothingSent = { providerMessageId: null, retryAt: null };

export function goneDevices(
  results: DeviceResult[],
): { bucket: number; deviceId: string; code: string; goneSince: Date }[] {
  return (
    results
      .flatMap(({ delivery, gone }) =>
        gone ? [{ bucket: delivery.bucket, deviceId: delivery.deviceId, ...gone }] : [],
      )
      // One order in every transaction, so that two of them never wait for each other in a circle.
      .sort((a, b) => a.bucket - b.bucket || (a.deviceId < b.deviceId ? -1 : 1))
  );
}

/** Devices whose answers usually mean a dead address, where those of others show that the credential works. */
export function suspectedDevices(
  results: DeviceResult[],
): { bucket: number; userId: string; id: string; code: string }[] {
  return results.flatMap(({ delivery: { bucket, userId, deviceId: id }, suspected }) =>
    suspected?.isHealthy ? [{ bucket, userId, id, code: suspected.code }] : [],
  );
}

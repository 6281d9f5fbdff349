import type { Delivery } from '../../storage/ledger/deliveries.ts';

/** What became of one device, and what the run must learn from it. */
export type DeviceResult = {
  delivery: Delivery;
  gone?: { code: string; goneSince: Date };
  /** The credential is refused: the run pauses with these words. */
  stopReason?: string;
};

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

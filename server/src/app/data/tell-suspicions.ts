import type { DeviceState } from '../../domain/devices/device-state.ts';
import { tellSuspicion } from '../../domain/devices/suspicion.ts';
import type { Suspicion, ToldSuspicion } from '../../domain/devices/suspicion.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import type { Queryable } from '../../storage/database.ts';
import { findRecoveredDevices } from '../../storage/ledger/accepted-devices.ts';

type Device = UserKey & { id: string; state: DeviceState; suspicion: Suspicion | null };

/** The suspicions that still hold, by the id of the device: not of those that accepted a message since. */
export async function tellSuspicions(tx: Queryable, devices: readonly Device[]): Promise<Map<string, ToldSuspicion>> {
  const suspected = devices.flatMap(({ suspicion, ...device }) => (suspicion ? [{ ...device, ...suspicion }] : []));
  const recovered = await findRecoveredDevices(tx, suspected);
  const told = new Map<string, ToldSuspicion>();
  for (const { id, state, ...suspicion } of suspected) {
    const one = tellSuspicion(suspicion, { state, isRecovered: recovered.has(id) });
    if (one) told.set(id, one);
  }
  return told;
}

import type { Transaction } from '../../storage/database.ts';
import { noteSuspectedDevices } from '../../storage/devices/suspected-devices.ts';
import { hasAccepted } from '../../storage/ledger/deliveries.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { suspectedDevices } from './device-result.ts';
import type { DeviceResult } from './device-result.ts';

/**
 * Codes that a bad message or a network without names would cause as well: they count only if somebody else was accepted in
 * the same run.
 */
const needsAccepted = new Set(['INVALID_ARGUMENT', '400', 'HOST_NOT_FOUND']);

/**
 * Counts a send against the devices whose answers usually mean a dead address. In the transaction that stores the outcomes,
 * after the run's counts.
 */
export async function suspectDevices(
  tx: Transaction,
  { run, results, at }: { run: Pick<RunToSend, 'id' | 'workspaceId'>; results: DeviceResult[]; at: Date },
): Promise<void> {
  const suspected = suspectedDevices(results);
  if (suspected.length === 0) return;
  const isReached = !suspected.some(({ code }) => needsAccepted.has(code)) || (await hasAccepted(tx, run.id));
  const devices = isReached ? suspected : suspected.filter(({ code }) => !needsAccepted.has(code));
  await noteSuspectedDevices(tx, { workspaceId: run.workspaceId, devices, at });
}

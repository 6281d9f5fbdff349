import { describeSuspicion } from '../../domain/users/devices.ts';
import type { ReportedSuspicion, DeviceState, Suspicion } from '../../domain/users/devices.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { inSnapshot } from '../../storage/database.ts';
import type { Database, Transaction, Queryable } from '../../storage/database.ts';
import { listSuspectedDevices as listPage, findRecoveredDevices } from '../../storage/devices/suspected-devices.ts';
import type { ListedSuspect, SuspectPlace } from '../../storage/devices/suspected-devices.ts';
import { findCustomerIds } from '../../storage/users/user-records.ts';
import { requireWorkspace } from '../workspaces.ts';

export type SuspectedDevice = Pick<
  ListedSuspect,
  'id' | 'bucket' | 'userId' | 'deviceId' | 'platform' | 'provider' | 'state'
> & { customerId: string; suspicion: ReportedSuspicion };
export type SuspectedDevices = { devices: SuspectedDevice[]; next: SuspectPlace | undefined };
type Question = { workspaceId: string; after: SuspectPlace | undefined };

const perPage = 50;
// Devices that have accepted a message since their last strike are skipped. A page ends after this many reads, even if it is not full.
const maxReads = 10;

/**
 * Lists the suspected devices of a workspace with their users, the latest strike first. A page has at most 50 devices. It may be
 * shorter or even empty, and is the last one only if `next` is undefined.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function listSuspectedDevices(
  { database }: { database: Database },
  { workspaceId, after }: Question,
): Promise<SuspectedDevices> {
  return inSnapshot(database, async (tx) => {
    await requireWorkspace(tx, workspaceId);
    const devices: SuspectedDevice[] = [];
    let place = after;
    for (let read = 1; read <= maxReads; read += 1) {
      const limit = perPage - devices.length;
      const found = await listPage(tx, { workspaceId, after: place, limit: limit + 1 });
      const page = found.slice(0, limit);
      devices.push(...(await presentDevices(tx, { workspaceId, page })));
      const last = page.at(-1);
      if (last) place = { lastAt: last.lastAt, id: last.id };
      if (found.length <= limit) return { devices, next: undefined };
      if (devices.length === perPage) break;
    }
    return { devices, next: place };
  });
}

/** Returns the devices of a page that are still suspected. A device whose user is being erased is not listed. */
async function presentDevices(
  tx: Transaction,
  { workspaceId, page }: { workspaceId: string; page: ListedSuspect[] },
): Promise<SuspectedDevice[]> {
  const rows = page.map(({ code, sends, since, lastAt, ...device }) => {
    return { ...device, suspicion: { code, sends, since, lastAt } };
  });
  const suspicions = await findSuspicions(tx, rows);
  const customerIds = await findCustomerIds(tx, { workspaceId, users: rows });
  return rows.flatMap((device) => {
    const [suspicion, customerId] = [suspicions.get(device.id), customerIds.get(device.userId)];
    return suspicion && customerId !== undefined ? [{ ...device, customerId, suspicion }] : [];
  });
}

type Device = UserKey & { id: string; state: DeviceState; suspicion: Suspicion | null };

/** Returns the suspicions that still apply, by device id. A device that has accepted a message since then has none. */
export async function findSuspicions(
  tx: Queryable,
  devices: readonly Device[],
): Promise<Map<string, ReportedSuspicion>> {
  const suspected = devices.flatMap(({ suspicion, ...device }) => (suspicion ? [{ ...device, ...suspicion }] : []));
  const recovered = await findRecoveredDevices(tx, suspected);
  const reported = new Map<string, ReportedSuspicion>();
  for (const { id, state, ...suspicion } of suspected) {
    const one = describeSuspicion(suspicion, { state, isRecovered: recovered.has(id) });
    if (one) reported.set(id, one);
  }
  return reported;
}

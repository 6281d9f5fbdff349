import type {
  BatchFacts,
  StreamedCampaign,
  StreamedDevice,
  StreamedUser,
} from '../../domain/event-streams/write-event-batch.ts';
import type { StreamedEvent } from '../../domain/event-streams/streamed-event.ts';
import type { Queryable } from '../database.ts';
import { isInBuckets } from '../users/in-buckets.ts';

/**
 * What is known now of the runs, devices and users of at most a hundred events. Indexes: primary keys of runs, campaigns,
 * devices and users.
 */
export async function findBatchFacts(
  tx: Queryable,
  { workspaceId, events }: { workspaceId: string; events: readonly StreamedEvent[] },
): Promise<BatchFacts> {
  const campaigns = await tx<(StreamedCampaign & { runId: string })[]>`
    select runs.id as "runId", campaigns.campaign_id as id, campaigns.name, campaigns.delivery_type as type,
      campaigns.channel
    from runs join campaigns on campaigns.id = runs.campaign_id
    where runs.id = any(${[...new Set(events.map(({ runId }) => runId))]}) and runs.workspace_id = ${workspaceId}`;
  const devices = await findDevices(tx, { workspaceId, events });
  const users = await findUsers(tx, { workspaceId, events, devices });
  return {
    campaignOfRun: new Map(campaigns.map(({ runId, ...campaign }) => [runId, campaign])),
    devices: new Map(devices.map(({ id, ...device }) => [id, device])),
    users: new Map(users.map(({ id, ...user }) => [id, user])),
  };
}

type Of = { workspaceId: string; events: readonly StreamedEvent[] };
type FoundDevice = StreamedDevice & { id: string; bucket: number };

async function findDevices(tx: Queryable, { workspaceId, events }: Of): Promise<FoundDevice[]> {
  const named = events.filter(({ deviceId }) => deviceId !== null);
  if (named.length === 0) return [];
  const isThere = isInBuckets(tx, { column: tx`devices.bucket`, buckets: named.map(({ bucket }) => bucket) });
  return tx<FoundDevice[]>`
    select devices.id, devices.bucket, devices.user_id as "userId", devices.platform, devices.device_id,
      devices.app_id, devices.model, devices.app_version, devices.os_version, devices.locale, devices.push_id
    from devices
    where devices.workspace_id = ${workspaceId} and ${isThere}
      and devices.id = any(${named.map(({ deviceId }) => deviceId)}::text[])`;
}

type FoundUser = StreamedUser & { id: string };

/** A user has the bucket of the event, and of the device. */
async function findUsers(
  tx: Queryable,
  { workspaceId, events, devices }: Of & { devices: readonly FoundDevice[] },
): Promise<FoundUser[]> {
  const named = [...events, ...devices].filter(({ userId }) => userId !== null);
  if (named.length === 0) return [];
  const isThere = isInBuckets(tx, { column: tx`users.bucket`, buckets: named.map(({ bucket }) => bucket) });
  return tx<FoundUser[]>`
    select users.id, users.customer_id as "customerId", users.attributes
    from users
    where users.workspace_id = ${workspaceId} and ${isThere}
      and users.id = any(${[...new Set(named.map(({ userId }) => userId))]}::text[])`;
}

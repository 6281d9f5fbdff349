import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable } from '../database.ts';
import { allBuckets } from '../segments/segment-members.ts';

export type FoundPlaceKind = 'campaign' | 'run' | 'segment' | 'call' | 'key' | 'callback' | 'email';

/** An object that has a screen. `id` is the id in the screen's address; for a run its campaign's id. */
export type FoundPlace = { kind: FoundPlaceKind; id: string; name: string };

type Asked = { workspaceId: string; id: string };

/** Finds any object of a workspace that has this id. Indexes: primary keys. */
export async function findPlacesOfId(tx: Queryable, { workspaceId, id }: Asked): Promise<FoundPlace[]> {
  return tx<FoundPlace[]>`
    select 'campaign' as kind, id, name from campaigns where id = ${id} and workspace_id = ${workspaceId}
    union all
    select 'run', campaigns.id, campaigns.name from runs join campaigns on campaigns.id = runs.campaign_id
      where runs.id = ${id} and runs.workspace_id = ${workspaceId}
    union all
    select 'segment', id, name from segments
      where id = ${id} and workspace_id = ${workspaceId} and campaign_id is null
    union all
    select 'call', id, method || ' ' || path from api_log
      where id = ${id} and (workspace_id = ${workspaceId} or workspace_id is null)
    union all
    select 'key', id, name from api_keys where id = ${id} and workspace_id = ${workspaceId}
    union all
    select 'callback', id, url from callbacks where id = ${id} and workspace_id = ${workspaceId}
    union all
    select 'email', id, subject from mails where id = ${id} and workspace_id = ${workspaceId}`;
}

/** Finds the campaign that a push created or joined, by the `responseId` of the response. Index: primary key. */
export async function findPlaceOfResponse(
  tx: Queryable,
  { workspaceId, responseId }: { workspaceId: string; responseId: string },
): Promise<FoundPlace | undefined> {
  const [row] = await tx<FoundPlace[]>`
    select 'campaign' as kind, campaigns.id, campaigns.name
    from push_requests join campaigns on campaigns.id = push_requests.campaign_id
    where push_requests.response_id = ${responseId}::uuid and push_requests.workspace_id = ${workspaceId}`;
  return row;
}

/**
 * Finds the user of a device by the device's id. The id does not contain the bucket, so every bucket is searched.
 * Index: primary key.
 */
export async function findOwnerOfDevice(
  tx: Queryable,
  { workspaceId, id }: Asked,
): Promise<(UserKey & { deviceId: string }) | undefined> {
  const [row] = await tx<(UserKey & { deviceId: string })[]>`
    select bucket, user_id as "userId", device_id as "deviceId" from devices
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and id = ${id}`;
  return row;
}

/** Returns the day of a run, which is also the day of its ledger rows. Index: primary key. */
export async function findDayOfRun(tx: Queryable, { workspaceId, id }: Asked): Promise<string | undefined> {
  const [row] = await tx<{ day: string }[]>`
    select day::text as day from runs where id = ${id} and workspace_id = ${workspaceId}`;
  return row?.day;
}

/**
 * Lists segments whose name contains a text, ignoring case, newest first. Reads at most the workspace's few thousand.
 * Index: segments_newest.
 */
export async function findSegmentsByName(
  tx: Queryable,
  { workspaceId, text, limit }: { workspaceId: string; text: string; limit: number },
): Promise<FoundPlace[]> {
  return tx<FoundPlace[]>`
    select 'segment' as kind, id, name from segments
    where workspace_id = ${workspaceId} and campaign_id is null and archived_at is null
      and strpos(lower(name), lower(${text})) > 0
    order by created_at desc, id desc
    limit ${limit}`;
}

import { createHash } from 'node:crypto';
import { addressHash } from '../../domain/users/devices.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable } from '../database.ts';
import { eraseJourneysOf } from '../journeys/positions.ts';
import { idBytes, idBytesOf } from '../ledger/ledger-encoding.ts';
import { eraseSeats } from '../runs/audience-seats.ts';
import { eraseTriggersOf } from '../triggers.ts';
import { countOneLess } from './merged-users.ts';

/** The rows of a user: its own, and those merged into it. Each is searched separately, in the shard of its bucket. */
export type User = { workspaceId: string; users: UserKey[] };

/** With a salt for ids that identify no user: equal ids give equal ones. The salt is not kept, so none leads back. */
export type Salted = User & { salt: string };

type Row = UserKey & { workspaceId: string };

/** Processes one row after the other. @returns the sum of the results */
async function sumOverRows({ workspaceId, users }: User, erase: (row: Row) => Promise<number>): Promise<number> {
  let sum = 0;
  for (const user of users) sum += await erase({ workspaceId, ...user });
  return sum;
}

/** Index: identifiers_user. */
export async function eraseIdentifiers(tx: Queryable, user: User): Promise<number> {
  return sumOverRows(user, async (row) => {
    const rows = await tx`
      delete from identifiers
      where workspace_id = ${row.workspaceId} and bucket = ${row.bucket} and user_id = ${row.userId}`;
    return rows.count;
  });
}

type SentMessage = { runNumber: number; deviceId: string };

/**
 * Deletes the devices' reports on the user's messages, wherever the devices were then, and marks each device so that
 * later reports are not kept. Reads the ledger, so call it before eraseDeliveries. The campaigns' figures stay.
 */
export async function eraseInteractions(tx: Queryable, user: User): Promise<number> {
  const { workspaceId } = user;
  const sent: SentMessage[] = [];
  const deviceIds = new Set<string>();
  for (const key of user.users) {
    const row = { workspaceId, ...key };
    for (const message of await listSentMessages(tx, row)) sent.push(message);
    for (const id of await listDeviceIds(tx, row)) deviceIds.add(id);
  }
  for (const { deviceId } of sent) deviceIds.add(deviceId);
  if (deviceIds.size > 0) await markErasedDevices(tx, { workspaceId, deviceIds: [...deviceIds] });
  if (sent.length === 0) return 0;
  const campaigns = await findCampaignsOf(tx, [...new Set(sent.map(({ runNumber }) => runNumber))]);
  const reported = sent.flatMap(({ runNumber, deviceId }) => {
    const campaignId = campaigns.get(runNumber);
    return campaignId === undefined ? [] : [{ campaignId, deviceId }];
  });
  let erased = 0;
  for (const bucket of new Set(user.users.map((key) => key.bucket)))
    erased += await deleteInteractions(tx, { workspaceId, bucket, reported });
  return erased;
}

/** Index: primary key of each day. */
async function listSentMessages(tx: Queryable, row: Row): Promise<SentMessage[]> {
  return tx<SentMessage[]>`
    select distinct run_number as "runNumber", encode(device_id, 'hex') as "deviceId"
    from deliveries
    where bucket = ${row.bucket} and user_id = ${idBytes(row.userId)}`;
}

/** Index: devices (workspace_id, bucket, user_id, device_id). */
async function listDeviceIds(tx: Queryable, row: Row): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from devices
    where workspace_id = ${row.workspaceId} and bucket = ${row.bucket} and user_id = ${row.userId}`;
  return rows.map(({ id }) => id);
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/** In the order of the primary key, so that two erasures never deadlock. */
async function markErasedDevices(
  tx: Queryable,
  { workspaceId, deviceIds }: { workspaceId: string; deviceIds: string[] },
): Promise<void> {
  await tx`
    insert into erased_devices (workspace_id, device_digest)
    select ${workspaceId}, device.digest
    from unnest(${deviceIds.map(digestOf).toSorted(Buffer.compare)}::bytea[]) as device (digest)
    order by device.digest
    on conflict (workspace_id, device_digest) do nothing`;
}

/** Index: runs_number_key. */
async function findCampaignsOf(tx: Queryable, runNumbers: number[]): Promise<Map<number, string>> {
  const rows = await tx<{ number: number; campaignId: string }[]>`
    select number, campaign_id as "campaignId" from runs where number = any(${runNumbers}::bigint[])`;
  return new Map(rows.map(({ number, campaignId }) => [number, campaignId]));
}

/** Index: device_interactions primary key. */
async function deleteInteractions(
  tx: Queryable,
  given: { workspaceId: string; bucket: number; reported: { campaignId: string; deviceId: string }[] },
): Promise<number> {
  const { reported } = given;
  const rows = await tx`
    delete from device_interactions as report
    using unnest(
      ${reported.map(({ campaignId }) => campaignId)}::text[], ${reported.map(({ deviceId }) => deviceId)}::text[]
    ) as sent (campaign_id, device_id)
    where report.workspace_id = ${given.workspaceId} and report.bucket = ${given.bucket}
      and report.campaign_id = sent.campaign_id collate "C" and report.device_id = sent.device_id collate "C"`;
  return rows.count;
}

/** Returns the devices that are or were the user's. Reads the ledger, so call it before anonymiseDeliveries. */
export async function listDevicesOf(tx: Queryable, { workspaceId, users }: User): Promise<string[]> {
  const deviceIds = new Set<string>();
  for (const user of users) {
    const row = { workspaceId, ...user };
    for (const { deviceId } of await listSentMessages(tx, row)) deviceIds.add(deviceId);
    for (const id of await listDeviceIds(tx, row)) deviceIds.add(id);
  }
  return [...deviceIds];
}

type ErasedDevice = { id: string; pushId: string; platform: string };

/** Deletes devices, their claims on addresses, and the inbox messages of simulated devices. */
export async function eraseDevices(
  tx: Queryable,
  user: User,
): Promise<{ devices: number; messages: number; addresses: number }> {
  const { workspaceId } = user;
  const devices: ErasedDevice[] = [];
  for (const key of user.users) devices.push(...(await deleteDevicesOfUser(tx, { workspaceId, ...key })));
  const addresses = await releaseAddresses(tx, { workspaceId, devices });
  return { devices: devices.length, addresses, messages: await deleteSandboxMessages(tx, { workspaceId, devices }) };
}

/** Index: devices (workspace_id, bucket, user_id, device_id). */
async function deleteDevicesOfUser(tx: Queryable, row: Row): Promise<ErasedDevice[]> {
  return tx<ErasedDevice[]>`
    delete from devices
    where workspace_id = ${row.workspaceId} and bucket = ${row.bucket} and user_id = ${row.userId}
    returning id, push_id as "pushId", platform`;
}

/** Index: push_addresses primary key. */
async function releaseAddresses(
  tx: Queryable,
  { workspaceId, devices }: { workspaceId: string; devices: ErasedDevice[] },
): Promise<number> {
  if (devices.length === 0) return 0;
  const rows = await tx`
    delete from push_addresses
    where workspace_id = ${workspaceId} and address_hash = any(${devices.map(({ pushId }) => addressHash(pushId))}::bytea[])
      and device_row_id = any(${devices.map(({ id }) => id)})`;
  return rows.count;
}

/** Tokens have no index; only a sandbox has any messages. */
async function deleteSandboxMessages(
  tx: Queryable,
  { workspaceId, devices }: { workspaceId: string; devices: ErasedDevice[] },
): Promise<number> {
  if (devices.length === 0) return 0;
  const rows = await tx`
    delete from sandbox_messages
    using unnest(${devices.map(({ platform }) => platform)}::text[], ${devices.map(({ pushId }) => pushId)}::text[])
      as erased (platform, push_id)
    where sandbox_messages.workspace_id = ${workspaceId}
      and case when erased.platform = 'WEB'
        -- A simulated subscription's endpoint ends with the token.
        then right(erased.push_id::jsonb ->> 'endpoint', length(sandbox_messages.device_token) + 1)
          = '/' || sandbox_messages.device_token
        else sandbox_messages.device_token = erased.push_id end`;
  return rows.count;
}

/** Index: events_user, in every partition; unattributed_events primary key. */
export async function eraseEvents(tx: Queryable, user: User): Promise<number> {
  return sumOverRows(user, async (row) => {
    const [erased] = await tx<{ events: number }[]>`
      with erased as (
        delete from events
        where workspace_id = ${row.workspaceId} and bucket = ${row.bucket} and user_id = ${row.userId}
        returning id
      ), unattributed as (
        delete from unattributed_events using erased
        where unattributed_events.workspace_id = ${row.workspaceId} and unattributed_events.bucket = ${row.bucket}
          and unattributed_events.event_id = erased.id
      )
      select count(*) as events from erased`;
    return erased!.events;
  });
}

/** Deletes everything that the user's events triggered, or were to trigger. */
export async function eraseTriggers(tx: Queryable, user: User): Promise<number> {
  return sumOverRows(user, (row) => eraseTriggersOf(tx, row));
}

/** Deletes the user's entries in journeys, with their history. The figures stay. */
export async function eraseJourneyEntries(tx: Queryable, user: User): Promise<number> {
  return sumOverRows(user, (row) => eraseJourneysOf(tx, row));
}

/** Deletes memberships, and seats in frozen audiences of runs. Lowers the counts of segments. */
export async function eraseMemberships(tx: Queryable, user: User): Promise<number> {
  return sumOverRows(user, async (row) => {
    const erased = await deleteMemberships(tx, row);
    const present = erased.filter(({ removedIn }) => removedIn === null).map(({ segmentId }) => segmentId);
    if (present.length > 0) await countOneLess(tx, present);
    return erased.length;
  });
}

/** Indexes: runs_frozen; segment_members primary key, one look-up per segment. */
async function deleteMemberships(tx: Queryable, row: Row): Promise<{ segmentId: string; removedIn: number | null }[]> {
  return tx<{ segmentId: string; removedIn: number | null }[]>`
    with audience as materialized (
      select id from segments where workspace_id = ${row.workspaceId}
      union all
      select id from runs
      where workspace_id = ${row.workspaceId} and audience_segment_id = id and audience_dropped_at is null
    )
    delete from segment_members as member using audience
    where member.workspace_id = ${row.workspaceId} and member.bucket = ${row.bucket}
      and member.segment_id = audience.id and member.user_id = ${row.userId}
    returning member.segment_id as "segmentId", member.removed_in as "removedIn"`;
}

/** Replaces the ids of conversions with ids that identify no user; the counts stay. */
export async function anonymiseConversions(tx: Queryable, { salt, ...user }: Salted): Promise<number> {
  return sumOverRows(user, async (row) => {
    const eventIds = await listConvertedEvents(tx, row);
    return eventIds.length === 0 ? 0 : renameConversions(tx, { ...row, salt, eventIds });
  });
}

/** Reads the bucket's part of the primary key. */
async function listConvertedEvents(tx: Queryable, row: Row): Promise<string[]> {
  const rows = await tx<{ eventId: string }[]>`
    select distinct event_id as "eventId" from conversions
    where workspace_id = ${row.workspaceId} and bucket = ${row.bucket} and user_id = ${row.userId}`;
  return rows.map(({ eventId }) => eventId);
}

const nameless = (salt: string, id: string): string =>
  digestOf(salt + id)
    .toString('hex')
    .slice(0, 24);

/**
 * The new ids are computed here, so that the statement is the same on every shard. Reads the bucket's part of the
 * primary key.
 */
async function renameConversions(
  tx: Queryable,
  { salt, eventIds, ...row }: Row & { salt: string; eventIds: string[] },
): Promise<number> {
  const rows = await tx`
    update conversions set user_id = ${nameless(salt, row.userId)}, event_id = renamed.new_id
    from unnest(${eventIds}::text[], ${eventIds.map((id) => nameless(salt, id))}::text[]) as renamed (old_id, new_id)
    where conversions.workspace_id = ${row.workspaceId} and conversions.bucket = ${row.bucket}
      and conversions.user_id = ${row.userId} and conversions.event_id = renamed.old_id collate "C"`;
  return rows.count;
}

/** Replaces the ids in the ledger with ids that identify no user, and deletes the provider's message ids. The rows stay. */
export async function anonymiseDeliveries(tx: Queryable, { salt, ...user }: Salted): Promise<number> {
  return sumOverRows(user, async (row) => {
    const deviceIds = new Set((await listSentMessages(tx, row)).map(({ deviceId }) => deviceId));
    return deviceIds.size === 0 ? 0 : renameDeliveries(tx, { ...row, salt, deviceIds: [...deviceIds] });
  });
}

/** As above. Index: primary key of each day. */
async function renameDeliveries(
  tx: Queryable,
  { salt, deviceIds, ...row }: Row & { salt: string; deviceIds: string[] },
): Promise<number> {
  const rows = await tx`
    update deliveries
    set user_id = ${idBytes(nameless(salt, row.userId))}, device_id = renamed.new_id, provider_message_id = null
    from unnest(
      ${idBytesOf(deviceIds)}::bytea[], ${idBytesOf(deviceIds.map((id) => nameless(salt, id)))}::bytea[]
    ) as renamed (old_id, new_id)
    where deliveries.bucket = ${row.bucket} and deliveries.user_id = ${idBytes(row.userId)}
      and deliveries.device_id = renamed.old_id`;
  return rows.count;
}

/** Deletes the record of recent messages to the user, which caps and delays use. Index: user_messages primary key. */
export async function eraseUserMessages(tx: Queryable, user: User): Promise<number> {
  return sumOverRows(user, async (row) => {
    const rows = await tx`
      delete from user_messages
      where workspace_id = ${row.workspaceId} and bucket = ${row.bucket} and user_id = ${row.userId}`;
    return rows.count;
  });
}

/** Deletes the user's choices of topics. Index: topic_choices primary key. */
export async function eraseTopicChoices(tx: Queryable, user: User): Promise<number> {
  return sumOverRows(user, async (row) => {
    const rows = await tx`
      delete from topic_choices
      where workspace_id = ${row.workspaceId} and bucket = ${row.bucket} and user_id = ${row.userId}`;
    return rows.count;
  });
}

/** Deletes the user's inbox. Contents that are the same for many users stay. Index: inbox_messages primary key. */
export async function eraseInbox(tx: Queryable, user: User): Promise<number> {
  return sumOverRows(user, async (row) => {
    const rows = await tx`
      delete from inbox_messages
      where workspace_id = ${row.workspaceId} and bucket = ${row.bucket} and user_id = ${row.userId}`;
    return rows.count;
  });
}

/** Deletes the user's seats in runs with an audience limit. */
export async function eraseAudienceSeats(tx: Queryable, user: User): Promise<number> {
  return sumOverRows(user, (row) => eraseSeats(tx, row));
}

/**
 * Removes the user from runs to named users. No index contains their lists, so the workspace's runs are read. Index:
 * runs_started.
 */
export async function eraseTargets(tx: Queryable, user: User): Promise<number> {
  const pairs = user.users.map(({ bucket, userId }) => JSON.stringify([[bucket, userId]]));
  const rows = await tx`
    update runs set target_users = (
      select coalesce(jsonb_agg(target), '[]') from jsonb_array_elements(runs.target_users) as target
      where jsonb_build_array(target) <> all(${pairs}::text[]::jsonb[])
    )
    where workspace_id = ${user.workspaceId} and started_at is not null
      and target_users @> any(${pairs}::text[]::jsonb[])`;
  return rows.count;
}

/** Removes the user's id from audit lines: they still show the action. Index: audit_log_object. */
export async function anonymiseAuditLines(tx: Queryable, user: User): Promise<number> {
  const rows = await tx`
    update audit_log set object_id = null
    where workspace_id = ${user.workspaceId} and object_kind = 'person'
      and object_id = any(${user.users.map(({ userId }) => userId)})`;
  return rows.count;
}

/** Deletes the user, and the customer ids that were merged into it. */
export async function eraseUsers(tx: Queryable, user: User): Promise<{ users: number; mergedIds: number }> {
  const mergedIds = await sumOverRows(user, (row) => deleteMergedIds(tx, row));
  const users = await sumOverRows(user, (row) => deleteUserRow(tx, row));
  return { users, mergedIds };
}

/** They are in the buckets of their own names. Index: merged_users_retained. */
async function deleteMergedIds(tx: Queryable, row: Row): Promise<number> {
  const rows = await tx`
    delete from merged_users
    where workspace_id = ${row.workspaceId} and retained_bucket = ${row.bucket} and retained_user_id = ${row.userId}`;
  return rows.count;
}

/** Index: users primary key. */
async function deleteUserRow(tx: Queryable, row: Row): Promise<number> {
  const rows = await tx`
    delete from users
    where workspace_id = ${row.workspaceId} and bucket = ${row.bucket} and id = ${row.userId}`;
  return rows.count;
}

import type { UserKey } from '../../domain/users/bucket.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import type { Fragment, Queryable } from '../database.ts';
import { idBytes } from '../ledger/ledger-bytes.ts';
import { outcomeWord, platformWord } from '../ledger/ledger-words.ts';

export const timelineEntryKinds = [
  'EVENT',
  'MESSAGE',
  'IMPRESSION',
  'CLICK',
  'CLOSE',
  'DEVICE_REGISTERED',
  'DEVICE_BLOCKED',
  'DEVICE_GONE',
  'CHANGED',
  'MERGED',
  'CREATED',
] as const;
export type TimelineEntryKind = (typeof timelineEntryKinds)[number];

export type TimelineEntry = {
  /** With all of its microseconds, for the next page. */
  place: string;
  /** Names the moment among those of one instant. */
  key: string;
  at: Date;
  kind: TimelineEntryKind;
  /** Of an event, a campaign, an action of the console, or the customer id that was merged. */
  name: string | null;
  campaignId: string | null;
  /** The app's name of the device; null when none is concerned or it is there no more. */
  deviceId: string | null;
  platform: Platform | null;
  /** What became of a message, and its code. */
  outcome: string | null;
  code: string | null;
  /** Attributes of an event, the button of a click, what a change was about. */
  detail: Record<string, unknown>;
};

export type TimelinePosition = { place: string; key: string };

type TimelinePage = UserKey & { workspaceId: string; after: TimelinePosition | undefined; limit: number };

/**
 * What happened to a person and what was done, newest first. Each source gives its newest rows after the place in the order
 * of its index, so that a page costs the same wherever it is. Events are sought in the days that are kept. What lies in
 * the person's bucket is gathered before campaigns are named, because it lies in one shard. Indexes: events_user,
 * deliveries_pkey of each day, device_interactions_device, audit_log_object; devices of a user,
 * merged_users_retained, users primary key.
 */
export async function listTimelineEntries(tx: Queryable, page: TimelinePage): Promise<TimelineEntry[]> {
  const { workspaceId, bucket, userId, limit, after } = page;
  return tx<TimelineEntry[]>`
    with stored as materialized (${entriesOfBucket(tx, page)}), merged as materialized (
      select merged_at as at, ('g' || customer_id) collate "C" as key, customer_id from merged_users
      where workspace_id = ${workspaceId} and retained_bucket = ${bucket} and retained_user_id = ${userId}
    ), entries as (
      select stored.at, stored.key, stored.kind, coalesce(stored.name, campaigns.name) as name,
        campaigns.id as campaign_id, stored.device_id, stored.platform, stored.outcome, stored.code, stored.detail
      from stored
      left join runs on runs.number = stored.run_number
      left join campaigns on campaigns.id = coalesce(stored.campaign_id, runs.campaign_id)
      union all
      (select coalesce(shown_at, at), ('a' || id) collate "C", 'CHANGED', action, null, null, null, null, null,
        detail || jsonb_build_object('by', actor_name)
      from audit_log where workspace_id = ${workspaceId} and object_kind = 'person' and object_id = ${userId}
        ${newestAfter(tx, { page, at: tx`coalesce(shown_at, at)`, key: tx`('a' || id) collate "C"` })})
      union all
      select at, key, 'MERGED', customer_id, null, null, null, null, null, '{}' from merged
    )
    select to_char(entries.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place, entries.key, entries.at,
      entries.kind, entries.name, entries.campaign_id as "campaignId", entries.device_id as "deviceId", entries.platform,
      entries.outcome, entries.code, entries.detail
    from entries
    ${after ? tx`where (entries.at, entries.key) < (${after.place}::timestamptz, ${after.key} collate "C")` : tx``}
    order by entries.at desc, entries.key desc
    limit ${limit}`;
}

/** Rows of a source after the place; `at` must be what the index holds, alone. */
function newestAfter(tx: Queryable, { page, at, key }: { page: TimelinePage; at: Fragment; key: Fragment }): Fragment {
  const { after, limit } = page;
  const isAfter = after
    ? tx`and ${at} <= ${after.place}::timestamptz and (${at}, ${key}) < (${after.place}::timestamptz, ${after.key})`
    : tx``;
  return tx`${isAfter} order by ${at} desc, ${key} desc limit ${limit}`;
}

/** Of all that lies in the person's bucket the newest, with the app's names of the devices. */
function entriesOfBucket(tx: Queryable, page: TimelinePage): Fragment {
  const { workspaceId, bucket, userId, limit, after } = page;
  const ofUser = tx`workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId}`;
  const newest = (at: Fragment, key: Fragment) => newestAfter(tx, { page, at, key });
  const message = tx`('m' || lpad(run_number::text, 19, '0') || encode(device_id, 'hex')) collate "C"`;
  return tx`
    with owned as materialized (
      select id, device_id, platform, registered_at, blocked_at, gone_at, gone_reason, block_reason from devices
      where ${ofUser}
    ), entry as (
      (select occurred_at as at, ('e' || id) collate "C" as key, 'EVENT' as kind, name,
        null::bigint as run_number, null as campaign_id, device_row_id as device, platform, null as outcome, null as code, attributes as detail
      from events where ${ofUser} ${newest(tx`occurred_at`, tx`('e' || id) collate "C"`)})
      union all
      (select sent_at, ${message}, 'MESSAGE', null, run_number, null, encode(device_id, 'hex'),
        ${platformWord(tx, tx`platform`)}, ${outcomeWord(tx, tx`outcome`)}, code, '{}'::jsonb
      from deliveries where bucket = ${bucket} and user_id = ${idBytes(userId)} ${newest(tx`sent_at`, message)})
      union all
      select reported.first_at, reported.key, reported.kind, null, null, reported.campaign_id, owned.id,
        reported.platform, null, null,
        jsonb_strip_nulls(jsonb_build_object('count', reported.count, 'action', reported.action,
          'lowered', nullif(reported.lowered, false)))
      from owned, lateral (
        select first_at, ('i' || run_id || device_id || kind) collate "C" as key, kind, campaign_id, platform, count, action, lowered
        from device_interactions as report
        where workspace_id = ${workspaceId} and bucket = ${bucket} and device_id = owned.id
          ${newest(tx`first_at`, tx`('i' || run_id || device_id || kind) collate "C"`)}
      ) as reported
      union all
      select given.at, ('d' || given.kind || owned.id) collate "C", given.kind, null, null, null, owned.id,
        owned.platform, null, given.code, '{}'
      from owned, lateral (values ('DEVICE_REGISTERED', registered_at, null), ('DEVICE_BLOCKED', blocked_at, block_reason),
        ('DEVICE_GONE', gone_at, gone_reason)) as given (kind, at, code)
      where given.at is not null
      union all
      select created_at, 'c' collate "C", 'CREATED', null, null, null, null, null, null, null, '{}'
      from users where workspace_id = ${workspaceId} and bucket = ${bucket} and id = ${userId}
    )
    select entry.at, entry.key, entry.kind, entry.name, entry.run_number, entry.campaign_id, devices.device_id, entry.platform,
      entry.outcome, entry.code, entry.detail
    from entry
    left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = ${bucket}
      and devices.id = entry.device collate "C"
    ${after ? tx`where (entry.at, entry.key) < (${after.place}::timestamptz, ${after.key} collate "C")` : tx``}
    order by entry.at desc, entry.key desc
    limit ${limit}`;
}

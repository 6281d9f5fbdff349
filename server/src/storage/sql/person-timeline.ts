import type { Platform } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';
import type { UserKey } from './users.ts';

export const momentKinds = [
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
export type MomentKind = (typeof momentKinds)[number];

export type Moment = {
  /** With all of its microseconds, for the next page. */
  place: string;
  /** Names the moment among those of one instant. */
  key: string;
  at: Date;
  kind: MomentKind;
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

export type MomentPlace = { place: string; key: string };

type TimelinePage = UserKey & { workspaceId: string; after: MomentPlace | undefined; limit: number };

/**
 * What happened to a person and what was done, newest first. Each source gives its newest rows after the place in the order
 * of its index, so that a page costs the same wherever it is. Events are sought in the days that are kept. Indexes:
 * events_user, deliveries_user, deliveries_user_other, device_interactions_device, audit_log_object; devices of a user,
 * merged_users_retained, users primary key.
 */
export async function listPersonMoments(tx: Queryable, page: TimelinePage): Promise<Moment[]> {
  const { workspaceId, bucket, userId, limit, after } = page;
  const ofPerson = tx`workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId}`;
  /** Rows of a source after the place; `at` must be the indexed column alone. */
  const newest = (at: ReturnType<Queryable>, key: ReturnType<Queryable>) => tx`
    ${after ? tx`and ${at} <= ${after.place}::timestamptz and (${at}, ${key}) < (${after.place}::timestamptz, ${after.key})` : tx``}
    order by ${at} desc, ${key} desc limit ${limit}`;
  const messages = (outcomes: ReturnType<Queryable>) => tx`
    (select sent_at as at, ('m' || run_id || device_id) collate "C" as key, 'MESSAGE' as kind, run_id, device_id, platform,
      outcome, code
    from deliveries where ${ofPerson} and ${outcomes}
      ${newest(tx`sent_at`, tx`('m' || run_id || device_id) collate "C"`)})`;
  const devices = tx`
    (select id, device_id, platform, registered_at, blocked_at, gone_at, gone_reason, block_reason from devices
    where ${ofPerson})`;
  return tx<Moment[]>`
    with owned as materialized (${devices}), moments as (
      (select occurred_at as at, ('e' || id) collate "C" as key, 'EVENT' as kind, name, null as campaign_id,
        device_row_id as device, platform, null as outcome, null as code, attributes as detail
      from events where ${ofPerson} ${newest(tx`occurred_at`, tx`('e' || id) collate "C"`)})
      union all
      select sent.at, sent.key, sent.kind, campaigns.name, campaigns.id, sent.device_id, sent.platform, sent.outcome,
        sent.code, '{}'
      from (${messages(tx`outcome = 'ACCEPTED'`)} union all ${messages(tx`outcome <> 'ACCEPTED'`)}) as sent
      join runs on runs.id = sent.run_id
      join campaigns on campaigns.id = runs.campaign_id
      union all
      select reported.first_at, reported.key, reported.kind, campaigns.name, campaigns.id, reported.device_id,
        reported.platform, null, null,
        jsonb_strip_nulls(jsonb_build_object('count', reported.count, 'action', reported.action))
      from owned, lateral (
        select first_at, ('i' || run_id || device_id || kind) collate "C" as key, kind, campaign_id, device_id, platform,
          count, action
        from device_interactions as report
        where workspace_id = ${workspaceId} and bucket = ${bucket} and device_id = owned.id
          ${newest(tx`first_at`, tx`('i' || run_id || device_id || kind) collate "C"`)}
      ) as reported
      join campaigns on campaigns.id = reported.campaign_id
      union all
      select given.at, ('d' || given.kind || owned.id) collate "C", given.kind, null, null, owned.id, owned.platform, null,
        given.code, '{}'
      from owned, lateral (values ('DEVICE_REGISTERED', registered_at, null), ('DEVICE_BLOCKED', blocked_at, block_reason),
        ('DEVICE_GONE', gone_at, gone_reason)) as given (kind, at, code)
      where given.at is not null
      union all
      (select at, ('a' || id) collate "C", 'CHANGED', action, null, null, null, null, null,
        detail || jsonb_build_object('by', actor_name)
      from audit_log where workspace_id = ${workspaceId} and object_kind = 'person' and object_id = ${userId}
        ${newest(tx`at`, tx`('a' || id) collate "C"`)})
      union all
      select merged_at, ('g' || customer_id) collate "C", 'MERGED', customer_id, null, null, null, null, null, '{}'
      from merged_users
      where workspace_id = ${workspaceId} and retained_bucket = ${bucket} and retained_user_id = ${userId}
      union all
      select created_at, 'c' collate "C", 'CREATED', null, null, null, null, null, null, '{}'
      from users where workspace_id = ${workspaceId} and bucket = ${bucket} and id = ${userId}
    )
    select to_char(moments.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place, moments.key, moments.at,
      moments.kind, moments.name, moments.campaign_id as "campaignId", devices.device_id as "deviceId", moments.platform,
      moments.outcome, moments.code, moments.detail
    from moments
    left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = ${bucket}
      and devices.id = moments.device collate "C"
    ${after ? tx`where (moments.at, moments.key) < (${after.place}::timestamptz, ${after.key} collate "C")` : tx``}
    order by moments.at desc, moments.key desc
    limit ${limit}`;
}

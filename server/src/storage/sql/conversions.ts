import type { Platform } from '../../domain/campaign/content.ts';
import type { ConversionGoal } from '../../domain/campaign/conversion-goal.ts';
import type { Queryable } from '../pool.ts';
import type { TakenEvent } from './events.ts';

/** An event, and a campaign that reached its user in time and counts events of this name. */
export type ReachedEvent = {
  eventId: string;
  workspaceId: string;
  bucket: number;
  userId: string;
  name: string;
  attributes: Record<string, unknown>;
  occurredAt: Date;
  campaignId: string;
  goals: ConversionGoal[];
  /** Of the newest accepted delivery. */
  runId: string;
  platform: Platform;
};

/**
 * The campaigns that may claim each event: those whose message a provider accepted for the user at most `windowHours`
 * before it. One row per event and campaign, with the newest of these deliveries. A run may have been made days before it
 * sent, so every partition of the ledger is looked into, by index. Indexes: events primary key, deliveries_user, runs and
 * campaigns primary keys.
 */
export async function findReachedEvents(
  tx: Queryable,
  { taken, windowHours }: { taken: TakenEvent[]; windowHours: number },
): Promise<ReachedEvent[]> {
  return tx<ReachedEvent[]>`
    select distinct on (events.id, campaigns.id)
      events.id as "eventId", events.workspace_id as "workspaceId", events.bucket, events.user_id as "userId",
      events.name, events.attributes, events.occurred_at as "occurredAt", campaigns.id as "campaignId",
      campaigns.conversion_goals as goals, deliveries.run_id as "runId", deliveries.platform
    from unnest(
      ${taken.map((event) => event.day)}::date[], ${taken.map((event) => event.workspaceId)}::text[],
      ${taken.map((event) => event.bucket)}::smallint[], ${taken.map((event) => event.eventId)}::text[]
    ) as taken (day, workspace_id, bucket, event_id)
    join events on events.day = taken.day and events.workspace_id = taken.workspace_id collate "C"
      and events.bucket = taken.bucket and events.id = taken.event_id collate "C"
    join deliveries on deliveries.workspace_id = events.workspace_id and deliveries.bucket = events.bucket
      and deliveries.user_id = events.user_id and deliveries.outcome = 'ACCEPTED'
      and deliveries.sent_at between events.occurred_at - ${windowHours}::int * interval '1 hour' and events.occurred_at
    join runs on runs.id = deliveries.run_id
    join campaigns on campaigns.id = runs.campaign_id
      and campaigns.conversion_goals @> jsonb_build_array(jsonb_build_object('eventName', events.name))
    order by events.id, campaigns.id, deliveries.sent_at desc, deliveries.run_id desc, deliveries.device_id`;
}

export type Conversion = Omit<ReachedEvent, 'name' | 'attributes' | 'goals'> & {
  /** Its place in the campaign's goals. */
  goal: number;
};

/**
 * Inserts conversions, in one statement; one that is there already stays as it is. Rows in the order of the key, so that
 * two transactions never wait in a circle. Index: primary key.
 */
export async function insertConversions(tx: Queryable, conversions: Conversion[]): Promise<void> {
  if (conversions.length === 0) return;
  await tx`
    insert into conversions (
      workspace_id, bucket, campaign_id, goal, event_id, user_id, run_id, platform, occurred_at
    )
    select workspace_id, bucket, campaign_id, goal, event_id, user_id, run_id, platform, occurred_at
    from unnest(
      ${conversions.map((row) => row.workspaceId)}::text[], ${conversions.map((row) => row.bucket)}::smallint[],
      ${conversions.map((row) => row.campaignId)}::text[], ${conversions.map((row) => row.goal)}::smallint[],
      ${conversions.map((row) => row.eventId)}::text[], ${conversions.map((row) => row.userId)}::text[],
      ${conversions.map((row) => row.runId)}::text[], ${conversions.map((row) => row.platform)}::text[],
      ${conversions.map((row) => row.occurredAt.toISOString())}::timestamptz[]
    ) as conversion (workspace_id, bucket, campaign_id, goal, event_id, user_id, run_id, platform, occurred_at)
    order by workspace_id collate "C", bucket, campaign_id collate "C", goal, event_id collate "C"
    on conflict (workspace_id, bucket, campaign_id, goal, event_id) do nothing`;
}

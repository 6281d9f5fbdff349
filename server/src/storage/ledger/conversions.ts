import type { AttributionType } from '../../domain/campaigns/attribution.ts';
import type { Queryable } from '../database.ts';
import type { MessageOfEvent } from './reached-events.ts';

type OfMessage =
  'eventId' | 'workspaceId' | 'bucket' | 'userId' | 'occurredAt' | 'campaignId' | 'runId' | 'platform' | 'reach';

/** An event that counts for a goal of a campaign, by one of its messages. */
export type Conversion = Pick<MessageOfEvent, OfMessage | 'variation' | 'locale' | 'learnsBy'> & {
  attribution: AttributionType;
  /** Its place in the campaign's goals. */
  goal: number;
  /** What the event brought; null where that is not known. */
  revenue: number | null;
};

/**
 * Inserts conversions, in one statement; one that is there already stays as it is. Rows in the order of the key, so that
 * two transactions never wait in a circle. Index: primary key.
 */
export async function insertConversions(tx: Queryable, conversions: Conversion[]): Promise<void> {
  if (conversions.length === 0) return;
  await tx`
    insert into conversions (
      workspace_id, bucket, campaign_id, goal, event_id, attribution, user_id, run_id, platform, reach, variation,
      locale, occurred_at, revenue
    )
    select workspace_id, bucket, campaign_id, goal, event_id, attribution, user_id, run_id, platform, reach, variation,
      locale, occurred_at, revenue
    from unnest(
      ${conversions.map((row) => row.workspaceId)}::text[], ${conversions.map((row) => row.bucket)}::smallint[],
      ${conversions.map((row) => row.campaignId)}::text[], ${conversions.map((row) => row.goal)}::smallint[],
      ${conversions.map((row) => row.eventId)}::text[], ${conversions.map((row) => row.attribution)}::text[],
      ${conversions.map((row) => row.userId)}::text[],
      ${conversions.map((row) => row.runId)}::text[], ${conversions.map((row) => row.platform)}::text[],
      ${conversions.map((row) => row.reach)}::text[], ${conversions.map((row) => row.variation)}::smallint[],
      ${conversions.map((row) => row.locale)}::text[],
      ${conversions.map((row) => row.occurredAt.toISOString())}::timestamptz[],
      ${conversions.map((row) => row.revenue)}::numeric[]
    ) as conversion (
      workspace_id, bucket, campaign_id, goal, event_id, attribution, user_id, run_id, platform, reach, variation,
      locale, occurred_at, revenue
    )
    order by workspace_id collate "C", bucket, campaign_id collate "C", goal, event_id collate "C", attribution
    on conflict (workspace_id, bucket, campaign_id, goal, event_id, attribution) do nothing`;
}

export type ConvertedUser = Pick<Conversion, 'workspaceId' | 'bucket' | 'campaignId' | 'goal' | 'runId' | 'userId'>;

/**
 * Those of the conversions whose user fulfilled the goal before, in the same run: each a user, a run and a goal. Index:
 * conversions_campaign.
 */
export async function findConvertedUsers(
  tx: Queryable,
  conversions: readonly ConvertedUser[],
): Promise<ConvertedUser[]> {
  if (conversions.length === 0) return [];
  return tx<ConvertedUser[]>`
    select distinct conversions.workspace_id as "workspaceId", conversions.bucket, conversions.campaign_id as "campaignId",
      conversions.goal, conversions.run_id as "runId", conversions.user_id as "userId"
    from unnest(
      ${conversions.map((row) => row.workspaceId)}::text[], ${conversions.map((row) => row.bucket)}::smallint[],
      ${conversions.map((row) => row.campaignId)}::text[], ${conversions.map((row) => row.goal)}::smallint[],
      ${conversions.map((row) => row.runId)}::text[], ${conversions.map((row) => row.userId)}::text[]
    ) as given (workspace_id, bucket, campaign_id, goal, run_id, user_id)
    join conversions on conversions.workspace_id = given.workspace_id collate "C"
      and conversions.bucket = given.bucket and conversions.campaign_id = given.campaign_id collate "C"
      and conversions.goal = given.goal and conversions.run_id = given.run_id collate "C"
      and conversions.user_id = given.user_id collate "C" and conversions.attribution = 'TOTAL_CONVERSIONS'`;
}

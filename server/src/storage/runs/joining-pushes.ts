import type { CampaignContent } from '../../domain/campaigns/content.ts';
import { sendWithReceipt } from '../database.ts';
import type { Database } from '../database.ts';

export type JoiningPush = {
  runId: string;
  responseId: string;
  requestId: string;
  workspaceId: string;
  campaignId: string;
  /** At least one. */
  targetUsers: [bucket: number, userId: string][];
  content: CampaignContent;
  audienceBound: string;
  at: Date;
  sendUntil: Date;
};

/**
 * Stores requests that join campaigns which are sending: runs to named users with a chunk each, and what was promised to the
 * callers. All in one statement with its receipt, and so in one round trip: what costs is the message and the statement, not
 * the row. The campaigns are locked for sharing in the order of their ids, as `joinCampaigns` does; requests of one that does
 * not send store nothing here. Indexes: campaigns primary key.
 *
 * @returns the ids of the campaigns whose requests are stored
 */
export async function joinSendingCampaigns(
  database: Database,
  pushes: readonly JoiningPush[],
): Promise<ReadonlySet<string>> {
  const runIds = pushes.map(({ runId }) => runId);
  const rows = await sendWithReceipt<{ campaignId: string }[]>(database, {
    statement: ({ poolId, number }) => database`
      with receipt as (
        insert into transaction_receipts (pool_id, number, is_stored) values (${poolId}, ${number}, true)
      ), joined as materialized (
        select id from campaigns
        where id = any(${[...new Set(pushes.map(({ campaignId }) => campaignId))]}::text[]) and status = 'SENDING'
        order by id for share
      ), asked as materialized (
        select asked.*
        from unnest(
          ${runIds}::text[], ${pushes.map(({ workspaceId }) => workspaceId)}::text[],
          ${pushes.map(({ campaignId }) => campaignId)}::text[], ${pushes.map(({ content }) => JSON.stringify(content))}::text[],
          ${pushes.map(({ targetUsers }) => JSON.stringify(targetUsers))}::text[],
          ${pushes.map(({ targetUsers }) => targetUsers.length)}::int[],
          ${pushes.map(({ audienceBound }) => audienceBound)}::text[], ${pushes.map(({ at }) => at)}::timestamptz[],
          ${pushes.map(({ sendUntil }) => sendUntil)}::timestamptz[], ${pushes.map(({ responseId }) => responseId)}::uuid[],
          ${pushes.map(({ requestId }) => requestId)}::text[]
        ) as asked (
          run_id, workspace_id, campaign_id, content, target_users, users, audience_bound, at, send_until, response_id, request_id
        )
        join joined on joined.id = asked.campaign_id collate "C"
      ), run as (
        insert into runs (
          id, workspace_id, campaign_id, lane, status, content, target_users, audience_bound, audience_users, day, send_until,
          created_at, started_at
        )
        select run_id, workspace_id, campaign_id, 0, 'SENDING', content::jsonb, target_users::jsonb, audience_bound, users,
          (at at time zone 'UTC')::date, send_until, at, at
        from asked
      ), chunk as (
        insert into chunks (run_id, number, workspace_id, lane, bucket_from, bucket_to, state, not_before, created_at)
        select run_id, 0, workspace_id, 0, 0, 255, 'READY', at, at from asked
      ), promise as (
        insert into push_requests (response_id, workspace_id, request_id, campaign_id, run_id, received_at)
        select response_id, workspace_id, request_id, campaign_id, run_id, at from asked
      )
      select id as "campaignId" from joined`,
    readBack: () => database`select distinct campaign_id as "campaignId" from runs where id = any(${runIds}::text[])`,
  });
  return new Set(rows.map(({ campaignId }) => campaignId));
}

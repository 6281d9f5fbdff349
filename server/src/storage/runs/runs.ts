import type { CampaignDeliveryType } from '../../domain/campaigns/campaign.ts';
import type { CampaignContent, Platform } from '../../domain/content/content.ts';
import type { UserSelector } from '../../domain/push.ts';
import type { StoredTiming } from '../../domain/timing/timing.ts';
import type { Queryable } from '../database.ts';
import { insertChunks } from './chunks.ts';

/** A run to all users or a segment: queued until a worker freezes its audience. */
export type QueuedRun = {
  id: string;
  workspaceId: string;
  campaignId: string;
  /** The scheduled occurrence it is for; undefined for a request that is sent at once. */
  occurrence?: Date;
  at: Date;
  sendUntil: Date;
  /** The business event that started it. */
  businessEvent?: { event: string; attributes: Record<string, unknown>; triggeredBy: string };
};

/** A run to named users that are already resolved: it is sent at once. Without users it ends immediately. */
export type TargetedRun = QueuedRun & {
  targetUsers: [bucket: number, userId: string][];
  /** The request's own content, when it differs from the campaign's. */
  content: CampaignContent | undefined;
  audienceBound: string;
  /** A test of a campaign (fact 6.1). */
  isTest?: boolean;
  /** The claim of a node that sends the run as soon as it is stored. */
  claim?: StoredClaim | undefined;
};

export type StoredClaim = { owner: string; leaseUntil: Date };

/** A run that waits for the campaign's next occurrence: its request joined a scheduled campaign. */
export type WaitingRun = QueuedRun & { dueAt: Date; targetSelector: UserSelector; content: CampaignContent };

/** A scheduled occurrence that sent nothing. */
export type EndedRun = Omit<QueuedRun, 'sendUntil'> & { occurrence: Date; status: 'MISSED' | 'FAILED'; reason: string };

/** Inserts queued runs, in one statement. An occurrence that already has a run keeps it. Index: runs_moment. */
export async function insertQueuedRuns(tx: Queryable, runs: QueuedRun[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map((run) => ({
    id: run.id,
    workspace_id: run.workspaceId,
    campaign_id: run.campaignId,
    moment: run.occurrence ?? null,
    lane: 1,
    status: 'QUEUED',
    day: utcDay(run.at),
    send_until: run.sendUntil,
    created_at: run.at,
    business_event: run.businessEvent === undefined ? null : tx.json(run.businessEvent),
  }));
  await tx`
    insert into runs ${tx(rows)} on conflict (campaign_id, moment) where moment is not null do nothing`;
}

/**
 * Inserts runs to named users with one chunk each, in one statement; a run without users has no chunk. An occurrence
 * that already has a run keeps it. Passes lists, so that the SQL text is the same for any number of rows and is planned
 * once. Index: runs_moment.
 */
export async function insertTargetedRuns(tx: Queryable, runs: TargetedRun[]): Promise<void> {
  if (runs.length === 0) return;
  await tx`
    with asked as materialized (
      select * from unnest(
        ${runs.map(({ id }) => id)}::text[], ${runs.map(({ workspaceId }) => workspaceId)}::text[],
        ${runs.map(({ campaignId }) => campaignId)}::text[], ${runs.map(({ occurrence }) => occurrence ?? null)}::timestamptz[],
        ${runs.map(({ content }) => (content === undefined ? null : JSON.stringify(content)))}::text[],
        ${runs.map(({ targetUsers }) => JSON.stringify(targetUsers))}::text[],
        ${runs.map(({ audienceBound }) => audienceBound)}::text[],
        ${runs.map(({ targetUsers }) => targetUsers.length)}::int[], ${runs.map(({ at }) => at)}::timestamptz[],
        ${runs.map(({ sendUntil }) => sendUntil)}::timestamptz[], ${runs.map(({ isTest }) => isTest ?? false)}::boolean[],
        ${runs.map(({ claim }) => claim?.owner ?? null)}::text[], ${runs.map(({ claim }) => claim?.leaseUntil ?? null)}::timestamptz[]
      ) as asked (
        id, workspace_id, campaign_id, moment, content, target_users, audience_bound, users, at, send_until, is_test, owner,
        lease_until
      )
    ), inserted as (
      insert into runs (
        id, workspace_id, campaign_id, moment, lane, status, content, target_users, audience_bound, audience_users, day,
        send_until, created_at, started_at, ended_at, is_test
      )
      select id, workspace_id, campaign_id, moment, 0, case when users = 0 then 'SENT' else 'SENDING' end, content::jsonb,
        target_users::jsonb, audience_bound, users, (at at time zone 'UTC')::date, send_until, at, at,
        case when users = 0 then at end, is_test
      from asked
      on conflict (campaign_id, moment) where moment is not null do nothing
      returning id
    )
    insert into chunks (
      run_id, number, workspace_id, lane, bucket_from, bucket_to, state, owner, attempt, lease_until, not_before, created_at
    )
    select asked.id, 0, workspace_id, 0, 0, 255, case when owner is null then 'READY' else 'CLAIMED' end, owner,
      (owner is not null)::int, lease_until, at, at
    from asked join inserted on inserted.id = asked.id collate "C"
    where users > 0`;
}

/** Inserts runs that wait for their campaign's next occurrence, in one statement. */
export async function insertWaitingRuns(tx: Queryable, runs: WaitingRun[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map((run) => ({
    id: run.id,
    workspace_id: run.workspaceId,
    campaign_id: run.campaignId,
    lane: 0,
    status: 'QUEUED',
    content: tx.json(run.content),
    target_selector: tx.json(run.targetSelector),
    due_at: run.dueAt,
    day: utcDay(run.at),
    send_until: run.sendUntil,
    created_at: run.at,
  }));
  await tx`insert into runs ${tx(rows)}`;
}

/**
 * Inserts runs for occurrences that sent nothing, in one statement. An occurrence that already has a run keeps it.
 * Index: runs_moment.
 */
export async function insertEndedRuns(tx: Queryable, runs: EndedRun[]): Promise<void> {
  if (runs.length === 0) return;
  // Downtime may leave thousands: passes lists, because a statement accepts 65,535 parameters.
  await tx`
    insert into runs (
      id, workspace_id, campaign_id, moment, lane, status, status_reason, day, send_until, created_at, ended_at
    )
    select ended.id, ended.workspace_id, ended.campaign_id, ended.moment, 1, ended.status, ended.reason,
      (ended.at at time zone 'UTC')::date, ended.at, ended.at, ended.at
    from unnest(
      ${runs.map((run) => run.id)}::text[], ${runs.map((run) => run.workspaceId)}::text[],
      ${runs.map((run) => run.campaignId)}::text[], ${runs.map((run) => run.occurrence.toISOString())}::timestamptz[],
      ${runs.map((run) => run.status)}::text[], ${runs.map((run) => run.reason)}::text[],
      ${runs.map((run) => run.at.toISOString())}::timestamptz[]
    ) as ended (id, workspace_id, campaign_id, moment, status, reason, at)
    on conflict (campaign_id, moment) where moment is not null do nothing`;
}

/** Returns the day whose partition of the ledger a run writes to. @returns YYYY-MM-DD */
export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** Counts runs that are under way or paused, per platform they are sent to. Indexes: runs_sending, runs_paused. */
export async function countRunsOfPlatforms(
  tx: Queryable,
  workspaceId: string,
): Promise<{ platform: Platform; runs: number }[]> {
  return tx<{ platform: Platform; runs: number }[]>`
    select platform, count(*) as runs
    from (
      (select campaign_id from runs
        where workspace_id = ${workspaceId} and lane = 1 and status in ('QUEUED', 'SENDING') limit 10000)
      union all
      (select campaign_id from runs where workspace_id = ${workspaceId} and status = 'PAUSED' limit 10000)
    ) as open
    join campaigns on campaigns.id = open.campaign_id
    cross join lateral unnest(campaigns.platforms) as platform
    group by platform`;
}

/** A scheduled campaign that is due. */
export type DueCampaign = {
  id: string;
  workspaceId: string;
  deliveryType: CampaignDeliveryType;
  timing: StoredTiming;
  /** Audience `USER` only. */
  targetSelector: UserSelector | null;
  settings: Record<string, unknown>;
  nextAt: Date;
};

/**
 * Locks at most `limit` campaigns that are due, longest overdue first; those that another node is firing are skipped.
 * The caller's transaction holds the lock until it has inserted their runs and moved `next_at`. Index: campaigns_due.
 */
export async function lockDueCampaigns(
  tx: Queryable,
  { at, except, limit }: { at: Date; except: readonly string[]; limit: number },
): Promise<DueCampaign[]> {
  return tx<DueCampaign[]>`
    select id, workspace_id as "workspaceId", delivery_type as "deliveryType", timing,
      target_selector as "targetSelector", settings, next_at as "nextAt"
    from campaigns
    where next_at <= ${at} and status in ('SCHEDULED', 'ACTIVE') and id <> all (${[...except]})
    order by next_at
    limit ${limit}
    for update skip locked`;
}

export type AdvancedCampaign = {
  id: string;
  status: 'SENDING' | 'FAILED' | 'ACTIVE' | 'RETIRED';
  reason: string | null;
  nextAt: Date | null;
};

/** Moves campaigns past the occurrences that were processed, in one statement. The caller holds their locks. */
export async function advanceCampaigns(
  tx: Queryable,
  { campaigns, at }: { campaigns: AdvancedCampaign[]; at: Date },
): Promise<void> {
  await tx`
    update campaigns
    set status = advanced.status, status_reason = advanced.reason, next_at = advanced.next_at, updated_at = ${at}
    from unnest(
      ${campaigns.map(({ id }) => id)}::text[], ${campaigns.map(({ status }) => status)}::text[],
      ${campaigns.map(({ reason }) => reason)}::text[],
      ${campaigns.map(({ nextAt }) => nextAt?.toISOString() ?? null)}::timestamptz[]
    ) as advanced (id, status, reason, next_at)
    where campaigns.id = advanced.id collate "C"`;
}

/** A run that is due and whose request joined a scheduled campaign. */
export type DueRun = {
  id: string;
  workspaceId: string;
  campaignId: string;
  targetSelector: UserSelector;
  dueAt: Date;
  settings: Record<string, unknown>;
};

/**
 * Locks at most `limit` waiting runs that are due, longest overdue first. Skips those that another node is starting;
 * those of a paused campaign keep waiting. Index: runs_due.
 */
export async function lockDueRuns(
  tx: Queryable,
  { at, except, limit }: { at: Date; except: readonly string[]; limit: number },
): Promise<DueRun[]> {
  return tx<DueRun[]>`
    select runs.id, runs.workspace_id as "workspaceId", runs.campaign_id as "campaignId",
      runs.target_selector as "targetSelector", runs.due_at as "dueAt", campaigns.settings
    from runs
    join campaigns on campaigns.id = runs.campaign_id
    where runs.status = 'QUEUED' and runs.due_at <= ${at} and campaigns.status <> 'PAUSED'
      and runs.id <> all (${[...except]})
    order by runs.due_at
    limit ${limit}
    for update of runs skip locked`;
}

export type StartedRun = {
  id: string;
  workspaceId: string;
  targetUsers: [bucket: number, userId: string][];
  audienceBound: string;
  sendUntil: Date;
  at: Date;
};

/** QUEUED → SENDING with one chunk; without users → SENT. The caller holds the row's lock. */
export async function startWaitingRun(tx: Queryable, run: StartedRun): Promise<void> {
  const isEmpty = run.targetUsers.length === 0;
  await tx`
    update runs
    set status = ${isEmpty ? 'SENT' : 'SENDING'}, target_users = ${tx.json(run.targetUsers)},
      audience_users = ${run.targetUsers.length}, audience_bound = ${run.audienceBound}, day = ${utcDay(run.at)},
      send_until = ${run.sendUntil}, started_at = ${run.at}, ended_at = ${isEmpty ? run.at : null}
    where id = ${run.id}`;
  if (isEmpty) return;
  const ranges = [{ from: 0, to: 255 }];
  await insertChunks(tx, { runId: run.id, workspaceId: run.workspaceId, lane: 0, at: run.at, winner: null, ranges });
}

/** QUEUED → MISSED or FAILED. The caller holds the row's lock. */
export async function endWaitingRun(
  tx: Queryable,
  run: { id: string; status: 'MISSED' | 'FAILED'; reason: string; at: Date },
): Promise<void> {
  await tx`
    update runs set status = ${run.status}, status_reason = ${run.reason}, ended_at = ${run.at} where id = ${run.id}`;
}

/**
 * Stores the trace of each run whose request is sampled; sends no statement if there is none. The caller's transaction
 * holds the rows. Index: runs primary key.
 */
export async function noteTraceparents(
  tx: Queryable,
  runs: readonly { runId: string; traceparent?: string | undefined }[],
): Promise<void> {
  const traced = runs.filter(({ traceparent }) => traceparent !== undefined);
  if (traced.length === 0) return;
  await tx`
    update runs set traceparent = given.traceparent
    from unnest(${traced.map(({ runId }) => runId)}::text[], ${traced.map(({ traceparent }) => traceparent!)}::text[])
      as given (run_id, traceparent)
    where runs.id = given.run_id`;
}

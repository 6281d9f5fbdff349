import type { CampaignContent, Platform } from '../../domain/campaigns/content.ts';
import type { WorkspaceControls } from '../../domain/eligibility/workspace-controls.ts';
import type { StoredTiming } from '../../domain/timing/stored-timing.ts';
import { workspaceControls } from '../installation/workspaces.ts';
import type { Database, Queryable } from '../database.ts';

/** What a worker must know of a run to send it. */
export type RunToSend = {
  id: string;
  workspaceId: string;
  campaignId: string;
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  platforms: Platform[];
  content: CampaignContent;
  settings: Record<string, unknown>;
  /** The firing of a business event that it answers. */
  businessEvent: { attributes: Record<string, unknown> } | null;
  targetUsers: [bucket: number, userId: string][] | null;
  audienceBound: string | null;
  /** The segment of the campaign; null for the other audiences. */
  segmentId: string | null;
  /** The frozen audience of a run to a segment, set at its start. */
  audienceSegmentId: string | null;
  audienceVersion: number | null;
  /** How many devices it was for at its start; null of a run to named users. */
  audienceDevices: number | null;
  day: string;
  lane: number;
  /** Its throttle, set at its start. */
  devicesPerMinute: number | null;
  sendUntil: Date;
  createdAt: Date;
  startedAt: Date | null;
  occurrence: Date | null;
  isTest: boolean;
  timing: StoredTiming;
  controls: WorkspaceControls;
};

const columns = (tx: Queryable) => tx`
  runs.id, runs.workspace_id as "workspaceId", runs.campaign_id as "campaignId", campaigns.audience,
  campaigns.platforms, coalesce(runs.content, campaigns.content) as content, campaigns.settings,
  runs.business_event as "businessEvent",
  campaigns.segment_id as "segmentId", runs.audience_segment_id as "audienceSegmentId",
  runs.audience_version as "audienceVersion", runs.audience_devices as "audienceDevices", runs.target_users as "targetUsers",
  runs.audience_bound as "audienceBound", runs.day::text as day, runs.lane, runs.devices_per_minute as "devicesPerMinute",
  runs.send_until as "sendUntil", runs.created_at as "createdAt", runs.started_at as "startedAt", runs.moment as occurrence,
  runs.is_test as "isTest", campaigns.timing, ${workspaceControls(tx)} as controls`;

/**
 * Locks one queued run, oldest of the first lane first; runs another worker is releasing are skipped. The lock is held
 * until the caller's transaction has made its chunks. A run to a segment that is filling, or that refers to one, waits
 * (decision D26); so does one that joined a scheduled campaign, for its moment. Index: runs_open.
 */
export async function lockQueuedRun(tx: Queryable): Promise<RunToSend | undefined> {
  const [run] = await tx<RunToSend[]>`
    select ${columns(tx)}
    from runs
    join campaigns on campaigns.id = runs.campaign_id
    join workspaces on workspaces.id = runs.workspace_id
    where runs.status = 'QUEUED' and runs.due_at is null
      and (campaigns.segment_id is null or not exists (
        with recursive reached (id) as (
          select campaigns.segment_id
          union
          select used.id
          from reached
          join segments on segments.id = reached.id
          cross join lateral unnest(segments.uses_segments) as used (id)
        )
        select 1 from reached join segments on segments.id = reached.id where segments.state = 'FILLING'
      ))
    order by runs.lane, runs.created_at
    limit 1
    for update of runs skip locked`;
  return run;
}

/** Reads runs by id. Index: primary key. */
export async function findRunsToSend(database: Database, ids: string[]): Promise<RunToSend[]> {
  return database<RunToSend[]>`
    select ${columns(database)}
    from runs
    join campaigns on campaigns.id = runs.campaign_id
    join workspaces on workspaces.id = runs.workspace_id
    where runs.id = any(${ids})`;
}

/**
 * QUEUED → SENDING, with the frozen audience and the throttle, the workspace's when the campaign names none. The
 * message's time to live begins now, because a run may have waited for its segment, and a throttled run has the time
 * that its throttle takes on top. The caller holds the row's lock.
 */
export async function startRun(
  tx: Queryable,
  run: {
    id: string;
    audienceBound: string;
    audienceDevices: number;
    /** People, with a device or not. */
    audienceUsers: number;
    segment: { id: string; version: number } | undefined;
    devicesPerMinute: number | null;
    at: Date;
  },
): Promise<void> {
  await tx`
    with throttle as (
      select coalesce(${run.devicesPerMinute}::int, workspaces.devices_per_minute) as devices_per_minute
      from runs join workspaces on workspaces.id = runs.workspace_id
      where runs.id = ${run.id}
    )
    update runs
    set status = 'SENDING', devices_per_minute = throttle.devices_per_minute, audience_bound = ${run.audienceBound}, audience_devices = ${run.audienceDevices},
      audience_users = ${run.audienceUsers}, audience_segment_id = ${run.segment?.id ?? null}, audience_version = ${run.segment?.version ?? null},
      send_until = send_until + (${run.at}::timestamptz - created_at)
        + make_interval(mins => coalesce(ceil(${run.audienceDevices}::float8 / throttle.devices_per_minute), 0)::int),
      started_at = ${run.at}
    from throttle
    where runs.id = ${run.id} and runs.status = 'QUEUED'`;
}

/** QUEUED → FAILED with its campaign: there is nobody it could be sent to, and the reason says why. */
export async function failRun(
  tx: Queryable,
  run: { id: string; campaignId: string; reason: string; at: Date },
): Promise<void> {
  await tx`
    update runs set status = 'FAILED', status_reason = ${run.reason}, ended_at = ${run.at}
    where id = ${run.id} and status = 'QUEUED'`;
  await tx`
    update campaigns set status = 'FAILED', status_reason = ${run.reason}, updated_at = ${run.at}
    where id = ${run.campaignId} and status = 'SENDING' and delivery_type = 'ONE_TIME'`;
}

/** SENDING → PAUSED with the provider's own words: the credential is refused and every further request would be. */
export async function pauseRun(tx: Queryable, run: { id: string; reason: string; platform: Platform }): Promise<void> {
  await tx`
    update runs set status = 'PAUSED', status_reason = ${run.reason}, paused_platform = ${run.platform}
    where id = ${run.id} and status = 'SENDING'`;
}

/**
 * Ends runs that have nothing left: every chunk ended, no delivery waiting. A run with a quarantined chunk is FAILED
 * and says so. Locks each run, so that two sweeps end it once. Index: runs_open.
 *
 * @returns the campaigns whose run ended
 */
export async function endFinishedRuns(
  tx: Queryable,
  sweep: { at: Date; limit: number },
): Promise<{ id: string; campaignId: string; status: string }[]> {
  return tx<{ id: string; campaignId: string; status: string }[]>`
    with finished as (
      select runs.id
      from runs
      where runs.status = 'SENDING'
        and not exists (select 1 from chunks where chunks.run_id = runs.id and chunks.state in ('READY', 'CLAIMED'))
        and coalesce((
          select sum(run_counts.devices) from run_counts
          where run_counts.run_id = runs.id and run_counts.outcome = 'WAITING'
        ), 0) = 0
      order by runs.lane, runs.created_at
      limit ${sweep.limit}
      for update of runs skip locked
    ), quarantined as (
      select finished.id, exists (
        select 1 from chunks where chunks.run_id = finished.id and chunks.state = 'QUARANTINED'
      ) as any
      from finished
    )
    update runs
    set status = case when quarantined.any then 'FAILED' else 'SENT' end,
      status_reason = case when quarantined.any then 'a chunk ended its worker repeatedly and was set aside' end,
      ended_at = ${sweep.at}
    from quarantined
    where runs.id = quarantined.id
    returning runs.id, runs.campaign_id as "campaignId", runs.status`;
}

/**
 * SENDING → SENT or FAILED for one-time campaigns none of whose runs is open any more. Rows in id order, so that two
 * transactions never wait in a circle. Index: campaigns primary key, runs_campaign.
 */
export async function endFinishedCampaigns(tx: Queryable, sweep: { campaignIds: string[]; at: Date }): Promise<void> {
  await tx`
    with finished as (
      select campaigns.id, exists (
        select 1 from runs where runs.campaign_id = campaigns.id and runs.status = 'FAILED'
      ) as failed
      from campaigns
      where campaigns.id = any(${sweep.campaignIds}) and campaigns.status = 'SENDING'
        and campaigns.delivery_type = 'ONE_TIME'
        and not exists (
          select 1 from runs where runs.campaign_id = campaigns.id and runs.status in ('QUEUED', 'SENDING', 'PAUSED')
        )
      order by campaigns.id
      for update
    )
    update campaigns
    set status = case when finished.failed then 'FAILED' else 'SENT' end,
      status_reason = case when finished.failed then 'a run of this campaign failed' end,
      updated_at = ${sweep.at}
    from finished
    where campaigns.id = finished.id`;
}

/**
 * ACTIVE → RETIRED for periodic campaigns with no moment left and no run open. Campaigns another node is changing are
 * skipped. Index: campaigns_out_of_moments, runs_campaign.
 *
 * @returns how many
 */
export async function retireFinishedCampaigns(
  tx: Queryable,
  { at, limit }: { at: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    update campaigns set status = 'RETIRED', updated_at = ${at}
    where id in (
      select campaigns.id
      from campaigns
      where campaigns.status = 'ACTIVE' and campaigns.delivery_type = 'PERIODIC' and campaigns.next_at is null
        and not exists (
          select 1 from runs where runs.campaign_id = campaigns.id and runs.status in ('QUEUED', 'SENDING', 'PAUSED')
        )
      order by campaigns.id
      limit ${limit}
      for update skip locked
    )`;
  return rows.count;
}

export type RunCounts = { platform: Platform; outcome: string; devices: number };

/** Counters of a run, summed over its buckets. Index: run_counts primary key. */
export async function sumRunCounts(tx: Queryable, runId: string): Promise<RunCounts[]> {
  return tx<RunCounts[]>`
    select platform, outcome, sum(devices)::bigint as devices
    from run_counts where run_id = ${runId} group by platform, outcome order by platform, outcome`;
}

/**
 * The days (YYYY-MM-DD) of runs that are being sent: what waits in the ledger waits in their partitions. A few rows.
 * Index: runs_open.
 */
export async function listSendingDays(tx: Queryable): Promise<string[]> {
  const rows = await tx<{ day: string }[]>`select distinct day::text as day from runs where status = 'SENDING'`;
  return rows.map(({ day }) => day);
}

/**
 * Deliveries of a campaign's open or stopped runs that wait for another attempt → EXPIRED with code STOPPED, and the
 * counters with them. Counters in one order, as everywhere, so that nobody waits in a circle; deliveries and counters
 * before runs and campaigns, as workers do. Indexes: runs_campaign, deliveries_waiting.
 */
export async function expireWaitingDeliveries(tx: Queryable, campaignId: string): Promise<void> {
  await expireOf(
    tx,
    await tx<RunOfDay[]>`
      select id, day::text as day, workspace_id as "workspaceId" from runs
      where campaign_id = ${campaignId} and status in ('SENDING', 'PAUSED', 'STOPPED')`,
  );
}

/**
 * The same for runs stopped since `since`: a window that was on its way when its run was stopped stores what became of
 * it, and may store that a device waits. Ends chunks that were given back. Two transactions, because a worker locks its
 * chunk before its counters. Indexes: runs_stopped, run_counts key.
 */
export async function settleStoppedRuns(
  database: Database,
  { since, at, leasesEndedAt }: { since: Date; at: Date; leasesEndedAt: Date },
): Promise<void> {
  await expireOf(
    database,
    await database<RunOfDay[]>`
      select id, day::text as day, workspace_id as "workspaceId" from runs
      where status = 'STOPPED' and ended_at >= ${since} and exists (
        select 1 from run_counts where run_counts.run_id = runs.id and outcome = 'WAITING' and devices > 0
      )`,
  );
  await database`
    update chunks set state = 'DONE', owner = null, lease_until = null, ended_at = ${at}
    where (state = 'READY' or state = 'CLAIMED' and lease_until <= ${leasesEndedAt})
      and run_id in (select id from runs where status = 'STOPPED' and ended_at >= ${since})`;
}

type RunOfDay = { id: string; day: string; workspaceId: string };

async function expireOf(tx: Queryable, runs: readonly RunOfDay[]): Promise<void> {
  if (runs.length === 0) return;
  await tx`
    with settled as (
      update deliveries
      set outcome = 'EXPIRED', code = 'STOPPED', retry_at = null, lease_until = null
      from unnest(
        ${runs.map(({ id }) => id)}::text[], ${runs.map(({ day }) => day)}::date[],
        ${runs.map(({ workspaceId }) => workspaceId)}::text[]
      ) as run (id, day, workspace_id)
      where deliveries.day = any(${[...new Set(runs.map(({ day }) => day))]}::date[]) and deliveries.day = run.day
        and deliveries.workspace_id = run.workspace_id collate "C" and deliveries.run_id = run.id collate "C"
        and deliveries.outcome = 'WAITING'
      returning deliveries.run_id, deliveries.workspace_id, deliveries.bucket, deliveries.platform
    ), change as (
      select run_id, workspace_id, bucket, platform, count(*) as devices
      from settled group by run_id, workspace_id, bucket, platform
    )
    insert into run_counts (run_id, workspace_id, bucket, platform, outcome, devices)
    select run_id, workspace_id, bucket, platform, outcome, sign * devices
    from change cross join (values ('EXPIRED', 1), ('WAITING', -1)) as part (outcome, sign)
    order by run_id, bucket, platform, outcome
    on conflict (run_id, bucket, platform, outcome) do update set devices = run_counts.devices + excluded.devices`;
}

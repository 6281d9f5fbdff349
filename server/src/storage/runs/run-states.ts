import type { CampaignDeliveryType } from '../../domain/campaigns/campaign.ts';
import type { AndroidPayload, CampaignContent, Platform } from '../../domain/content/content.ts';
import type { ToldRefusal } from '../../domain/delivery/evidence.ts';
import type { ChunkWinners } from '../../domain/experiments/learning.ts';
import type { Variant, Variants, RunLearning } from '../../domain/experiments/variants.ts';
import type { StoredTiming } from '../../domain/timing/timing.ts';
import type { WorkspaceControls } from '../../domain/workspace-controls.ts';
import type { GroupUsers } from '../../domain/experiments/group-users.ts';
import type { AudiencePlatform } from '../campaigns/audience-groups.ts';
import type { Database, Queryable, Fragment, Transaction } from '../database.ts';
import { androidPayload, workspaceControls } from '../workspaces.ts';
import { winnersOfRun } from './chunks.ts';
import { refusalsOfRun } from './run-refusals.ts';

/** Everything a worker needs to send a run. */
export type RunToSend = {
  id: string;
  /** The run's number in the ledger. */
  number: number;
  workspaceId: string;
  /** The workspace's number in the ledger. */
  workspaceNumber: number;
  campaignId: string;
  /** The same in all versions of the campaign. */
  canonicalCampaignId: string;
  /** A run of an EVENT_TRIGGERED campaign responds to triggers of users. */
  deliveryType: CampaignDeliveryType;
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  platforms: Platform[];
  content: CampaignContent;
  /** Null: every user gets `content`. */
  variants: Variants | null;
  /** Where all users get the same variation, by chunk. A window uses its own copy, read when it was opened. */
  winners: ChunkWinners[];
  /** The winner of the campaign, for a run that has not started. */
  winner: number | null;
  /** In the part of a run that gets `content`: which variation it is, and its language, unless that is the default. */
  variant?: Variant;
  language?: string;
  settings: Record<string, unknown>;
  /** The business event that started it. */
  businessEvent: { attributes: Record<string, unknown> } | null;
  targetUsers: [bucket: number, userId: string][] | null;
  audienceBound: string | null;
  /** The segment of the campaign; null for the other audiences. */
  segmentId: string | null;
  /** The frozen audience of a run to a segment, set at its start. */
  audienceSegmentId: string | null;
  audienceVersion: number | null;
  /** How many devices it had at its start; null for a run to named users, and while they are counted. */
  audienceDevices: number | null;
  /** How many users it had at its start, with or without a device; null as above. */
  audienceUsers: number | null;
  day: string;
  lane: number;
  /** The percentage of the workspace's users that it leaves out, set at its start; null: it leaves no users out. */
  globalControlPercent: number | null;
  /** Its throttle, set at its start. */
  devicesPerMinute: number | null;
  sendUntil: Date;
  createdAt: Date;
  startedAt: Date | null;
  occurrence: Date | null;
  isTest: boolean;
  /** The trace of the request that created it; null if that was not sampled. */
  traceparent: string | null;
  timing: StoredTiming;
  controls: WorkspaceControls;
  androidPayload: AndroidPayload;
  /** Credentials that providers refused: devices that need them wait. */
  refusals: ToldRefusal[];
};

const columns = (tx: Queryable) => tx`
  runs.id, runs.number, runs.traceparent, runs.workspace_id as "workspaceId", workspaces.number as "workspaceNumber",
  runs.campaign_id as "campaignId", campaigns.campaign_id as "canonicalCampaignId", campaigns.delivery_type as "deliveryType", campaigns.audience,
  campaigns.platforms, coalesce(runs.content, campaigns.content) as content, campaigns.variants, campaigns.winner,
  ${winnersOfRun(tx)} as winners, campaigns.settings,
  runs.business_event as "businessEvent",
  campaigns.segment_id as "segmentId", runs.audience_segment_id as "audienceSegmentId",
  runs.audience_version as "audienceVersion", runs.audience_devices as "audienceDevices",
  runs.audience_users as "audienceUsers", runs.target_users as "targetUsers",
  runs.audience_bound as "audienceBound", runs.day::text as day, runs.lane, runs.devices_per_minute as "devicesPerMinute",
  runs.global_control_percent as "globalControlPercent",
  runs.send_until as "sendUntil", runs.created_at as "createdAt", runs.started_at as "startedAt", runs.moment as occurrence,
  runs.is_test as "isTest", campaigns.timing, ${workspaceControls(tx)} as controls, ${androidPayload(tx)} as "androidPayload",
  ${refusalsOfRun(tx)} as refusals`;

const selectRuns = (tx: Queryable): Fragment => tx`
  select ${columns(tx)}
  from runs
  join campaigns on campaigns.id = runs.campaign_id
  join workspaces on workspaces.id = runs.workspace_id`;

/** Reads a run that is still queued and not being counted. Index: primary key. */
export async function findQueuedRun(tx: Queryable, id: string): Promise<RunToSend | undefined> {
  const [run] = await tx<RunToSend[]>`
    ${selectRuns(tx)}
    where runs.id = ${id} and runs.status = 'QUEUED' and runs.audience_cut is null`;
  return run;
}

/** Reads runs by id. Index: primary key. */
export async function findRunsToSend(database: Queryable, ids: string[]): Promise<RunToSend[]> {
  return database<RunToSend[]>`
    ${selectRuns(database)}
    where runs.id = any(${ids})`;
}

/** Reads those of the runs that are sending. Index: primary key. */
export async function findSendingRuns(database: Database, ids: string[]): Promise<RunToSend[]> {
  return database<RunToSend[]>`
    ${selectRuns(database)}
    where runs.id = any(${ids}) and runs.status = 'SENDING'`;
}

/** Reads runs by their numbers in the ledger. Index: runs_number_key. */
export async function findRunsToSendAgain(database: Database, numbers: number[]): Promise<RunToSend[]> {
  return database<RunToSend[]>`
    ${selectRuns(database)}
    where runs.number = any(${numbers}::bigint[])`;
}

/** QUEUED → FAILED, together with its campaign: the run has no recipients, and the reason says why. */
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

/** SENDING → PAUSED with the provider's own words: every credential that could reach a device is refused. */
export async function pauseRun(tx: Queryable, run: { id: string; reason: string; platform: Platform }): Promise<void> {
  await tx`
    update runs set status = 'PAUSED', status_reason = ${run.reason}, paused_platform = ${run.platform}
    where id = ${run.id} and status = 'SENDING'`;
}

/**
 * SENDING → SENT for runs to named users whose only chunk has just ended, with no delivery that waits. Skips runs that another
 * transaction is changing: endFinishedRuns ends those, unless they were stopped. Index: primary key.
 *
 * @returns the campaigns of the ended runs
 */
export async function endNamedRuns(tx: Transaction, { ids, at }: { ids: string[]; at: Date }): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx<{ campaignId: string }[]>`
    with finished as (
      select id from runs where id = any(${ids}) and status = 'SENDING' for update skip locked
    )
    update runs set status = 'SENT', ended_at = ${at} from finished where runs.id = finished.id
    returning runs.campaign_id as "campaignId"`;
  return rows.map(({ campaignId }) => campaignId);
}

/** Lists a page of the open campaigns that pushes to named users join, in the order of their ids. Index: campaigns_joined. */
export async function listJoinedCampaigns(
  tx: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from campaigns
    where status = 'SENDING' and delivery_type = 'ONE_TIME' and audience = 'USER' and id > ${after}
    order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** A campaign with two pushes within this time stays open: ending it for a moment costs more than the push. */
const busySeconds = 5;

/**
 * SENDING → SENT or FAILED for one-time campaigns that have no open runs any more; the reason is that of the first run
 * that failed. Those that pushes to named users are joining stay open. Locks rows in id order, so that two transactions never
 * deadlock. Indexes: campaigns primary key, runs_campaign, runs_unfinished, runs_failure.
 */
export async function endFinishedCampaigns(tx: Queryable, sweep: { campaignIds: string[]; at: Date }): Promise<void> {
  const busySince = new Date(sweep.at.getTime() - busySeconds * 1000);
  await tx`
    with finished as (
      select campaigns.id, (
        select runs.status_reason from runs where runs.campaign_id = campaigns.id and runs.status = 'FAILED'
        order by runs.created_at, runs.id limit 1
      ) as failure
      from campaigns
      where campaigns.id = any(${sweep.campaignIds}) and campaigns.status = 'SENDING'
        and campaigns.delivery_type = 'ONE_TIME'
        and (campaigns.audience <> 'USER' or not exists (
          select 1 from runs where runs.campaign_id = campaigns.id and runs.created_at > ${busySince} offset 1 limit 1
        ))
        and not exists (
          select 1 from runs where runs.campaign_id = campaigns.id and runs.status in ('QUEUED', 'SENDING', 'PAUSED')
        )
      order by campaigns.id
      for update
    )
    update campaigns
    set status = case when finished.failure is null then 'SENT' else 'FAILED' end,
      status_reason = finished.failure,
      updated_at = ${sweep.at}
    from finished
    where campaigns.id = finished.id`;
}

/**
 * ACTIVE → RETIRED for periodic campaigns with no occurrence left and no open run. Campaigns that another node is
 * changing are skipped. Index: campaigns_out_of_moments, runs_campaign.
 *
 * @returns the number of retired campaigns
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

/** Returns the counters of a run, summed over its buckets. Index: run_counts primary key. */
export async function sumRunCounts(tx: Queryable, runId: string): Promise<RunCounts[]> {
  return tx<RunCounts[]>`
    select platform, outcome, sum(devices)::bigint as devices
    from run_counts where run_id = ${runId} group by platform, outcome order by platform, outcome`;
}

/**
 * Lists the days (YYYY-MM-DD) of runs that are being sent, or are paused because a provider refuses their credentials:
 * messages wait in their partitions. A few rows. Indexes: runs_open, runs_paused.
 */
export async function listSendingDays(tx: Queryable): Promise<string[]> {
  const rows = await tx<{ day: string }[]>`
    select day::text as day from runs where status = 'SENDING'
    union
    select day::text from runs where status = 'PAUSED' and paused_platform is not null`;
  return rows.map(({ day }) => day);
}

/**
 * Lists the days of runs that are being sent or are paused for any reason: the waiting messages of a paused run are
 * kept. Indexes: runs_open, runs_paused.
 */
export async function listOpenDays(tx: Queryable): Promise<string[]> {
  const rows = await tx<{ day: string }[]>`
    select day::text as day from runs where status = 'SENDING'
    union
    select day::text from runs where status = 'PAUSED'`;
  return rows.map(({ day }) => day);
}

/**
 * Returns the given runs, by their numbers in the ledger, that are being sent or are paused by a refused credential.
 * Index: runs_number_key.
 */
export async function keepSendingRuns(tx: Queryable, numbers: readonly number[]): Promise<number[]> {
  const rows = await tx<{ number: number }[]>`
    select number from runs where number = any(${numbers}::bigint[])
      and (status = 'SENDING' or status = 'PAUSED' and paused_platform is not null)`;
  return rows.map(({ number }) => number);
}

/**
 * A condition on `runs` joined with `campaigns`: the run may start. A run to a segment that is filling, or that refers
 * to one that is, waits (decision D26), unless triggers have chosen its users already. A run that joined a scheduled
 * campaign waits for its occurrence.
 */
export function mayStart(tx: Queryable): Fragment {
  return tx`
    runs.status = 'QUEUED' and runs.due_at is null
      and (campaigns.segment_id is null or campaigns.delivery_type = 'EVENT_TRIGGERED' or not exists (
        with recursive reached (id) as (
          select campaigns.segment_id
          union
          select used.id
          from reached
          join segments on segments.id = reached.id
          cross join lateral unnest(segments.uses_segments) as used (id)
        )
        select 1 from reached join segments on segments.id = reached.id where segments.state = 'FILLING'
      ))`;
}

/**
 * Lists queued runs by lane, then oldest first, without those whose audience is being counted. Locks nothing. Index: runs_open.
 */
export async function listQueuedRuns(
  tx: Queryable,
  { except, limit }: { except: readonly string[]; limit: number },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select runs.id
    from runs
    join campaigns on campaigns.id = runs.campaign_id
    where ${mayStart(tx)} and runs.audience_cut is null and runs.id <> all (${[...except]})
    order by runs.lane, runs.created_at
    limit ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * Makes this transaction the only one that starts a run, until the transaction ends. Counting the audience takes
 * seconds; meanwhile the run's row stays free for a caller that pauses or stops it.
 *
 * @returns false when another transaction is starting it
 */
export async function tryHoldStart(tx: Transaction, runId: string): Promise<boolean> {
  const [row] = await tx<{ isHeld: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${`start-run:${runId}`}, 0)) as "isHeld"`;
  return row!.isHeld;
}

/** Locks the row of a run that is still queued, after waiting for a transaction that pauses or stops it. Index: primary key. */
export async function lockQueuedRun(tx: Transaction, runId: string): Promise<boolean> {
  const rows = await tx`select 1 from runs where id = ${runId} and status = 'QUEUED' for update`;
  return rows.length === 1;
}

/**
 * QUEUED → SENDING, with the frozen audience and the throttle: the workspace's if the campaign has none. The message's
 * time to live begins now, because a run may have waited for its segment. A throttled run also gets the time that its
 * throttle needs. Without a size, the audience is counted from now on. The caller holds the row's lock.
 */
export async function startRun(
  tx: Queryable,
  run: {
    id: string;
    audienceBound: string;
    /** Null, as the next two, if the audience is counted while the run is sent. */
    audienceDevices: number | null;
    audiencePlatforms: AudiencePlatform[] | null;
    /** Users, with or without a device. */
    audienceUsers: number | null;
    segment: { id: string; version: number } | undefined;
    globalControlPercent: number | null;
    /** Null for a campaign in one language. */
    locales: string[] | null;
    /** Null for a campaign with fixed shares. */
    learning: RunLearning | null;
    /** Null for a run without control groups and variations. */
    groupUsers: GroupUsers[] | null;
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
      audience_cut = case when ${run.audienceDevices}::bigint is null then runs.audience_cut end,
      audience_pass = case when ${run.audienceDevices}::bigint is null then runs.audience_pass end,
        audience_platforms = ${run.audiencePlatforms === null ? null : tx.json(run.audiencePlatforms)},
      global_control_percent = ${run.globalControlPercent}, group_users = ${run.groupUsers === null ? null : tx.json(run.groupUsers)},
      locales = ${run.locales}, learns_by = ${run.learning?.by ?? null}, contents_digest = ${run.learning?.contentsDigest ?? null}, audience_users = ${run.audienceUsers}, audience_segment_id = ${run.segment?.id ?? null}, audience_version = ${run.segment?.version ?? null},
      send_until = send_until + (${run.at}::timestamptz - created_at)
        + make_interval(mins => coalesce(ceil(${run.audienceDevices}::float8 / throttle.devices_per_minute), 0)::int),
      started_at = ${run.at}
    from throttle
    where runs.id = ${run.id} and runs.status = 'QUEUED'`;
}

/** Stores the languages of a run to named users, which starts without being released. Index: primary key. */
export async function noteRunLocales(
  tx: Transaction,
  { runId, locales }: { runId: string; locales: readonly string[] },
): Promise<void> {
  await tx`update runs set locales = ${[...locales]} where id = ${runId}`;
}

import type { Platform } from '../../domain/campaigns/content.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversion-goal.ts';
import type { Queryable, Transaction } from '../database.ts';
import type { TakenEvent } from '../users/events.ts';

export type StoredInteractionKind = 'IMPRESSION' | 'CLICK' | 'CLOSE';

/** A report of a device about a message, ready to be counted. */
export type DeviceReport = {
  workspaceId: string;
  bucket: number;
  campaignId: string;
  deviceId: string;
  kind: StoredInteractionKind;
  runId: string;
  platform: Platform;
  action: string | null;
  /** Tells a report from a repeat of it. */
  digest: Buffer;
};

export type ReportedRun = { id: string; workspaceId: string; campaignId: string };

/** The campaigns of runs that devices report about. Index: runs primary key. */
export async function findReportedRuns(tx: Queryable, ids: readonly string[]): Promise<ReportedRun[]> {
  return tx<ReportedRun[]>`
    select id, workspace_id as "workspaceId", campaign_id as "campaignId" from runs where id = any(${[...ids]})`;
}

type FigureKey = Pick<DeviceReport, 'workspaceId' | 'campaignId' | 'platform' | 'kind'>;

/**
 * Takes the rows of the campaigns' figures, made where missing, in one order everywhere. Whoever counts a report holds
 * the lock of its figure, so what countReports reads in a statement of its own is all that was counted before.
 * Index: primary key.
 */
export async function lockCampaignInteractions(tx: Transaction, figures: readonly FigureKey[]): Promise<void> {
  const keys = () => tx`
    unnest(
      ${figures.map((figure) => figure.workspaceId)}::text[], ${figures.map((figure) => figure.campaignId)}::text[],
      ${figures.map((figure) => figure.platform)}::text[], ${figures.map((figure) => figure.kind)}::text[]
    ) as asked (workspace_id, campaign_id, platform, kind)`;
  await tx`
    insert into campaign_interactions (workspace_id, campaign_id, platform, kind, total, unique_devices)
    select distinct workspace_id collate "C", campaign_id collate "C", platform, kind, 0, 0
    from ${keys()}
    order by 1, 2, 3, 4
    on conflict (workspace_id, campaign_id, platform, kind) do nothing`;
  await tx`
    select 1
    from campaign_interactions as figure
    where (figure.workspace_id, figure.campaign_id, figure.platform, figure.kind) in (
      select workspace_id, campaign_id, platform, kind from ${keys()}
    )
    order by figure.workspace_id, figure.campaign_id, figure.platform, figure.kind
    for update`;
}

/**
 * Counts reports, each digest once a run, device and kind, and at most `most` of them. The caller holds the locks of
 * lockCampaignInteractions. Index: device_interactions primary key, for the row of the run and for the device in other
 * runs of the campaign.
 */
export async function countReports(
  tx: Transaction,
  { reports, at, most }: { reports: readonly DeviceReport[]; at: Date; most: number },
): Promise<void> {
  await tx`
    with report as (
      select distinct on (workspace_id, bucket, campaign_id, device_id, kind, run_id, digest)
        workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, action, decode(digest, 'hex') as digest, nth
      from unnest(
        ${reports.map((report) => report.workspaceId)}::text[], ${reports.map((report) => report.bucket)}::smallint[],
        ${reports.map((report) => report.campaignId)}::text[], ${reports.map((report) => report.deviceId)}::text[],
        ${reports.map((report) => report.kind)}::text[], ${reports.map((report) => report.runId)}::text[],
        ${reports.map((report) => report.platform)}::text[], ${reports.map((report) => report.action)}::text[],
        ${reports.map((report) => report.digest.toString('hex'))}::text[]
      ) with ordinality as given (
        workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, action, digest, nth
      )
      order by workspace_id, bucket, campaign_id, device_id, kind, run_id, digest, nth
    ), fresh as (
      select report.*, coalesce(known.count, 0) + row_number() over (
        partition by report.workspace_id, report.bucket, report.campaign_id, report.device_id, report.kind, report.run_id
        order by report.nth
      ) as place
      from report
      left join device_interactions as known
        on known.workspace_id = report.workspace_id and known.bucket = report.bucket
        and known.campaign_id = report.campaign_id and known.device_id = report.device_id
        and known.kind = report.kind and known.run_id = report.run_id
      where known.report_digests is null or report.digest <> all (known.report_digests)
    ), counted as (
      select workspace_id, bucket, campaign_id, device_id, kind, run_id, min(platform) as platform,
        count(*)::integer as reports, array_agg(digest order by nth) as digests,
        (array_agg(action order by nth desc) filter (where action is not null))[1] as action
      from fresh
      where place <= ${most}
      group by workspace_id, bucket, campaign_id, device_id, kind, run_id
    ), of_device as (
      select workspace_id, bucket, campaign_id, device_id, kind, platform, sum(reports)::integer as reports,
        exists (
          select 1 from device_interactions as earlier
          where earlier.workspace_id = counted.workspace_id and earlier.bucket = counted.bucket
            and earlier.campaign_id = counted.campaign_id and earlier.device_id = counted.device_id
            and earlier.kind = counted.kind and earlier.platform = counted.platform
        ) as was_known
      from counted
      group by workspace_id, bucket, campaign_id, device_id, kind, platform
    ), kept as (
      insert into device_interactions (
        workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, action, report_digests, count, first_at
      )
      select workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, action, digests, reports, ${at}
      from counted
      on conflict (workspace_id, bucket, campaign_id, device_id, kind, run_id) do update
      set report_digests = device_interactions.report_digests || excluded.report_digests,
        count = device_interactions.count + excluded.count,
        action = coalesce(excluded.action, device_interactions.action)
    )
    update campaign_interactions as figure
    set total = figure.total + gained.reports, unique_devices = figure.unique_devices + gained.devices
    from (
      select workspace_id, campaign_id, platform, kind, sum(reports) as reports,
        count(*) filter (where not was_known) as devices
      from of_device
      group by workspace_id, campaign_id, platform, kind
    ) as gained
    where figure.workspace_id = gained.workspace_id and figure.campaign_id = gained.campaign_id
      and figure.platform = gained.platform and figure.kind = gained.kind`;
}

export type CampaignInteractions = {
  platform: Platform;
  kind: StoredInteractionKind;
  total: number;
  uniqueDevices: number;
};

/** The figures of a campaign. Index: primary key. */
export async function listCampaignInteractions(
  tx: Queryable,
  campaign: { workspaceId: string; campaignId: string },
): Promise<CampaignInteractions[]> {
  return tx<CampaignInteractions[]>`
    select platform, kind, total, unique_devices as "uniqueDevices"
    from campaign_interactions
    where workspace_id = ${campaign.workspaceId} and campaign_id = ${campaign.campaignId}
    order by platform, kind`;
}

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

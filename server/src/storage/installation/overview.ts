import type { Platform } from '../../domain/content/content.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import type { Fragment, Queryable } from '../database.ts';
import type { DeliveryOutcome } from '../ledger/deliveries.ts';
import { isOutcome, platformLetters } from '../ledger/ledger-encoding.ts';
import { inKnownZone } from '../workspaces.ts';

export type WorkspaceSummary = { id: string; dbName: string; name: string; timeZone: string };

// A row has about 150 bytes.
const workspacesOfPage = 1_000;

/** Lists all workspaces of this installation, oldest first, in pages of a thousand. */
export async function listWorkspaces(tx: Queryable): Promise<WorkspaceSummary[]> {
  const all: WorkspaceSummary[] = [];
  for (;;) {
    const page = await listWorkspacesAfter(tx, { afterId: all.at(-1)?.id, limit: workspacesOfPage });
    all.push(...page);
    if (page.length < workspacesOfPage) return all;
  }
}

/**
 * Lists a page of workspaces, oldest first, after `afterId`. Sorts the table, which has at most thousands of rows.
 * Workspaces are never removed, so the previous one exists.
 */
export async function listWorkspacesAfter(
  tx: Queryable,
  { afterId, limit }: { afterId: string | undefined; limit: number },
): Promise<WorkspaceSummary[]> {
  const after =
    afterId === undefined
      ? tx``
      : tx`where (created_at, id) > (select created_at, id from workspaces where id = ${afterId})`;
  const rows = await tx<WorkspaceSummary[]>`
    select id, db_name as "dbName", name, time_zone as "timeZone" from workspaces ${after}
    order by created_at, id limit ${limit}`;
  return rows.map(inKnownZone);
}

export type DeviceCount = { platform: Platform; state: string; devices: number };

/** Counts devices per platform and state. Reads every device of the workspace: about 0.3 s per million. */
export async function countDevices(tx: Queryable, workspaceId: string): Promise<DeviceCount[]> {
  return tx<DeviceCount[]>`
    select platform, state, count(*) as devices
    from devices where workspace_id = ${workspaceId} group by platform, state order by platform, state`;
}

export async function countUsers(tx: Queryable, workspaceId: string): Promise<number> {
  const [row] = await tx<{ users: number }[]>`select count(*) as users from users where workspace_id = ${workspaceId}`;
  return row!.users;
}

/** Counts the users that were added after an instant. Reads every user of the workspace, as `countUsers` does. */
export async function countUsersSince(
  tx: Queryable,
  { workspaceId, since }: { workspaceId: string; since: Date },
): Promise<number> {
  const [row] = await tx<{ users: number }[]>`
    select count(*) as users from users where workspace_id = ${workspaceId} and created_at > ${since}`;
  return row!.users;
}

export type RecentCampaign = {
  id: string;
  name: string;
  status: string;
  statusReason: string | null;
  createdAt: Date;
  createdBy: string;
  counts: { platform: Platform; outcome: string; devices: number }[];
};

/**
 * Lists the newest campaigns with the outcomes of their messages. Index: campaigns_newest, runs_campaign, run_counts
 * key.
 */
export async function listRecentCampaigns(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<RecentCampaign[]> {
  return tx<RecentCampaign[]>`
    with recent as materialized (
      select id, name, status, status_reason, created_at, created_by from campaigns
      where workspace_id = ${workspaceId} and not is_test
      order by created_at desc, id desc
      limit ${limit}
    ), made as materialized (
      select runs.id, runs.campaign_id from recent join runs on runs.campaign_id = recent.id
    ), total as materialized (
      select made.campaign_id, run_counts.platform, run_counts.outcome, sum(run_counts.devices) as devices
      from made join run_counts on run_counts.run_id = made.id
      group by made.campaign_id, run_counts.platform, run_counts.outcome
    )
    select recent.id, recent.name, recent.status, recent.status_reason as "statusReason",
      recent.created_at as "createdAt", recent.created_by as "createdBy",
      coalesce((
        select jsonb_agg(
          jsonb_build_object('platform', total.platform, 'outcome', total.outcome, 'devices', total.devices)
          order by total.platform, total.outcome
        )
        from total where total.campaign_id = recent.id
      ), '[]') as counts
    from recent
    order by recent.created_at desc, recent.id desc`;
}

export type RunningSend = {
  runId: string;
  campaignId: string;
  campaignName: string;
  status: 'QUEUED' | 'SENDING';
  createdAt: Date;
  startedAt: Date | null;
  /** Null until the audience is frozen. */
  audienceDevices: number | null;
  accepted: number;
  notDelivered: number;
  waiting: number;
};

/** Lists campaigns that are being sent, newest first. Indexes: runs_sending, run_counts primary key. */
export async function listRunningSends(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<RunningSend[]> {
  return tx<RunningSend[]>`
    with sending as materialized (
      select id, campaign_id, status, created_at, started_at, audience_devices from runs
      where workspace_id = ${workspaceId} and lane = 1 and status in ('QUEUED', 'SENDING') and due_at is null
        and not is_test
      order by created_at desc limit ${limit}
    ), counted as materialized (
      select run_counts.run_id, sum(run_counts.devices) filter (where run_counts.outcome = 'ACCEPTED') as accepted,
        sum(run_counts.devices)
          filter (where run_counts.outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')) as failed,
        sum(run_counts.devices) filter (where run_counts.outcome = 'WAITING') as waiting
      from sending join run_counts on run_counts.run_id = sending.id
      group by run_counts.run_id
    )
    select sending.id as "runId", campaigns.id as "campaignId", campaigns.name as "campaignName", sending.status,
      sending.created_at as "createdAt", sending.started_at as "startedAt",
      sending.audience_devices as "audienceDevices", coalesce(counted.accepted, 0)::bigint as accepted,
      coalesce(counted.failed, 0)::bigint as "notDelivered", coalesce(counted.waiting, 0)::bigint as waiting
    from sending
    join campaigns on campaigns.id = sending.campaign_id
    left join counted on counted.run_id = sending.id
    order by sending.created_at desc`;
}

export type PausedSends = {
  /** Platform of the provider that refused; null when a user paused them. */
  platform: Platform | null;
  /** The provider that refused, if known in addition to its words. */
  provider: ProviderName | null;
  /** `all`: all devices of the sends wait. `some`: only those of the refused credential. */
  waits: 'all' | 'some';
  /** The provider's words. */
  reason: string;
  runs: number;
  /** The newest of the campaigns. */
  campaignId: string;
  campaignName: string;
};

/**
 * Groups by reason the runs that are paused, and those that continue without the devices of a refused credential. Reads
 * the newest 1,000 of each. Indexes: runs_paused, run_refusals_workspace, runs primary key.
 */
export async function groupPausedSends(tx: Queryable, workspaceId: string): Promise<PausedSends[]> {
  return tx<PausedSends[]>`
    select grouped.platform, grouped.provider, grouped.waits, grouped.reason, grouped.runs,
      campaigns.id as "campaignId", campaigns.name as "campaignName"
    from (
      select platform, provider, waits, reason, count(distinct run_id) as runs,
        (array_agg(campaign_id order by created_at desc))[1] as campaign_id
      from (
        (
          select id as run_id, paused_platform as platform, null as provider, 'all' as waits, status_reason as reason,
            campaign_id, created_at
          from runs where workspace_id = ${workspaceId} and status = 'PAUSED' order by created_at desc limit 1000
        ) union all (
          select runs.id, case provider when 'apns' then 'IOS' when 'webpush' then 'WEB' else coalesce(platform, 'ANDROID') end,
            provider, 'some', words, campaign_id, created_at
          from run_refusals join runs on runs.id = run_refusals.run_id
          where run_refusals.workspace_id = ${workspaceId} and runs.status = 'SENDING'
          order by created_at desc limit 1000
        )
      ) as newest
      group by platform, provider, waits, reason
    ) as grouped
    join campaigns on campaigns.id = grouped.campaign_id
    order by grouped.platform is null, grouped.runs desc, grouped.reason
    limit 20`;
}

export type FailedRun = {
  campaignId: string;
  campaignName: string;
  status: 'FAILED' | 'MISSED';
  reason: string;
  endedAt: Date;
};

/** Lists runs that failed or were missed after `since`, newest first. Index: runs_failed. */
export async function listFailedRuns(
  tx: Queryable,
  { workspaceId, since, limit }: { workspaceId: string; since: Date; limit: number },
): Promise<FailedRun[]> {
  return tx<FailedRun[]>`
    select campaigns.id as "campaignId", campaigns.name as "campaignName", runs.status,
      runs.status_reason as reason, runs.ended_at as "endedAt"
    from runs join campaigns on campaigns.id = runs.campaign_id
    where runs.workspace_id = ${workspaceId} and runs.status in ('FAILED', 'MISSED') and runs.ended_at > ${since}
    order by runs.ended_at desc
    limit ${limit}`;
}

export type ScheduledSend = { campaignId: string; campaignName: string; nextAt: Date; deliveryType: string };

/** Lists the next occurrences, soonest first. Index: campaigns_next. */
export async function listScheduledSends(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<ScheduledSend[]> {
  return tx<ScheduledSend[]>`
    select id as "campaignId", name as "campaignName", next_at as "nextAt", delivery_type as "deliveryType"
    from campaigns
    where workspace_id = ${workspaceId} and next_at is not null and status in ('SCHEDULED', 'ACTIVE')
    order by next_at
    limit ${limit}`;
}

export type RecentCount = { platform: Platform; outcome: string; devices: number };
export type RecentFailure = RecentCount & { code: string; lastAt: Date };

type Recent = { workspaceNumber: number; days: string[]; since: Date; most: number; platforms: readonly Platform[] };

export type WaitingGroup = { code: string; devices: number; lastAt: Date };

/**
 * Groups a platform's deliveries that wait for another attempt by reason, with the newest attempt; reads at most
 * `most`. Index: deliveries_log_other. The outcome is a subquery, not a literal: for a literal the planner may use the
 * index of all waiting deliveries, of every workspace, and sort them.
 */
export async function groupWaiting(
  tx: Queryable,
  asked: { workspaceNumber: number; days: string[]; platform: Platform; most: number },
): Promise<WaitingGroup[]> {
  return tx<WaitingGroup[]>`
    select coalesce(waiting.code, 'WAITING') as code, count(*) as devices, max(waiting.sent_at) as "lastAt"
    from (
      select code, sent_at from deliveries
      where day = any(${asked.days}::date[]) and workspace_number = ${asked.workspaceNumber}
        and outcome <> 'A' and outcome = (select 'W'::"char")
        and platform = ${platformLetters[asked.platform]}::"char"
      order by sent_at desc limit ${asked.most}
    ) as waiting
    group by 1
    order by devices desc, 1`;
}

/** Returns one lookup per platform and outcome; a cluster accepts them only when each is written out. */
function eachKind(tx: Queryable, { recent, outcomes, look }: Looks): Fragment[] {
  const kinds = recent.platforms.flatMap((platform) => outcomes.map((outcome) => ({ platform, outcome })));
  return kinds.map((kind, place) => (place === 0 ? look(kind) : tx`union all ${look(kind)}`));
}

type Kind = { platform: Platform; outcome: DeliveryOutcome };
type Looks = { recent: Recent; outcomes: readonly DeliveryOutcome[]; look: (kind: Kind) => Fragment };

const failedOutcomes: DeliveryOutcome[] = ['GONE', 'REJECTED', 'EXPIRED', 'FAILED'];

const isRecent = (tx: Queryable, { recent, platform, outcome }: Kind & { recent: Recent }) => tx`
  day = any(${recent.days}::date[]) and workspace_number = ${recent.workspaceNumber}
  and ${isOutcome(tx, outcome)} and platform = ${platformLetters[platform]}::"char" and sent_at > ${recent.since}`;

/**
 * Counts the deliveries that became final after `since`, per platform and outcome; counts at most `most` of each.
 * Index-only scan: deliveries_log, deliveries_log_other of each day.
 */
export async function countRecentDeliveries(tx: Queryable, recent: Recent): Promise<RecentCount[]> {
  const look = ({ platform, outcome }: Kind) => tx`
    select ${platform}::text as platform, ${outcome}::text as outcome, count(*) as devices
    from (
      select 1 from deliveries where ${isRecent(tx, { recent, platform, outcome })} limit ${recent.most}
    ) as bounded`;
  const each = eachKind(tx, { recent, outcomes: ['ACCEPTED', ...failedOutcomes], look });
  return tx<RecentCount[]>`
    select platform, outcome, devices from (${each}) as counted where devices > 0`;
}

/**
 * Groups the deliveries that failed after `since` by reason, the most frequent first; reads the newest `most` of each
 * platform and outcome. Index: deliveries_log_other of each day.
 */
export async function groupRecentFailures(tx: Queryable, recent: Recent): Promise<RecentFailure[]> {
  const look = ({ platform, outcome }: Kind) => tx`
    (select ${platform}::text as platform, ${outcome}::text as outcome, code, sent_at from deliveries
    where ${isRecent(tx, { recent, platform, outcome })}
    order by sent_at desc limit ${recent.most})`;
  return tx<RecentFailure[]>`
    select platform, outcome, coalesce(code, outcome) as code, count(*) as devices, max(sent_at) as "lastAt"
    from (${eachKind(tx, { recent, outcomes: failedOutcomes, look })}) as failed
    group by 1, 2, 3
    order by devices desc, 1, 2, 3
    limit 50`;
}

export type FirstSteps = { hasPushed: boolean; hasProvider: boolean; hasUsers: boolean; hasInvited: boolean };

/**
 * Returns which of the first steps are done, judging by the stored data; each lookup stops at the first row. Users who
 * are marked for tests, such as those of a sandbox's seed, do not count. Indexes: campaigns_newest, primary keys; accounts are
 * tens of rows.
 */
export async function readFirstSteps(tx: Queryable, workspaceId: string): Promise<FirstSteps> {
  const [row] = await tx<FirstSteps[]>`
    select
      exists(select 1 from campaigns where workspace_id = ${workspaceId} and not is_test and status <> 'DRAFT')
        as "hasPushed",
      exists(select 1 from provider_credentials where workspace_id = ${workspaceId} and not simulated) as "hasProvider",
      exists(select 1 from users where workspace_id = ${workspaceId} and not is_test) as "hasUsers",
      (select count(*) from accounts) > 1 or exists(
        select 1 from account_links where purpose = 'INVITATION' and ended_as is distinct from 'WITHDRAWN'
      )
        as "hasInvited"`;
  return row!;
}

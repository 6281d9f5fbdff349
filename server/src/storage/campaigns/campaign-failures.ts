import type { Platform } from '../../domain/content/content.ts';
import type { Queryable } from '../database.ts';
import { partitionOf } from '../ledger/deliveries.ts';
import { isOutcome, outcomeLetters, outcomeWord, platformLetters, platformWord } from '../ledger/ledger-encoding.ts';
import type { FailureNumbers, StatsSpan } from './campaign-stats.ts';

export type FailureGroup = {
  platform: Platform;
  outcome: 'GONE' | 'REJECTED' | 'EXPIRED' | 'FAILED' | 'WITHHELD';
  /** The provider's code, or our own. */
  code: string;
  devices: number;
  /** One of the devices, by the id of its row; null when the ledger of that day has been dropped. */
  sampleDeviceId: string | null;
  lastAt: Date;
};

/** Runs of one day, by their numbers in the ledger. */
export type RunDay = { day: string; workspaceNumber: number; runNumbers: number[] };

/**
 * Lists a campaign's runs by the ledger day that holds their rows, for the days that are kept. Index: runs_campaign.
 */
export async function listRunDays(tx: Queryable, campaignId: string): Promise<RunDay[]> {
  return tx<RunDay[]>`
    select runs.day::text as day, workspaces.number as "workspaceNumber", array_agg(runs.number) as "runNumbers"
    from runs join workspaces on workspaces.id = runs.workspace_id
    where campaign_id = ${campaignId} and to_regclass('deliveries_' || to_char(day, 'YYYYMMDD')) is not null
    group by runs.day, workspaces.number order by runs.day`;
}

// The lookups of the newest rows of up to this many groups are combined into one statement.
const groupsAtOnce = 50;

/**
 * Groups the failed deliveries of a day by reason, the most frequent first, with the newest of each: at most 1,000
 * groups.
 */
export async function groupFailures(tx: Queryable, asked: RunDay): Promise<FailureGroup[]> {
  const groups = await countFailureGroups(tx, asked);
  const newest: NewestFailure[] = [];
  for (let first = 0; first < groups.length; first += groupsAtOnce)
    newest.push(
      ...(await findNewestFailures(tx, { ...asked, first, groups: groups.slice(first, first + groupsAtOnce) })),
    );
  return newest.map(({ place, sampleDeviceId, lastAt }) => {
    const { platform, outcome, code, devices } = groups[place]!;
    return { platform, outcome, code: code ?? outcome, devices, sampleDeviceId, lastAt };
  });
}

type CountedFailures = Pick<FailureGroup, 'platform' | 'outcome' | 'devices'> & {
  runNumber: number;
  code: string | null;
};

/** Index-only scan. Index: deliveries_failed. */
async function countFailureGroups(tx: Queryable, { day, runNumbers }: RunDay): Promise<CountedFailures[]> {
  return tx<CountedFailures[]>`
    select run_number as "runNumber", ${platformWord(tx, tx`platform`)} as platform,
      ${outcomeWord(tx, tx`outcome`)} as outcome, code, count(*) as devices
    from ${tx(partitionOf(day))}
    where run_number = any(${runNumbers}::bigint[]) and outcome <> 'A' and outcome <> 'W'
    group by run_number, platform, outcome, code
    order by devices desc, 2, coalesce(code, ${outcomeWord(tx, tx`outcome`)})
    limit 1000`;
}

type NewestFailure = Pick<FailureGroup, 'sampleDeviceId' | 'lastAt'> & { place: number };

/** Returns one ledger row per group, with the group's index. Index: deliveries_failed. */
async function findNewestFailures(
  tx: Queryable,
  { day, groups, first }: RunDay & { groups: CountedFailures[]; first: number },
): Promise<NewestFailure[]> {
  const newest = ({ runNumber, platform, outcome, code }: CountedFailures, place: number) => tx`
    (select ${first + place}::int as place, encode(device_id, 'hex') as "sampleDeviceId", sent_at as "lastAt"
    from ${tx(partitionOf(day))}
    where run_number = ${runNumber}::bigint and outcome <> 'A'
      and ${code === null ? tx`code is null` : tx`code = ${code}`}
      and outcome = ${outcomeLetters[outcome]}::"char" and platform = ${platformLetters[platform]}::"char"
    order by sent_at desc limit 1)`;
  const each = groups.map((group, place) => (place === 0 ? newest(group, 0) : tx`union all ${newest(group, place)}`));
  return tx<NewestFailure[]>`select place, "sampleDeviceId", "lastAt" from (${each}) as found order by place`;
}

export type CampaignWaitingGroup = {
  platform: Platform;
  code: string;
  devices: number;
  attempts: number;
  nextAt: Date;
};

/**
 * Groups the deliveries of one day's runs that wait for another attempt by reason, with the next attempt. Index:
 * deliveries_failed.
 */
export async function groupCampaignWaiting(
  tx: Queryable,
  { day, runNumbers }: RunDay,
): Promise<CampaignWaitingGroup[]> {
  return tx<CampaignWaitingGroup[]>`
    select ${platformWord(tx, tx`platform`)} as platform, coalesce(code, 'WAITING') as code, count(*) as devices,
      max(attempts) as attempts, min(retry_at) as "nextAt"
    from ${tx(partitionOf(day))}
    where run_number = any(${runNumbers}::bigint[]) and ${isOutcome(tx, 'WAITING')}
      and platform in ('A', 'I', 'W')
    group by 1, 2
    order by devices desc, 1, 2
    limit 100`;
}

export type TimelineStep = { at: Date; accepted: number; notDelivered: number };

/**
 * Counts the deliveries that became final in each time step since `since`, oldest first, without empty steps.
 * Index-only scans over each entry of the day's runs: about 0.5 s per million. Indexes: deliveries_log,
 * deliveries_failed.
 */
export async function readTimeline(
  tx: Queryable,
  asked: RunDay & { origin: Date; since: Date; stepSeconds: number },
): Promise<TimelineStep[]> {
  const { day, workspaceNumber, runNumbers, origin, since, stepSeconds } = asked;
  const step = tx`date_bin(make_interval(secs => ${stepSeconds}), sent_at, ${origin}::timestamptz)`;
  const ofRuns = tx`run_number = any(${runNumbers}::bigint[]) and platform in ('A', 'I', 'W')
    and sent_at >= ${since}`;
  return tx<TimelineStep[]>`
    select at, sum(accepted)::bigint as accepted, sum(not_delivered)::bigint as "notDelivered"
    from (
      select ${step} as at, count(*) as accepted, 0 as not_delivered from ${tx(partitionOf(day))}
      where workspace_number = ${workspaceNumber} and outcome = 'A' and ${ofRuns}
      group by 1
      union all
      select ${step}, 0, count(*) from ${tx(partitionOf(day))}
      where outcome <> 'A' and outcome <> 'W' and ${ofRuns}
      group by 1
    ) as counted
    group by at
    order by at`;
}

/**
 * Stores why deliveries of a day failed, for the next `limit` runs after `after`; the statistics need this when the day
 * is dropped. Each run is counted as a whole; a run that was counted before stays as it is. Index: deliveries_failed of
 * the day.
 *
 * @returns the number of the last run that was counted; undefined if none was left
 */
export async function keepFailures(
  tx: Queryable,
  asked: { day: string; after: number; limit: number },
): Promise<number | undefined> {
  const failures = await countFailuresOfDay(tx, asked);
  const last = failures.at(-1)?.runNumber;
  if (last === undefined) return undefined;
  await tx`
    insert into run_failures (run_id, workspace_id, platform, outcome, code, devices, last_at)
    select runs.id, runs.workspace_id, counted.platform, counted.outcome, counted.code, counted.devices, counted.last_at
    from unnest(
      ${failures.map(({ runNumber }) => runNumber)}::bigint[], ${failures.map(({ platform }) => platform)}::text[],
      ${failures.map(({ outcome }) => outcome)}::text[], ${failures.map(({ code }) => code)}::text[],
      ${failures.map(({ devices }) => devices)}::bigint[],
      ${failures.map(({ lastAt }) => lastAt.toISOString())}::timestamptz[]
    ) as counted (run_number, platform, outcome, code, devices, last_at)
    join runs on runs.number = counted.run_number
    order by runs.id, counted.platform, counted.outcome, counted.code
    on conflict (run_id, platform, outcome, code) do nothing`;
  return last;
}

type FailuresOfRun = Omit<FailureGroup, 'sampleDeviceId'> & { runNumber: number };

/** Returns the failures in the order of the runs' numbers. */
async function countFailuresOfDay(
  tx: Queryable,
  { day, after, limit }: { day: string; after: number; limit: number },
): Promise<FailuresOfRun[]> {
  const ledger = tx(partitionOf(day));
  const failed = tx`outcome <> 'A' and outcome <> 'W'`;
  const outcome = outcomeWord(tx, tx`ledger.outcome`);
  return tx<FailuresOfRun[]>`
    with run as materialized (
      select distinct run_number from ${ledger} where ${failed} and run_number > ${after}::bigint
      order by run_number limit ${limit}
    )
    select run_number as "runNumber", ${platformWord(tx, tx`platform`)} as platform, ${outcome} as outcome,
      coalesce(code, ${outcome}) as code, count(*) as devices,
      max(sent_at) as "lastAt"
    from ${ledger} as ledger
    where ${failed} and run_number in (select run_number from run)
    group by run_number, platform, ledger.outcome, coalesce(code, ${outcome})
    order by run_number`;
}

// Runs whose ledger day still exists are counted from the ledger.
const isDropped = (tx: Queryable) => tx`to_regclass('deliveries_' || to_char(runs.day, 'YYYYMMDD')) is null`;

/**
 * Counts by reason the failed deliveries of runs whose ledger day has been dropped. Indexes: runs_campaign,
 * run_failures primary key.
 */
export async function countKeptFailures(
  tx: Queryable,
  { campaignIds, startsAt, endsBefore }: StatsSpan & { campaignIds: string[] },
): Promise<FailureNumbers[]> {
  return tx<FailureNumbers[]>`
    select runs.campaign_id as "campaignId", kept.platform, kept.code as cause, sum(kept.devices)::bigint as devices
    from runs
    join run_failures as kept on kept.run_id = runs.id
    where runs.campaign_id = any(${campaignIds}) and runs.started_at >= ${startsAt} and runs.started_at < ${endsBefore}
      and ${isDropped(tx)}
    group by runs.campaign_id, kept.platform, kept.code
    order by kept.code collate "C"`;
}

/**
 * Groups the same failures for all runs of one campaign, with the time of the last one. Indexes: runs_campaign,
 * run_failures primary key.
 */
export async function groupKeptFailures(tx: Queryable, campaignId: string): Promise<FailureGroup[]> {
  const rows = await tx<(Omit<FailureGroup, 'sampleDeviceId'> & { platform: Platform })[]>`
    select kept.platform, kept.outcome, kept.code, sum(kept.devices)::bigint as devices, max(kept.last_at) as "lastAt"
    from runs
    join run_failures as kept on kept.run_id = runs.id
    where runs.campaign_id = ${campaignId} and ${isDropped(tx)}
    group by kept.platform, kept.outcome, kept.code
    order by devices desc, kept.platform, kept.code
    limit 1000`;
  return rows.map((row) => ({ ...row, sampleDeviceId: null }));
}

/** Counts the runs of a campaign that were sent and no longer have rows in the ledger. Index: runs_campaign. */
export async function countRunsWithoutLedger(tx: Queryable, campaignId: string): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    select id from runs where campaign_id = ${campaignId} and ${isDropped(tx)}`;
  const sent = await listRunsThatSent(
    tx,
    rows.map(({ id }) => id),
  );
  return sent.length;
}

/** Returns the given runs that have counted a delivery. Index: run_counts primary key. */
export async function listRunsThatSent(tx: Queryable, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx<{ id: string }[]>`
    select distinct run_id as id from run_counts where run_id = any(${[...ids]})`;
  return rows.map(({ id }) => id);
}

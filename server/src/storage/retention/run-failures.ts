import type { Platform } from '../../domain/campaigns/content.ts';
import type { FailureGroup } from '../campaigns/campaign-ledger.ts';
import type { FailureNumbers, StatsSpan } from '../campaigns/campaign-stats.ts';
import type { Queryable } from '../database.ts';
import { partitionOf } from '../ledger/deliveries.ts';
import { outcomeWord, platformWord } from '../ledger/ledger-words.ts';

/**
 * Writes down why deliveries of a day failed, for the next `limit` runs after `after`: what the statistics need when the
 * day is dropped. A run is counted as a whole; one that was counted before stays as it is. Index: deliveries_failed of
 * the day.
 *
 * @returns the number of the last run that was counted; undefined when there was none left
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

/** In the order of the runs' numbers. */
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

// A run whose day is there is counted from the ledger.
const isDropped = (tx: Queryable) => tx`to_regclass('deliveries_' || to_char(runs.day, 'YYYYMMDD')) is null`;

/** Why deliveries failed of runs whose day of the ledger is gone. Indexes: runs_campaign, run_failures primary key. */
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

/** The same of one campaign, all its runs, with the last time. Indexes: runs_campaign, run_failures primary key. */
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

/** How many runs of a campaign were sent and have no rows in the ledger any more. Index: runs_campaign. */
export async function countRunsWithoutLedger(tx: Queryable, campaignId: string): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    select id from runs where campaign_id = ${campaignId} and ${isDropped(tx)}`;
  const sent = await listRunsThatSent(
    tx,
    rows.map(({ id }) => id),
  );
  return sent.length;
}

/** Those of the runs that have counted a delivery. Index: run_counts primary key. */
export async function listRunsThatSent(tx: Queryable, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx<{ id: string }[]>`
    select distinct run_id as id from run_counts where run_id = any(${[...ids]})`;
  return rows.map(({ id }) => id);
}

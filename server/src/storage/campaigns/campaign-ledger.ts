import type { Platform } from '../../domain/campaigns/content.ts';
import { partitionOf } from '../ledger/deliveries.ts';
import type { Queryable } from '../database.ts';

export type FailureGroup = {
  platform: Platform;
  outcome: 'GONE' | 'REJECTED' | 'EXPIRED' | 'FAILED' | 'WITHHELD';
  /** The provider's word, or ours. */
  code: string;
  devices: number;
  /** One of them, by the id of its row; null when the ledger of that day is gone. */
  sampleDeviceId: string | null;
  lastAt: Date;
};

export type RunDay = { day: string; runIds: string[] };

/** Runs of a campaign by the day of the ledger that has their rows, if it is kept. Index: runs_campaign. */
export async function listRunDays(tx: Queryable, campaignId: string): Promise<RunDay[]> {
  return tx<RunDay[]>`
    select day::text as day, array_agg(id) as "runIds" from runs
    where campaign_id = ${campaignId} and to_regclass('deliveries_' || to_char(day, 'YYYYMMDD')) is not null
    group by day order by day`;
}

// The looks for the newest rows of so many groups are put into one statement.
const groupsAtOnce = 50;

/** Why deliveries of a day failed, the most frequent first, with the newest of each reason: at most 1,000. */
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

type CountedFailures = Pick<FailureGroup, 'platform' | 'outcome' | 'devices'> & { runId: string; code: string | null };

/** The index alone is read. Index: deliveries_failed. */
async function countFailureGroups(tx: Queryable, { day, runIds }: RunDay): Promise<CountedFailures[]> {
  return tx<CountedFailures[]>`
    select run_id as "runId", platform, outcome, code, count(*) as devices from ${tx(partitionOf(day))}
    where run_id = any(${runIds}) and outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')
    group by run_id, platform, outcome, code
    order by devices desc, platform, coalesce(code, outcome)
    limit 1000`;
}

type NewestFailure = Pick<FailureGroup, 'sampleDeviceId' | 'lastAt'> & { place: number };

/** One row of the ledger a group, by the places of the groups. Index: deliveries_log_run_code. */
async function findNewestFailures(
  tx: Queryable,
  { day, groups, first }: RunDay & { groups: CountedFailures[]; first: number },
): Promise<NewestFailure[]> {
  const newest = ({ runId, platform, outcome, code }: CountedFailures, place: number) => tx`
    (select ${first + place}::int as place, device_id as "sampleDeviceId", sent_at as "lastAt"
    from ${tx(partitionOf(day))}
    where run_id = ${runId} and outcome <> 'ACCEPTED' and ${code === null ? tx`code is null` : tx`code = ${code}`}
      and outcome = ${outcome} and platform = ${platform}
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

/** What waits for another attempt, of one day's runs, by why, with the next attempt. Index: deliveries_log_run. */
export async function groupCampaignWaiting(tx: Queryable, { day, runIds }: RunDay): Promise<CampaignWaitingGroup[]> {
  return tx<CampaignWaitingGroup[]>`
    select platform, coalesce(code, outcome) as code, count(*) as devices, max(attempts) as attempts,
      min(retry_at) as "nextAt"
    from ${tx(partitionOf(day))}
    where run_id = any(${runIds}) and outcome = 'WAITING'
    group by 1, 2
    order by devices desc, 1, 2
    limit 100`;
}

export type TimelineStep = { at: Date; accepted: number; notDelivered: number };

/**
 * What became final in each step of time from a moment on, oldest first; steps without any are left out. The index
 * alone is read, each entry of the day's runs: about 0.5 s a million. Index: deliveries_log_run.
 */
export async function readTimeline(
  tx: Queryable,
  asked: RunDay & { origin: Date; since: Date; stepSeconds: number },
): Promise<TimelineStep[]> {
  return tx<TimelineStep[]>`
    select date_bin(make_interval(secs => ${asked.stepSeconds}), sent_at, ${asked.origin}::timestamptz) as at,
      count(*) filter (where outcome = 'ACCEPTED') as accepted,
      count(*) filter (where outcome <> 'ACCEPTED') as "notDelivered"
    from ${tx(partitionOf(asked.day))}
    where run_id = any(${asked.runIds}) and sent_at >= ${asked.since}
      and outcome in ('ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')
      and platform in ('ANDROID', 'IOS', 'WEB')
    group by 1
    order by 1`;
}

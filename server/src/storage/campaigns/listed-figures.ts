import type { Queryable } from '../database.ts';
import type { FoundCampaign } from './campaign-search.ts';

/** What a list says of a campaign, or of one of its runs. */
export type ListedFigures = {
  id: string;
  /** Those that were looked at. */
  runs: number;
  /** There are more: the figures are of the newest. */
  hasMoreRuns: boolean;
  /** Devices of the newest run whose audience was counted. */
  reachableDevices: number | null;
  /** Devices, each once a run: those that were tried, and of them those whose message a provider accepted. */
  attempted: number;
  accepted: number;
  /** Messages, each once. */
  shown: number;
  clicked: number;
};

/**
 * A push to named users is a run of a few rows, and a campaign may have a million of them; one to an audience has up to 256
 * rows of each outcome. So many of either kind are looked at: fifteen campaigns with all of them are answered in 0.3 s on two busy cores.
 */
export const maxListedRuns = 1_000;
export const maxListedAudienceRuns = 7;
const audienceLane = 1;

/**
 * The figures of a page, of campaigns that have runs, in no order. The runs are found first and joined by themselves with what lies in
 * shards. Indexes: runs_campaign, one look a campaign; primary keys of runs, run_counts and run_interactions.
 */
export async function readListedFigures(tx: Queryable, page: readonly FoundCampaign[]): Promise<ListedFigures[]> {
  if (page.length === 0) return [];
  return selectListedFigures(tx, page);
}

/** The statement of readListedFigures; a test asks the planner about it. */
export function selectListedFigures(tx: Queryable, page: readonly FoundCampaign[]) {
  const idsOf = (kind: FoundCampaign['kind']) => page.filter((found) => found.kind === kind).map(({ id }) => id);
  return tx<ListedFigures[]>`
    with newest as materialized (
      select asked.id as listed_id, run.id, run.audience_devices, run.place, run.audience_place
      from unnest(${idsOf('CAMPAIGN')}::text[]) as asked (id), lateral (
        select own.id, own.audience_devices, row_number() over (order by own.created_at desc) as place,
          case when own.lane = ${audienceLane}
            then row_number() over (partition by own.lane order by own.created_at desc) else 0 end as audience_place
        from (
          select runs.id, runs.lane, runs.audience_devices, runs.created_at from runs
          where runs.campaign_id = asked.id order by runs.created_at desc limit ${maxListedRuns + 1}
        ) as own
      ) as run
      union all
      select runs.id, runs.id, runs.audience_devices, 1, 1 from runs where runs.id = any(${idsOf('EXECUTION')})
    ), looked as materialized (
      select listed_id, id from newest
      where place <= ${maxListedRuns} and audience_place <= ${maxListedAudienceRuns}
    ), counted as materialized (
      select looked.listed_id, sum(run_counts.devices) filter (where run_counts.outcome <> 'WITHHELD') as attempted,
        sum(run_counts.devices) filter (where run_counts.outcome = 'ACCEPTED') as accepted
      from looked join run_counts on run_counts.run_id = looked.id
      group by looked.listed_id
    ), reported as materialized (
      select looked.listed_id,
        sum(run_interactions.messages) filter (where run_interactions.kind = 'IMPRESSION') as shown,
        sum(run_interactions.messages) filter (where run_interactions.kind = 'CLICK') as clicked
      from looked join run_interactions on run_interactions.run_id = looked.id
      group by looked.listed_id
    ), listed as materialized (
      select listed_id, count(*) as found,
        (array_agg(audience_devices order by place) filter (where audience_devices is not null))[1] as reachable
      from newest group by listed_id
    ), sizes as materialized (
      select listed_id, count(*) as runs from looked group by listed_id
    )
    select listed.listed_id as id, sizes.runs, listed.found > sizes.runs as "hasMoreRuns",
      listed.reachable as "reachableDevices", coalesce(counted.attempted, 0)::bigint as attempted,
      coalesce(counted.accepted, 0)::bigint as accepted, coalesce(reported.shown, 0)::bigint as shown,
      coalesce(reported.clicked, 0)::bigint as clicked
    from listed
    join sizes on sizes.listed_id = listed.listed_id
    left join counted on counted.listed_id = listed.listed_id
    left join reported on reported.listed_id = listed.listed_id`;
}

import type { Queryable } from '../pool.ts';

/** What the light list says beside the record (facts 4.7). */
export type CampaignMeta = {
  id: string;
  children: number;
  /** Devices of the newest run whose audience was counted, and when it was. */
  reachableDevices: number | null;
  countedAt: Date | null;
};

/** In no order; campaigns without a run are not among them. Index: runs_campaign. */
export async function readCampaignMeta(tx: Queryable, ids: readonly string[]): Promise<CampaignMeta[]> {
  if (ids.length === 0) return [];
  return tx<CampaignMeta[]>`
    select runs.campaign_id as id, count(*) as children,
      (array_agg(runs.audience_devices order by runs.created_at desc) filter (where runs.audience_devices is not null))[1]
        as "reachableDevices",
      max(runs.started_at) filter (where runs.audience_devices is not null) as "countedAt"
    from runs where runs.campaign_id = any(${[...ids]})
    group by runs.campaign_id`;
}

import type { Queryable } from '../pool.ts';

export type CampaignName = { workspaceId: string; name: string; campaignId: string };

/**
 * Takes names for campaigns that follow in the same transaction. A name in use, also twice in one call, is taken by one
 * only; the table decides, so two nodes cannot both win. Names in order, so that two batches never wait in a circle.
 *
 * @returns the ids of the campaigns whose name was free
 */
export async function takeCampaignNames(tx: Queryable, names: CampaignName[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const sorted = [...names].sort((a, b) => (`${a.workspaceId}|${a.name}` < `${b.workspaceId}|${b.name}` ? -1 : 1));
  const rows = await tx<{ campaignId: string }[]>`
    insert into campaign_names (workspace_id, name, campaign_id)
    select taken.workspace_id, taken.name, taken.campaign_id
    from unnest(
      ${sorted.map((row) => row.workspaceId)}::text[], ${sorted.map((row) => row.name)}::text[],
      ${sorted.map((row) => row.campaignId)}::text[]
    ) as taken (workspace_id, name, campaign_id)
    on conflict (workspace_id, name) do nothing
    returning campaign_id as "campaignId"`;
  return new Set(rows.map((row) => row.campaignId));
}

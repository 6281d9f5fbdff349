import type { Queryable } from '../database.ts';

/** What a campaign listens for. `condition` is the part of its record, as it was sent. */
export type NewCondition = {
  /** The same in all versions of the campaign. */
  campaignId: string;
  workspaceId: string;
  versionId: string;
  eventNames: readonly string[];
  condition: unknown;
  /** Events that are received before start nothing. */
  liveSince: Date;
};

/** Stores what a campaign listens for; a newer version takes the place of the one before, and the start stays. Index: primary key. */
export async function storeTriggerCondition(tx: Queryable, condition: NewCondition): Promise<void> {
  await tx`
    insert into trigger_conditions (campaign_id, workspace_id, version_id, event_names, condition, live_since)
    values (${condition.campaignId}, ${condition.workspaceId}, ${condition.versionId}, ${[...condition.eventNames]},
      ${tx.json(condition.condition)}, ${condition.liveSince})
    on conflict (campaign_id) do update
      set version_id = excluded.version_id, event_names = excluded.event_names, condition = excluded.condition`;
}

/** After a pause: what was received meanwhile starts nothing. Index: trigger_conditions_version. */
export async function listenSince(tx: Queryable, { versionId, at }: { versionId: string; at: Date }): Promise<void> {
  await tx`
    update trigger_conditions set live_since = greatest(live_since, ${at}) where version_id = ${versionId}`;
}

export type ListeningCampaign = { campaignId: string; condition: Record<string, unknown> };

/**
 * The live campaigns that listen for events of these names, received at `at`. Index: trigger_conditions_workspace,
 * campaigns primary key.
 */
export async function listListeningCampaigns(
  tx: Queryable,
  { workspaceId, eventNames, at }: { workspaceId: string; eventNames: readonly string[]; at: Date },
): Promise<ListeningCampaign[]> {
  return tx<ListeningCampaign[]>`
    select trigger_conditions.campaign_id as "campaignId", trigger_conditions.condition
    from trigger_conditions
    join campaigns on campaigns.id = trigger_conditions.version_id
    where trigger_conditions.workspace_id = ${workspaceId} and trigger_conditions.event_names && ${[...eventNames]}::text[]
      and trigger_conditions.live_since <= ${at}
      and campaigns.status = 'ACTIVE' and (campaigns.next_at is null or campaigns.next_at > ${at})`;
}

/** A campaign some of whose triggers are due, by the version that sends now. */
export type TriggeredCampaign = {
  campaignId: string;
  workspaceId: string;
  versionId: string;
  status: string;
  segmentId: string | null;
  settings: Record<string, unknown>;
  condition: Record<string, unknown>;
};

/**
 * Locks campaigns for sharing, so that none is stopped, paused or revised before the caller's transaction has made its runs.
 * Rows in id order. Indexes: primary keys.
 */
export async function lockTriggeredCampaigns(
  tx: Queryable,
  campaignIds: readonly string[],
): Promise<TriggeredCampaign[]> {
  return tx<TriggeredCampaign[]>`
    select trigger_conditions.campaign_id as "campaignId", trigger_conditions.workspace_id as "workspaceId",
      campaigns.id as "versionId", campaigns.status, campaigns.segment_id as "segmentId", campaigns.settings,
      trigger_conditions.condition
    from trigger_conditions
    join campaigns on campaigns.id = trigger_conditions.version_id
    where trigger_conditions.campaign_id = any(${[...campaignIds]})
    order by campaigns.id
    for share`;
}

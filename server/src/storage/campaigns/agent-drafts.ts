import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import type { Queryable } from '../database.ts';

export type AgentDraft = { changeId: string; agentName: string; changedAt: Date; base: CampaignParts | null };

type Change = {
  workspaceId: string;
  campaignId: string;
  changeId: string;
  agentName: string;
  at: Date;
  /** The draft before this change; null if this change created it. Counts only for the first change. */
  before: CampaignParts | null;
};

/** Notes that an agent changed a draft. The caller holds the lock of the draft, or has created it. Index: primary key. */
export async function noteAgentChange(tx: Queryable, change: Change): Promise<void> {
  const { workspaceId, campaignId, changeId, agentName, at, before } = change;
  const base = before === null ? null : tx.json(before);
  await tx`
    insert into agent_drafts (campaign_id, workspace_id, change_id, agent_name, changed_at, base)
    values (${campaignId}, ${workspaceId}, ${changeId}, ${agentName}, ${at}, ${base})
    on conflict (campaign_id) do update
    set change_id = excluded.change_id, agent_name = excluded.agent_name, changed_at = excluded.changed_at`;
}

/** Index: primary key. */
export async function findAgentDraft(
  tx: Queryable,
  { workspaceId, campaignId }: { workspaceId: string; campaignId: string },
): Promise<AgentDraft | undefined> {
  const [row] = await tx<AgentDraft[]>`
    select change_id as "changeId", agent_name as "agentName", changed_at as "changedAt", base
    from agent_drafts where campaign_id = ${campaignId} and workspace_id = ${workspaceId}`;
  return row;
}

/** Index: primary key. */
export async function deleteAgentDraft(tx: Queryable, campaignId: string): Promise<void> {
  await tx`delete from agent_drafts where campaign_id = ${campaignId}`;
}
